/* compressed.c - a Bloom filter sized for its length on the wire, and kept as it is sent.
 *
 * Half of the bits of a Bloom filter are set, and no coder makes that shorter. But an array that is
 * larger than it need be, with fewer probes, is mostly clear, and coded it is shorter than the best
 * Bloom filter of the same rate: 8.0 bits a key at 1 % instead of 9.6, with one probe for seven.
 * The array grows without end as the length goes to its least, so that it is held to
 * COMPRESSED_MOST_LARGER times the payload.
 *
 * The payload is that array, coded (bit_coder.h) in blocks: a lookup decodes, for each probe until
 * one is clear, half a block on average. That takes microseconds. Whoever asks often converts it to
 * a Bloom filter of the same bits, and any Bloom filter becomes one of these (tamis_convert).
 *
 *   | set bits, 8 | base of each 32 blocks, 8 each | start of each block, 2 each | codes | zeros |
 *
 * Payload: plan.width words of 8 bytes, which say how many blocks there are; plan.slots = m and
 * plan.hashes = k, as in bloom. Codes of block i start at base[i / 32] + start[i], where there is
 * one more start than blocks.
 *
 * Mitzenmacher: Compressed Bloom Filters, 2001. */
#include <math.h>

#include "base/sort.h"
#include "bloom/compressed_blocks.h"
#include "bloom/probes.h"

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t compressed_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < COMPRESSED_MAX_SLOTS && p->width > 0 && p->hashes > 0 &&
              p->hashes <= PROBES_MAX && !p->flags && !p->load;
    uint64_t bytes = (uint64_t)p->width * COMPRESSED_WORD;

    if (!ok || p->slots / COMPRESSED_MOST_EXPANSION > bytes * 8)
        return 0;
    return tamis__compressed_layout(p).codes <= bytes ? bytes : 0;
}

/* Bits that it takes to tell of each bit whether it is set, when a share p of them is. */
static double compressed_entropy(double p)
{
    return p > 0 && p < 1 ? (-p * log(p) - (1 - p) * log1p(-p)) / log(2) : 0;
}

/* What the coder needs beside the entropy: the index, and what is lost when the number that stands
 * for a block is rounded to bytes. */
static const double COMPRESSED_BLOCK_EXTRA = 2 + 8.0 / COMPRESSED_BASE_BLOCKS + 0.7,
                    COMPRESSED_EXTRA = COMPRESSED_HEAD + 8 + 2 + 2;

/* Sets the width for that many set bits. */
static tamis_status compressed_fit(tamis_plan *p, double ones)
{
    double m = (double)p->slots, bytes = m * compressed_entropy(ones / m) / 8 + COMPRESSED_EXTRA;
    double codes =
        (bytes + COMPRESSED_BLOCK_EXTRA) / (1 - COMPRESSED_BLOCK_EXTRA / COMPRESSED_BLOCK_BYTES);
    double sparse = bytes + COMPRESSED_BLOCK_EXTRA * (double)((p->slots >> BIT_CODER_LEVELS) + 1);
    double words =
        ceil(fmax(fmax(codes, sparse), m / COMPRESSED_MOST_EXPANSION / 8) / COMPRESSED_WORD);

    if (!(words < (double)COMPRESSED_MAX_WORDS))
        return TAMIS_RANGE;
    p->width = (uint32_t)words;
    return TAMIS_OK;
}

/* More set bits than that are seen once in a billion filters: six standard deviations. As in
 * rates.c, their square is written so that nothing cancels. */
static double compressed_most_ones(const tamis_plan *p, double n)
{
    double m = (double)p->slots, throws = n * p->hashes, one = log1p(-1 / m);
    double clear = exp(throws * one), square = clear * clear;
    double excess = expm1(throws * log1p(-1 / ((m - 1) * (m - 1))));
    double deviation = sqrt(fmax(0, ((clear - square * (1 + excess)) + square * excess * m) * m));

    return fmin(fmin(m, throws), -m * expm1(throws * one) + 6 * deviation + 1);
}

/* At a given length the rate is worst where half of the bits are set, which serves best in memory,
 * and falls with the number of probes: with one, to e 2^-z for z bits a key. The fewer probes, the
 * larger the array: as few as leave it COMPRESSED_MOST_LARGER times as large as what is sent. Above
 * one half, rates need the fewest bits, and the fewest set ones, with one probe. */
static uint32_t compressed_probes(double fpr)
{
    uint32_t k = 1;

    for (; fpr < 0.5; k++) {
        double bits = tamis__rates_classic_slots(k, 1, fpr), set = -expm1(-(double)k / bits);
        if (!(bits > COMPRESSED_MOST_LARGER * bits * compressed_entropy(set)))
            break;
    }
    return k;
}

