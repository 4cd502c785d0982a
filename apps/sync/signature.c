/* signature.c - two hashes of each block of a file.
 *
 * Format, of librsync, all numbers with the highest byte first: the format's number, the size of a
 * block and the bytes of a strong hash, four bytes each; then, of each block, the rolling hash,
 * four bytes, and the start of the strong hash. The last block may be short.
 *
 * In memory, blocks with the same two hashes are one: a file of zeros is a million equal blocks. */
#include "signature.h"

#include <stdlib.h>
#include <string.h>

#include "rolling.h"
#include "text/md.h"

enum { HEADER = 12, GROUP = 4, AT_LEAST = 1 << 18 };

static void *signature_heap_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void signature_heap_free(void *ctx, void *block, size_t size)
{
    (void)ctx;
    (void)size;
    free(block);
}

const tamis_allocator signature_heap = { signature_heap_alloc, signature_heap_free, NULL };

/* ---- Hashes ------------------------------------------------------------ */

void signature_strong(bool is_md4, uint8_t out[SIGNATURE_STRONG_MOST], const uint8_t *bytes,
                      size_t size)
{
    md m = md_begin(false);

    if (!is_md4) {
        blake2b(out, bytes, size);
        return;
    }
    md_take(&m, bytes, size);
    md_end(&m, out);
}

void signature_strong_four(bool is_md4, uint8_t out[4][SIGNATURE_STRONG_MOST], const uint8_t *bytes,
                           size_t size)
{
    const uint8_t *blocks[GROUP] = { bytes, bytes + size, bytes + 2 * size, bytes + 3 * size };

    if (!is_md4)
        blake2b_four(out, blocks, size);
    for (int i = 0; is_md4 && i < GROUP; i++)
        signature_strong(true, out[i], blocks[i], size);
}

size_t signature_fill(byte_source *in, void *ctx, void *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        size_t got = in(ctx, (uint8_t *)bytes + done, size - done);
        if (got == SIZE_MAX || got > size - done)
            return SIZE_MAX;
        if (got == 0)
            break;
        done += got;
    }
    return done;
}

static bool signature_is_md4(const signature_spec *spec)
{
    return spec->format == SIGNATURE_SUM_MD4 || spec->format == SIGNATURE_RABIN_MD4;
}

static bool signature_is_rabin(const signature_spec *spec)
{
    return spec->format == SIGNATURE_RABIN_MD4 || spec->format == SIGNATURE_RABIN_BLAKE2;
}

static bool signature_is_known(const signature_spec *spec)
{
    return signature_is_md4(spec) || spec->format == SIGNATURE_SUM_BLAKE2 ||
           spec->format == SIGNATURE_RABIN_BLAKE2;
}

static bool signature_is_spec(const signature_spec *spec)
{
    uint32_t most = signature_is_md4(spec) ? MD4_SIZE : BLAKE2B_SIZE;

    return signature_is_known(spec) && spec->block > 0 && spec->block <= 1u << 28 &&
           spec->strong > 0 && spec->strong <= most;
}

/* ---- Making ------------------------------------------------------------ */

/* Four blocks that are whole, or what is left of the last one. */
static bool signature_write(const signature_spec *spec, const uint8_t *bytes, size_t size,
                            tamis_sink *out, void *ctx)
{
    uint8_t strong[GROUP][SIGNATURE_STRONG_MOST], line[4 + SIGNATURE_STRONG_MOST];
    size_t block = size < spec->block ? size : spec->block, n = size / block;
    bool ok = true;

    if (n == GROUP)
        signature_strong_four(signature_is_md4(spec), strong, bytes, block);
    else
        signature_strong(signature_is_md4(spec), strong[0], bytes, block);
    for (size_t i = 0; i < n && ok; i++) {
        signature_put(line, rolling_of(signature_is_rabin(spec), bytes + i * block, block), 4);
        memcpy(line + 4, strong[i], spec->strong);
        ok = out(ctx, line, 4 + spec->strong);
    }
    return ok;
}

static bool signature_write_all(const signature_spec *spec, const uint8_t *bytes, size_t size,
                                tamis_sink *out, void *ctx)
{
    size_t group = GROUP * (size_t)spec->block, at = 0;

    for (; size - at >= group; at += group)
        if (!signature_write(spec, bytes + at, group, out, ctx))
            return false;
    for (size_t n; at < size; at += n) {
        n = size - at < spec->block ? size - at : spec->block;
        if (!signature_write(spec, bytes + at, n, out, ctx))
            return false;
    }
    return true;
}

