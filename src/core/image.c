/* image.c - the image format: header, sections, checksums. Specified in docs/format.md.
 *
 *   header | zeros | payload | zeros to 8 | one checksum per MiB of payload
 *
 * There is one decoder for every kind and every origin. It trusts no number before it was checked
 * against the bytes that are really there, and checksums only tell accidents: a hostile image has
 * the right ones. */
#include "core/image.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bits.h"
#include "base/le.h"
#include "core/memory.h"
#include "core/plan.h"

/* ---- Layout ------------------------------------------------------------ */

/* A high bit and both line ends, so that a transfer as text does not go unnoticed. */
static const uint8_t MAGIC[8] = { 0x89, 'T', 'M', 'S', '\r', '\n', 0x1a, '\n' };

enum { MAJOR = 1, MINOR = 0 };

/* Offsets in the header. */
enum {
    AT_MAJOR = 8,
    AT_MINOR = 10,
    AT_HEADER_SIZE = 12,
    AT_IMAGE_SIZE = 16,
    AT_KIND = 24,
    AT_HASH = 28,
    AT_SEED = 32,
    AT_SECRET = 40,
    AT_CAPACITY = 56,
    AT_FPR = 64,
    AT_SLOTS = 72,
    AT_WIDTH = 80,
    AT_HASHES = 84,
    AT_COUNT = 88,
    AT_STATE = 96,
    AT_SECTIONS = 100,
    AT_TABLE = 104,
};

enum { STATE_WHOLE = 0, STATE_DIRTY = 1 };

/* Offsets in an entry of the section table. */
enum { AT_ID = 0, AT_FLAGS = 4, AT_OFFSET = 8, AT_LENGTH = 16, AT_DIGEST = 24, ENTRY_SIZE = 32 };

enum { SECTION_PAYLOAD = 1, FLAG_CRITICAL = 1 };

/* Large payloads start on a page of their own; small images stay small. */
enum { PAGE = 4096, PAGE_WORTHWHILE = 65536 };

typedef struct {
    uint32_t id, flags;
    uint64_t offset, length, digest;
    uint64_t sums, end; /* derived: where the checksums start, and where they stop */
} section;

static uint64_t blocks_of(uint64_t length)
{
    return length / IMAGE_BLOCK + (length % IMAGE_BLOCK != 0);
}

/* False if the section cannot lie in an image of that size. */
static bool locate_sums(section *s, uint64_t image_size)
{
    if (s->offset > image_size || s->length > image_size - s->offset)
        return false;
    s->sums = round_up(s->offset + s->length, 8);
    s->end = s->sums + 8 * blocks_of(s->length);
    return s->end <= image_size;
}

static section payload_section(const tamis_plan *p)
{
    section s = { .id = SECTION_PAYLOAD, .flags = FLAG_CRITICAL, .length = p->bytes };

    s.offset = s.length >= PAGE_WORTHWHILE ? PAGE : IMAGE_HEADER;
    locate_sums(&s, UINT64_MAX / 2);
    return s;
}

uint64_t tamis__image_size(const tamis *f)
{
    return payload_section(&f->plan).end;
}

uint64_t tamis__image_offset(const tamis_plan *plan)
{
    return payload_section(plan).offset;
}

/* ---- Memory as a source and a sink ------------------------------------- */

static bool read_memory(const image_source *s, uint64_t offset, void *buf, size_t size)
{
    memcpy(buf, s->memory + offset, size);
    return true;
}

image_source tamis__memory_source(const void *image, size_t size)
{
    return (image_source){ .read = read_memory, .memory = image, .fd = -1, .size = size };
}

static bool write_memory(const image_sink *s, uint64_t offset, const void *buf, size_t size)
{
    memcpy(s->memory + offset, buf, size);
    return true;
}

/* ---- Writing ----------------------------------------------------------- */

static void put_plan(uint8_t *h, const tamis_plan *p)
{
    uint64_t fpr_bits;

    memcpy(&fpr_bits, &p->fpr, sizeof fpr_bits);
    put_le32(h + AT_KIND, (uint32_t)p->kind);
    put_le32(h + AT_HASH, (uint32_t)p->hasher.hash);
    put_le64(h + AT_SEED, p->hasher.seed);
    memcpy(h + AT_SECRET, p->hasher.secret, sizeof p->hasher.secret);
    put_le64(h + AT_CAPACITY, p->capacity);
    put_le64(h + AT_FPR, fpr_bits);
    put_le64(h + AT_SLOTS, p->slots);
    put_le32(h + AT_WIDTH, p->width);
    put_le32(h + AT_HASHES, p->hashes);
}