/* The closed form comes close; the rest is steps. */
static tamis_status compressed_plan_array(tamis_plan *p, const tamis_spec *spec)
{
    double n = (double)spec->keys, slots;

    p->hashes = spec->hashes ? spec->hashes : compressed_probes(spec->fpr);
    if (p->hashes > PROBES_MAX)
        return TAMIS_RANGE;
    slots = tamis__rates_classic_slots(p->hashes, n, spec->fpr);
    if (!(slots < (double)(COMPRESSED_MAX_SLOTS - COMPRESSED_MAX_SLOTS / 16)))
        return TAMIS_RANGE;
    for (p->slots = round_up((uint64_t)slots + 1, 64); tamis__rates_classic(p, n) > spec->fpr;)
        p->slots = round_up(p->slots + (p->slots >> 14) + 1, 64);
    return TAMIS_OK;
}

static tamis_status compressed_plan(tamis_plan *p, const tamis_spec *spec)
{
    tamis_status status =
        spec->bits ? tamis__rates_plan(p, spec, &RATES_CLASSIC) : compressed_plan_array(p, spec);

    if (status || p->slots >= COMPRESSED_MAX_SLOTS)
        return TAMIS_RANGE;
    double ones = compressed_most_ones(p, (double)spec->keys);
    return compressed_fit(p, fmin((double)p->slots / 2, ones));
}

static tamis_status compressed_resize(tamis_plan *p, uint64_t keys)
{
    uint32_t more = p->width / 16 + 1;

    (void)keys;
    if (p->width > UINT32_MAX - more)
        return TAMIS_RANGE;
    p->width += more;
    return TAMIS_OK;
}

/* ---- Making ----------------------------------------------------------- */

static uint64_t compressed_scratch(const tamis_plan *p, enum tamis_stage stage, uint64_t n,
                                   unsigned workers)
{
    (void)stage, (void)n, (void)workers;
    return bytes_of_bits(p->slots);
}

static tamis_status compressed_solve(const tamis *f, enum tamis_stage stage, void *part,
                                     void *items, size_t *n, void *bits, const tamis_team *team)
{
    uint64_t *hashes = items, slots = f->plan.slots;

    (void)stage, (void)team;
    *n = tamis__sort_unique(hashes, *n);
    memset(bits, 0, (size_t)bytes_of_bits(slots));
    for (size_t i = 0; i < *n; i++)
        for (uint32_t k = 0; k < f->plan.hashes; k++) {
            bitset_set(bits, scale64(hashes[i], slots));
            hashes[i] = probes_next(hashes[i]);
        }
    return tamis__compressed_write(part, &f->plan, bits);
}

/* ---- Lookups ----------------------------------------------------------- */

static bool compressed_has(const tamis *f, uint64_t key)
{
    compressed_reader c = tamis__compressed_reader(f);
    uint64_t x = hash_key(key, f->salt);

    for (uint32_t i = 0; i < f->plan.hashes; i++, x = probes_next(x)) {
        c.block = UINT64_MAX;
        if (!tamis__compressed_get(&c, scale64(x, f->plan.slots)))
            return false;
    }
    return true;
}

/* Positions have at most 48 bits: sorted as the leading bits of a word, they leave room for the
 * number of the key below. */
enum { COMPRESSED_GROUP_BITS = 9, COMPRESSED_GROUP = 448 };

/* Round by round, in the order of their bits: a block is decoded once for all keys that have a bit
 * there. Sets bits of `hits`, and returns how many. */
static size_t compressed_has_group(compressed_reader *c, const tamis *f, uint64_t *hits,
                                   const uint64_t *keys, size_t n)
{
    const int shift = __builtin_clzll(c->l.slots);
    const uint64_t number = (1 << COMPRESSED_GROUP_BITS) - 1;
    uint64_t at[COMPRESSED_GROUP];

    for (size_t i = 0; i < n; i++)
        at[i] = scale64(hash_key(keys[i], f->salt), c->l.slots) << shift | i;
    for (uint32_t round = 0; round < f->plan.hashes; round++) {
        size_t left = 0;
        tamis__sort(at, n);
        c->block = UINT64_MAX;
        for (size_t i = 0; i < n; i++) {
            if (!tamis__compressed_get(c, at[i] >> shift))
                continue;
            uint64_t x = hash_key(keys[at[i] & number], f->salt);
            for (uint32_t k = 0; k <= round; k++)
                x = probes_next(x);
            at[left++] = scale64(x, c->l.slots) << shift | (at[i] & number);
        }
        n = left;
    }
    for (size_t i = 0; i < n; i++)
        hits[(at[i] & number) / 64] |= UINT64_C(1) << at[i] % 64;
    return n;
}

static size_t compressed_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    compressed_reader c = tamis__compressed_reader(f);
    size_t found = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof *hits);
    for (size_t i = 0; i < n; i += COMPRESSED_GROUP)
        found += compressed_has_group(&c, f, hits + i / 64, keys + i,
                                      n - i < COMPRESSED_GROUP ? n - i : COMPRESSED_GROUP);
    return found;
}

