/* segments.h - where a binary fuse filter keeps the fingerprints of its keys; for any ARITY, which
 * the includer defines.
 *
 * A part (base/parts.h) is HEAD_BYTES of state and an array of plan.slots fingerprints of plan.width
 * bits, cut into segments of 2^plan.hashes slots. A key h = place(key) picks a segment to start with,
 * by its leading bits, then one slot in that segment and in each of the next ARITY - 1 ones. The xor
 * of its slots is its fingerprint: the low bits of h.
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

/* The slots of a key in ARITY segments from `start` on. `low` is its low bits. */
static inline void slots_of(uint64_t *slots, const shape *s, uint64_t start, uint64_t low,
                            uint64_t seed)
{
    uint64_t x = low ^ seed;
    uint64_t g = x * FUSE_MULTIPLIER ^ mul_high64(x, FUSE_MULTIPLIER);
    uint64_t mask = (UINT64_C(1) << s->segment_bits) - 1;

    for (unsigned j = 0; j < ARITY; j++)
        slots[j] = ((start + j) << s->segment_bits) + (g >> 16 * j & mask);
}

/* ---- Sizing ------------------------------------------------------------ */

/* Slots are numbered in 32 bits while a part is solved. */
static inline bool is_shape(const tamis_plan *p)
{
    return p->width >= 1 && p->width <= PACKED_WIDEST && p->hashes >= SHORTEST_BITS &&
           p->hashes <= LONGEST_BITS && p->slots < UINT64_C(1) << 31 &&
           p->slots % (UINT64_C(1) << p->hashes) == 0 && p->slots >> p->hashes >= ARITY &&
           p->capacity < UINT64_C(1) << 48;
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

/* One segment in sixteen more. */
static void enlarge(tamis_plan *p)
{
    uint64_t segments = p->slots >> p->hashes;

    p->slots = (segments + segments / 16 + 1) << p->hashes;
    p->bytes = bytes(p);
}

/* ---- Queries ----------------------------------------------------------- */

static inline const uint8_t *part_with(const tamis *f, const shape *s, uint64_t h)
{
    return (const uint8_t *)f->payload + part_of(h, s->part_bits) * s->part_bytes;
}

static inline bool in_stash(const uint8_t *head, uint64_t h)
{
    unsigned n = head[HEAD_STASHED] < STASH ? head[HEAD_STASHED] : STASH;

    for (unsigned i = 0; i < n; i++)
        if (le64(head + HEAD_STASH + 8 * i) == h)
            return true;
    return false;
}

/* What a part knows before its slots are read. */
static inline bool settle(const uint8_t *head, uint64_t h, bool fits)
{
    if (head[HEAD_STASHED])
        fits |= in_stash(head, h);
    return fits && le32(head) != 0;
}

static inline bool slots_fit(const uint8_t *part, const uint64_t *slots, uint64_t h,
                             unsigned width)
{
    uint32_t x = (uint32_t)h;

    for (unsigned j = 0; j < ARITY; j++)
        x ^= packed_get(part + HEAD_BYTES, slots[j], width);
    return (x & packed_mask(width)) == 0;
}

static bool has(const tamis *f, uint64_t key)
{
    shape s = shape_of(&f->plan);
    uint64_t h = place(key, f->salt), slots[ARITY];
    const uint8_t *part = part_with(f, &s, h);

    slots_of(slots, &s, start_of(&s, h), h & FUSE_LOW_BITS, spread_seed(part[HEAD_SEED]));
    return settle(part, h, slots_fit(part, slots, h, s.width));
}

static void touch(const tamis *f, uint64_t key)
{
    shape s = shape_of(&f->plan);
    uint64_t h = place(key, f->salt), slots[ARITY];
    const uint8_t *part = part_with(f, &s, h);

    slots_of(slots, &s, start_of(&s, h), h & FUSE_LOW_BITS, spread_seed(part[HEAD_SEED]));
    for (unsigned j = 0; j < ARITY; j++)
        __builtin_prefetch(part + HEAD_BYTES + packed_byte(slots[j], s.width));
}

#endif
