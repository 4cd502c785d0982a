/* image_decode.c - from an image to a filter.
 *
 * There is one decoder for every kind and every origin. It trusts no number before it was checked
 * against the bytes that are really there, and checksums only tell accidents: a hostile image has
 * the right ones. */
#include "core/image_layout.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bits.h"
#include "base/le.h"
#include "core/memory.h"
#include "core/note.h"
#include "core/plan.h"

uint64_t tamis__image_sum(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

uint64_t tamis__image_digest(const tamis *f, const image_section *payload, const uint64_t *sums)
{
    XXH3_state_t state;
    uint8_t sum[8];

    XXH3_64bits_reset(&state);
    for (uint64_t at = 0; at < payload->length; at += IMAGE_BLOCK) {
        put_le64(sum, sums ? sums[at / IMAGE_BLOCK] : tamis__image_block_sum(f, payload, at));
        XXH3_64bits_update(&state, sum, sizeof sum);
    }
    return XXH3_64bits_digest(&state);
}

uint64_t tamis__image_block_sum(const tamis *f, const image_section *payload, uint64_t at)
{
    return XXH3_64bits((const uint8_t *)f->payload + at, tamis__image_block(payload, at));
}

/* ---- Reading: the header ----------------------------------------------- */

/* What is wrong before the checksum can be looked at. */
static tamis_status image_check_preamble(image_header *h, const image_source *s)
{
    size_t size = s->size < IMAGE_HEADER ? (size_t)s->size : IMAGE_HEADER;

    memset(h->bytes, 0, IMAGE_HEADER);
    if (!s->read(s, 0, h->bytes, size))
        return TAMIS_IO;
    if (size < 4 || memcmp(h->bytes, IMAGE_MAGIC, 4) != 0)
        return TAMIS_FOREIGN;
    if (size < IMAGE_HEADER || memcmp(h->bytes, IMAGE_MAGIC, IMAGE_MAGIC_SIZE) != 0)
        return TAMIS_CORRUPT;
    h->image_size = le64(h->bytes + IMAGE_AT_IMAGE_SIZE);
    return le16(h->bytes + IMAGE_AT_MAJOR) > IMAGE_MAJOR ? TAMIS_NEWER : TAMIS_OK;
}

static tamis_status image_check_header_sum(image_header *h, const image_source *s)
{
    uint32_t size = le32(h->bytes + IMAGE_AT_HEADER_SIZE);

    if (size < IMAGE_HEADER || size > IMAGE_HEADER_MAX || size % 64 || size > h->image_size ||
        (s->size != IMAGE_SIZE_UNKNOWN && s->size != h->image_size))
        return TAMIS_CORRUPT;
    /* The file may have changed since the first bytes were read: they are not read again. */
    if (size > IMAGE_HEADER &&
        !s->read(s, IMAGE_HEADER, h->bytes + IMAGE_HEADER, size - IMAGE_HEADER))
        return TAMIS_IO;
    if (tamis__image_sum(h->bytes, size - 8) != le64(h->bytes + size - 8))
        return TAMIS_CORRUPT;
    return TAMIS_OK;
}

/* A section that this version does not know may be skipped only if it says so. */
static tamis_status image_check_section(image_section *s, uint64_t previous_end,
                                        uint64_t image_size)
{
    if (s->flags & ~(uint32_t)IMAGE_FLAG_CRITICAL)
        return TAMIS_NEWER;
    if (s->id != IMAGE_PAYLOAD_SECTION && s->flags & IMAGE_FLAG_CRITICAL)
        return TAMIS_NEWER;
    if (s->offset < previous_end || s->offset % 64 || !tamis__image_locate_sums(s, image_size))
        return TAMIS_CORRUPT;
    if (s->id == IMAGE_NOTE_SECTION && (s->length <= NOTE_TIME_SIZE || s->length > NOTE_SIZE_MAX))
        return TAMIS_CORRUPT;
    return TAMIS_OK;
}

/* Ascending, apart, one payload, and the last one ends the image. */
static tamis_status image_check_sections(image_header *h)
{
    uint32_t header_size = le32(h->bytes + IMAGE_AT_HEADER_SIZE);
    uint64_t end = header_size;
    unsigned payloads = 0, notes = 0;

    h->note_size = 0;
    h->sections = le32(h->bytes + IMAGE_AT_SECTIONS);
    if (h->sections > (header_size - 8 - IMAGE_AT_TABLE) / IMAGE_ENTRY_SIZE)
        return TAMIS_CORRUPT;
    for (uint32_t i = 0; i < h->sections; i++) {
        image_section s = tamis__image_section_at(h, i);
        tamis_status status = image_check_section(&s, end, h->image_size);
        if (status)
            return status;
        if (s.id == IMAGE_PAYLOAD_SECTION) {
            payloads++;
            h->payload_offset = s.offset;
            h->plan.bytes = s.length;
        } else if (s.id == IMAGE_NOTE_SECTION) {
            notes++;
            h->note_offset = s.offset;
            h->note_size = (size_t)s.length;
        }
        end = s.end;
    }
    const uint8_t *unused = h->bytes + IMAGE_AT_TABLE + (size_t)h->sections * IMAGE_ENTRY_SIZE;
    if (payloads != 1 || notes > 1 || end != h->image_size ||
        !bytes_are_zero(unused, h->bytes + header_size - 8))
        return TAMIS_CORRUPT;
    return TAMIS_OK;
}

static tamis_status image_get_plan(tamis_plan *p, const uint8_t *h)
{
    uint64_t fpr_bits = le64(h + IMAGE_AT_FPR);
    uint32_t kind = le32(h + IMAGE_AT_KIND), hash = le16(h + IMAGE_AT_HASH);

    if (hash > TAMIS_RAW || kind > INT32_MAX || !tamis_kind_name((tamis_kind)kind) ||
        le16(h + IMAGE_AT_FLAGS) >= 2 * TAMIS_PLAN_ASKS_KEYS)
        return TAMIS_NEWER;
    if (!tamis__ops((tamis_kind)kind))
        return TAMIS_CANNOT;
    p->kind = (tamis_kind)kind;
    p->hasher.hash = (tamis_hash)hash;
    p->hasher.seed = le64(h + IMAGE_AT_SEED);
    memcpy(p->hasher.secret, h + IMAGE_AT_SECRET, sizeof p->hasher.secret);
    p->capacity = le64(h + IMAGE_AT_CAPACITY);
    memcpy(&p->fpr, &fpr_bits, sizeof p->fpr);
    p->slots = le64(h + IMAGE_AT_SLOTS);
    p->width = le32(h + IMAGE_AT_WIDTH);
    p->hashes = le32(h + IMAGE_AT_HASHES);
    p->flags = le16(h + IMAGE_AT_FLAGS);
    p->load = le16(h + IMAGE_AT_LOAD);
    if (!tamis__plan_is_valid(p))
        return TAMIS_CORRUPT;
    tamis__plan_set_limits(p);
    return TAMIS_OK;
}

tamis_status tamis__header_read(image_header *h, const image_source *s)
{
    tamis_status status = image_check_preamble(h, s);

    h->plan = (tamis_plan){ 0 };
    if (!status)
        status = image_check_header_sum(h, s);
    if (status)
        return status;
    if (le16(h->bytes + IMAGE_AT_MAJOR) < IMAGE_MAJOR ||
        le16(h->bytes + IMAGE_AT_STATE) > IMAGE_DIRTY)
        return TAMIS_CORRUPT;
    status = image_check_sections(h);
    if (status)
        return status;
    h->count = le64(h->bytes + IMAGE_AT_COUNT);
    h->dirty = le16(h->bytes + IMAGE_AT_STATE) == IMAGE_DIRTY;
    return image_get_plan(&h->plan, h->bytes);
}

bool tamis__header_is_ours(const image_header *h)
{
    image_section payload = tamis__image_payload_section(&h->plan);
    bool has_note = h->note_size > 0;

    return le32(h->bytes + IMAGE_AT_HEADER_SIZE) == IMAGE_HEADER &&
           h->sections == (has_note ? 2 : 1) &&
           le16(h->bytes + IMAGE_AT_MINOR) == (has_note ? IMAGE_MINOR_WITH_NOTE : IMAGE_MINOR) &&
           h->payload_offset == payload.offset &&
           (!has_note || h->note_offset == round_up(payload.end, 64));
}

/* ---- Reading: the rest ------------------------------------------------- */

/* Source and place of the next byte. */
typedef struct image_reader {
    const image_source *source;
    uint64_t at;
} image_reader;

static bool image_take(image_reader *r, void *piece, uint64_t size)
{
    uint64_t at = r->at;

    r->at += size;
    return !size || r->source->read(r->source, at, piece, (size_t)size);
}

/* Bytes that belong to nothing are zero, so that no change anywhere goes unnoticed. */
static tamis_status image_take_zeros(image_reader *in, uint64_t to)
{
    uint8_t buf[512];

    while (in->at < to) {
        size_t size = to - in->at < sizeof buf ? (size_t)(to - in->at) : sizeof buf;
        if (!image_take(in, buf, size))
            return TAMIS_IO;
        if (!bytes_are_zero(buf, buf + size))
            return TAMIS_CORRUPT;
    }
    return TAMIS_OK;
}

/* The sum of the next bytes, which go to `dest` or, if that is NULL, nowhere. */
static bool image_take_block(image_reader *in, uint64_t *sum, uint8_t *dest, size_t size)
{
    XXH3_state_t state;
    uint8_t buf[512];

    if (dest) {
        bool ok = image_take(in, dest, size);
        *sum = ok ? XXH3_64bits(dest, size) : 0;
        return ok;
    }
    XXH3_64bits_reset(&state);
    for (size_t at = 0; at < size; at += sizeof buf) {
        size_t piece = size - at < sizeof buf ? size - at : sizeof buf;
        if (!image_take(in, buf, piece))
            return false;
        XXH3_64bits_update(&state, buf, piece);
    }
    *sum = XXH3_64bits_digest(&state);
    return true;
}

bool tamis__image_sums(uint64_t *sums, const tamis *f, const image_source *written)
{
    image_section payload = tamis__image_payload_section(&f->plan);
    image_reader in = { .source = written, .at = payload.offset };

    for (uint64_t at = 0; at < payload.length; at += IMAGE_BLOCK, sums++)
        if (!written)
            *sums = tamis__image_block_sum(f, &payload, at);
        else if (!image_take_block(&in, sums, NULL, tamis__image_block(&payload, at)))
            return false;
    return true;
}

/* A section. Its checksums come after it: the digest over those of the blocks that came, and the
 * digest over those that are in the image, both have to be the one in the header. */
static tamis_status image_take_section(image_reader *in, const image_section *s, uint8_t *dest)
{
    XXH3_state_t came, kept;
    uint8_t bytes[8];
    uint64_t sum;

    XXH3_64bits_reset(&came);
    XXH3_64bits_reset(&kept);
    for (uint64_t at = 0; at < s->length; at += IMAGE_BLOCK) {
        if (!image_take_block(in, &sum, dest ? dest + at : NULL, tamis__image_block(s, at)))
            return TAMIS_IO;
        put_le64(bytes, sum);
        XXH3_64bits_update(&came, bytes, sizeof bytes);
    }
    tamis_status status = image_take_zeros(in, s->sums);
    for (uint64_t at = 0; at < s->length && !status; at += IMAGE_BLOCK) {
        if (!image_take(in, bytes, sizeof bytes))
            return TAMIS_IO;
        XXH3_64bits_update(&kept, bytes, sizeof bytes);
    }
    if (!status &&
        (XXH3_64bits_digest(&came) != s->digest || XXH3_64bits_digest(&kept) != s->digest))
        return TAMIS_CORRUPT;
    return status;
}

static tamis_status image_take_note(image_reader *in, const image_section *s, tamis *f)
{
    uint8_t content[NOTE_SIZE_MAX];
    tamis_status status = image_take_section(in, s, content);

    if (status)
        return status;
    return tamis__note_get(&f->note, content, (size_t)s->length) ? TAMIS_OK : TAMIS_CORRUPT;
}

/* The filter of a header that was read; the rest of the image comes. */
static tamis_status image_take_filter(tamis **out, image_reader *in, const image_header *h,
                                      const tamis_allocator *a)
{
    tamis *f;
    tamis_status status = h->dirty ? TAMIS_DIRTY : tamis_new(&f, &h->plan, a);

    if (status)
        return status;
    for (uint32_t i = 0; i < h->sections && !status; i++) {
        image_section s = tamis__image_section_at(h, i);
        /* Of a header that was accepted, this cannot fail. */
        tamis__image_locate_sums(&s, h->image_size);
        status = image_take_zeros(in, s.offset);
        if (!status && s.id == IMAGE_NOTE_SECTION)
            status = image_take_note(in, &s, f);
        else if (!status)
            status = image_take_section(in, &s, s.id == IMAGE_PAYLOAD_SECTION ? f->payload : NULL);
    }
    f->count = h->count;
    if (!status && f->ops.verify && f->ops.verify(f))
        status = TAMIS_CORRUPT;
    if (status) {
        tamis_free(f);
        return status;
    }
    tamis__use_cpu(f, f->cpu);
    *out = f;
    return TAMIS_OK;
}

static tamis_status image_decode(tamis **out, const image_source *s, uint64_t max_bytes,
                                 const tamis_allocator *a)
{
    image_reader in = { .source = s };
    image_header h;
    tamis_status status = tamis__header_read(&h, s);

    if (!status && h.image_size > max_bytes)
        status = TAMIS_RANGE;
    in.at = le32(h.bytes + IMAGE_AT_HEADER_SIZE);
    return status ? status : image_take_filter(out, &in, &h, a);
}

tamis_status tamis__image_decode(tamis **out, const image_source *s, const tamis_allocator *a)
{
    return image_decode(out, s, UINT64_MAX, a);
}

tamis_status tamis__image_borrow(tamis **out, const image_header *h, const image_source *s,
                                 const tamis_allocator *a)
{
    tamis *f;
    tamis_status status = tamis__struct_new(&f, &h->plan, a);

    if (status)
        return status;
    /* A header that is written anew counts on what it says of the note. */
    if (h->note_size && !tamis__note_get(&f->note, s->memory + h->note_offset, h->note_size)) {
        tamis_free(f);
        return TAMIS_CORRUPT;
    }
    f->count = h->count;
    f->readonly = true;
    f->image = s->memory;
    f->image_size = (size_t)s->size;
    /* Writable maps write here; views are kept from it by `readonly`. */
    f->payload = (uint8_t *)(uintptr_t)(s->memory + h->payload_offset);
    tamis__use_cpu(f, f->cpu);
    *out = f;
    return TAMIS_OK;
}

/* ---- From memory, and in pieces ---------------------------------------- */

static bool image_read_memory(const image_source *s, uint64_t offset, void *buf, size_t size)
{
    memcpy(buf, s->memory + offset, size);
    return true;
}

image_source tamis__memory_source(const void *image, uint64_t size)
{
    return (image_source){ .read = image_read_memory, .memory = image, .fd = -1, .size = size };
}

tamis_status tamis_image_read(tamis **out, const void *buf, size_t size, const tamis_allocator *a)
{
    image_source source = tamis__memory_source(buf, size);

    return tamis__image_decode(out, &source, a);
}

tamis_status tamis_image_view(tamis **out, const void *buf, size_t size, const tamis_allocator *a)
{
    image_source source = tamis__memory_source(buf, size);
    image_header h;

    if ((uintptr_t)buf % 64)
        return TAMIS_RANGE;
    tamis_status status = tamis__header_read(&h, &source);
    if (!status && h.dirty)
        status = TAMIS_DIRTY;
    return status ? status : tamis__image_borrow(out, &h, &source, a);
}

typedef struct image_pieces {
    image_source source; /* first: read() is given a pointer to it */
    tamis_source *take;
    void *ctx;
} image_pieces;

/* The decoder asks for every byte once, in order. */
static bool image_read_piece(const image_source *s, uint64_t offset, void *buf, size_t size)
{
    const image_pieces *p = (const image_pieces *)s;

    (void)offset;
    return p->take(p->ctx, buf, size);
}

tamis_status tamis_image_receive(tamis **out, tamis_source *source, void *ctx, uint64_t max_bytes,
                                 const tamis_allocator *a)
{
    const image_pieces p = { .source = { .read = image_read_piece, .size = IMAGE_SIZE_UNKNOWN },
                             .take = source,
                             .ctx = ctx };

    return image_decode(out, &p.source, max_bytes, a);
}
