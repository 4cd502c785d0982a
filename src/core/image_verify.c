/* image_verify.c - whether views and maps still hold what they promise, and copies of them. */
#include "core/image_layout.h"

#include <string.h>

#include "base/bits.h"
#include "base/le.h"
#include "core/memory.h"
#include "core/note.h"

/* What a check of a view or map has found. */
typedef struct image_check {
    const uint8_t *image;
    tamis_report *report;
    void *ctx;
    tamis_status status;
} image_check;

static void image_fault(image_check *c, const char *why, uint64_t offset, uint64_t size)
{
    c->status = TAMIS_CORRUPT;
    if (c->report)
        c->report(c->ctx, why, offset, size);
}

static void image_check_zeros(image_check *c, uint64_t from, uint64_t to)
{
    if (!bytes_are_zero(c->image + from, c->image + to))
        image_fault(c, "padding is not zero", from, to - from);
}

static void image_check_blocks(image_check *c, const image_section *s)
{
    for (uint64_t at = 0; at < s->length; at += IMAGE_BLOCK) {
        size_t size = tamis__image_block(s, at);
        uint64_t sum = tamis__image_sum(c->image + s->offset + at, size);
        if (sum != le64(c->image + s->sums + at / IMAGE_BLOCK * 8))
            image_fault(c, "checksum of a block differs", s->offset + at, size);
    }
    if (tamis__image_sum(c->image + s->sums, (size_t)(s->end - s->sums)) != s->digest)
        image_fault(c, "checksum of the checksums differs", s->sums, s->end - s->sums);
}

static void image_check_note(image_check *c, const image_section *s)
{
    tamis_note note;

    if (s->id == IMAGE_NOTE_SECTION &&
        !tamis__note_get(&note, c->image + s->offset, (size_t)s->length))
        image_fault(c, "the note is no text", s->offset, s->length);
}

/* Those of a file that is being written are stale. */
static void image_check_all(image_check *c, const tamis *f)
{
    image_source source = tamis__memory_source(f->image, f->image_size);
    image_header h;

    if (tamis__header_read(&h, &source)) {
        image_fault(c, "the header is damaged", 0, IMAGE_HEADER);
        return;
    }
    if (h.dirty) {
        c->status = f->unseal ? TAMIS_OK : TAMIS_BUSY;
        return;
    }
    uint64_t end = le32(h.bytes + IMAGE_AT_HEADER_SIZE);
    for (uint32_t i = 0; i < h.sections; i++) {
        image_section s = tamis__image_section_at(&h, i);
        tamis__image_locate_sums(&s, source.size);
        image_check_zeros(c, end, s.offset);
        image_check_blocks(c, &s);
        image_check_zeros(c, s.offset + s.length, s.sums);
        image_check_note(c, &s);
        end = s.end;
    }
}

static bool image_is_borrowed(const tamis *f)
{
    return f->image && !f->unseal;
}

/* A writer changes the header first. */
static bool image_has_header(const tamis *f, const uint8_t header[IMAGE_HEADER])
{
    return memcmp(header, f->image, IMAGE_HEADER) == 0;
}

tamis_status tamis_verify(const tamis *f, tamis_report *report, void *ctx)
{
    image_check c = { .image = f->image, .report = report, .ctx = ctx };
    uint8_t header[IMAGE_HEADER];
    tamis now = *f;

    if (image_is_borrowed(f)) {
        memcpy(header, f->image, sizeof header);
        now.count = le64(header + IMAGE_AT_COUNT);
    }
    if (f->image)
        image_check_all(&c, f);
    if (c.status == TAMIS_BUSY)
        return c.status;
    const char *why = f->ops.verify ? f->ops.verify(&now) : NULL;
    if (why) {
        image_section payload = tamis__image_payload_section(&f->plan);
        image_fault(&c, why, payload.offset, payload.length);
    }
    return image_is_borrowed(f) && !image_has_header(f, header) ? TAMIS_BUSY : c.status;
}
/* ---- Copies ------------------------------------------------------------ */

static bool image_plans_are_equal(const tamis_plan *p, const tamis_plan *q)
{
    uint8_t headers[2][IMAGE_HEADER] = { { 0 } };

    tamis__image_put_plan(headers[0], p);
    tamis__image_put_plan(headers[1], q);
    return memcmp(headers[0], headers[1], IMAGE_HEADER) == 0;
}

/* The header may be another one than when the file was mapped. Of that, the count is taken; plan
 * and note are those of f, on which the size of an image depends. */
static tamis_status image_copy_borrowed(tamis **out, const tamis *f, const tamis_allocator *a)
{
    image_source source = tamis__memory_source(f->image, f->image_size);
    uint8_t header[IMAGE_HEADER];
    tamis *copy = NULL;

    memcpy(header, f->image, sizeof header);
    tamis_status status = tamis__image_decode(&copy, &source, a);
    if (!status && image_plans_are_equal(&copy->plan, &f->plan)) {
        copy->note = f->note;
        *out = copy;
        return TAMIS_OK;
    }
    tamis_free(copy);
    if (status == TAMIS_NOMEM)
        return status;
    return status == TAMIS_DIRTY || !image_has_header(f, header) ? TAMIS_BUSY : TAMIS_CORRUPT;
}

tamis_status tamis__image_copy(tamis **out, const tamis *f, const tamis_allocator *a)
{
    tamis *copy;

    if (image_is_borrowed(f))
        return image_copy_borrowed(out, f, a);
    tamis_status status = tamis_new(&copy, &f->plan, a);
    if (status)
        return status;
    memcpy(copy->payload, f->payload, (size_t)f->plan.bytes);
    copy->count = f->count;
    copy->note = f->note;
    tamis__use_cpu(copy, copy->cpu);
    /* Only the lock of a writable map keeps others from writing to it, if they ask. */
    if (f->image && f->ops.verify && f->ops.verify(copy)) {
        tamis_free(copy);
        return TAMIS_CORRUPT;
    }
    *out = copy;
    return TAMIS_OK;
}

tamis_status tamis__snapshot(image_snapshot *s, const tamis *f, const tamis_allocator *a)
{
    *s = (image_snapshot){ .f = f };
    if (!f->image)
        return TAMIS_OK;
    tamis_status status = tamis__image_copy(&s->copy, f, a);
    s->f = s->copy;
    return status;
}
