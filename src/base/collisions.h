/* collisions.h - how often keys share a fingerprint: each has one of N, all equally likely. */
#ifndef TAMIS_BASE_COLLISIONS_H
#define TAMIS_BASE_COLLISIONS_H

#include <math.h>

/* The probability that one key has the fingerprint of another one of n. */
static inline double collisions_rate(double n, double fingerprints)
{
    return -expm1(n * log1p(-1 / fingerprints));
}

/* n distinct keys have on average N (1 - (1 - 1/N)^n) fingerprints: solved for n. All N of them
 * count as N - 1. */
static inline double collisions_keys(double distinct, double fingerprints)
{
    double share = fmin(distinct, fingerprints - 1) / fingerprints;

    return distinct > 0 ? log1p(-share) / log1p(-1 / fingerprints) : 0;
}

#endif