static void put_section(uint8_t *entry, const section *s)
{
    put_le32(entry + AT_ID, s->id);
    put_le32(entry + AT_FLAGS, s->flags);
    put_le64(entry + AT_OFFSET, s->offset);
    put_le64(entry + AT_LENGTH, s->length);
    put_le64(entry + AT_DIGEST, s->digest);
}

static bool write_header(const tamis *f, const image_sink *sink, const section *s, uint32_t state)
{
    uint8_t h[IMAGE_HEADER] = { 0 };

    memcpy(h, MAGIC, sizeof MAGIC);
    put_le16(h + AT_MAJOR, MAJOR);
    put_le16(h + AT_MINOR, MINOR);
    put_le32(h + AT_HEADER_SIZE, sizeof h);
    put_le64(h + AT_IMAGE_SIZE, s->end);
    put_plan(h, &f->plan);
    /* Others may be adding meanwhile, on a map that is being marked dirty. */
    put_le64(h + AT_COUNT, __atomic_load_n(&f->count, __ATOMIC_RELAXED));
    put_le32(h + AT_STATE, state);
    put_le32(h + AT_SECTIONS, 1);
    put_section(h + AT_TABLE, s);
    put_le64(h + sizeof h - 8, XXH3_64bits(h, sizeof h - 8));
    return sink->write(sink, 0, h, sizeof h);
}

static size_t block_length(const section *s, uint64_t at)
{
    return s->length - at < IMAGE_BLOCK ? (size_t)(s->length - at) : IMAGE_BLOCK;
}

/* Checksum of a block that is only looked at: from a file, through a small buffer. */
static bool sum_in_passing(uint64_t *sum, const image_source *s, uint64_t offset, size_t size)
{
    XXH3_state_t state;
    uint8_t buf[PAGE];

    XXH3_64bits_reset(&state);
    for (size_t at = 0; at < size; at += sizeof buf) {
        size_t part = size - at < sizeof buf ? size - at : sizeof buf;
        if (!s->read(s, offset + at, buf, part))
            return false;
        XXH3_64bits_update(&state, buf, part);
    }
    *sum = XXH3_64bits_digest(&state);
    return true;
}

/* Each MiB is written while the checksum has it in cache; unless it is `written` there already. */
static bool write_section(const tamis *f, const image_source *written, const image_sink *sink,
                          section *s, bool with_payload)
{
    const uint8_t *payload = f->payload;
    XXH3_state_t digest;

    XXH3_64bits_reset(&digest);
    for (uint64_t at = 0; at < s->length; at += IMAGE_BLOCK) {
        size_t size = block_length(s, at);
        uint64_t sum;
        uint8_t bytes[8];
        if (!written)
            sum = XXH3_64bits(payload + at, size);
        else if (!sum_in_passing(&sum, written, s->offset + at, size))
            return false;
        put_le64(bytes, sum);
        XXH3_64bits_update(&digest, bytes, sizeof bytes);
        if (with_payload && !sink->write(sink, s->offset + at, payload + at, size))
            return false;
        if (!sink->write(sink, s->sums + at / IMAGE_BLOCK * 8, bytes, sizeof bytes))
            return false;
    }
    s->digest = XXH3_64bits_digest(&digest);
    return true;
}

static bool write_zeros(const image_sink *sink, uint64_t from, uint64_t to)
{
    static const uint8_t zeros[PAGE];

    return sink->write(sink, from, zeros, (size_t)(to - from));
}

static bool encode(const tamis *f, const image_source *written, const image_sink *sink)
{
    section s = payload_section(&f->plan);

    return write_zeros(sink, IMAGE_HEADER, s.offset) &&
           write_section(f, written, sink, &s, !written) &&
           write_zeros(sink, s.offset + s.length, s.sums) && write_header(f, sink, &s, STATE_WHOLE);
}

bool tamis__image_encode(const tamis *f, const image_sink *sink)
{
    return encode(f, NULL, sink);
}

bool tamis__image_complete(const tamis *f, const image_source *written, const image_sink *sink)
{
    return encode(f, written, sink);
}

bool tamis__image_seal(const tamis *f, const image_sink *sink)
{
    section s = payload_section(&f->plan);

    return write_section(f, NULL, sink, &s, false) && sink->flush(sink) &&
           write_header(f, sink, &s, STATE_WHOLE);
}

