/* image.c - the image format: header, sections, checksums. Specified in docs/format.md.
 *
 *   header | zeros | payload | zeros to 8 | one checksum per MiB of payload | note, if there is one
 *
 * There is one decoder for every kind and every origin. It trusts no number before it was checked
 * against the bytes that are really there, and checksums only tell accidents: a hostile image has
 * the right ones. */
#include "core/image.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bits.h"
#include "base/le.h"
#include "core/memory.h"
#include "core/note.h"
#include "core/plan.h"

/* ---- Layout ------------------------------------------------------------ */

/* A high bit and both line ends, so that a transfer as text does not go unnoticed. */
static const uint8_t MAGIC[8] = { 0x89, 'T', 'M', 'S', '\r', '\n', 0x1a, '\n' };

/* What is in an image decides its minor version: 1 if there is a note. */
enum { MAJOR = 1, MINOR = 0, MINOR_WITH_NOTE = 1 };

/* Offsets in the header. */
enum {
    AT_MAJOR = 8,
    AT_MINOR = 10,
    AT_HEADER_SIZE = 12,
    AT_IMAGE_SIZE = 16,
    AT_KIND = 24,
    AT_HASH = 28,
    AT_FLAGS = 30,
    AT_SEED = 32,
    AT_SECRET = 40,
    AT_CAPACITY = 56,
    AT_FPR = 64,
    AT_SLOTS = 72,
    AT_WIDTH = 80,
    AT_HASHES = 84,
    AT_COUNT = 88,
    AT_STATE = 96,
    AT_LOAD = 98,
    AT_SECTIONS = 100,
    AT_TABLE = 104,
};

enum { STATE_WHOLE = 0, STATE_DIRTY = 1 };

/* Offsets in an entry of the section table. */
enum { AT_ID = 0, AT_ID_FLAGS = 4, AT_OFFSET = 8, AT_LENGTH = 16, AT_DIGEST = 24, ENTRY_SIZE = 32 };

enum { SECTION_PAYLOAD = 1, SECTION_NOTE = 2, FLAG_CRITICAL = 1 };

/* Large payloads start on a page of their own; small images stay small. */
enum { PAGE = 4096, PAGE_WORTHWHILE = 65536 };

typedef struct {
    uint32_t id, flags;
    uint64_t offset, length, digest;
    uint64_t sums, end; /* derived: where the checksums start, and where they stop */
} image_section;

static uint64_t image_blocks(uint64_t length)
{
    return length / IMAGE_BLOCK + (length % IMAGE_BLOCK != 0);
}

/* False if the section cannot lie in an image of that size. */
static bool image_locate_sums(image_section *s, uint64_t image_size)
{
    if (s->offset > image_size || s->length > image_size - s->offset)
        return false;
    s->sums = round_up(s->offset + s->length, 8);
    s->end = s->sums + 8 * image_blocks(s->length);
    return s->end <= image_size;
}

static image_section image_payload_section(const tamis_plan *p)
{
    image_section s = { .id = SECTION_PAYLOAD, .flags = FLAG_CRITICAL, .length = p->bytes };

    s.offset = s.length >= PAGE_WORTHWHILE ? PAGE : IMAGE_HEADER;
    image_locate_sums(&s, UINT64_MAX / 2);
    return s;
}

/* Of a filter that has a note, behind the payload. */
static image_section image_note_section(const tamis *f)
{
    image_section s = { .id = SECTION_NOTE, .length = tamis__note_size(&f->note) };

    s.offset = round_up(image_payload_section(&f->plan).end, 64);
    image_locate_sums(&s, UINT64_MAX / 2);
    return s;
}

static bool image_has_note(const tamis *f)
{
    return f->note.text[0] != '\0';
}

uint64_t tamis__image_size(const tamis_plan *plan)
{
    return image_payload_section(plan).end;
}

static uint64_t image_size(const tamis *f)
{
    return image_has_note(f) ? image_note_section(f).end : tamis__image_size(&f->plan);
}

uint64_t tamis__image_offset(const tamis_plan *plan)
{
    return image_payload_section(plan).offset;
}

/* ---- Memory as a source and a sink ------------------------------------- */

