/* classic.h - how many slots the kinds need whose k positions lie anywhere in one array, of bits or
 * of counters: the rate depends on which of them were hit, not on how often. */
#ifndef TAMIS_BLOOM_CLASSIC_H
#define TAMIS_BLOOM_CLASSIC_H

#include <math.h>

#include "filter.h"

/* The rate is E[(X / m)^k] for X set bits, which is more than (E[X] / m)^k: by so little that it
 * only shows in arrays this small. There the distribution of X is followed throw by throw. */
enum { SMALL_BITS = 2048 };

/* One more of the k n throws: it hits one of i set bits, or makes them i + 1. `from` .. `to` is
 * where the distribution has any weight. */
static inline void throw_once(double *p, int m, int *from, int *to)
{
    for (int i = *to + 1; i > *from; i--)
        p[i] = p[i] * i / m + p[i - 1] * (m - i + 1) / m;
    p[*from] = p[*from] * *from / m;
    if (*to < m - 1 || p[m] > 0)
        ++*to;
    if (*to > m)
        *to = m;
    while (*from < *to && p[*from] < 1e-40)
        p[(*from)++] = 0;
}

static inline double rate_small(int m, unsigned k, double throws)
{
    double p[SMALL_BITS + 2] = { 1 }, rate = 0;
    int from = 0, to = 0;

    for (double t = 0; t < throws; t++)
        throw_once(p, m, &from, &to);
    for (int i = from; i <= to; i++)
        rate += p[i] * pow((double)i / m, k);
    return fmin(rate, 1);
}

/* Two terms of Taylor's series of E[fill^k] around the mean fill. With q = (1 - 1/m)^t and
 * (1 - 2/m)^t = q^2 (1 - 1/(m-1)^2)^t, the variance is written so that nothing cancels. */
static inline double rate_large(double m, unsigned k, double throws)
{
    double clear = exp(throws * log1p(-1 / m)), fill = -expm1(throws * log1p(-1 / m));
    double excess = expm1(throws * log1p(-1 / ((m - 1) * (m - 1))));
    double two_clear = clear * clear * (1 + excess);
    double variance = clear * clear * excess + (clear - two_clear) / m;

    if (k < 2 || fill == 0)
        return k == 0 ? 1 : fill;
    return fmin(1, pow(fill, k) + 0.5 * k * (k - 1) * pow(fill, k - 2) * fmax(0, variance));
}

static inline double rate(const tamis_plan *p, double n)
{
    double throws = n * p->hashes;

    /* After so many throws the small array is full for all that a double can tell. */
    if (p->slots <= SMALL_BITS && throws > 50.0 * (double)p->slots)
        return 1;
    if (p->slots <= SMALL_BITS)
        return rate_small((int)p->slots, p->hashes, throws);
    return rate_large((double)p->slots, p->hashes, throws);
}

/* From below, and close. */
static inline double fewest_slots(uint32_t k, double n, double fpr)
{
    return -(double)k * n / log1p(-pow(fpr, 1.0 / k));
}

enum { SLOT_UNIT = 64 };

#endif
