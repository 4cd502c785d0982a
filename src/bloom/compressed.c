/* compressed.c - a Bloom filter sized for its length on the wire, and kept as it is sent.
 *
 * Half of the bits of a Bloom filter are set, and no coder makes that shorter. But an array that is
 * larger than it need be, with fewer probes, is mostly clear, and coded it is shorter than the best
 * Bloom filter of the same rate: 8.0 bits a key at 1 % instead of 9.6, with one probe for seven.
 * wire.h has the formulas. The array grows without end as the length goes to its least, so that it
 * is held to MOST_LARGER times the payload.
 *
 * The payload is that array, coded (coder.h) in blocks: a lookup decodes, for each probe until one
 * is clear, half a block on average. That takes microseconds. Whoever asks often expands it to a
 * Bloom filter of the same bits (tamis_reduce), and any Bloom filter becomes one of these
 * (tamis_compress).
 *
 *   | set bits, 8 | base of each 32 blocks, 8 each | start of each block, 2 each | codes | zeros |
 *
 * Payload: plan.width words of 8 bytes, which say how many blocks there are; plan.slots = m and
 * plan.hashes = k, as in bloom. Codes of block i start at base[i / 32] + start[i], where there is
 * one more start than blocks.
 *
 * Mitzenmacher: Compressed Bloom Filters, 2001. */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "bloom/bits.h"
#include "bloom/classic.h"
#include "bloom/coder.h"
#include "bloom/conversions.h"
#include "bloom/family.h"
#include "bloom/wire.h"
#include "filter.h"

/* ---- Layout ------------------------------------------------------------ */

enum {
    WORD = 8,
    HEAD = 8,
    BLOCK_BYTES = 256, /* of codes, on average: two bytes of index are then 0.8 % */
    BASE_BLOCKS = 32,
    MOST_LARGER = 16,
};

static const uint64_t MAX_WORDS = UINT64_C(1) << 32, MAX_SLOTS = UINT64_C(1) << 48;

typedef struct layout {
    uint64_t slots, blocks, block_bits;
    uint64_t starts, codes, room; /* where they are; bytes of codes */
} layout;

static layout layout_of(const tamis_plan *p)
{
    layout l = { .slots = p->slots, .blocks = (uint64_t)p->width * WORD / BLOCK_BYTES + 1 };
    uint64_t least = (p->slots >> MOST_LEVEL) + 1;

    if (l.blocks < least)
        l.blocks = least;
    l.block_bits = (p->slots + l.blocks - 1) / l.blocks;
    l.starts = HEAD + (l.blocks / BASE_BLOCKS + 1) * 8;
    l.codes = l.starts + (l.blocks + 1) * 2;
    l.room = (uint64_t)p->width * WORD - l.codes;
    return l;
}

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < MAX_SLOTS && p->width > 0 && p->hashes > 0 &&
              p->hashes <= MAX_HASHES && has_no_options(p);

    if (!ok || layout_of(p).codes > (uint64_t)p->width * WORD)
        return 0;
    return (uint64_t)p->width * WORD;
}

static model model_in(const uint8_t *payload, const layout *l)
{
    uint64_t ones = le64(payload);

    return model_of(ones < l->slots ? ones : l->slots, l->slots);
}

static uint64_t start_of(const uint8_t *payload, const layout *l, uint64_t block)
{
    uint64_t base = le64(payload + HEAD + block / BASE_BLOCKS * 8);

    return (base < l->room ? base : l->room) + le16(payload + l->starts + 2 * block);
}

static uint64_t first_of(const layout *l, uint64_t block)
{
    uint64_t first = block * l->block_bits;

    return first < l->slots ? first : l->slots;
}

/* ---- Sizing ------------------------------------------------------------ */

/* What the coder needs beside the entropy: the index, and what is lost when the number that stands
 * for a block is rounded to bytes. */
static const double BLOCK_EXTRA = 2 + 8.0 / BASE_BLOCKS + 0.7, EXTRA = HEAD + 8 + 2 + 2;

static tamis_status size_for_bits(tamis_plan *p, double bits)
{
    double codes = (bits / 8 + EXTRA + BLOCK_EXTRA) / (1 - BLOCK_EXTRA / BLOCK_BYTES);
    double sparse = bits / 8 + EXTRA + BLOCK_EXTRA * (double)((p->slots >> MOST_LEVEL) + 1);
    double words = ceil(fmax(codes, sparse) / WORD);

    if (!(words < (double)MAX_WORDS))
        return TAMIS_RANGE;
    p->width = (uint32_t)words;
    return TAMIS_OK;
}