static bool image_read_memory(const image_source *s, uint64_t offset, void *buf, size_t size)
{
    memcpy(buf, s->memory + offset, size);
    return true;
}

image_source tamis__memory_source(const void *image, uint64_t size)
{
    return (image_source){ .read = image_read_memory, .memory = image, .fd = -1, .size = size };
}

static bool image_write_memory(const image_sink *s, uint64_t offset, const void *buf, size_t size)
{
    memcpy(s->memory + offset, buf, size);
    return true;
}

/* ---- Writing ----------------------------------------------------------- */

static void image_put_plan(uint8_t *h, const tamis_plan *p)
{
    uint64_t fpr_bits;

    memcpy(&fpr_bits, &p->fpr, sizeof fpr_bits);
    put_le32(h + AT_KIND, (uint32_t)p->kind);
    put_le16(h + AT_HASH, (uint16_t)p->hasher.hash);
    put_le16(h + AT_FLAGS, p->flags);
    put_le64(h + AT_SEED, p->hasher.seed);
    memcpy(h + AT_SECRET, p->hasher.secret, sizeof p->hasher.secret);
    put_le64(h + AT_CAPACITY, p->capacity);
    put_le64(h + AT_FPR, fpr_bits);
    put_le64(h + AT_SLOTS, p->slots);
    put_le32(h + AT_WIDTH, p->width);
    put_le32(h + AT_HASHES, p->hashes);
    put_le16(h + AT_LOAD, p->load);
}

static void image_put_section(uint8_t *entry, const image_section *s)
{
    put_le32(entry + AT_ID, s->id);
    put_le32(entry + AT_ID_FLAGS, s->flags);
    put_le64(entry + AT_OFFSET, s->offset);
    put_le64(entry + AT_LENGTH, s->length);
    put_le64(entry + AT_DIGEST, s->digest);
}

/* All of the section as it is in an image: content, zeros, its one checksum. Returns the size. */
static size_t image_put_note(uint8_t bytes[NOTE_SIZE_MAX + 16], image_section *s, const tamis *f)
{
    size_t sum = (size_t)(s->sums - s->offset);

    memset(bytes, 0, NOTE_SIZE_MAX + 16);
    tamis__note_put(bytes, &f->note);
    put_le64(bytes + sum, XXH3_64bits(bytes, (size_t)s->length));
    s->digest = XXH3_64bits(bytes + sum, 8);
    return sum + 8;
}

static void image_put_note_entry(uint8_t *h, const tamis *f)
{
    uint8_t bytes[NOTE_SIZE_MAX + 16];
    image_section s = image_note_section(f);

    (void)image_put_note(bytes, &s, f);
    put_le16(h + AT_MINOR, MINOR_WITH_NOTE);
    put_le32(h + AT_SECTIONS, 2);
    image_put_section(h + AT_TABLE + ENTRY_SIZE, &s);
}

static bool image_write_header(const tamis *f, const image_sink *sink, const image_section *s,
                               uint16_t state)
{
    uint8_t h[IMAGE_HEADER] = { 0 };

    memcpy(h, MAGIC, sizeof MAGIC);
    put_le16(h + AT_MAJOR, MAJOR);
    put_le16(h + AT_MINOR, MINOR);
    put_le32(h + AT_HEADER_SIZE, sizeof h);
    put_le64(h + AT_IMAGE_SIZE, image_size(f));
    image_put_plan(h, &f->plan);
    /* Others may be adding meanwhile, on a map that is being marked dirty. */
    put_le64(h + AT_COUNT, __atomic_load_n(&f->count, __ATOMIC_RELAXED));
    put_le16(h + AT_STATE, state);
    put_le32(h + AT_SECTIONS, 1);
    image_put_section(h + AT_TABLE, s);
    if (image_has_note(f))
        image_put_note_entry(h, f);
    put_le64(h + sizeof h - 8, XXH3_64bits(h, sizeof h - 8));
    return sink->write(sink, 0, h, sizeof h);
}

static size_t image_block_length(const image_section *s, uint64_t at)
{
    return s->length - at < IMAGE_BLOCK ? (size_t)(s->length - at) : IMAGE_BLOCK;
}