bool tamis__image_unseal(const tamis *f, const image_sink *sink)
{
    section s = payload_section(&f->plan);

    return write_header(f, sink, &s, STATE_DIRTY);
}

/* ---- Reading: the header ----------------------------------------------- */

/* What is wrong before the checksum can be looked at. */
static tamis_status check_preamble(image_header *h, const image_source *s)
{
    size_t size = s->size < IMAGE_HEADER ? (size_t)s->size : IMAGE_HEADER;

    memset(h->bytes, 0, IMAGE_HEADER);
    if (!s->read(s, 0, h->bytes, size))
        return TAMIS_IO;
    if (size < 4 || memcmp(h->bytes, MAGIC, 4) != 0)
        return TAMIS_FOREIGN;
    if (size < IMAGE_HEADER || memcmp(h->bytes, MAGIC, sizeof MAGIC) != 0)
        return TAMIS_CORRUPT;
    return le16(h->bytes + AT_MAJOR) > MAJOR ? TAMIS_NEWER : TAMIS_OK;
}

static tamis_status check_header_sum(image_header *h, const image_source *s)
{
    uint32_t size = le32(h->bytes + AT_HEADER_SIZE);

    if (size < IMAGE_HEADER || size > IMAGE_HEADER_MAX || size % 64 || size > s->size)
        return TAMIS_CORRUPT;
    if (!s->read(s, 0, h->bytes, size))
        return TAMIS_IO;
    /* A file may change between two reads. */
    if (le32(h->bytes + AT_HEADER_SIZE) != size)
        return TAMIS_CORRUPT;
    if (XXH3_64bits(h->bytes, size - 8) != le64(h->bytes + size - 8))
        return TAMIS_CORRUPT;
    return TAMIS_OK;
}

static section section_at(const image_header *h, uint32_t i)
{
    const uint8_t *entry = h->bytes + AT_TABLE + (size_t)i * ENTRY_SIZE;

    return (section){ .id = le32(entry + AT_ID),
                      .flags = le32(entry + AT_FLAGS),
                      .offset = le64(entry + AT_OFFSET),
                      .length = le64(entry + AT_LENGTH),
                      .digest = le64(entry + AT_DIGEST) };
}

/* A section that this version does not know may be skipped only if it says so. */
static tamis_status check_section(section *s, uint64_t previous_end, uint64_t image_size)
{
    if (s->flags & ~(uint32_t)FLAG_CRITICAL)
        return TAMIS_NEWER;
    if (s->id != SECTION_PAYLOAD && s->flags & FLAG_CRITICAL)
        return TAMIS_NEWER;
    if (s->offset < previous_end || s->offset % 64 || !locate_sums(s, image_size))
        return TAMIS_CORRUPT;
    return TAMIS_OK;
}

static bool is_zero(const uint8_t *from, const uint8_t *to)
{
    for (; from < to; from++)
        if (*from)
            return false;
    return true;
}

/* Ascending, apart, one payload, and the last one ends the image. */
static tamis_status check_sections(image_header *h, uint64_t image_size)
{
    uint32_t header_size = le32(h->bytes + AT_HEADER_SIZE);
    uint64_t end = header_size;
    unsigned payloads = 0;

    h->sections = le32(h->bytes + AT_SECTIONS);
    if (h->sections > (header_size - 8 - AT_TABLE) / ENTRY_SIZE)
        return TAMIS_CORRUPT;
    for (uint32_t i = 0; i < h->sections; i++) {
        section s = section_at(h, i);
        tamis_status status = check_section(&s, end, image_size);
        if (status)
            return status;
        if (s.id == SECTION_PAYLOAD) {
            payloads++;
            h->payload_offset = s.offset;
            h->plan.bytes = s.length;
        }
        end = s.end;
    }
    const uint8_t *unused = h->bytes + AT_TABLE + (size_t)h->sections * ENTRY_SIZE;
    if (payloads != 1 || end != image_size || !is_zero(unused, h->bytes + header_size - 8))
        return TAMIS_CORRUPT;
    return TAMIS_OK;
}

