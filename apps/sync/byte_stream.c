/* byte_stream.c - bytes of files as one stream of messages. An empty message ends it. */
#include <stdlib.h>
#include <string.h>
#ifdef TAMIS_HAS_ZSTD
#include <zstd.h>
#endif

#include "byte_stream.h"
#include "patch_limit.h"
#include "term/buffer.h"
#include "term/message.h"
#include "wire/packed_message.h"

enum { PIECE = 1 << 17 };

struct pour {
    line *line;
    buffer waiting;
    void *zstd; /* NULL: bytes go as they are */
};

struct drain {
    line *line;
    buffer ready; /* from `at` on */
    size_t at;
    void *zstd;
    buffer packed; /* from `packed_at` on */
    size_t packed_at;
    bool has_ended;
    bool may_grow; /* sizes of files were found to be as they may */
    uint64_t done; /* bytes that were read */
};

static void send_waiting(pour *p)
{
    if (p->waiting.size > 0)
        line_send(p->line, PART_DATA, p->waiting.bytes, p->waiting.size);
    p->waiting.size = 0;
}

/* ---- zstd -------------------------------------------------------------- */

#ifdef TAMIS_HAS_ZSTD

enum { MIB = 1 << 20 };

static int level_for(uint64_t expected)
{
    return expected <= 2 * MIB ? 19 : expected <= 16 * MIB ? 15 : expected <= 128 * MIB ? 9 : 3;
}

static void *packing_begin(uint64_t expected)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();

    if (!z || ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level_for(expected))))
        die(CODE_MEMORY, "out of memory to compress");
    return z;
}

static void pack_how(pour *p, const void *bytes, size_t size, ZSTD_EndDirective how)
{
    ZSTD_inBuffer in = { bytes, size, 0 };
    size_t left;

    do {
        buffer_reserve(&p->waiting, PIECE);
        ZSTD_outBuffer out = { p->waiting.bytes + p->waiting.size, PIECE, 0 };
        left = ZSTD_compressStream2(p->zstd, &out, &in, how);
        if (ZSTD_isError(left))
            die(CODE_MEMORY, "cannot compress: %s", ZSTD_getErrorName(left));
        p->waiting.size += out.pos;
        if (p->waiting.size >= PIECE)
            send_waiting(p);
    } while (how == ZSTD_e_end ? left > 0 : in.pos < in.size);
}

static void pack(pour *p, const void *bytes, size_t size)
{
    pack_how(p, bytes, size, ZSTD_e_continue);
}

static void packing_end(pour *p)
{
    pack_how(p, NULL, 0, ZSTD_e_end);
    ZSTD_freeCCtx(p->zstd);
}

static void *unpacking_begin(void)
{
    ZSTD_DCtx *z = ZSTD_createDCtx();

    if (!z || ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, PACKED_WINDOW)))
        die(CODE_MEMORY, "out of memory to decompress");
    return z;
}

/* False: more has to come before something can be put. */
static bool unpack(drain *d)
{
    ZSTD_inBuffer in = { d->packed.bytes, d->packed.size, d->packed_at };

    buffer_reserve(&d->ready, PIECE);
    ZSTD_outBuffer out = { d->ready.bytes, d->ready.room, 0 };
    size_t result = ZSTD_decompressStream(d->zstd, &out, &in);
    if (ZSTD_isError(result))
        line_refuse(d->line, "the bytes of files cannot be unpacked");
    d->packed_at = in.pos;
    d->ready.size = out.pos;
    d->at = 0;
    return out.pos > 0;
}

static void unpacking_end(drain *d)
{
    ZSTD_freeDCtx(d->zstd);
}

#else

static void *packing_begin(uint64_t expected)
{
    (void)expected;
    return NULL;
}

static void pack(pour *p, const void *bytes, size_t size)
{
    (void)p, (void)bytes, (void)size;
}

static void packing_end(pour *p)
{
    (void)p;
}

static void *unpacking_begin(void)
{
    return NULL;
}

static bool unpack(drain *d)
{
    (void)d;
    return false;
}

static void unpacking_end(drain *d)
{
    (void)d;
}

#endif

/* ---- Sending ----------------------------------------------------------- */

pour *pour_begin(const sync_job *job, uint64_t expected)
{
    pour *p = calloc(1, sizeof *p);

    if (!p)
        die(CODE_MEMORY, "out of memory to send");
    p->line = job->line;
    if (job->offers & PACKED_OFFER)
        p->zstd = packing_begin(expected);
    return p;
}

bool pour_write(void *ctx, const void *bytes, size_t size)
{
    pour *p = ctx;

    if (p->zstd)
        pack(p, bytes, size);
    else
        buffer_append(&p->waiting, bytes, size);
    if (p->waiting.size >= PIECE)
        send_waiting(p);
    line_breathe(p->line);
    return true;
}

void pour_end(pour *p)
{
    if (p->zstd)
        packing_end(p);
    send_waiting(p);
    line_send(p->line, PART_DATA, NULL, 0);
    buffer_free(&p->waiting);
    free(p);
}

/* ---- Receiving --------------------------------------------------------- */

drain *drain_begin(const sync_job *job)
{
    drain *d = calloc(1, sizeof *d);

    if (!d)
        die(CODE_MEMORY, "out of memory to receive");
    d->line = job->line;
    d->may_grow = job->limit_size > 0;
    if (job->offers & PACKED_OFFER)
        d->zstd = unpacking_begin();
    return d;
}

static void hear(drain *d, buffer *to, size_t *at)
{
    line_frame f = line_expect(d->line, PART_DATA);

    d->has_ended = f.size == 0;
    to->size = 0;
    *at = 0;
    buffer_append(to, f.body, f.size);
}

/* Has something ready, unless the stream ends. */
static void have_some(drain *d)
{
    while (d->at == d->ready.size && !d->has_ended)
        if (!d->zstd)
            hear(d, &d->ready, &d->at);
        else if (!unpack(d))
            hear(d, &d->packed, &d->packed_at);
}

static void check_growth(drain *d, size_t size)
{
    d->done += size;
    if (!d->may_grow && d->done > growth_unpacked_most(line_received_of(d->line, PART_DATA)))
        line_refuse(d->line,
                    "what came unpacks to more than %d times its bytes; --limit-size allows that",
                    GROWTH_UNPACKED_TIMES);
}

void drain_read(drain *d, void *bytes, size_t size)
{
    check_growth(d, size);
    while (size > 0) {
        have_some(d);
        size_t left = d->ready.size - d->at, n = left < size ? left : size;
        if (n == 0)
            line_refuse(d->line, "fewer bytes of files came than were announced");
        memcpy(bytes, d->ready.bytes + d->at, n);
        bytes = (char *)bytes + n;
        d->at += n;
        size -= n;
    }
}

void drain_end(drain *d)
{
    have_some(d);
    if (d->at < d->ready.size)
        line_refuse(d->line, "more bytes of files came than were announced");
    if (d->zstd)
        unpacking_end(d);
    buffer_free(&d->ready);
    buffer_free(&d->packed);
    free(d);
}
