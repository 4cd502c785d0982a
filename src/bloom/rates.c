/* rates.c - false positive rates of the Bloom kinds, and how many slots it takes to meet one.
 *
 * The rate of a filter is a random variable: it depends on which slots the keys happened to hit.
 * What is computed here is its mean, which is more than the rate of a filter with the mean number
 * of slots set. In small arrays and in blocks that matters, and is accounted for.
 *
 * Bose et al.: On the False-Positive Rate of Bloom Filters, 2008.
 * Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, 2009. */
#include "bloom/rates.h"

#include <math.h>
#include <string.h>

#include "bloom/split_block.h"

uint64_t tamis__rates_round(uint64_t n, uint64_t unit)
{
    static const uint64_t RICH[] = { 5040, 2520, 840, 360, 120, 60, 24, 12, 4, 2, 1 };
    const uint64_t *rich = RICH;

    while (*rich > 1 && *rich * unit > n / 200)
        rich++;
    uint64_t multiple = *rich * unit;
    return (n + multiple - 1) / multiple * multiple;
}

double tamis__rates_keys(double clear, double slots, double chance)
{
    if (clear < 1 / slots)
        clear = 1 / slots;
    return fabs(log(clear) / log1p(-chance)); /* an empty filter holds 0 keys, not -0 */
}

/* ---- Slots scattered over an array ------------------------------------- */

/* The rate is E[(X / m)^k] for X set slots, which is more than (E[X] / m)^k: by so little that it
 * only shows in arrays this small. There the distribution of X is followed throw by throw. */
enum { SMALL_SLOTS = 2048 };

/* Weights below it are dropped. The others lie within 12 standard deviations of the mean, and the
 * deviation is at most sqrt(0.102 m), which is below 15 slots. */
static const double NEGLIGIBLE_WEIGHT = 1e-30;

enum { MOST_WEIGHTS = 384 };

typedef struct rates_weights {
    double p[MOST_WEIGHTS]; /* p[i]: the probability that first + i slots are set */
    int first, n;
} rates_weights;

/* One more of the k n throws: it hits one of i set slots, or makes them i + 1. */
static void rates_throw(rates_weights *w, int m)
{
    int dropped = 0;

    if (w->n < MOST_WEIGHTS)
        w->p[w->n++] = 0;
    for (int j = w->n - 1, i = w->first + j; j > 0; j--, i--)
        w->p[j] = w->p[j] * i / m + w->p[j - 1] * (m - i + 1) / m;
    w->p[0] = w->p[0] * w->first / m;
    while (w->p[w->n - 1] < NEGLIGIBLE_WEIGHT && w->n > 1)
        w->n--;
    while (w->p[dropped] < NEGLIGIBLE_WEIGHT && dropped < w->n - 1)
        dropped++;
    w->first += dropped;
    w->n -= dropped;
    if (dropped)
        memmove(w->p, w->p + dropped, (size_t)w->n * sizeof *w->p);
}

static double rates_small(int m, unsigned k, double throws)
{
    rates_weights w = { .p = { 1 }, .n = 1 };
    double rate = 0;

    for (double t = 0; t < throws; t++)
        rates_throw(&w, m);
    for (int i = 0; i < w.n; i++)
        rate += w.p[i] * pow((double)(w.first + i) / m, k);
    return fmin(rate, 1);
}

/* Two terms of Taylor's series of E[fill^k] around the mean fill. With q = (1 - 1/m)^t and
 * (1 - 2/m)^t = q^2 (1 - 1/(m-1)^2)^t, the variance is written so that nothing cancels. */
static double rates_large(double m, unsigned k, double throws)
{
    double clear = exp(throws * log1p(-1 / m)), fill = -expm1(throws * log1p(-1 / m));
    double excess = expm1(throws * log1p(-1 / ((m - 1) * (m - 1))));
    double two_clear = clear * clear * (1 + excess);
    double variance = clear * clear * excess + (clear - two_clear) / m;

    if (k < 2 || fill == 0)
        return k == 0 ? 1 : fill;
    return fmin(1, pow(fill, k) + 0.5 * k * (k - 1) * pow(fill, k - 2) * fmax(0, variance));
}