/* More set bits than that are seen once in a billion filters: six standard deviations, as in
 * rate_large(). */
static double most_ones(const tamis_plan *p, double n)
{
    double m = (double)p->slots, throws = n * p->hashes, one = log1p(-1 / m);
    double clear = exp(throws * one), two = exp(throws * log1p(-2 / m));
    double deviation = sqrt(fmax(0, (clear - two) * m + (two - clear * clear) * m * m));

    return fmin(fmin(m, throws), -m * expm1(throws * one) + 6 * deviation + 1);
}

static double most_bits(const tamis_plan *p, double n)
{
    double m = (double)p->slots;

    return m * entropy(fmin(0.5, most_ones(p, n) / m));
}

/* The closed form comes close; the rest is steps. */
static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    double n = (double)spec->keys, slots;

    p->hashes = wire_probes(spec->fpr, MOST_LARGER);
    if (p->hashes > MAX_HASHES)
        return TAMIS_RANGE;
    slots = fewest_slots(p->hashes, n, spec->fpr);
    if (!(slots < (double)(MAX_SLOTS - MAX_SLOTS / 16)))
        return TAMIS_RANGE;
    for (p->slots = round_up((uint64_t)slots + 1, 64); rate(p, n) > spec->fpr;)
        p->slots = round_up(p->slots + (p->slots >> 14) + 1, 64);
    return size_for_bits(p, most_bits(p, n));
}

static tamis_status resize(tamis_plan *p, uint64_t keys)
{
    uint32_t more = p->width / 16 + 1;

    (void)keys;
    if (p->width > UINT32_MAX - more)
        return TAMIS_RANGE;
    p->width += more;
    return TAMIS_OK;
}

/* ---- Writing ----------------------------------------------------------- */

/* Where the codes of the block end, or UINT64_MAX. */
static uint64_t write_block(uint8_t *payload, const layout *l, const model *m, const uint8_t *bits,
                            uint64_t block, uint64_t at)
{
    uint8_t *codes = payload + l->codes;
    encoder e = { .start = codes + at,
                  .to = codes + at,
                  .end = codes + l->room,
                  .range = UINT64_MAX,
                  .bits = bits,
                  .first = first_of(l, block),
                  .last = first_of(l, block + 1),
                  .flip = m->inverted ? UINT64_MAX : 0 };
    walk w = { .end = e.last - e.first };

    find_next(&e, 0);
    while (walk_on(&w, m, write_answer, &e))
        find_next(&e, w.at + 1);
    write_end(&e);
    return e.full ? UINT64_MAX : (uint64_t)(e.to - codes);
}

/* Into zeros. False: there is not enough room, or a block is so much longer than others that its
 * start has not enough bits. */
static bool write_all(uint8_t *payload, const layout *l, const uint8_t *bits)
{
    uint64_t ones = count_ones(bits, bytes_of_bits(l->slots)), base = 0, at = 0;
    model m = model_of(ones, l->slots);

    put_le64(payload, ones);
    for (uint64_t i = 0; i <= l->blocks; i++) {
        if (i % BASE_BLOCKS == 0 && at != UINT64_MAX) {
            base = at;
            put_le64(payload + HEAD + i / BASE_BLOCKS * 8, base);
        }
        if (at == UINT64_MAX || at - base > UINT16_MAX)
            return false;
        put_le16(payload + l->starts + 2 * i, (uint16_t)(at - base));
        if (i < l->blocks && !m.certain)
            at = write_block(payload, l, &m, bits, i, at);
    }
    return true;
}

static size_t scratch(const tamis_plan *p, enum tamis_stage stage, size_t n)
{
    (void)stage;
    (void)n;
    return bytes_of_bits(p->slots);
}

static tamis_status solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                          size_t *n, void *bits)
{
    const tamis_plan *p = &f->plan;
    layout l = layout_of(p);
    uint64_t *hashes = items;

    (void)stage;
    *n = tamis__sort_unique(hashes, *n);
    memset(bits, 0, bytes_of_bits(p->slots));
    for (size_t i = 0; i < *n; i++)
        for (uint32_t k = 0; k < p->hashes; k++) {
            set_bit(bits, scale64(hashes[i], p->slots));
            hashes[i] = next_probe(hashes[i]);
        }
    return write_all(part, &l, bits) ? TAMIS_OK : TAMIS_FULL;
}

