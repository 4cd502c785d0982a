/* packed_message.c - messages of any length, compressed if that makes them shorter. */
#include "packed_message.h"
#include "frame.h"

enum { FLAG_LAST = 1, FLAG_ZSTD = 2 };

/* Short messages are worth more time. */
enum { SHORT_MESSAGE = 1 << 18, LEVEL_SHORT = 12, LEVEL_LONG = 3, UNPACK_STEP = 1 << 18 };

static bool compress(buffer *out, const void *bytes, size_t size)
{
    zstd_packer *z = zstd_packer_new(size <= SHORT_MESSAGE ? LEVEL_SHORT : LEVEL_LONG);

    zstd_pack(z, out, bytes, size, true);
    zstd_packer_free(z);
    return out->size < size;
}

packed packed_make(const void *bytes, size_t size, uint64_t offers)
{
    packed p = { 0 };

    p.is_zstd = offers & packed_offer() && compress(&p.bytes, bytes, size);
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

void packed_put(line *l, char part, buffer *body, uint64_t offers)
{
    packed p = packed_make(body->bytes, body->size, offers);

    packed_send(&p, l, part);
    buffer_free(&p.bytes);
    buffer_free(body);
}

static _Noreturn void refuse_size(line *l, size_t most)
{
    line_refuse(
        l,
        "a message takes more than %zu bytes, which is longer than it can be, or larger than "
        "--memory allows",
        most);
}

static void take_plain(line *l, buffer *out, coded in, size_t most)
{
    size_t size = (size_t)(in.end - in.at);

    if (size > most || out->size > most - size)
        refuse_size(l, most);
    buffer_append(out, in.at, size);
}

/* False: this is not compressed by zstd. */
static bool take_packed(line *l, zstd_unpacker *z, buffer *out, coded in, size_t most)
{
    size_t before, step;

    do {
        size_t left = most - out->size;
        before = out->size;
        step = left < UNPACK_STEP ? left + 1 : UNPACK_STEP;
        if (!zstd_unpack(z, &in, out, step))
            return false;
        if (out->size > most)
            refuse_size(l, most);
    } while (in.at < in.end || out->size - before == step);
    return true;
}

static void take_message(line *l, line_frame f, buffer *out, size_t most, bool may_be_packed)
{
    zstd_unpacker *z = may_be_packed ? zstd_unpacker_new() : NULL;

    for (;;) {
        if (f.size == 0)
            line_refuse(l, "a message of part '%c' has no first byte", f.part);
        uint8_t flags = f.body[0];
        coded in = coded_of(f.body + 1, f.size - 1);
        if (!(flags & FLAG_ZSTD))
            take_plain(l, out, in, most);
        else if (!may_be_packed)
            line_refuse(l, "a message of part '%c' is compressed, which it never is", f.part);
        else if (!take_packed(l, z, out, in, most))
            line_refuse(l, "a message of part '%c' cannot be unpacked", f.part);
        if (flags & FLAG_LAST)
            break;
        f = line_expect(l, f.part);
    }
    zstd_unpacker_free(z);
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
