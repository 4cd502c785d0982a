/* split.h - how full blocks of eight words become, and what that means for their rate. */
#ifndef TAMIS_BLOOM_SPLIT_H
#define TAMIS_BLOOM_SPLIT_H

#include <math.h>

#include "bloom/blocked.h"
#include "bloom/family.h"

/* False positives in a block of i keys: each of eight words has the bit. */
static double rate_of_block(double i)
{
    return pow(-expm1(i * log1p(-1.0 / 32)), WORDS);
}

/* Two keys of one block whose 32-bit x agree cannot be told apart. */
static const double FLOOR = 0x1p-32;

#include "bloom/blocks.h"

/* The mean of the square of a word's share of set bits, after i keys. */
static inline double split_square_of_word(double i)
{
    double one_clear = pow(31 / 32.0, i), two_clear = pow(30 / 32.0, i);

    return 1 - 2 * one_clear + one_clear / 32 + two_clear * 31 / 32;
}

/* The variance of the mean rate of all blocks: that of one, which has a Poisson number of keys,
 * less what comes from there being n in all. */
static inline double split_variance(double blocks, double n)
{
    double keys = n / blocks, rate = rate_of_blocks(blocks, n), square = 0, weight = exp(-keys);
    double slope = (rate_of_blocks(blocks, n + 1) - rate) * blocks;

    for (double i = 0; i < keys + 12 * sqrt(keys) + 12; i++) {
        square += weight * pow(split_square_of_word(i), WORDS);
        weight *= keys / (i + 1);
    }
    return fmax(0, square - rate * rate - keys * slope * slope) / blocks;
}

/* The rate when each key has that many blocks, drawn independently: the mean of a power is more
 * than the power of the mean. */
static inline double split_rate_of_probes(double blocks, double n, unsigned probes)
{
    double rate = rate_of_blocks(blocks, n * probes), pairs = probes * (probes - 1) / 2.0;

    if (probes == 1 || rate == 0 || rate == 1)
        return rate;
    return fmin(1, pow(rate, probes) +
                       pairs * pow(rate, probes - 2.0) * split_variance(blocks, n * probes));
}

/* ---- As they are ------------------------------------------------------- */

typedef struct {
    double fill, fpr, keys;
} split_measure;

static inline double split_rate_in(const block *b)
{
    double rate = 1;

    for (int w = 0; w < WORDS; w++)
        rate *= __builtin_popcount(b->word[w]) / 32.0;
    return rate;
}

/* A key sets a given bit with probability 1 / (32 blocks), blocks or not. */
static inline split_measure split_read(const block *blocks, uint64_t n)
{
    double all = (double)n, fpr = 0, fill;

    for (uint64_t i = 0; i < n; i++)
        fpr += split_rate_in(&blocks[i]);
    fill = (double)count_ones(blocks, n * sizeof *blocks) / (256 * all);
    return (split_measure){ fill, fpr / all, keys_from_clear(1 - fill, 256 * all, 1 / (32 * all)) };
}

#endif
