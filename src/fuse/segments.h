/* segments.h - where a binary fuse filter keeps the fingerprints of its keys; for any ARITY, which
 * the includer defines.
 *
 * A part (base/parts.h) is HEAD_BYTES of state and an array of plan.slots fingerprints of
 * plan.width bits, cut into segments of 2^plan.hashes slots. A key h = place(key) picks a segment
 * to start with, by its leading bits, then one slot in that segment and in each of the next ARITY -
 * 1 ones. The xor of its slots is its fingerprint: the low bits of h.
 *
 *   h, leading bits:  part, then start segment, by scale64()
 *   h, low 56 bits:   xored with the seed of the part, multiplied by FUSE_MULTIPLIER to 128 bits,
 *                     the two halves xored: g. Bits 16 j .. 16 j + 15 of g give the slot in the
 *                     j-th segment, as many of them as a segment needs.
 *   h, low bits:      fingerprint
 *
 * A new seed moves a key within its segments, not to others: hashes that were grouped by leading
 * bits stay grouped, whatever the seed.
 *
 * Head of a part: keys (4 bytes), seed (1), stashed (1), 2 zeros; then up to STASH hashes of keys
 * that are in no slot. A part of no keys has no fingerprints to compare with. */
#ifndef TAMIS_FUSE_SEGMENTS_H
#define TAMIS_FUSE_SEGMENTS_H

#include <math.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "base/packed.h"
#include "base/parts.h"
#include "filter.h"

/* ---- Layout ------------------------------------------------------------ */

enum { HEAD_BYTES = 32, HEAD_SEED = 4, HEAD_STASHED = 5, HEAD_STASH = 8, STASH = 3 };

/* Four times 16 bits place a key. A part of 2^24 keys wants no more. */
enum { SHORTEST_BITS = 2, LONGEST_BITS = 16 };

/* An odd number without structure, from the digits of pi. */
#define FUSE_MULTIPLIER UINT64_C(0x243F6A8885A308D3)

/* Bits of a hash that place a key within its segments and make its fingerprint. */
#define FUSE_LOW_BITS ((UINT64_C(1) << 56) - 1)

/* The plan's numbers as the code below wants them. */
typedef struct shape {
    uint64_t starts;     /* segments that a key may start with */
    uint64_t part_bytes; /* from one part to the next */
    unsigned part_bits, segment_bits, width;
} shape;

static inline uint64_t part_bytes_of(const tamis_plan *p)
{
    return round_up(HEAD_BYTES + packed_bytes(p->slots, p->width), 64);
}

static inline shape shape_of(const tamis_plan *p)
{
    return (shape){ .starts = (p->slots >> p->hashes) - (ARITY - 1),
                    .part_bytes = part_bytes_of(p),
                    .part_bits = part_bits(p->capacity),
                    .segment_bits = p->hashes,
                    .width = p->width };
}

static inline uint64_t start_of(const shape *s, uint64_t h)
{
    return scale64(h << s->part_bits, s->starts);
}

static inline uint64_t spread_seed(uint64_t seed)
{
    return seed * HASH_GOLDEN;
}

/* Where in its segments a key is: 16 bits for each. `low` is the low bits of its hash. */
static inline uint64_t offsets_of(uint64_t low, uint64_t seed)
{
    return mul_fold64(low ^ seed, FUSE_MULTIPLIER);
}

/* Its j-th slot, if it starts in segment `start`. */
static inline uint64_t slot_of(const shape *s, uint64_t start, uint64_t offsets, unsigned j)
{
    uint64_t mask = (UINT64_C(1) << s->segment_bits) - 1;

    return (start << s->segment_bits) + ((uint64_t)j << s->segment_bits) +
           (offsets >> 16 * j & mask);
}

/* ---- Sizing ------------------------------------------------------------ */

/* Beyond this, too few bits of a hash are left to tell keys of a part apart. */
#define MOST_KEYS (UINT64_C(1) << 48)

/* Slots are numbered in 32 bits while a part is solved. */
static inline bool is_shape(const tamis_plan *p)
{
    return p->width >= 1 && p->width <= PACKED_WIDEST && p->hashes >= SHORTEST_BITS &&
           p->hashes <= LONGEST_BITS && p->slots < UINT64_C(1) << 31 &&
           p->slots % (UINT64_C(1) << p->hashes) == 0 && p->slots >> p->hashes >= ARITY &&
           p->capacity < MOST_KEYS;
}

static uint64_t bytes(const tamis_plan *p)
{
    uint64_t total;

    if (!is_shape(p))
        return 0;
    if (mul_overflows(part_bytes_of(p), UINT64_C(1) << part_bits(p->capacity), &total))
        return 0;
    return total;
}

/* The xor of a stranger's slots is as good as random, and so is its fingerprint. */
static double rate(const tamis_plan *p, double n)
{
    return n > 0 ? ldexp(1, -(int)p->width) : 0;
}

/* Bits of a fingerprint that is met by chance at most at that rate; more than 32 if none is. */
static inline uint32_t width_for(double fpr)
{
    uint32_t width = 1;

    while (width <= PACKED_WIDEST && ldexp(1, -(int)width) > fpr)
        width++;
    return width;
}