/* ---- Reading ----------------------------------------------------------- */

/* A block that is being decoded. */
typedef struct reader {
    const uint8_t *start;
    decoder coder;
    walk walk;
    bool done, strayed; /* a bit was found behind the last one */
} reader;

/* Of a damaged index, nothing is read beyond the codes and nothing backwards. */
static reader read_block(const uint8_t *payload, const layout *l, uint64_t block)
{
    uint64_t start = start_of(payload, l, block), end = start_of(payload, l, block + 1);

    end = end < l->room ? end : l->room;
    start = start < end ? start : end;
    payload += l->codes;
    return (reader){ .start = payload + start,
                     .coder = decoder_of(payload + start, payload + end),
                     .walk = { .end = first_of(l, block + 1) - first_of(l, block) } };
}

static inline void read_on(reader *r, const model *m)
{
    bool found = walk_on(&r->walk, m, read_answer, &r->coder);

    r->strayed = found && r->walk.at >= r->walk.end;
    r->done = !found || r->strayed;
}

/* Bits that are asked for in ascending order, block by block. */
typedef struct probing {
    const uint8_t *payload;
    layout l;
    model m;
    reader r;
    uint64_t block;
} probing;

static probing probing_of(const tamis *f)
{
    probing p = { .payload = f->payload, .l = layout_of(&f->plan), .block = UINT64_MAX };

    p.m = model_in(p.payload, &p.l);
    return p;
}

static bool is_set(probing *p, uint64_t pos)
{
    uint64_t block = pos / p->l.block_bits;

    if (p->m.certain)
        return p->m.inverted;
    if (block != p->block) {
        p->block = block;
        p->r = read_block(p->payload, &p->l, block);
        read_on(&p->r, &p->m);
    }
    pos -= block * p->l.block_bits;
    while (!p->r.done && p->r.walk.at < pos)
        read_on(&p->r, &p->m);
    return (!p->r.done && p->r.walk.at == pos) != p->m.inverted;
}

static bool has(const tamis *f, uint64_t key)
{
    probing p = probing_of(f);
    uint64_t x = hash_key(key, f->salt);

    for (uint32_t i = 0; i < f->plan.hashes; i++, x = next_probe(x)) {
        p.block = UINT64_MAX;
        if (!is_set(&p, scale64(x, f->plan.slots)))
            return false;
    }
    return true;
}

/* ---- Many keys --------------------------------------------------------- */

enum { TOGETHER_BITS = 7, TOGETHER = 1 << TOGETHER_BITS };

/* Round by round, in the order of their bits: a block is decoded once for all keys that have a bit
 * there. Positions have 48 bits: the number of the key fits below. */
static void has_together(probing *p, const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    uint64_t x[TOGETHER], at[TOGETHER];

    for (size_t i = 0; i < n; i++) {
        x[i] = hash_key(keys[i], f->salt);
        at[i] = scale64(x[i], p->l.slots) << TOGETHER_BITS | i;
    }
    for (uint32_t round = 0; round < f->plan.hashes; round++) {
        size_t left = 0;
        tamis__sort(at, n);
        p->block = UINT64_MAX;
        for (size_t i = 0; i < n; i++) {
            uint64_t key = at[i] % TOGETHER;
            if (!is_set(p, at[i] >> TOGETHER_BITS))
                continue;
            x[key] = next_probe(x[key]);
            at[left++] = scale64(x[key], p->l.slots) << TOGETHER_BITS | key;
        }
        n = left;
    }
    for (size_t i = 0; i < n; i++)
        hits[at[i] % TOGETHER / 64] |= UINT64_C(1) << at[i] % 64;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    probing p = probing_of(f);
    size_t found = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof *hits);
    for (size_t i = 0; i < n; i += TOGETHER)
        has_together(&p, f, hits + i / 64, keys + i, n - i < TOGETHER ? n - i : TOGETHER);
    for (size_t i = 0; i < (n + 63) / 64; i++)
        found += (size_t)__builtin_popcountll(hits[i]);
    return found;
}

/* ---- The whole filter -------------------------------------------------- */

static void set_all(uint8_t *bits, uint64_t n)
{
    memset(bits, 0xff, n / 8);
    for (uint64_t i = n / 8 * 8; i < n; i++)
        set_bit(bits, i);
}

