/* estimate.h - how alike two sets are, told by their filters alone.
 *
 * A filter of n keys, with k bits each among m, has about m (1 - e^(-k n / m)) bits set. Read the
 * other way round, n is about -(m / k) ln(1 - ones / m). The bits of both filters together are the
 * filter of the union, so that three counts of bits give both sizes and the size of the union, and
 * these give every measure.
 *
 * With f(t) = e^t - 1 - t, the estimates of two sets S and T have the covariance
 *
 *     v(|S and T|),  v(n) = m / k^2 f(k n / m)
 *
 * up to terms of the order 1 / m: a bit is clear in both filters if all keys of the union miss it,
 * and what the common keys do is common to both. A measure g of the sizes A, B and U has the
 * variance of its linear part:
 *
 *     gA^2 v(A) + gB^2 v(B) + gU^2 v(U) + 2 gA gB v(I) + 2 gA gU v(A) + 2 gB gU v(B)
 *
 * where gA is its derivative by A and I = A + B - U. For Jaccard's measure that is
 *
 *     1 / U^2 ((1 + J)^2 v(U) - (1 + 2 J) (v(A) + v(B)) + 2 v(I)).
 *
 * A bar is 1.96 standard deviations, with two additions so that at least 95 of 100 bars hold the
 * truth where numbers are small. Half a bit, because bits are whole. And as many keys on each side
 * as could hide in bits of the other: of d keys that differ, r d are missed with a standard
 * deviation of sqrt(r d / k), r = e^(k U / m) - 1, so that 1.96^2 r / k of them may not be seen. */
#ifndef TAMIS_APPS_SIMILAR_ESTIMATE_H
#define TAMIS_APPS_SIMILAR_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

typedef enum similar_measure {
    SIMILAR_JACCARD,     /* in both / in either */
    SIMILAR_COSINE,      /* in both / sqrt(in the first * in the second) */
    SIMILAR_CONTAINMENT, /* in both / in the first */
    SIMILAR_BITS,        /* the same as cosine, of the bits: the normalised dot product */
    SIMILAR_MEASURES
} similar_measure;

typedef struct occupancy {
    double bits, hashes;
    double *table; /* keys by ones; NULL: there are too many bits for that */
} occupancy;

/* False: out of memory. */
int occupancy_init(occupancy *o, uint64_t bits, uint32_t hashes);
void occupancy_free(occupancy *o);
/* How many keys set that many bits; infinite if all are set. */
double occupancy_keys(const occupancy *o, uint64_t ones);

/* What two filters tell: bits, and the keys they stand for. */
typedef struct similar_sizes {
    double a, b, both; /* bits */
    double keys_a, keys_b, keys_or;
} similar_sizes;

similar_sizes similar_sizes_of(const occupancy *o, uint64_t a, uint64_t b, uint64_t both);

/* From 0 to 1. Of true sizes too, but for SIMILAR_BITS. */
double similar_value(similar_measure by, const similar_sizes *s);
/* The standard deviation of an estimate, if these are the true sizes. */
double similar_deviation(const occupancy *o, similar_measure by, const similar_sizes *s);
/* At least 95 of 100 estimates are no farther than that from the truth. */
double similar_bar(const occupancy *o, similar_measure by, const similar_sizes *s);
/* No pair of these sizes has a higher value. */
double similar_most(similar_measure by, const occupancy *o, uint64_t a, uint64_t b);

#endif