double tamis__rates_classic(const tamis_plan *p, double n)
{
    double throws = n * p->hashes;

    if (p->slots > SMALL_SLOTS)
        return rates_large((double)p->slots, p->hashes, throws);
    /* After so many throws the small array is full for all that a double can tell. */
    return throws > 50.0 * (double)p->slots ? 1 : rates_small((int)p->slots, p->hashes, throws);
}

double tamis__rates_classic_slots(uint32_t k, double n, double fpr)
{
    return -(double)k * n / log1p(-pow(fpr, 1.0 / k));
}

/* The closed form comes close; the rest is steps. */
static bool rates_plan_with(tamis_plan *p, uint32_t k, const tamis_spec *spec,
                            const rates_layout *l)
{
    const tamis_ops *ops = tamis__ops(p->kind);
    double n = (double)spec->keys, fewest = l->slots(k, n, spec->fpr);

    if (!(fewest < 0x1p50))
        return false;
    p->hashes = k;
    p->slots = tamis__rates_round((uint64_t)fewest + 1, l->unit);
    while (ops->rate(p, n) > spec->fpr)
        p->slots = tamis__rates_round(p->slots + 1, l->unit);
    p->bytes = ops->bytes(p);
    return true;
}

/* In so many slots the best number of hashes is slots / n * ln 2, or next to it. In few slots, of
 * which hashes of a key hit one more than once, it is less. */
static tamis_status rates_plan_slots(tamis_plan *p, const tamis_spec *spec, const rates_layout *l)
{
    double n = (double)spec->keys, best = (double)spec->bits / fmax(n, 1) * log(2), lowest = 2;
    uint32_t first = (uint32_t)fmax(1, fmin(floor(best), RATES_MAX_HASHES) - 1), last = first + 3;

    if (spec->bits < SMALL_SLOTS / 2)
        first = 1;
    if (spec->hashes)
        first = last = spec->hashes;
    for (uint32_t k = first; k <= last && k <= RATES_MAX_HASHES; k++) {
        tamis_plan other = *p;
        other.hashes = k;
        other.slots = l->has_rows ? spec->bits / k : spec->bits;
        double rate = other.slots ? tamis__ops(p->kind)->rate(&other, n) : 2;
        if (rate < lowest) {
            lowest = rate;
            *p = other;
        }
    }
    return lowest < 2 ? TAMIS_OK : TAMIS_RANGE;
}

/* The best number of hashes for a rate is log2(1 / rate), rounded up or down. */
tamis_status tamis__rates_plan(tamis_plan *p, const tamis_spec *spec, const rates_layout *l)
{
    uint32_t below = (uint32_t)fmax(1, fmin(floor(-log2(spec->fpr)), RATES_MAX_HASHES));
    uint32_t first = spec->hashes ? spec->hashes : below;
    tamis_plan other = *p;

    if (spec->bits)
        return rates_plan_slots(p, spec, l);
    if (first > RATES_MAX_HASHES || !rates_plan_with(p, first, spec, l))
        return TAMIS_RANGE;
    if (!spec->hashes && below < RATES_MAX_HASHES && rates_plan_with(&other, below + 1, spec, l) &&
        other.bytes < p->bytes)
        *p = other;
    return TAMIS_OK;
}

/* ---- One block for each key -------------------------------------------- */

/* In a block of i keys: each of its words has the slot. */
static double rates_in_block(double log_clear, double i)
{
    return pow(-expm1(i * log_clear), RATES_WORDS);
}

/* Beyond this many keys, a block is full for all that a double can tell. */
static const double KEYS_OF_FULL_BLOCK = 4000;

static const double NEGLIGIBLE_SHARE = 1e-22;

/* The block that a query reads has a binomial number of keys. Weights are relative to that of its
 * mean: going up or down from there, each gives the next. */
