/* unpack.c - compressed inputs.
 *
 * Each library is optional: CMake defines TAMIS_HAS_<LIBRARY> if it is there. Files may hold
 * several compressed streams, one after the other, as gzip, zstd and xz themselves accept. Memory
 * is bounded whatever a header asks for: zlib needs 32 KiB, the other two are given a limit. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef TAMIS_HAS_ZLIB
#include <zlib.h>
#endif
#ifdef TAMIS_HAS_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif
#ifdef TAMIS_HAS_LZMA
#include <lzma.h>
#endif

#include "term/array.h"
#include "term/message.h"
#include "unpack.h"

#define STATE "compressed data"
#define DAMAGED "the compressed data is damaged; restore it, or compress it again"
#define TOO_LARGE "it takes more than 128 MiB of memory to decompress; do that first"
#define CUT_OFF "the compressed data ends too early; copy or compress it again"

struct packing {
    const char *magic;
    size_t size; /* of magic */
    void *(*open)(void);
    void (*close)(void *state);
    const char *(*some)(void *state, unpack_step *s);
    const char *missing; /* the remedy where `open` is NULL */
};

#define BUILT_WITHOUT(name, library, command)                                          \
    "it is compressed by " name ", and this tamis was built without " library "; run " \
    "'" command "' on it first, or take its bytes as they are with --no-decompress"

/* ---- gzip -------------------------------------------------------------- */

#ifdef TAMIS_HAS_ZLIB
typedef struct gzip_state {
    z_stream z;
    bool is_between; /* two members, or after the last one */
} gzip_state;

static void *gzip_open(void)
{
    gzip_state *g = array_new(1, sizeof *g, STATE);

    if (inflateInit2(&g->z, MAX_WBITS + 16) != Z_OK)
        die(CODE_MEMORY, "out of memory for %s", STATE);
    return g;
}

static void gzip_close(void *state)
{
    gzip_state *g = state;

    inflateEnd(&g->z);
    free(g);
}

static int gzip_inflate(gzip_state *g, unpack_step *s)
{
    z_stream *z = &g->z;

    z->next_in = (Bytef *)(uintptr_t)s->in;
    z->avail_in = s->in_size < UINT_MAX ? (uInt)s->in_size : UINT_MAX;
    z->next_out = (Bytef *)s->out;
    z->avail_out = s->out_size < UINT_MAX ? (uInt)s->out_size : UINT_MAX;
    int result = inflate(z, Z_NO_FLUSH);
    s->in_size -= (size_t)((const char *)z->next_in - s->in);
    s->out_size -= (size_t)((char *)z->next_out - s->out);
    s->in = (const char *)z->next_in;
    s->out = (char *)z->next_out;
    return result;
}

static const char *gzip_some(void *state, unpack_step *s)
{
    gzip_state *g = state;
    const char *out = s->out;

    while (s->out == out && (s->in_size > 0 || !g->is_between)) {
        size_t before = s->in_size;
        int result = gzip_inflate(g, s);
        if (s->in_size < before)
            g->is_between = result == Z_STREAM_END;
        if (result == Z_STREAM_END)
            result = inflateReset(&g->z);
        if (result != Z_OK && result != Z_BUF_ERROR)
            return DAMAGED;
        if (s->in_size == 0 && s->out == out)
            return s->is_last && !g->is_between ? CUT_OFF : NULL;
    }
    return NULL;
}
#define GZIP gzip_open, gzip_close, gzip_some, NULL
#else
#define GZIP NULL, NULL, NULL, BUILT_WITHOUT("gzip", "zlib", "zcat")
#endif

/* ---- zstd -------------------------------------------------------------- */

#ifdef TAMIS_HAS_ZSTD
typedef struct zstd_state {
    ZSTD_DStream *stream;
    size_t expected; /* 0: between two frames, or after the last one */
} zstd_state;

static void *zstd_open(void)
{
    zstd_state *z = array_new(1, sizeof *z, STATE);

    /* The library itself refuses windows of more than 128 MiB. */
    if (!(z->stream = ZSTD_createDStream()))
        die(CODE_MEMORY, "out of memory for %s", STATE);
    return z;
}

static void zstd_close(void *state)
{
    zstd_state *z = state;

    ZSTD_freeDStream(z->stream);
    free(z);
}

static const char *zstd_fault(size_t result)
{
    bool is_large = ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge;

    return is_large ? TOO_LARGE : DAMAGED;
}

