/* family.h - what all Bloom kinds share: payloads of bits that are only ever set. */
#ifndef TAMIS_BLOOM_FAMILY_H
#define TAMIS_BLOOM_FAMILY_H

#include <math.h>

#include "base/bits.h"
#include "filter.h"

/* Bloom kinds have no options beside what spec and payload say. */
static inline bool has_no_options(const tamis_plan *p)
{
    return p->flags == 0 && p->load == 0;
}

/* n rounded up so that it has many divisors, at a cost under half a percent: a filter can be folded
 * by any divisor of its slots. The result is a multiple of `unit`. */
static inline uint64_t round_for_folding(uint64_t n, uint64_t unit)
{
    static const uint64_t RICH[] = { 5040, 2520, 840, 360, 120, 60, 24, 12, 4, 2, 1 };
    const uint64_t *rich = RICH;

    while (*rich > 1 && *rich * unit > n / 200)
        rich++;
    uint64_t multiple = *rich * unit;
    return (n + multiple - 1) / multiple * multiple;
}

/* The union of the keys is the union of the bits. */
static inline tamis_status bits_merge(tamis *f, const tamis *g)
{
    uint64_t *to = f->payload;
    const uint64_t *from = g->payload;

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        to[i] |= from[i];
    f->count += g->count;
    return TAMIS_OK;
}

/* The common bits hold the common keys, and some more. */
static inline tamis_status bits_intersect(tamis *f, const tamis *g)
{
    uint64_t *to = f->payload;
    const uint64_t *from = g->payload;

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        to[i] &= from[i];
    if (g->count < f->count)
        f->count = g->count;
    return TAMIS_OK;
}

/* Keys that left that share of the bits clear, when each key sets a given bit with probability
 * `chance`. A full filter tells no more than that it is full: one clear bit short of it is what can
 * be claimed. */
static inline double keys_from_clear(double clear, double bits, double chance)
{
    if (clear < 1 / bits)
        clear = 1 / bits;
    return fabs(log(clear) / log1p(-chance)); /* an empty filter holds 0 keys, not -0 */
}

#endif
