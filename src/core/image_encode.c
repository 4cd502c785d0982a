/* image_encode.c - from a filter to an image.
 *
 * All images come from one writer, tamis__image_send(), from the first byte to the last. The header
 * vouches for the checksums, which follow the payload: they are worked out before it is sent, and
 * again in their turn, or were known before. So no memory is taken, which the host of a filter may
 * not have. */
#include "core/image_layout.h"

#include <string.h>

#include "base/le.h"
#include "core/memory.h"
#include "core/note.h"

/* ---- Header and note --------------------------------------------------- */

static void image_put_section(uint8_t *entry, const image_section *s)
{
    put_le32(entry + IMAGE_AT_ID, s->id);
    put_le32(entry + IMAGE_AT_ID_FLAGS, s->flags);
    put_le64(entry + IMAGE_AT_OFFSET, s->offset);
    put_le64(entry + IMAGE_AT_LENGTH, s->length);
    put_le64(entry + IMAGE_AT_DIGEST, s->digest);
}

/* All of the section as it is in an image: content, zeros, its one checksum. Returns the size. */
static size_t image_put_note(uint8_t bytes[NOTE_SIZE_MAX + 16], image_section *s, const tamis *f)
{
    size_t sum = (size_t)(s->sums - s->offset);

    memset(bytes, 0, NOTE_SIZE_MAX + 16);
    tamis__note_put(bytes, &f->note);
    put_le64(bytes + sum, tamis__image_sum(bytes, (size_t)s->length));
    s->digest = tamis__image_sum(bytes + sum, 8);
    return sum + 8;
}

static void image_put_note_entry(uint8_t *h, const tamis *f)
{
    uint8_t bytes[NOTE_SIZE_MAX + 16];
    image_section s = tamis__image_note_section(f);

    (void)image_put_note(bytes, &s, f);
    put_le16(h + IMAGE_AT_MINOR, IMAGE_MINOR_WITH_NOTE);
    put_le32(h + IMAGE_AT_SECTIONS, 2);
    image_put_section(h + IMAGE_AT_TABLE + IMAGE_ENTRY_SIZE, &s);
}

/* The digest is that over the checksums of the payload. */
static void image_put_header(uint8_t h[IMAGE_HEADER], const tamis *f, uint64_t digest,
                             uint16_t state)
{
    image_section payload = tamis__image_payload_section(&f->plan);

    payload.digest = digest;
    memset(h, 0, IMAGE_HEADER);
    memcpy(h, IMAGE_MAGIC, IMAGE_MAGIC_SIZE);
    put_le16(h + IMAGE_AT_MAJOR, IMAGE_MAJOR);
    put_le16(h + IMAGE_AT_MINOR, IMAGE_MINOR);
    put_le32(h + IMAGE_AT_HEADER_SIZE, IMAGE_HEADER);
    put_le64(h + IMAGE_AT_IMAGE_SIZE, tamis_image_size(f));
    tamis__image_put_plan(h, &f->plan);
    /* Others may be adding meanwhile, on a map that is being marked dirty. */
    put_le64(h + IMAGE_AT_COUNT, __atomic_load_n(&f->count, __ATOMIC_RELAXED));
    put_le16(h + IMAGE_AT_STATE, state);
    put_le32(h + IMAGE_AT_SECTIONS, 1);
    image_put_section(h + IMAGE_AT_TABLE, &payload);
    if (tamis__image_has_note(f))
        image_put_note_entry(h, f);
    put_le64(h + IMAGE_HEADER - 8, tamis__image_sum(h, IMAGE_HEADER - 8));
}

void tamis__image_dirty_header(uint8_t h[IMAGE_HEADER], const tamis *f)
{
    image_put_header(h, f, 0, IMAGE_DIRTY);
}

/* ---- All of it, from the first byte to the last ------------------------- */

typedef struct image_sender {
    tamis_sink *sink;
    void *ctx;
    uint64_t at; /* bytes sent */
    bool ok;
} image_sender;

static void image_send_bytes(image_sender *p, const void *bytes, uint64_t size)
{
    p->ok = p->ok && (size == 0 || p->sink(p->ctx, bytes, (size_t)size));
    p->at += size;
}

