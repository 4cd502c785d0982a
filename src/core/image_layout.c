#include "core/image_layout.h"

#include <string.h>

#include "base/bits.h"
#include "base/le.h"
#include "core/note.h"

/* Large payloads start on a page of their own; small images stay small. */
enum { PAGE = 4096, PAGE_WORTHWHILE = 65536 };

uint64_t tamis__image_blocks(const image_section *s)
{
    return s->length / IMAGE_BLOCK + (s->length % IMAGE_BLOCK != 0);
}

size_t tamis__image_block(const image_section *s, uint64_t at)
{
    return s->length - at < IMAGE_BLOCK ? (size_t)(s->length - at) : IMAGE_BLOCK;
}

bool tamis__image_locate_sums(image_section *s, uint64_t image_size)
{
    if (s->offset > image_size || s->length > image_size - s->offset)
        return false;
    s->sums = round_up(s->offset + s->length, 8);
    s->end = s->sums + 8 * tamis__image_blocks(s);
    return s->end <= image_size;
}

image_section tamis__image_payload_section(const tamis_plan *p)
{
    image_section s = { .id = IMAGE_PAYLOAD_SECTION,
                        .flags = IMAGE_FLAG_CRITICAL,
                        .length = p->bytes };

    s.offset = s.length >= PAGE_WORTHWHILE ? PAGE : IMAGE_HEADER;
    tamis__image_locate_sums(&s, UINT64_MAX / 2);
    return s;
}

bool tamis__image_has_note(const tamis *f)
{
    return f->note.text[0] != '\0';
}

/* Behind the payload. */
image_section tamis__image_note_section(const tamis *f)
{
    image_section s = { .id = IMAGE_NOTE_SECTION, .length = tamis__note_size(&f->note) };

    s.offset = round_up(tamis__image_payload_section(&f->plan).end, 64);
    tamis__image_locate_sums(&s, UINT64_MAX / 2);
    return s;
}

uint64_t tamis__image_size(const tamis_plan *plan)
{
    return tamis__image_payload_section(plan).end;
}

uint64_t tamis__image_sums_count(const tamis_plan *plan)
{
    image_section s = tamis__image_payload_section(plan);

    return tamis__image_blocks(&s);
}

uint64_t tamis__image_offset(const tamis_plan *plan)
{
    return tamis__image_payload_section(plan).offset;
}

size_t tamis_image_size(const tamis *f)
{
    return (size_t)(tamis__image_has_note(f) ? tamis__image_note_section(f).end
                                             : tamis__image_size(&f->plan));
}

image_section tamis__image_section_at(const image_header *h, uint32_t i)
{
    const uint8_t *entry = h->bytes + IMAGE_AT_TABLE + (size_t)i * IMAGE_ENTRY_SIZE;
    image_section s = { .id = le32(entry + IMAGE_AT_ID),
                        .flags = le32(entry + IMAGE_AT_ID_FLAGS),
                        .offset = le64(entry + IMAGE_AT_OFFSET),
                        .length = le64(entry + IMAGE_AT_LENGTH),
                        .digest = le64(entry + IMAGE_AT_DIGEST) };

    return s;
}

void tamis__image_put_plan(uint8_t *h, const tamis_plan *p)
{
    uint64_t fpr_bits;

    memcpy(&fpr_bits, &p->fpr, sizeof fpr_bits);
    put_le32(h + IMAGE_AT_KIND, (uint32_t)p->kind);
    put_le16(h + IMAGE_AT_HASH, (uint16_t)p->hasher.hash);
    put_le16(h + IMAGE_AT_FLAGS, p->flags);
    put_le64(h + IMAGE_AT_SEED, p->hasher.seed);
    memcpy(h + IMAGE_AT_SECRET, p->hasher.secret, sizeof p->hasher.secret);
    put_le64(h + IMAGE_AT_CAPACITY, p->capacity);
    put_le64(h + IMAGE_AT_FPR, fpr_bits);
    put_le64(h + IMAGE_AT_SLOTS, p->slots);
    put_le32(h + IMAGE_AT_WIDTH, p->width);
    put_le32(h + IMAGE_AT_HASHES, p->hashes);
    put_le16(h + IMAGE_AT_LOAD, p->load);
}