static tamis_status get_plan(tamis_plan *p, const uint8_t *h)
{
    uint64_t fpr_bits = le64(h + AT_FPR);
    uint32_t kind = le32(h + AT_KIND), hash = le32(h + AT_HASH);

    if (hash > TAMIS_RAW || kind > INT32_MAX || !tamis__ops((tamis_kind)kind))
        return TAMIS_NEWER;
    p->kind = (tamis_kind)kind;
    p->hasher.hash = (tamis_hash)hash;
    p->hasher.seed = le64(h + AT_SEED);
    memcpy(p->hasher.secret, h + AT_SECRET, sizeof p->hasher.secret);
    p->capacity = le64(h + AT_CAPACITY);
    memcpy(&p->fpr, &fpr_bits, sizeof p->fpr);
    p->slots = le64(h + AT_SLOTS);
    p->width = le32(h + AT_WIDTH);
    p->hashes = le32(h + AT_HASHES);
    return tamis__plan_is_valid(p) ? TAMIS_OK : TAMIS_CORRUPT;
}

tamis_status tamis__header_read(image_header *h, const image_source *s)
{
    tamis_status status = check_preamble(h, s);

    h->plan = (tamis_plan){ 0 };
    if (!status)
        status = check_header_sum(h, s);
    if (status)
        return status;
    if (le16(h->bytes + AT_MAJOR) < MAJOR || le64(h->bytes + AT_IMAGE_SIZE) != s->size ||
        le32(h->bytes + AT_STATE) > STATE_DIRTY)
        return TAMIS_CORRUPT;
    status = check_sections(h, s->size);
    if (status)
        return status;
    h->count = le64(h->bytes + AT_COUNT);
    h->dirty = le32(h->bytes + AT_STATE) == STATE_DIRTY;
    return get_plan(&h->plan, h->bytes);
}

bool tamis__header_is_ours(const image_header *h)
{
    return le32(h->bytes + AT_HEADER_SIZE) == IMAGE_HEADER && h->sections == 1 &&
           le16(h->bytes + AT_MINOR) == MINOR &&
           h->payload_offset == payload_section(&h->plan).offset;
}

/* ---- Reading: the rest ------------------------------------------------- */

typedef struct {
    const image_source *source;
    tamis_report *report;
    void *ctx;
    tamis_status status; /* CORRUPT after any fault, IO ends the walk */
} walk;

static void fault(walk *w, const char *why, uint64_t offset, uint64_t size)
{
    w->status = TAMIS_CORRUPT;
    if (w->report)
        w->report(w->ctx, why, offset, size);
}

/* Bytes that belong to nothing are zero, so that no change anywhere goes unnoticed. */
static void check_zeros(walk *w, uint64_t from, uint64_t to)
{
    uint8_t buf[PAGE];

    for (uint64_t at = from; at < to && w->status != TAMIS_IO; at += sizeof buf) {
        size_t size = to - at < sizeof buf ? (size_t)(to - at) : sizeof buf;
        if (!w->source->read(w->source, at, buf, size))
            w->status = TAMIS_IO;
        else if (!is_zero(buf, buf + size))
            fault(w, "padding is not zero", at, size);
    }
}

/* Copies the block to `dest` unless that is NULL. */
static bool sum_block(uint64_t *sum, const image_source *s, uint64_t offset, size_t size,
                      uint8_t *dest)
{
    if (!dest && !s->memory)
        return sum_in_passing(sum, s, offset, size);
    if (dest && !s->read(s, offset, dest, size))
        return false;
    *sum = XXH3_64bits(dest ? dest : s->memory + offset, size);
    return true;
}

static void check_blocks(walk *w, const section *s, uint8_t *dest)
{
    XXH3_state_t digest;

    XXH3_64bits_reset(&digest);
    for (uint64_t at = 0; at < s->length; at += IMAGE_BLOCK) {
        size_t size = block_length(s, at);
        uint64_t sum;
        uint8_t expected[8];
        if (!w->source->read(w->source, s->sums + at / IMAGE_BLOCK * 8, expected, 8) ||
            !sum_block(&sum, w->source, s->offset + at, size, dest ? dest + at : NULL)) {
            w->status = TAMIS_IO;
            return;
        }
        XXH3_64bits_update(&digest, expected, sizeof expected);
        if (sum != le64(expected))
            fault(w, "checksum of a block differs", s->offset + at, size);
    }
    if (XXH3_64bits_digest(&digest) != s->digest)
        fault(w, "checksum of the checksums differs", s->sums, s->end - s->sums);
}

