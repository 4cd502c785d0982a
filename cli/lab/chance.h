/* chance.h - what theory says of counts, without approximation: exact bounds for a lab. */
#ifndef TAMIS_CLI_LAB_CHANCE_H
#define TAMIS_CLI_LAB_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

/* Bounds are left by chance once in a thousand times, half of it to each side. */
#define CHANCE_OUTSIDE 0.001

typedef struct chance_range {
    double low, high;
} chance_range;

/* P(X = x) */
double chance_binomial(uint64_t x, uint64_t n, double p);
double chance_poisson(uint64_t x, double mean);

/* The rates of success of a trial that explain x of n: for each rate outside, a count as far off as
 * that has a chance of less than CHANCE_OUTSIDE / 2 (Clopper and Pearson 1934). */
chance_range chance_rates(uint64_t x, uint64_t n);
/* Whether this rate is one of them. */
bool chance_fits(uint64_t x, uint64_t n, double p);
/* The counts that n trials explain, if their rate is somewhere from low to high: any other has a
 * chance of less than `outside`, half of it to each side. */
chance_range chance_counts(uint64_t n, double low, double high, double outside);

#endif
