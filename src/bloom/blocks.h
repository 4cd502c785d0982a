/* blocks.h - how many blocks the kinds need whose keys keep to one block each.
 *
 * A template: the kind defines rate_of_block(), the false positives in a block of i keys, and
 * FLOOR, the share of strangers that are taken for one key of their block beside that; then it
 * includes this once. */
#include <math.h>

#include "bloom/family.h"

/* Keys in the block that a query reads, as weights of a binomial distribution relative to that of
 * its mean: going up or down from there, each weight gives the next. */
typedef struct {
    double total, positives;
} mixture;

static const double NEGLIGIBLE = 1e-22;

static void sum_up(mixture *m, double i, double n, double blocks)
{
    for (double weight = 1; i <= n && weight > NEGLIGIBLE; i++) {
        m->total += weight;
        m->positives += weight * rate_of_block(i);
        weight *= (n - i) / ((i + 1) * (blocks - 1));
    }
}

static void sum_down(mixture *m, double i, double n, double blocks)
{
    for (double weight = 1; i > 0 && weight > NEGLIGIBLE; i--) {
        weight *= i * (blocks - 1) / (n - i + 1);
        m->total += weight;
        m->positives += weight * rate_of_block(i - 1);
    }
}

/* Beyond this many keys, a block is full for all that a double can tell. */
static const double KEYS_OF_FULL_BLOCK = 4000;

/* The mixture, and the floor. */
static double rate(const tamis_plan *p, double n)
{
    double blocks = (double)p->slots, mean = floor(n / blocks), floor_rate = n / blocks * FLOOR;
    mixture m = { 0, 0 };

    if (mean > KEYS_OF_FULL_BLOCK)
        return 1;
    if (p->slots == 1)
        return fmin(1, rate_of_block(n) + floor_rate);
    sum_up(&m, mean, n, blocks);
    sum_down(&m, mean, n, blocks);
    return fmin(1, m.positives / m.total + floor_rate);
}

static double rate_with(tamis_plan *p, uint64_t slots, double n)
{
    p->slots = slots;
    return rate(p, n);
}

/* More keys than this in a block on average: worse than any rate that may be asked for. */
enum { KEYS_TOO_MANY = 128 };

/* Blocks grow until the rate is met, then the interval is halved. */
static tamis_status size_blocks(tamis_plan *p, const tamis_spec *spec)
{
    double n = (double)spec->keys;
    uint64_t low = spec->keys / KEYS_TOO_MANY, high = low + 1;

    while (rate_with(p, high, n) > spec->fpr) {
        low = high;
        high *= 2;
        if (high > UINT64_C(1) << 49)
            return TAMIS_RANGE;
    }
    while (low + 1 < high && (high - low) > high / 4096) {
        uint64_t middle = low + (high - low) / 2;
        if (rate_with(p, middle, n) > spec->fpr)
            low = middle;
        else
            high = middle;
    }
    p->slots = round_for_folding(high, 1);
    return TAMIS_OK;
}