static void flip_bit(uint8_t *bits, uint64_t pos)
{
    bits[pos / 8] ^= (uint8_t)(1u << pos % 8);
}

tamis_status tamis__compressed_to_bloom(tamis **out, tamis_kind to, const tamis *f,
                                        const tamis_allocator *a)
{
    probing p = probing_of(f);
    tamis_status status = tamis__new_bloom(out, to, f, a);

    if (status)
        return status;
    if (p.m.inverted)
        set_all((*out)->payload, p.l.slots);
    for (uint64_t i = 0; i < p.l.blocks && !p.m.certain; i++) {
        reader r = read_block(p.payload, &p.l, i);
        for (read_on(&r, &p.m); !r.done; read_on(&r, &p.m))
            flip_bit((*out)->payload, first_of(&p.l, i) + r.walk.at);
    }
    return TAMIS_OK;
}

/* TAMIS_FULL: the plan is too small. */
static tamis_status write_new(tamis **out, const tamis_plan *p, const tamis *bloom,
                              const tamis_allocator *a)
{
    layout l = layout_of(p);
    tamis_status status = tamis_new(out, p, a);

    if (status)
        return status;
    (*out)->count = bloom->count;
    if (write_all((*out)->payload, &l, bloom->payload))
        return TAMIS_OK;
    tamis_free(*out);
    return TAMIS_FULL;
}

tamis_status tamis__bloom_to_compressed(tamis **out, tamis_kind to, const tamis *f,
                                        const tamis_allocator *a)
{
    tamis_plan p = f->plan;
    double m = (double)p.slots;

    if (p.slots >= MAX_SLOTS)
        return TAMIS_RANGE;
    tamis_status status =
        size_for_bits(&p, m * entropy((double)count_ones(f->payload, p.bytes) / m));
    for (p.kind = to; !status; status = resize(&p, 0)) {
        p.bytes = bytes(&p);
        status = write_new(out, &p, f, a);
        if (status != TAMIS_FULL)
            return status;
    }
    return status;
}

static const char *verify_block(const probing *p, uint64_t block, uint64_t *coded)
{
    reader r = read_block(p->payload, &p->l, block);

    if (start_of(p->payload, &p->l, block) > start_of(p->payload, &p->l, block + 1))
        return "starts of blocks do not ascend";
    if (p->m.certain)
        return r.coder.from == r.start ? NULL : "there are codes for bits that are all the same";
    for (read_on(&r, &p->m); !r.done; read_on(&r, &p->m))
        ++*coded;
    if (r.strayed)
        return "a bit is past the end of its block";
    return is_read_to_end(&r.coder, r.start) ? NULL : "a block does not decode to its end";
}

static const char *verify_index(const probing *p)
{
    uint64_t end = start_of(p->payload, &p->l, p->l.blocks);
    const uint8_t *codes = p->payload + p->l.codes;

    if (le64(p->payload) > p->l.slots)
        return "more bits are set than there are";
    if (end > p->l.room)
        return "codes are past the end";
    for (uint64_t i = 0; i <= p->l.blocks; i += BASE_BLOCKS)
        if (le16(p->payload + p->l.starts + 2 * i) ||
            le64(p->payload + HEAD + i / BASE_BLOCKS * 8) > p->l.room)
            return "a base is not where its first block starts";
    if (start_of(p->payload, &p->l, 0))
        return "the first block does not come first";
    return bytes_are_zero(codes + end, codes + p->l.room) ? NULL : "bytes behind the codes are set";
}

static const char *verify(const tamis *f)
{
    probing p = probing_of(f);
    uint64_t coded = 0, ones = le64(p.payload);
    const char *why = verify_index(&p);

    for (uint64_t i = 0; i < p.l.blocks && !why; i++)
        why = verify_block(&p, i, &coded);
    if (why)
        return why;
    return coded == (p.m.inverted ? p.l.slots - ones : ones) ? NULL
                                                             : "the number of set bits is wrong";
}

static void measure(const tamis *f, tamis_info *info)
{
    double m = (double)f->plan.slots;

    info->fpr = pow(fmin(1, (double)le64(f->payload) / m), f->plan.hashes);
}

const tamis_ops tamis__compressed = {
    .traits = TAMIS_TRAIT_ONE_PART,
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .verify = verify,
    .measure = measure,
    .resize = resize,
    .solve = solve,
    .scratch = scratch,
    .has_many = has_many,
};