static void image_send_zeros(image_sender *p, uint64_t to)
{
    static const uint8_t zeros[IMAGE_HEADER_MAX];

    image_send_bytes(p, zeros, to - p->at);
}

tamis_status tamis__image_send(const tamis *f, const uint64_t *sums, tamis_sink *sink, void *ctx)
{
    image_section s = tamis__image_payload_section(&f->plan);
    image_sender p = { .sink = sink, .ctx = ctx, .ok = true };
    const uint8_t *payload = f->payload;
    uint8_t header[IMAGE_HEADER], note[NOTE_SIZE_MAX + 16], sum[8];

    image_put_header(header, f, tamis__image_digest(f, &s, sums), IMAGE_WHOLE);
    image_send_bytes(&p, header, sizeof header);
    image_send_zeros(&p, s.offset);
    for (uint64_t at = 0; at < s.length && p.ok; at += IMAGE_BLOCK)
        image_send_bytes(&p, payload ? payload + at : NULL, tamis__image_block(&s, at));
    image_send_zeros(&p, s.sums);
    for (uint64_t at = 0; at < s.length && p.ok; at += IMAGE_BLOCK) {
        put_le64(sum, sums ? sums[at / IMAGE_BLOCK] : tamis__image_block_sum(f, &s, at));
        image_send_bytes(&p, sum, sizeof sum);
    }
    if (tamis__image_has_note(f)) {
        s = tamis__image_note_section(f);
        image_send_zeros(&p, s.offset);
        image_send_bytes(&p, note, image_put_note(note, &s, f));
    }
    return p.ok ? TAMIS_OK : TAMIS_IO;
}

tamis_status tamis_image_send(const tamis *f, tamis_sink *sink, void *ctx)
{
    image_snapshot s;
    tamis_status status = tamis__snapshot(&s, f, &f->alloc);

    if (status)
        return status;
    status = tamis__image_send(s.f, NULL, sink, ctx);
    tamis_free(s.copy);
    return status;
}

static bool image_put_piece(void *ctx, const void *piece, size_t size)
{
    uint8_t **to = ctx;

    memcpy(*to, piece, size);
    *to += size;
    return true;
}

tamis_status tamis_image_write(const tamis *f, void *buf, size_t size)
{
    uint8_t *to = buf;

    return size == tamis_image_size(f) ? tamis_image_send(f, image_put_piece, &to) : TAMIS_RANGE;
}

/* ---- Parts of images --------------------------------------------------- */

/* Bytes `from` up to `to` of an image. */
typedef struct image_cut {
    uint8_t *buf;
    uint64_t from, to;
    uint64_t at; /* bytes that have passed */
} image_cut;

static bool image_cut_out(void *ctx, const void *bytes, size_t size)
{
    image_cut *c = ctx;
    uint64_t first = c->at > c->from ? c->at : c->from;
    uint64_t last = c->at + size < c->to ? c->at + size : c->to;

    if (first < last)
        memcpy(c->buf + (first - c->from), (const uint8_t *)bytes + (first - c->at),
               (size_t)(last - first));
    c->at += size;
    return true;
}

tamis_status tamis__image_part(const tamis *f, uint64_t *sums, uint8_t *buf, size_t size,
                               uint64_t offset)
{
    image_section s = tamis__image_payload_section(&f->plan);
    image_cut c = { .buf = buf, .from = offset, .to = offset + size };

    if (f->image)
        return TAMIS_CANNOT;
    if (offset > tamis_image_size(f) || size > tamis_image_size(f) - offset)
        return TAMIS_RANGE;
    if (c.from >= s.offset && c.to <= s.offset + s.length) {
        memcpy(buf, (const uint8_t *)f->payload + (offset - s.offset), size);
        return TAMIS_OK;
    }
    for (uint64_t at = 0; at < s.length; at += IMAGE_BLOCK) {
        uint64_t *sum = &sums[at / IMAGE_BLOCK];
        if (*sum == 0) /* it is not known */
            *sum = tamis__image_block_sum(f, &s, at);
    }
    return tamis__image_send(f, sums, image_cut_out, &c);
}