tamis_status signature_make(const signature_spec *spec, byte_source *old_file, void *old_ctx,
                            tamis_sink *out, void *out_ctx, const tamis_allocator *a)
{
    const tamis_allocator *by = a ? a : &signature_heap;
    uint8_t header[HEADER];

    if (!signature_is_spec(spec))
        return TAMIS_RANGE;
    size_t group = GROUP * (size_t)spec->block, room = (AT_LEAST / group + 1) * group, got;
    uint8_t *bytes = by->alloc(by->ctx, room);
    if (!bytes)
        return TAMIS_NOMEM;
    signature_put(header, spec->format, 4);
    signature_put(header + 4, spec->block, 4);
    signature_put(header + 8, spec->strong, 4);
    bool ok = out(out_ctx, header, sizeof header);
    do {
        got = signature_fill(old_file, old_ctx, bytes, room);
        ok = ok && got != SIZE_MAX && signature_write_all(spec, bytes, got, out, out_ctx);
    } while (ok && got == room);
    by->free(by->ctx, bytes, room);
    return ok ? TAMIS_OK : TAMIS_IO;
}

/* ---- Finding ----------------------------------------------------------- */

static uint64_t signature_table_size(const block_signature *s)
{
    return UINT64_C(1) << (32 - s->table_shift);
}

static uint32_t signature_slot(const block_signature *s, uint32_t hash)
{
    return s->table_shift == 32 ? 0 : hash >> s->table_shift;
}

bool signature_has(const block_signature *s, uint32_t weak)
{
    uint64_t mask = signature_table_size(s) - 1;
    uint64_t wanted = weak | UINT64_C(1) << 32;

    for (uint64_t at = signature_slot(s, signature_mixed(s, weak)); s->weak_table[at];
         at = (at + 1) & mask)
        if (s->weak_table[at] == wanted)
            return true;
    return false;
}

/* Where the block with these hashes is in block_table, or the empty slot where it would be. */
static uint32_t *signature_find_slot(const block_signature *s, uint32_t weak, const uint8_t *strong)
{
    uint64_t mask = signature_table_size(s) - 1;
    uint32_t hash =
        (uint32_t)tamis_hasher_key(&s->places, strong, s->spec.strong) ^ signature_mixed(s, weak);

    for (uint64_t at = signature_slot(s, hash);; at = (at + 1) & mask) {
        uint32_t *slot = &s->block_table[at];
        if (!*slot)
            return slot;
        uint64_t block = *slot - 1;
        if (s->weak[block] == weak &&
            memcmp(s->strong + block * s->spec.strong, strong, s->spec.strong) == 0)
            return slot;
    }
}

int64_t signature_find(const block_signature *s, uint32_t weak, const uint8_t *strong)
{
    uint32_t block = *signature_find_slot(s, weak, strong);

    return block ? (int64_t)block - 1 : SIGNATURE_NONE;
}

static void signature_index(block_signature *s)
{
    uint64_t mask = signature_table_size(s) - 1;

    for (uint64_t i = 0; i < s->blocks; i++) {
        uint32_t mixed = signature_mixed(s, s->weak[i]);
        uint32_t bit = (uint32_t)((uint64_t)mixed >> s->bit_shift);
        s->bits[bit / 64] |= UINT64_C(1) << bit % 64;
        if (!signature_has(s, s->weak[i])) {
            uint64_t at = signature_slot(s, mixed);
            while (s->weak_table[at])
                at = (at + 1) & mask;
            s->weak_table[at] = s->weak[i] | UINT64_C(1) << 32;
        }
        uint32_t *slot = signature_find_slot(s, s->weak[i], s->strong + i * s->spec.strong);
        if (!*slot)
            *slot = (uint32_t)i + 1;
    }
}

/* ---- Loading ----------------------------------------------------------- */

bool signature_grow(const tamis_allocator *by, uint8_t **bytes, size_t used, size_t *room,
                    size_t wanted)
{
    uint8_t *more = by->alloc(by->ctx, wanted);

    if (!more)
        return false;
    if (used > 0)
        memcpy(more, *bytes, used);
    if (*bytes)
        by->free(by->ctx, *bytes, *room);
    *bytes = more;
    *room = wanted;
    return true;
}

void signature_free(block_signature *s)
{
    if (!s)
        return;
    tamis_allocator a = s->alloc;
    if (s->arrays)
        a.free(a.ctx, s->arrays, s->arrays_size);
    a.free(a.ctx, s, sizeof *s);
}

/* 64 bits for a block, at least: one window in 64 that is of no block passes. Tables are at most
 * half full. */
static void signature_choose_tables(block_signature *s)
{
    unsigned bits = 6;

    while (bits < 31 && UINT64_C(1) << bits < s->blocks * 2)
        bits++;
    s->table_shift = 32 - bits;
    s->bit_shift = bits + 5 < 32 ? 32 - (bits + 5) : 0;
}