double tamis__rates_blocks(const rates_block *b, double blocks, double n)
{
    double mean = floor(n / blocks), floor_rate = n / blocks * b->floor, total = 0, positives = 0;
    double log_clear = log1p(-1 / b->word);

    if (mean > KEYS_OF_FULL_BLOCK)
        return 1;
    if (blocks == 1)
        return fmin(1, rates_in_block(log_clear, n) + floor_rate);
    for (double i = mean, weight = 1; i <= n && weight > NEGLIGIBLE_SHARE; i++) {
        total += weight;
        positives += weight * rates_in_block(log_clear, i);
        weight *= (n - i) / ((i + 1) * (blocks - 1));
    }
    for (double i = mean, weight = 1; i > 0 && weight > NEGLIGIBLE_SHARE; i--) {
        weight *= i * (blocks - 1) / (n - i + 1);
        total += weight;
        positives += weight * rates_in_block(log_clear, i - 1);
    }
    return fmin(1, positives / total + floor_rate);
}

/* They grow until the rate is met, then the interval is halved. */
uint64_t tamis__rates_blocks_for(const rates_block *b, double n, double fpr)
{
    uint64_t low = (uint64_t)(n / RATES_TOO_MANY_KEYS), high = low + 1;

    while (tamis__rates_blocks(b, (double)high, n) > fpr) {
        low = high;
        high *= 2;
        if (high > UINT64_C(1) << 49)
            return 0;
    }
    while (low + 1 < high && (high - low) > high / 4096) {
        uint64_t middle = low + (high - low) / 2;
        if (tamis__rates_blocks(b, (double)middle, n) > fpr)
            low = middle;
        else
            high = middle;
    }
    return high;
}

tamis_status tamis__rates_plan_blocks(tamis_plan *p, const tamis_spec *spec, const rates_block *b)
{
    if (spec->hashes && spec->hashes != RATES_WORDS)
        return TAMIS_RANGE;
    if (spec->bits)
        p->slots = spec->bits / (uint64_t)(RATES_WORDS * b->word);
    else
        p->slots = tamis__rates_round(tamis__rates_blocks_for(b, (double)spec->keys, spec->fpr), 1);
    return p->slots ? TAMIS_OK : TAMIS_RANGE;
}

/* ---- Several split blocks for each key --------------------------------- */

/* The variance of the mean rate of all blocks: that of one, which has a Poisson number of keys,
 * less what comes from there being n in all. */
static double rates_variance(double blocks, double n, double rate)
{
    double keys = n / blocks, square = 0, weight = exp(-keys);
    double slope = (tamis__rates_blocks(&SPLIT_RATES, blocks, n + 1) - rate) * blocks;

    for (double i = 0; i < keys + 12 * sqrt(keys) + 12; i++) {
        double one_clear = pow(31 / 32.0, i), two_clear = pow(30 / 32.0, i);
        /* The mean of the square of a word's share of set bits, after i keys. */
        double of_word = 1 - 2 * one_clear + one_clear / 32 + two_clear * 31 / 32;
        square += weight * pow(of_word, SPLIT_WORDS);
        weight *= keys / (i + 1);
    }
    return fmax(0, square - rate * rate - keys * slope * slope) / blocks;
}

/* The mean of a power is more than the power of the mean. */
double tamis__rates_probes(double blocks, double n, unsigned probes)
{
    double rate = tamis__rates_blocks(&SPLIT_RATES, blocks, n * probes);
    double pairs = probes * (probes - 1) / 2.0;

    if (probes == 1 || rate == 0 || rate == 1)
        return rate;
    double variance = rates_variance(blocks, n * probes, rate);
    return fmin(1, pow(rate, probes) + pairs * pow(rate, probes - 2.0) * variance);
}

uint64_t tamis__rates_blocks_for_probes(double n, double fpr, unsigned probes)
{
    uint64_t blocks = tamis__rates_blocks_for(&SPLIT_RATES, n * probes, pow(fpr, 1.0 / probes));

    while (blocks && tamis__rates_probes((double)blocks, n, probes) > fpr)
        blocks += 1 + blocks / 1000;
    return blocks;
}

double tamis__rates_integral(double blocks, double n, unsigned probes, int sign, int steps)
{
    double sum = 0;

    for (int i = 0; i <= steps; i++) {
        double weight = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;
        sum += weight * (1 + sign * tamis__rates_probes(blocks, n * i / steps, probes));
    }
    return n * sum / (3 * steps);
}
