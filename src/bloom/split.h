/* split.h - how full blocks of eight words become, and what that means for their rate. */
#ifndef TAMIS_BLOOM_SPLIT_H
#define TAMIS_BLOOM_SPLIT_H

#include <math.h>

#include "bloom/blocked.h"
#include "bloom/family.h"

/* False positives in a block of i keys: each of eight words has the bit. */
static inline double split_rate_of_block(double i)
{
    return pow(-expm1(i * log1p(-1.0 / 32)), WORDS);
}

/* Keys in the block that a query reads, as weights of a binomial distribution relative to that of
 * its mean: going up or down from there, each weight gives the next. */
typedef struct {
    double total, positives;
} split_mixture;

static const double NEGLIGIBLE = 1e-22;

static inline void split_sum_up(split_mixture *m, double i, double n, double blocks)
{
    for (double weight = 1; i <= n && weight > NEGLIGIBLE; i++) {
        m->total += weight;
        m->positives += weight * split_rate_of_block(i);
        weight *= (n - i) / ((i + 1) * (blocks - 1));
    }
}

static inline void split_sum_down(split_mixture *m, double i, double n, double blocks)
{
    for (double weight = 1; i > 0 && weight > NEGLIGIBLE; i--) {
        weight *= i * (blocks - 1) / (n - i + 1);
        m->total += weight;
        m->positives += weight * split_rate_of_block(i - 1);
    }
}

/* Beyond this many keys, a block is full for all that a double can tell. */
static const double KEYS_OF_FULL_BLOCK = 4000;

/* The mixture, and a floor: two keys of one block whose 32-bit x agree cannot be told apart. */
static inline double split_rate(double blocks, double n)
{
    double mean = floor(n / blocks), floor_rate = n / blocks * 0x1p-32;
    split_mixture m = { 0, 0 };

    if (mean > KEYS_OF_FULL_BLOCK)
        return 1;
    if (blocks == 1)
        return fmin(1, split_rate_of_block(n) + floor_rate);
    split_sum_up(&m, mean, n, blocks);
    split_sum_down(&m, mean, n, blocks);
    return fmin(1, m.positives / m.total + floor_rate);
}

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
    double keys = n / blocks, rate = split_rate(blocks, n), square = 0, weight = exp(-keys);
    double slope = (split_rate(blocks, n + 1) - rate) * blocks;

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
    double rate = split_rate(blocks, n * probes), pairs = probes * (probes - 1) / 2.0;

    if (probes == 1 || rate == 0)
        return rate;
    return fmin(1, pow(rate, probes) +
                       pairs * pow(rate, probes - 2.0) * split_variance(blocks, n * probes));
}

/* More keys than this in a block on average: worse than any rate that may be asked for. */
enum { KEYS_TOO_MANY = 128 };

/* The fewest blocks for that rate, or nearly: they grow until it is met, then the interval is
 * halved. 0: there would be too many. */
static inline uint64_t split_blocks(double n, double fpr)
{
    uint64_t low = (uint64_t)(n / KEYS_TOO_MANY), high = low + 1;

    while (split_rate((double)high, n) > fpr) {
        low = high;
        high *= 2;
        if (high > UINT64_C(1) << 49)
            return 0;
    }
    while (low + 1 < high && (high - low) > high / 4096) {
        uint64_t middle = low + (high - low) / 2;
        if (split_rate((double)middle, n) > fpr)
            low = middle;
        else
            high = middle;
    }
    return high;
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
