/* fingerprint.h - what the static filters have in common: a part that has keys takes a stranger for
 * one of them if some bits agree, and one that has none takes nobody. */
#ifndef TAMIS_FUSE_FINGERPRINT_H
#define TAMIS_FUSE_FINGERPRINT_H

#include <math.h>

#include "base/parts.h"
#include "filter.h"

/* The fewest bits that agree by chance at most at that rate. */
static inline uint32_t fingerprint_bits(double fpr)
{
    uint32_t bits = 1;

    while (ldexp(1, -(int)bits) > fpr)
        bits++;
    return bits;
}

static inline double fingerprint_rate(const tamis_plan *p, double n, unsigned bits)
{
    double parts = ldexp(1, (int)part_bits(p->capacity));
    double empty = parts > 1 ? exp(n * log1p(-1 / parts)) : n == 0;

    return ldexp(1 - empty, -(int)bits);
}

#endif