/* In one block, those with the largest numbers first. */
static bool signature_make_arrays(block_signature *s)
{
    uint64_t table = signature_table_size(s), bits = (UINT64_C(1) << (32 - s->bit_shift)) / 64;
    uint64_t size = table * (sizeof *s->weak_table + sizeof *s->block_table) +
                    bits * sizeof *s->bits + s->blocks * (sizeof *s->weak + s->spec.strong);

    if (size > SIZE_MAX || !signature_grow(&s->alloc, &s->arrays, 0, &s->arrays_size, (size_t)size))
        return false;
    memset(s->arrays, 0, (size_t)size);
    s->weak_table = (void *)s->arrays;
    s->bits = s->weak_table + table;
    s->block_table = (void *)(s->bits + bits);
    s->weak = s->block_table + table;
    s->strong = (void *)(s->weak + s->blocks);
    return true;
}

/* Who makes a signature could choose hashes that all come to one place in a table. Where they come
 * to depends on every one of them, by a hash that nobody can invert. */
static void signature_draw_secret(block_signature *s, const uint8_t *bytes, size_t size)
{
    uint8_t quarters[GROUP][SIGNATURE_STRONG_MOST], drawn[BLAKE2B_SIZE];

    signature_strong_four(false, quarters, bytes, size / GROUP);
    blake2b(drawn, quarters, sizeof quarters);
    memcpy(s->places.secret, drawn, sizeof s->places.secret);
    s->multiplier = signature_number(drawn + sizeof s->places.secret) | 1;
}

/* Bytes whose number is not known before they end. */
typedef struct signature_bytes {
    uint8_t *bytes;
    size_t size, room;
} signature_bytes;

static tamis_status signature_read_all(const block_signature *s, signature_bytes *b,
                                       byte_source *in, void *ctx, uint64_t most)
{
    size_t got;

    do {
        if (!signature_grow(&s->alloc, &b->bytes, b->size, &b->room,
                            b->room ? 2 * b->room : AT_LEAST))
            return TAMIS_NOMEM;
        got = signature_fill(in, ctx, b->bytes + b->size, b->room - b->size);
        if (got == SIZE_MAX)
            return TAMIS_IO;
        b->size += got;
        if (most && b->size > most)
            return TAMIS_RANGE;
    } while (b->size == b->room);
    return TAMIS_OK;
}

static tamis_status signature_read_header(block_signature *s, const signature_bytes *b)
{
    if (b->size >= 4)
        s->spec.format = (signature_format)signature_number(b->bytes);
    if (!signature_is_known(&s->spec))
        return TAMIS_FOREIGN;
    if (b->size < HEADER)
        return TAMIS_CORRUPT;
    s->spec.block = signature_number(b->bytes + 4);
    s->spec.strong = signature_number(b->bytes + 8);
    if (!signature_is_spec(&s->spec))
        return TAMIS_RANGE;
    s->is_md4 = signature_is_md4(&s->spec);
    s->is_rabin = signature_is_rabin(&s->spec);
    if ((b->size - HEADER) % (4 + s->spec.strong) != 0)
        return TAMIS_CORRUPT;
    s->blocks = (b->size - HEADER) / (4 + s->spec.strong);
    return s->blocks < UINT64_C(1) << 30 ? TAMIS_OK : TAMIS_RANGE;
}

static tamis_status signature_take_blocks(block_signature *s, const signature_bytes *b)
{
    const uint8_t *line = b->bytes + HEADER;

    signature_choose_tables(s);
    if (!signature_make_arrays(s))
        return TAMIS_NOMEM;
    signature_draw_secret(s, b->bytes, b->size);
    for (uint64_t i = 0; i < s->blocks; i++, line += 4 + s->spec.strong) {
        s->weak[i] = signature_number(line);
        memcpy(s->strong + i * s->spec.strong, line + 4, s->spec.strong);
    }
    signature_index(s);
    return TAMIS_OK;
}

tamis_status signature_load(block_signature **out, byte_source *in, void *ctx, uint64_t most,
                            const tamis_allocator *a)
{
    const tamis_allocator *by = a ? a : &signature_heap;
    block_signature *s = by->alloc(by->ctx, sizeof *s);
    signature_bytes b = { 0 };

    if (!s)
        return TAMIS_NOMEM;
    *s = (block_signature){ .alloc = *by, .places.hash = TAMIS_KEYED };
    tamis_status status = signature_read_all(s, &b, in, ctx, most);
    if (!status)
        status = signature_read_header(s, &b);
    if (!status)
        status = signature_take_blocks(s, &b);
    if (b.bytes)
        by->free(by->ctx, b.bytes, b.room);
    if (status) {
        signature_free(s);
        return status;
    }
    *out = s;
    return TAMIS_OK;
}