/* ---- The whole filter -------------------------------------------------- */

tamis_status tamis__compressed_to_bloom(tamis **out, tamis_kind to, const tamis *f,
                                        const tamis_allocator *a)
{
    compressed_reader c = tamis__compressed_reader(f);
    tamis_status status = bitset_new_like(out, to, f, a);

    if (status)
        return status;
    uint8_t *bits = (*out)->payload;
    if (c.m.inverted) {
        memset(bits, 0xff, (size_t)(c.l.slots / 8));
        for (uint64_t i = c.l.slots / 8 * 8; i < c.l.slots; i++)
            bitset_set(bits, i);
    }
    for (uint64_t i = 0; i < c.l.blocks && !c.m.certain; i++) {
        bit_coder_reader r = tamis__compressed_read_block(&c, i);
        while (tamis__bit_coder_seek(&r, &c.m, 0)) {
            uint64_t bit = compressed_first_of(&c.l, i) + r.walk.at;
            bits[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    return TAMIS_OK;
}

tamis_status tamis__bloom_to_compressed(tamis **out, tamis_kind to, const tamis *f,
                                        const tamis_allocator *a)
{
    tamis_plan p = f->plan;

    if (p.slots >= COMPRESSED_MAX_SLOTS)
        return TAMIS_RANGE;
    tamis_status status = compressed_fit(&p, (double)count_ones(f->payload, p.bytes));
    for (p.kind = to; !status; status = compressed_resize(&p, 0)) {
        p.bytes = compressed_bytes(&p);
        status = tamis_new(out, &p, a);
        if (status)
            break;
        (*out)->count = f->count;
        if (!tamis__compressed_write((*out)->payload, &p, f->payload))
            break;
        tamis_free(*out);
    }
    return status;
}

static void compressed_measure(const tamis *f, tamis_info *info)
{
    double m = (double)f->plan.slots;

    info->fpr = pow(fmin(1, (double)le64(f->payload) / m), f->plan.hashes);
}

/* ---- Pictures and words ------------------------------------------------ */

static tamis_cell compressed_cell(compressed_reader *c, uint64_t pos)
{
    return (tamis_cell){
        .array = "bits", .index = pos, .value = tamis__compressed_get(c, pos), .bits = 1
    };
}

/* Little-endian numbers of that many bytes. */
static void compressed_tell_numbers(tamis_telling *t, const char *name, const uint8_t *at,
                                    uint64_t n, unsigned size)
{
    for (uint64_t i = 0; i < n; i++, at += size) {
        tamis_cell cell = { .array = name, .index = i, .bits = 8 * size };
        cell.value = size == 8 ? le64(at) : size == 2 ? le16(at) : *at;
        if (!tamis__tell_cell(t, cell))
            return;
    }
}

/* The bits, then how they are coded. */
static void compressed_cells(const tamis *f, tamis_telling *t)
{
    compressed_reader c = tamis__compressed_reader(f);
    uint64_t end = tamis__compressed_start(&c, c.l.blocks);

    for (uint64_t i = 0; i < f->plan.slots && tamis__tell_cell(t, compressed_cell(&c, i)); i++)
        continue;
    compressed_tell_numbers(t, "set bits", c.payload, 1, 8);
    compressed_tell_numbers(t, "base", c.payload + COMPRESSED_HEAD,
                            c.l.blocks / COMPRESSED_BASE_BLOCKS + 1, 8);
    compressed_tell_numbers(t, "start", c.payload + c.l.starts, c.l.blocks + 1, 2);
    compressed_tell_numbers(t, "codes", c.payload + c.l.codes, end < c.l.room ? end : c.l.room, 1);
}

static bool compressed_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    compressed_reader c = tamis__compressed_reader(f);
    uint64_t x = hash_key(key, f->salt);
    bool found = true;

    for (uint32_t i = 0; i < f->plan.hashes; i++, x = probes_next(x)) {
        uint64_t pos = scale64(x, f->plan.slots), block = pos / c.l.block_bits;
        tamis__tell_number(t, "block", block);
        tamis__tell_number(t, "first byte of the block", tamis__compressed_start(&c, block));
        c.block = UINT64_MAX;
        found &= bitset_tell_bit(t, compressed_cell(&c, pos));
    }
    return bitset_tell_answer(t, found);
}

const tamis_ops tamis__compressed = {
    .traits = TAMIS_TRAIT_ONE_PART | TAMIS_TRAIT_BITS,
    .plan = compressed_plan,
    .bytes = compressed_bytes,
    .rate = tamis__rates_classic,
    .resize = compressed_resize,
    .verify = tamis__compressed_verify,
    .measure = compressed_measure,
    .has = compressed_has,
    .has_many = compressed_has_many,
    .solve = compressed_solve,
    .scratch = compressed_scratch,
    .cells = compressed_cells,
    .explain = compressed_explain,
};
