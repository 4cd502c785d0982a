/* chance.h - what theory says of counts, without approximation: exact bounds for a lab. */
#ifndef TAMIS_APPS_LAB_CHANCE_H
#define TAMIS_APPS_LAB_CHANCE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bounds are left by chance once in a thousand times, half of it to each side. */
#define CHANCE_OUTSIDE 0.001

typedef struct chance_range {
    double low, high; /* NAN: there is no theory */
} chance_range;

#define CHANCE_UNKNOWN ((chance_range){ NAN, NAN })
/* Of shares, from that of counts. */
chance_range chance_shares(chance_range counts, uint64_t n);

/* P(X = x) */
double chance_binomial(uint64_t x, uint64_t n, double p);
double chance_poisson(uint64_t x, double mean);

/* The counts that n trials explain, if their rate is somewhere from low to high: any other has a
 * chance of less than `outside`, half of it to each side. */
chance_range chance_counts(uint64_t n, double low, double high, double outside);
/* The same for the sum of n numbers from 0 to 1 of mean p that are independent, or of which one is
 * the smaller the larger others are: balls in bins, for example. Wider, and on the safe side
 * (Hoeffding 1963; Dubhashi and Ranjan 1998). */
chance_range chance_sums(uint64_t n, double p, double outside);

/* The mean of n independent numbers from 0 to values - 1, of which i has the chance chances[i]: it
 * is outside with a chance of CHANCE_OUTSIDE at most, half of it to each side (Chernoff 1952). */
chance_range chance_means(const double *chances, size_t values, uint64_t n);

/* P(X >= x) of the chi-square distribution with that many degrees of freedom. */
double chance_chi_square(double x, double degrees);

/* ---- Bloom filters ----------------------------------------------------- */

typedef struct chance_array {
    uint64_t slots; /* of a row, if each hash has its own */
    unsigned hashes;
    bool has_rows;
} chance_array;

/* The share of bits that are set, on average, after n keys. */
double chance_fill(chance_array a, double n);
/* The share of `probes` strangers that is found, with n keys.
 *
 * Two things vary: how full a filter becomes, and which strangers hit it. Changing one of n keys
 * changes at most k bits, so that the number of set bits is within k sqrt(n ln(2 / a) / 2) of its
 * mean but for a share a of all filters (McDiarmid 1989); in a row of its own, within
 * sqrt(n ln(2 / a) / 2). Given the bits, strangers are independent trials. What may lie outside is
 * shared between the two: these bounds are wider than they could be, and never too narrow. */
chance_range chance_bloom(chance_array a, uint64_t n, uint64_t probes);

#endif
