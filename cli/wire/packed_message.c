/* packed_message.c - messages of any length, compressed if that makes them shorter. */
#include <stdlib.h>
#ifdef TAMIS_HAS_ZSTD
#include <zstd.h>
#endif

#include "frame.h"
#include "packed_message.h"

enum { FLAG_LAST = 1, FLAG_ZSTD = 2 };

/* ---- zstd -------------------------------------------------------------- */

#ifdef TAMIS_HAS_ZSTD
/* Short messages are worth more time. */
enum { SHORT_MESSAGE = 1 << 18, LEVEL_SHORT = 12, LEVEL_LONG = 3, UNPACK_STEP = 1 << 18 };

uint64_t packed_offer(void)
{
    return PACKED_OFFER;
}

static bool compress(buffer *out, const void *bytes, size_t size)
{
    buffer_reserve(out, ZSTD_compressBound(size));
    size_t made = ZSTD_compress(out->bytes, out->room, bytes, size,
                                size <= SHORT_MESSAGE ? LEVEL_SHORT : LEVEL_LONG);
    out->size = ZSTD_isError(made) ? 0 : made;
    return out->size > 0 && out->size < size;
}

static void *unpacking_begin(void)
{
    ZSTD_DStream *stream = ZSTD_createDStream();

    if (!stream || ZSTD_isError(ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, PACKED_WINDOW)))
        die(CODE_MEMORY, "out of memory to unpack a message");
    return stream;
}

static void unpacking_end(void *stream)
{
    ZSTD_freeDStream(stream);
}

static _Noreturn void refuse_size(line *l, size_t most);

/* False: this is not compressed by zstd. */
static bool unpack(line *l, void *stream, const uint8_t *bytes, size_t size, buffer *to,
                   size_t most)
{
    ZSTD_inBuffer in = { bytes, size, 0 };
    bool is_full;

    do {
        size_t left = most - to->size, step = left < UNPACK_STEP ? left + 1 : UNPACK_STEP;
        buffer_reserve(to, step);
        ZSTD_outBuffer out = { to->bytes + to->size, step, 0 };
        size_t result = ZSTD_decompressStream(stream, &out, &in);
        if (ZSTD_isError(result))
            return false;
        to->size += out.pos;
        if (to->size > most)
            refuse_size(l, most);
        is_full = out.pos == step;
    } while (in.pos < in.size || is_full);
    return true;
}
#else
uint64_t packed_offer(void)
{
    return 0;
}

static bool compress(buffer *out, const void *bytes, size_t size)
{
    (void)out, (void)bytes, (void)size;
    return false;
}

static void *unpacking_begin(void)
{
    return NULL;
}

static void unpacking_end(void *stream)
{
    (void)stream;
}

static bool unpack(line *l, void *stream, const uint8_t *bytes, size_t size, buffer *to,
                   size_t most)
{
    (void)l, (void)stream, (void)bytes, (void)size, (void)to, (void)most;
    return false;
}
#endif

/* ---- Messages ---------------------------------------------------------- */

packed packed_make(const void *bytes, size_t size, uint64_t offers)
{
    packed p = { 0 };

    p.is_zstd = offers & PACKED_OFFER && compress(&p.bytes, bytes, size);
    if (!p.is_zstd) {
        p.bytes.size = 0;
        buffer_append(&p.bytes, bytes, size);
    }
    return p;
}

void packed_send(const packed *p, line *l, char part)
{
    buffer frame = { 0 };
    size_t done = 0;

    do {
        size_t left = p->bytes.size - done;
        size_t piece = left < FRAME_MOST - 1 ? left : FRAME_MOST - 1;
        uint8_t flags = (uint8_t)((piece == left ? FLAG_LAST : 0) | (p->is_zstd ? FLAG_ZSTD : 0));

        frame.size = 0;
        buffer_append(&frame, &flags, 1);
        if (piece > 0)
            buffer_append(&frame, p->bytes.bytes + done, piece);
        line_send(l, part, frame.bytes, frame.size);
        done += piece;
    } while (done < p->bytes.size);
    buffer_free(&frame);
}

static _Noreturn void refuse_size(line *l, size_t most)
{
    line_refuse(
        l,
        "a message takes more than %zu bytes, which is longer than it can be, or larger than "
        "--memory allows",
        most);
}

static void take_plain(line *l, buffer *out, const uint8_t *bytes, size_t size, size_t most)
{
    if (size > most || out->size > most - size)
        refuse_size(l, most);
    buffer_append(out, bytes, size);
}

static void take_message(line *l, line_frame f, buffer *out, size_t most, bool may_be_packed)
{
    void *stream = may_be_packed ? unpacking_begin() : NULL;

    for (;;) {
        if (f.size == 0)
            line_refuse(l, "a message of part '%c' has no first byte", f.part);
        uint8_t flags = f.body[0];
        if (!(flags & FLAG_ZSTD))
            take_plain(l, out, f.body + 1, f.size - 1, most);
        else if (!may_be_packed)
            line_refuse(l, "a message of part '%c' is compressed, which it never is", f.part);
        else if (!unpack(l, stream, f.body + 1, f.size - 1, out, most))
            line_refuse(l, "a message of part '%c' cannot be unpacked", f.part);
        if (flags & FLAG_LAST)
            break;
        f = line_expect(l, f.part);
    }
    if (stream)
        unpacking_end(stream);
}

void packed_take(line *l, line_frame first, buffer *out, size_t most)
{
    take_message(l, first, out, most, true);
}

void packed_receive(line *l, char part, buffer *out, size_t most)
{
    packed_take(l, line_expect(l, part), out, most);
}

void packed_receive_plain(line *l, char part, buffer *out, size_t most)
{
    take_message(l, line_expect(l, part), out, most, false);
}