/* Checksum of a block that is only looked at: from a file, through a small buffer, which is not to
 * be on the stack where it is not needed. */
__attribute__((noinline)) static bool image_sum_in_passing(uint64_t *sum, const image_source *s,
                                                           uint64_t offset, size_t size)
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
static bool image_write_section(const tamis *f, const image_source *written, const image_sink *sink,
                                image_section *s, bool with_payload)
{
    const uint8_t *payload = f->payload;
    XXH3_state_t digest;

    XXH3_64bits_reset(&digest);
    for (uint64_t at = 0; at < s->length; at += IMAGE_BLOCK) {
        size_t size = image_block_length(s, at);
        uint64_t sum;
        uint8_t bytes[8];
        if (!written)
            sum = XXH3_64bits(payload + at, size);
        else if (!image_sum_in_passing(&sum, written, s->offset + at, size))
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

static bool image_write_zeros(const image_sink *sink, uint64_t from, uint64_t to)
{
    static const uint8_t zeros[PAGE];

    return sink->write(sink, from, zeros, (size_t)(to - from));
}

static bool image_write_note(const tamis *f, const image_sink *sink, uint64_t end)
{
    uint8_t bytes[NOTE_SIZE_MAX + 16];

    if (!image_has_note(f))
        return true;
    image_section s = image_note_section(f);
    size_t size = image_put_note(bytes, &s, f);
    return image_write_zeros(sink, end, s.offset) && sink->write(sink, s.offset, bytes, size);
}

bool tamis__image_encode(const tamis *f, const image_source *written, const image_sink *sink)
{
    image_section s = image_payload_section(&f->plan);

    return image_write_zeros(sink, IMAGE_HEADER, s.offset) &&
           image_write_section(f, written, sink, &s, !written) &&
           image_write_zeros(sink, s.offset + s.length, s.sums) &&
           image_write_note(f, sink, s.end) && image_write_header(f, sink, &s, STATE_WHOLE);
}

bool tamis__image_seal(const tamis *f, const image_sink *sink)
{
    image_section s = image_payload_section(&f->plan);

    return image_write_section(f, NULL, sink, &s, false) && sink->flush(sink) &&
           image_write_header(f, sink, &s, STATE_WHOLE);
}

bool tamis__image_unseal(const tamis *f, const image_sink *sink)
{
    image_section s = image_payload_section(&f->plan);

    return image_write_header(f, sink, &s, STATE_DIRTY);
}

/* ---- Reading: the header ----------------------------------------------- */

/* What is wrong before the checksum can be looked at. */
static tamis_status image_check_preamble(image_header *h, const image_source *s)
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

static tamis_status image_check_header_sum(image_header *h, const image_source *s)
{
    uint32_t size = le32(h->bytes + AT_HEADER_SIZE);

    if (size < IMAGE_HEADER || size > IMAGE_HEADER_MAX || size % 64 || size > s->size)
        return TAMIS_CORRUPT;
    /* The file may have changed since the first bytes were read: they are not read again. */
    if (!s->read(s, IMAGE_HEADER, h->bytes + IMAGE_HEADER, size - IMAGE_HEADER))
        return TAMIS_IO;
    if (XXH3_64bits(h->bytes, size - 8) != le64(h->bytes + size - 8))
        return TAMIS_CORRUPT;
    return TAMIS_OK;
}

static image_section image_section_at(const image_header *h, uint32_t i)
{
    const uint8_t *entry = h->bytes + AT_TABLE + (size_t)i * ENTRY_SIZE;

    return (image_section){ .id = le32(entry + AT_ID),
                            .flags = le32(entry + AT_ID_FLAGS),
                            .offset = le64(entry + AT_OFFSET),
                            .length = le64(entry + AT_LENGTH),
                            .digest = le64(entry + AT_DIGEST) };
}

/* A section that this version does not know may be skipped only if it says so. */
static tamis_status image_check_section(image_section *s, uint64_t previous_end,
                                        uint64_t image_size)
{
    if (s->flags & ~(uint32_t)FLAG_CRITICAL)
        return TAMIS_NEWER;
    if (s->id != SECTION_PAYLOAD && s->flags & FLAG_CRITICAL)
        return TAMIS_NEWER;
    if (s->offset < previous_end || s->offset % 64 || !image_locate_sums(s, image_size))
        return TAMIS_CORRUPT;
    if (s->id == SECTION_NOTE && (s->length <= NOTE_TIME_SIZE || s->length > NOTE_SIZE_MAX))
        return TAMIS_CORRUPT;
    return TAMIS_OK;
}

/* Ascending, apart, one payload, and the last one ends the image. */
static tamis_status image_check_sections(image_header *h, uint64_t image_size)
{
    uint32_t header_size = le32(h->bytes + AT_HEADER_SIZE);
    uint64_t end = header_size;
    unsigned payloads = 0, notes = 0;

    h->note_size = 0;
    h->sections = le32(h->bytes + AT_SECTIONS);
    if (h->sections > (header_size - 8 - AT_TABLE) / ENTRY_SIZE)
        return TAMIS_CORRUPT;
    for (uint32_t i = 0; i < h->sections; i++) {
        image_section s = image_section_at(h, i);
        tamis_status status = image_check_section(&s, end, image_size);
        if (status)
            return status;
        if (s.id == SECTION_PAYLOAD) {
            payloads++;
            h->payload_offset = s.offset;
            h->plan.bytes = s.length;
        } else if (s.id == SECTION_NOTE) {
            notes++;
            h->note_offset = s.offset;
            h->note_size = (size_t)s.length;
        }
        end = s.end;
    }
    const uint8_t *unused = h->bytes + AT_TABLE + (size_t)h->sections * ENTRY_SIZE;
    if (payloads != 1 || notes > 1 || end != image_size ||
        !bytes_are_zero(unused, h->bytes + header_size - 8))
        return TAMIS_CORRUPT;
    return TAMIS_OK;
}

static tamis_status image_get_plan(tamis_plan *p, const uint8_t *h)
{
    uint64_t fpr_bits = le64(h + AT_FPR);
    uint32_t kind = le32(h + AT_KIND), hash = le16(h + AT_HASH);

    if (hash > TAMIS_RAW || kind > INT32_MAX || !tamis_kind_name((tamis_kind)kind) ||
        le16(h + AT_FLAGS) >= 2 * TAMIS_PLAN_ASKS_KEYS)
        return TAMIS_NEWER;
    if (!tamis__ops((tamis_kind)kind))
        return TAMIS_CANNOT;
    p->kind = (tamis_kind)kind;
    p->hasher.hash = (tamis_hash)hash;
    p->hasher.seed = le64(h + AT_SEED);
    memcpy(p->hasher.secret, h + AT_SECRET, sizeof p->hasher.secret);
    p->capacity = le64(h + AT_CAPACITY);
    memcpy(&p->fpr, &fpr_bits, sizeof p->fpr);
    p->slots = le64(h + AT_SLOTS);
    p->width = le32(h + AT_WIDTH);
    p->hashes = le32(h + AT_HASHES);
    p->flags = le16(h + AT_FLAGS);
    p->load = le16(h + AT_LOAD);
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
    if (le16(h->bytes + AT_MAJOR) < MAJOR || le64(h->bytes + AT_IMAGE_SIZE) != s->size ||
        le16(h->bytes + AT_STATE) > STATE_DIRTY)
        return TAMIS_CORRUPT;
    status = image_check_sections(h, s->size);
    if (status)
        return status;
    h->count = le64(h->bytes + AT_COUNT);
    h->dirty = le16(h->bytes + AT_STATE) == STATE_DIRTY;
    return image_get_plan(&h->plan, h->bytes);
}

bool tamis__header_is_ours(const image_header *h)
{
    image_section payload = image_payload_section(&h->plan);
    bool has_note = h->note_size > 0;

    return le32(h->bytes + AT_HEADER_SIZE) == IMAGE_HEADER && h->sections == (has_note ? 2 : 1) &&
           le16(h->bytes + AT_MINOR) == (has_note ? MINOR_WITH_NOTE : MINOR) &&
           h->payload_offset == payload.offset &&
           (!has_note || h->note_offset == round_up(payload.end, 64));
}

/* ---- Reading: the rest ------------------------------------------------- */

/* An image that is read from its first byte to its last: at offsets of a source, or as it comes. */
typedef struct image_inflow {
    const image_source *source; /* or NULL: */
    tamis_source *take;
    void *ctx;
    uint64_t at;
} image_inflow;

static bool image_take(image_inflow *in, void *piece, uint64_t size)
{
    uint64_t at = in->at;

    in->at += size;
    if (in->source)
        return in->source->read(in->source, at, piece, (size_t)size);
    return !size || in->take(in->ctx, piece, (size_t)size);
}

/* Bytes that belong to nothing are zero, so that no change anywhere goes unnoticed. */
static tamis_status image_take_zeros(image_inflow *in, uint64_t to)
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

/* A block, to `dest` or through a small buffer to nowhere. */
static bool image_take_block(image_inflow *in, uint64_t *sum, uint8_t *dest, size_t size)
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

/* A section. Its checksums come after it: the digest over those of the blocks that came, and the
 * digest over those that are in the image, both have to be the one in the header. */
static tamis_status image_take_section(image_inflow *in, const image_section *s, uint8_t *dest)
{
    XXH3_state_t came, kept;
    uint8_t bytes[8];
    uint64_t sum;

    XXH3_64bits_reset(&came);
    XXH3_64bits_reset(&kept);
    for (uint64_t at = 0; at < s->length; at += IMAGE_BLOCK) {
        if (!image_take_block(in, &sum, dest ? dest + at : NULL, image_block_length(s, at)))
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

static tamis_status image_take_note(image_inflow *in, const image_section *s, tamis *f)
{
    uint8_t content[NOTE_SIZE_MAX];
    tamis_status status = image_take_section(in, s, content);

    if (status)
        return status;
    return tamis__note_get(&f->note, content, (size_t)s->length) ? TAMIS_OK : TAMIS_CORRUPT;
}

/* The filter of a header that was read; the rest of the image comes. */
static tamis_status image_take_filter(tamis **out, image_inflow *in, const image_header *h,
                                      uint64_t image_size, const tamis_allocator *a)
{
    tamis *f;
    tamis_status status = h->dirty ? TAMIS_DIRTY : tamis_new(&f, &h->plan, a);

    if (status)
        return status;
    for (uint32_t i = 0; i < h->sections && !status; i++) {
        image_section s = image_section_at(h, i);
        /* Of a header that was accepted, this cannot fail. */
        image_locate_sums(&s, image_size);
        status = image_take_zeros(in, s.offset);
        if (!status && s.id == SECTION_NOTE)
            status = image_take_note(in, &s, f);
        else if (!status)
            status = image_take_section(in, &s, s.id == SECTION_PAYLOAD ? f->payload : NULL);
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

tamis_status tamis__image_decode(tamis **out, const image_source *s, const tamis_allocator *a)
{
    image_inflow in = { .source = s };
    image_header h;
    tamis_status status = tamis__header_read(&h, s);

    in.at = le32(h.bytes + AT_HEADER_SIZE);
    return status ? status : image_take_filter(out, &in, &h, s->size, a);
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

/* ---- Public calls ------------------------------------------------------ */

size_t tamis_image_size(const tamis *f)
{
    return (size_t)image_size(f);
}

tamis_status tamis_image_write(const tamis *f, void *buf, size_t size)
{
    image_sink sink = { .write = image_write_memory, .memory = buf, .fd = -1 };
    image_snapshot s;

    if (size != tamis_image_size(f))
        return TAMIS_RANGE;
    tamis_status status = tamis__snapshot(&s, f, &f->alloc);
    if (status)
        return status;
    (void)tamis__image_encode(s.f, NULL, &sink);
    tamis_free(s.copy);
    return TAMIS_OK;
}

tamis_status tamis_image_read(tamis **out, const void *buf, size_t size, const tamis_allocator *a)
{
    image_source source = tamis__memory_source(buf, size);

    return tamis__image_decode(out, &source, a);
}

/* ---- Images in pieces -------------------------------------------------- */

/* The header comes first and vouches for all checksums: they are computed once before it is sent,
 * and once more when theirs is the turn. */
typedef struct image_pipe {
    tamis_sink *sink;
    void *ctx;
    uint64_t at; /* bytes sent */
    bool failed;
} image_pipe;

static void image_pipe_put(image_pipe *p, const void *piece, uint64_t size)
{
    p->failed = p->failed || (size && !p->sink(p->ctx, piece, (size_t)size));
    p->at += size;
}

static void image_pipe_zeros(image_pipe *p, uint64_t to)
{
    static const uint8_t zeros[PAGE];

    image_pipe_put(p, zeros, to - p->at);
}

static bool image_write_nowhere(const image_sink *s, uint64_t offset, const void *buf, size_t size)
{
    if (offset == 0)
        memcpy(s->memory, buf, size);
    return true;
}

static void image_send_note(const tamis *f, image_pipe *p)
{
    uint8_t bytes[NOTE_SIZE_MAX + 16];

    if (!image_has_note(f))
        return;
    image_section s = image_note_section(f);
    size_t size = image_put_note(bytes, &s, f);
    image_pipe_zeros(p, s.offset);
    image_pipe_put(p, bytes, size);
}

static tamis_status image_send(const tamis *f, image_pipe *p)
{
    image_section s = image_payload_section(&f->plan);
    uint8_t header[IMAGE_HEADER], sum[8];
    image_sink first = { .write = image_write_nowhere, .memory = header, .fd = -1 };

    (void)image_write_section(f, NULL, &first, &s, false);
    (void)image_write_header(f, &first, &s, STATE_WHOLE);
    image_pipe_put(p, header, sizeof header);
    image_pipe_zeros(p, s.offset);
    for (uint64_t at = 0; at < s.length && !p->failed; at += IMAGE_BLOCK)
        image_pipe_put(p, (const uint8_t *)f->payload + at, image_block_length(&s, at));
    image_pipe_zeros(p, s.sums);
    for (uint64_t at = 0; at < s.length && !p->failed; at += IMAGE_BLOCK) {
        put_le64(sum, XXH3_64bits((const uint8_t *)f->payload + at, image_block_length(&s, at)));
        image_pipe_put(p, sum, sizeof sum);
    }
    image_send_note(f, p);
    return p->failed ? TAMIS_IO : TAMIS_OK;
}

tamis_status tamis_image_send(const tamis *f, tamis_sink *sink, void *ctx)
{
    image_pipe p = { .sink = sink, .ctx = ctx };
    image_snapshot s;
    tamis_status status = tamis__snapshot(&s, f, &f->alloc);

    if (status)
        return status;
    status = image_send(s.f, &p);
    tamis_free(s.copy);
    return status;
}

/* ---- Parts of images --------------------------------------------------- */

/* Keeps what is written to bytes `from` up to `to` of an image. */
typedef struct image_cut {
    image_sink sink;
    uint64_t from, to;
} image_cut;

static bool image_write_cut(const image_sink *sink, uint64_t offset, const void *buf, size_t size)
{
    const image_cut *c = (const image_cut *)sink;
    uint64_t first = offset > c->from ? offset : c->from;
    uint64_t last = offset + size < c->to ? offset + size : c->to;

    if (first < last)
        memcpy(sink->memory + (first - c->from), (const uint8_t *)buf + (first - offset),
               (size_t)(last - first));
    return true;
}

/* Those that are 0 are not known. */
static void image_find_sums(const tamis *f, const image_section *s, uint64_t *sums)
{
    for (uint64_t i = 0; i < image_blocks(s->length); i++)
        if (!sums[i])
            sums[i] = XXH3_64bits((const uint8_t *)f->payload + i * IMAGE_BLOCK,
                                  image_block_length(s, i * IMAGE_BLOCK));
}

static void image_write_sums(const image_sink *sink, image_section *s, const uint64_t *sums)
{
    XXH3_state_t digest;
    uint8_t bytes[8];

    XXH3_64bits_reset(&digest);
    for (uint64_t i = 0; i < image_blocks(s->length); i++) {
        put_le64(bytes, sums[i]);
        XXH3_64bits_update(&digest, bytes, sizeof bytes);
        (void)sink->write(sink, s->sums + 8 * i, bytes, sizeof bytes);
    }
    s->digest = XXH3_64bits_digest(&digest);
}

tamis_status tamis__image_part(const tamis *f, uint64_t *sums, uint8_t *buf, size_t size,
                               uint64_t offset)
{
    image_section s = image_payload_section(&f->plan);
    image_cut c = { .sink = { .write = image_write_cut, .memory = buf, .fd = -1 },
                    .from = offset,
                    .to = offset + size };

    if (f->image)
        return TAMIS_CANNOT;
    if (offset > image_size(f) || size > image_size(f) - offset)
        return TAMIS_RANGE;
    (void)image_write_cut(&c.sink, s.offset, f->payload, (size_t)s.length);
    if (c.from >= s.offset && c.to <= s.offset + s.length)
        return TAMIS_OK;
    image_find_sums(f, &s, sums);
    (void)image_write_zeros(&c.sink, IMAGE_HEADER, s.offset);
    (void)image_write_zeros(&c.sink, s.offset + s.length, s.sums);
    image_write_sums(&c.sink, &s, sums);
    (void)image_write_note(f, &c.sink, s.end);
    (void)image_write_header(f, &c.sink, &s, STATE_WHOLE);
    return TAMIS_OK;
}

/* ---- Images that come in pieces ---------------------------------------- */

/* The sizes of header and image are in the first bytes: they are checked before more is taken. */
tamis_status tamis_image_receive(tamis **out, tamis_source *source, void *ctx, uint64_t max_bytes,
                                 const tamis_allocator *a)
{
    uint8_t header[IMAGE_HEADER_MAX];
    image_inflow in = { .take = source, .ctx = ctx };
    image_header h;

    if (!image_take(&in, header, IMAGE_HEADER))
        return TAMIS_IO;
    image_source first = tamis__memory_source(header, le64(header + AT_IMAGE_SIZE));
    uint32_t size = le32(header + AT_HEADER_SIZE);
    tamis_status status = image_check_preamble(&h, &first);
    if (status)
        return status;
    if (size < IMAGE_HEADER || size > IMAGE_HEADER_MAX || first.size < size)
        return TAMIS_CORRUPT;
    if (!image_take(&in, header + IMAGE_HEADER, size - IMAGE_HEADER))
        return TAMIS_IO;
    status = tamis__header_read(&h, &first);
    if (!status && first.size > max_bytes)
        status = TAMIS_RANGE;
    return status ? status : image_take_filter(out, &in, &h, first.size, a);
}

/* ---- Views and checks -------------------------------------------------- */

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
        size_t size = image_block_length(s, at);
        uint64_t sum = XXH3_64bits(c->image + s->offset + at, size);
        if (sum != le64(c->image + s->sums + at / IMAGE_BLOCK * 8))
            image_fault(c, "checksum of a block differs", s->offset + at, size);
    }
    if (XXH3_64bits(c->image + s->sums, (size_t)(s->end - s->sums)) != s->digest)
        image_fault(c, "checksum of the checksums differs", s->sums, s->end - s->sums);
}

static void image_check_note(image_check *c, const image_section *s)
{
    tamis_note note;

    if (s->id == SECTION_NOTE && !tamis__note_get(&note, c->image + s->offset, (size_t)s->length))
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
    uint64_t end = le32(h.bytes + AT_HEADER_SIZE);
    for (uint32_t i = 0; i < h.sections; i++) {
        image_section s = image_section_at(&h, i);
        image_locate_sums(&s, source.size);
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
        now.count = le64(header + AT_COUNT);
    }
    if (f->image)
        image_check_all(&c, f);
    if (c.status == TAMIS_BUSY)
        return c.status;
    const char *why = f->ops.verify ? f->ops.verify(&now) : NULL;
    if (why) {
        image_section payload = image_payload_section(&f->plan);
        image_fault(&c, why, payload.offset, payload.length);
    }
    return image_is_borrowed(f) && !image_has_header(f, header) ? TAMIS_BUSY : c.status;
}

/* ---- Copies ------------------------------------------------------------ */

static bool image_plans_are_equal(const tamis_plan *p, const tamis_plan *q)
{
    uint8_t headers[2][IMAGE_HEADER] = { { 0 } };

    image_put_plan(headers[0], p);
    image_put_plan(headers[1], q);
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