/* Parts of up to `keys` keys get segments of 2^bits slots, and keys start in `starts` / 1024 slots
 * a key: the fewest with which nine sets in ten were peeled at the first attempt, found by trial.
 * The last row has no upper end. */
typedef struct sizing {
    uint64_t keys;
    uint32_t bits, starts;
} sizing;

static inline uint64_t slots_in_row(const sizing *row, uint64_t n)
{
    uint64_t length = UINT64_C(1) << row->bits;
    uint64_t starts = (n * row->starts / 1024 + length - 1) / length;

    return ((starts ? starts : 1) + ARITY - 1) * length;
}

/* More keys never get fewer slots: a row begins where the one before it ends. */
static inline tamis_status plan_by(tamis_plan *p, const tamis_spec *spec, const sizing *row)
{
    uint64_t n = part_room(spec->keys), least = 0;

    p->width = width_for(spec->fpr);
    if (p->width > PACKED_WIDEST || spec->keys >= MOST_KEYS)
        return TAMIS_RANGE;
    for (; row->keys < n; row++)
        least = slots_in_row(row, row->keys);
    p->hashes = row->bits;
    p->slots = slots_in_row(row, n);
    if (p->slots < least)
        p->slots = round_up(least, UINT64_C(1) << row->bits);
    return TAMIS_OK;
}

/* One segment in sixteen more. */
static void enlarge(tamis_plan *p)
{
    uint64_t segments = p->slots >> p->hashes;

    p->slots = (segments + segments / 16 + 1) << p->hashes;
    p->bytes = bytes(p);
}

/* ---- Queries ----------------------------------------------------------- */

static inline bool in_stash(const uint8_t *part, uint64_t h)
{
    unsigned n = part[HEAD_STASHED] < STASH ? part[HEAD_STASHED] : STASH;

    for (unsigned i = 0; i < n; i++)
        if (le64(part + HEAD_STASH + 8 * i) == h)
            return true;
    return false;
}

/* A key on its way: where its slots are, and what they should add up to. */
typedef struct probe {
    const uint8_t *part;
    uint64_t h, slots[ARITY];
} probe;

static inline probe aim(const tamis *f, const shape *s, uint64_t key)
{
    probe p = { .h = place(key, f->salt) };
    uint64_t start = start_of(s, p.h);

    p.part = (const uint8_t *)f->payload + part_of(p.h, s->part_bits) * s->part_bytes;
    uint64_t offsets = offsets_of(p.h & FUSE_LOW_BITS, spread_seed(p.part[HEAD_SEED]));
    for (unsigned j = 0; j < ARITY; j++)
        p.slots[j] = slot_of(s, start, offsets, j);
    return p;
}

static inline void fetch(const probe *p, unsigned width)
{
    for (unsigned j = 0; j < ARITY; j++)
        __builtin_prefetch(p->part + HEAD_BYTES + packed_byte(p->slots[j], width));
}

static inline bool hits(const probe *p, unsigned width)
{
    uint32_t x = (uint32_t)p->h;

    for (unsigned j = 0; j < ARITY; j++)
        x ^= packed_get(p->part + HEAD_BYTES, p->slots[j], width);
    bool found = (x & packed_mask(width)) == 0 && le32(p->part) != 0;
    return found || (p->part[HEAD_STASHED] && in_stash(p->part, p->h));
}

static bool has(const tamis *f, uint64_t key)
{
    shape s = shape_of(&f->plan);
    probe p = aim(f, &s, key);

    return hits(&p, s.width);
}

/* ---- Many queries ------------------------------------------------------ */

/* Keys between the one that is fetched and the one that is answered. */
enum { IN_FLIGHT = 32 };

static inline size_t has_many_at(const tamis *f, uint64_t *answers, const uint64_t *keys, size_t n,
                                 unsigned width)
{
    const shape s = shape_of(&f->plan);
    probe ring[IN_FLIGHT];
    size_t found = 0;
    uint64_t word = 0;

    for (size_t i = 0; i < IN_FLIGHT && i < n; i++) {
        ring[i] = aim(f, &s, keys[i]);
        fetch(&ring[i], width);
    }
    for (size_t i = 0; i < n; i++) {
        probe *p = &ring[i % IN_FLIGHT];
        word |= (uint64_t)hits(p, width) << i % 64;
        if (i + IN_FLIGHT < n) {
            *p = aim(f, &s, keys[i + IN_FLIGHT]);
            fetch(p, width);
        }
        if (i % 64 == 63 || i + 1 == n) {
            answers[i / 64] = word;
            found += (size_t)__builtin_popcountll(word);
            word = 0;
        }
    }
    return found;
}

static size_t has_many(const tamis *f, uint64_t *answers, const uint64_t *keys, size_t n)
{
    if (f->plan.width == 8)
        return has_many_at(f, answers, keys, n, 8);
    if (f->plan.width == 16)
        return has_many_at(f, answers, keys, n, 16);
    return has_many_at(f, answers, keys, n, f->plan.width);
}

static const tamis_batch *batch(unsigned cpu)
{
    static const tamis_batch BATCH = { .has_many = has_many };

    (void)cpu;
    return &BATCH;
}

#endif