/* Everything but the header; the payload is copied to `dest` on the way unless that is NULL. */
static void check_body(walk *w, const image_header *h, uint8_t *dest)
{
    uint64_t end = le32(h->bytes + AT_HEADER_SIZE);

    for (uint32_t i = 0; i < h->sections && w->status != TAMIS_IO; i++) {
        section s = section_at(h, i);
        /* Of a header that was accepted, this cannot fail. */
        locate_sums(&s, w->source->size);
        check_zeros(w, end, s.offset);
        if (w->status != TAMIS_IO)
            check_blocks(w, &s, s.id == SECTION_PAYLOAD ? dest : NULL);
        check_zeros(w, s.offset + s.length, s.sums);
        end = s.end;
    }
}

tamis_status tamis__image_decode(tamis **out, const image_source *s, const tamis_allocator *a)
{
    image_header h;
    tamis *f;
    walk w = { .source = s };

    tamis_status status = tamis__header_read(&h, s);
    if (!status && h.dirty)
        status = TAMIS_DIRTY;
    if (!status)
        status = tamis_new(&f, &h.plan, a);
    if (status)
        return status;
    check_body(&w, &h, f->payload);
    f->count = h.count;
    if (!w.status && f->ops->verify && f->ops->verify(f))
        w.status = TAMIS_CORRUPT;
    if (w.status)
        tamis_free(f);
    else
        *out = f;
    return w.status;
}

tamis_status tamis__image_borrow(tamis **out, const image_header *h, const image_source *s,
                                 const tamis_allocator *a)
{
    tamis *f;
    tamis_status status = tamis__struct_new(&f, &h->plan, a);

    if (status)
        return status;
    f->count = h->count;
    f->readonly = true;
    f->image = s->memory;
    f->image_size = (size_t)s->size;
    /* Writable maps write here; views are kept from it by `readonly`. */
    f->payload = (uint8_t *)(uintptr_t)(s->memory + h->payload_offset);
    *out = f;
    return TAMIS_OK;
}

/* ---- Public calls ------------------------------------------------------ */

size_t tamis_image_size(const tamis *f)
{
    return (size_t)tamis__image_size(f);
}

tamis_status tamis_image_write(const tamis *f, void *buf, size_t size)
{
    image_sink sink = { .write = write_memory, .memory = buf, .fd = -1 };

    if (size != tamis_image_size(f))
        return TAMIS_RANGE;
    image_snapshot s;
    tamis_status status = tamis__snapshot(&s, f);
    if (status)
        return status;
    (void)tamis__image_encode(&s.now, &sink);
    return tamis__snapshot_holds(&s) ? TAMIS_OK : TAMIS_BUSY;
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

/* The checksums of a view or map. Those of a file that is being written are stale. */
static void verify_image(walk *w, const tamis *f)
{
    image_source source = tamis__memory_source(f->image, f->image_size);
    image_header h;

    w->source = &source;
    if (tamis__header_read(&h, &source))
        fault(w, "the header is damaged", 0, IMAGE_HEADER);
    else if (!h.dirty)
        check_body(w, &h, NULL);
    else if (f->fd < 0)
        w->status = TAMIS_BUSY;
}

static bool is_borrowed(const tamis *f)
{
    return f->image && f->fd < 0;
}

static void look(image_snapshot *s, const tamis *f)
{
    s->now = *f;
    if (!is_borrowed(f))
        return;
    memcpy(s->header, f->image, sizeof s->header);
    s->now.count = le64(s->header + AT_COUNT);
}

tamis_status tamis__snapshot(image_snapshot *s, const tamis *f)
{
    look(s, f);
    return is_borrowed(f) ? tamis_verify(f, NULL, NULL) : TAMIS_OK;
}

bool tamis__snapshot_holds(const image_snapshot *s)
{
    return !is_borrowed(&s->now) || memcmp(s->header, s->now.image, sizeof s->header) == 0;
}

tamis_status tamis_verify(const tamis *f, tamis_report *report, void *ctx)
{
    walk w = { .report = report, .ctx = ctx };
    image_snapshot s;

    look(&s, f);
    if (f->image)
        verify_image(&w, f);
    if (w.status == TAMIS_BUSY)
        return w.status;
    const char *why = f->ops->verify ? f->ops->verify(&s.now) : NULL;
    if (why) {
        section payload = payload_section(&f->plan);
        fault(&w, why, payload.offset, payload.length);
    }
    return tamis__snapshot_holds(&s) ? w.status : TAMIS_BUSY;
}