static const char *zstd_some(void *state, unpack_step *s)
{
    zstd_state *z = state;
    const char *start = s->out;

    while (s->out == start && (s->in_size > 0 || z->expected > 0)) {
        ZSTD_inBuffer in = { s->in, s->in_size, 0 };
        ZSTD_outBuffer out = { s->out, s->out_size, 0 };
        size_t result = ZSTD_decompressStream(z->stream, &out, &in);
        if (ZSTD_isError(result))
            return zstd_fault(result);
        z->expected = result;
        s->in += in.pos;
        s->in_size -= in.pos;
        s->out += out.pos;
        s->out_size -= out.pos;
        if (s->in_size == 0 && s->out == start)
            return s->is_last && z->expected > 0 ? CUT_OFF : NULL;
    }
    return NULL;
}
#define ZSTD zstd_open, zstd_close, zstd_some, NULL
#else
#define ZSTD NULL, NULL, NULL, BUILT_WITHOUT("zstd", "libzstd", "zstdcat")
#endif

/* ---- xz ---------------------------------------------------------------- */

#ifdef TAMIS_HAS_LZMA
/* xz -9 needs 65 MiB. */
enum { XZ_MEMORY = 128 << 20 };

static void *xz_open(void)
{
    lzma_stream *z = array_new(1, sizeof *z, STATE);

    *z = (lzma_stream)LZMA_STREAM_INIT;
    if (lzma_stream_decoder(z, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
        die(CODE_MEMORY, "out of memory for %s", STATE);
    return z;
}

static void xz_close(void *state)
{
    lzma_end(state);
    free(state);
}

static const char *xz_some(void *state, unpack_step *s)
{
    lzma_stream *z = state;

    z->next_in = (const uint8_t *)s->in;
    z->avail_in = s->in_size;
    z->next_out = (uint8_t *)s->out;
    z->avail_out = s->out_size;
    lzma_ret result;
    do
        result = lzma_code(z, s->is_last ? LZMA_FINISH : LZMA_RUN);
    while (result == LZMA_OK && s->is_last && z->avail_out == s->out_size);
    s->in = (const char *)z->next_in;
    s->in_size = z->avail_in;
    s->out = (char *)z->next_out;
    s->out_size = z->avail_out;
    if (result == LZMA_OK || result == LZMA_STREAM_END)
        return NULL;
    if (result == LZMA_BUF_ERROR)
        return s->is_last ? CUT_OFF : NULL;
    return result == LZMA_MEMLIMIT_ERROR ? TOO_LARGE : DAMAGED;
}
#define XZ xz_open, xz_close, xz_some, NULL
#else
#define XZ NULL, NULL, NULL, BUILT_WITHOUT("xz", "liblzma", "xzcat")
#endif

/* ---- All --------------------------------------------------------------- */

#define MAGIC(bytes) bytes, sizeof(bytes) - 1
#define NOT_READ(name, command)                                                             \
    NULL, NULL, NULL,                                                                       \
        "it is compressed by " name ", which tamis does not read; run '" command "' on it " \
        "first, or take its bytes as they are with --no-decompress"

static const packing packings[] = {
    { MAGIC("\x1f\x8b\x08"), GZIP },
    { MAGIC("\x28\xb5\x2f\xfd"), ZSTD },
    { MAGIC("\x50\x2a\x4d\x18"), ZSTD }, /* a frame to be skipped, as pzstd starts with */
    { MAGIC("\xfd\x37zXZ\0"), XZ },
    { MAGIC("BZh91AY&SY"), NOT_READ("bzip2", "bzcat") },
    { MAGIC("\x04\x22\x4d\x18"), NOT_READ("lz4", "lz4cat") },
};

enum { N_PACKINGS = sizeof packings / sizeof *packings };

struct unpacker {
    const packing *packing;
    void *state;
};

const packing *unpack_find(const char *bytes, size_t size, bool *is_open)
{
    *is_open = false;
    for (const packing *p = packings; p < packings + N_PACKINGS; p++) {
        if (memcmp(bytes, p->magic, size < p->size ? size : p->size))
            continue;
        if (size >= p->size)
            return p;
        *is_open = true;
    }
    return NULL;
}

unpacker *unpack_open(const packing *p, const char **why)
{
    *why = p->missing;
    if (!p->open)
        return NULL;
    unpacker *u = array_new(1, sizeof *u, STATE);
    *u = (unpacker){ .packing = p, .state = p->open() };
    return u;
}

void unpack_close(unpacker *u)
{
    if (!u)
        return;
    u->packing->close(u->state);
    free(u);
}

const char *unpack_some(unpacker *u, unpack_step *s)
{
    return u->packing->some(u->state, s);
}
