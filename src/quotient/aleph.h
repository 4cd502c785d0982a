/* aleph.h - the geometry of aleph filters, and what is done to one fingerprint. aleph.c says what
 * it means. */
#ifndef TAMIS_QUOTIENT_ALEPH_H
#define TAMIS_QUOTIENT_ALEPH_H

#include "quotient/shards.h"

/* ---- Fingerprints of any length ---------------------------------------- */

/* A slot holds the bits of a fingerprint, a one, and zeros to its end: 1011 in five bits is 10111,
 * 10 is 10100 and one without bits, a void, is 10000. */

static inline uint32_t aleph_void_of(unsigned width)
{
    return UINT32_C(1) << (width - 1);
}

/* Zeros after the one. What is no fingerprint counts as void. */
static inline unsigned aleph_zeros_of(uint32_t x, unsigned width)
{
    return (unsigned)__builtin_ctz(x | aleph_void_of(width));
}

static inline unsigned aleph_bits_of(uint32_t x, unsigned width)
{
    return width - 1 - aleph_zeros_of(x, width);
}

/* Whether the bits of x are the first of those of `fresh`, which has them all. */
static inline bool aleph_covers(uint32_t x, uint32_t fresh)
{
    return ((x ^ fresh) & ~(x ^ (x - 1))) == 0;
}

/* Runs are sorted by this: by the bits, and what covers others comes before them. So the last one
 * that covers a fingerprint is the longest. */
static inline uint64_t aleph_order_of(uint32_t x, unsigned width)
{
    return (uint64_t)(x & (x - 1)) << 6 | aleph_bits_of(x, width);
}

/* In a table of twice the slots the first bit is part of the quotient. */
static inline uint32_t aleph_shortened(uint32_t x, unsigned width, unsigned to_width)
{
    return (uint32_t)((uint64_t)x << (1 + to_width - width)) & packed_mask(to_width);
}

/* ---- Geometry ---------------------------------------------------------- */

/* There is one shard, which the compiler knows. */
static inline shards aleph_of(const tamis *f)
{
    shards s = shards_of(f);

    s.bits = 0;
    return s;
}

static inline runs_table aleph_table(const tamis *f)
{
    shards s = aleph_of(f);

    return shards_table(&s, 0);
}

/* A remainder is the fingerprint of a new key; a slot holds it with a one. */
static inline uint32_t aleph_fresh(const shards_position *at)
{
    return at->remainder << 1 | 1;
}

/* ---- Sizes ------------------------------------------------------------- */

/* Sizes up to which bits are spread evenly. */
enum { ALEPH_EVEN = 21 };

/* Doublings since the filter was new. */
static inline unsigned aleph_size(const tamis_plan *p)
{
    return p->hashes & 255;
}

static inline unsigned aleph_narrow(const tamis_plan *p)
{
    return p->hashes >> 8;
}

/* Bits of new fingerprints beyond the least. */
static inline unsigned aleph_more_bits(unsigned narrow, unsigned size)
{
    if (size < narrow)
        return 0;
    if (size < ALEPH_EVEN)
        return 1;
    return 4 + 2 * word_highest(size - ALEPH_EVEN + 1);
}

/* Of fingerprints that came at an earlier size, when they were new. */
static inline unsigned aleph_bits_at(const tamis_plan *p, unsigned size)
{
    unsigned narrow = aleph_narrow(p), now = aleph_more_bits(narrow, aleph_size(p));

    return p->width - 1 - now + aleph_more_bits(narrow, size);
}

/* Of those fingerprints now: a bit less for each doubling since. */
static inline unsigned aleph_bits_left(const tamis_plan *p, unsigned size)
{
    unsigned bits = aleph_bits_at(p, size), lost = aleph_size(p) - size;

    return bits > lost ? bits - lost : 0;
}

/* ---- Search ------------------------------------------------------------ */

/* Runs are sorted. Few have more slots than this: only keys that were chosen make long ones. */
enum { ALEPH_LONG = 64 };

/* The slot after the last of the run that is not above x. */
static inline uint64_t aleph_slot_after(runs_table t, const runs_run *r, uint32_t x)
{
    uint64_t low = r->start, high = r->end, order = aleph_order_of(x, t.width);

    while (high - low > ALEPH_LONG) {
        uint64_t middle = low + (high - low) / 2;
        if (aleph_order_of(runs_slot(t, middle), t.width) > order)
            high = middle;
        else
            low = middle + 1;
    }
    while (high > low && aleph_order_of(runs_slot(t, high - 1), t.width) > order)
        high--;
    return high;
}

/* As aleph_find_longest(), in a long run: what covers it has its first bits, as many as there are
 * or fewer. In slots of 32 bits, there is no bit beyond that of a void. */
__attribute__((noinline)) static uint64_t aleph_find_in_long(runs_table t, const runs_run *r,
                                                             uint32_t fresh)
{
    for (uint32_t bit = 1; bit && bit <= aleph_void_of(t.width); bit <<= 1) {
        uint32_t first = (fresh & ~(2 * bit - 1)) | bit;
        uint64_t i = aleph_slot_after(t, r, first);
        if (i > r->start && runs_slot(t, i - 1) == first)
            return i;
    }
    return 0;
}

/* The last slot of the run that covers it, and one; 0: there is none. */
static inline uint64_t aleph_find_longest(runs_table t, const runs_run *r, uint32_t fresh)
{
    if (r->end - r->start > ALEPH_LONG)
        return aleph_find_in_long(t, r, fresh);
    for (uint64_t i = r->end; i > r->start; i--)
        if (aleph_covers(runs_slot(t, i - 1), fresh))
            return i;
    return 0;
}

void tamis__aleph_use_avx2(tamis_ops *ops);
void tamis__aleph_cells(const tamis *f, tamis_telling *to);
bool tamis__aleph_explain(const tamis *f, uint64_t key, tamis_telling *to);

#endif
