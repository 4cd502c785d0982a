/* runs_lookup.h - a run of few slots, found and compared in a few steps: lookups in shards.h.
 *
 * Most runs lie in the block of their quotient and have so few slots that one load holds them all.
 * Such a run is found without a branch, since nobody can foresee where it lies, and compared at
 * once. */
#ifndef TAMIS_QUOTIENT_RUNS_LOOKUP_H
#define TAMIS_QUOTIENT_RUNS_LOOKUP_H

#include "base/ahead.h"
#include "base/hash.h"
#include "base/lanes.h"
#include "base/many.h"
#include "filter.h"
#include "quotient/runs.h"

/* ---- Runs in one load -------------------------------------------------- */

typedef struct runs_near {
    unsigned start, n; /* in the block */
    uint64_t slots;    /* what is after the run is of no matter */
    bool is_occupied;  /* the quotient has a run */
    bool is_odd;       /* which is not of this sort: runs_find() has to tell */
} runs_near;

/* The run of quotient j of a block. */
__attribute__((always_inline)) static inline runs_near runs_near_of(const lanes *l,
                                                                    const uint8_t *b, unsigned j)
{
    uint64_t occupied = runs_occupied(b), ends = runs_ends(b);
    unsigned offset = b[RUNS_OFFSET], first = offset % RUNS_BLOCK;
    /* From slot `first` on, a one where each run starts or could: there, and after each end. */
    uint64_t starts = ends >> first << 1 | 1;
    unsigned before = first + word_select_or_64(starts, word_ones(occupied & word_below(j)));
    unsigned start = before > j ? before : j, bit = start % RUNS_BLOCK * l->width;
    /* Beyond the block, if that is where it is. */
    unsigned end = before + word_lowest_or_64(ends >> before % RUNS_BLOCK) + 1, n = end - start;

    return (runs_near){ .start = start,
                        .n = n,
                        .slots = le64(b + RUNS_SLOTS + bit / 8) >> bit % 8,
                        .is_occupied = occupied >> j & 1,
                        .is_odd = (offset >= RUNS_BLOCK) | (end > RUNS_BLOCK) | (n - 1 >= l->n) };
}

/* lanes_zero() of the lanes of v that are in the run: the others are made to differ. */
__attribute__((always_inline)) static inline uint64_t runs_near_zero(const lanes *l,
                                                                     const runs_near *r, uint64_t v)
{
    return lanes_zero(l, v | ~UINT64_C(0) << r->n * l->width % 64);
}

/* Each slot of the run is higher than the one before. */
__attribute__((always_inline)) static inline bool runs_near_ascends(const lanes *l,
                                                                    const runs_near *r)
{
    uint64_t a = r->slots, b = r->slots >> l->width, highs = l->highs;
    uint64_t is_low_not_less = (a | highs) - (b & ~highs);
    uint64_t is_not_less = ((a & ~b) | (~(a ^ b) & is_low_not_less)) & highs;

    return (is_not_less & word_below((r->n - 1) * l->width % 64)) == 0;
}

/* ---- Many keys --------------------------------------------------------- */

/* Near, whatever the size: a key takes a hundred instructions and two lines, so that requests on
 * their way to the first cache are enough. By way of the second, lookups of 1e7 keys were a tenth
 * slower, and those of 1e8 as fast.
 *
 * Inlined by force: gcc takes a function that does nothing but prefetch for one without effect. */
__attribute__((always_inline)) static inline void runs_fetch(const uint8_t *b, unsigned j,
                                                             unsigned width)
{
    ahead_read(b, false);
    ahead_read(b + RUNS_OFFSET, false);
    ahead_read(b + RUNS_SLOTS + (j * width + 32) / 8, false);
}

/* Where a key belongs: the block, the quotient in it, and what is looked for there. */
typedef struct runs_place {
    const uint8_t *block;
    uint32_t wanted;
    unsigned quotient;
} runs_place;

/* What a kind gives. As names of inline functions, they cost no call: 1 or 0, or -1 where
 * runs_has_odd() has to tell. */
typedef int runs_look(const lanes *l, const runs_place *at);
typedef bool runs_has_odd(const tamis *f, uint64_t key);

#endif
