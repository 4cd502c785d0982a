/* bloom.c - the classic Bloom filter.
 *
 * An array of m bits, all clear. Adding a key sets k of them, drawn by its hash; a key is present
 * if its k bits are set. Others may have set them: that is the false positive. Nothing is ever
 * cleared, so there is no false negative, and the union of two filters is the union of their bits.
 *
 * For n keys the best k is (m / n) ln 2, where half of the bits are set and the rate is 2^-k: 1.44
 * log2(1 / rate) bits per key. A query reads lines until it meets a clear bit: two on average if
 * the key is absent, k if it is present.
 *
 * Payload: plan.slots = m bits in whole 64-bit words; what sticks out is zero. plan.hashes = k.
 *
 * Bloom: Space/Time Trade-offs in Hash Coding with Allowable Errors, 1970.
 * Bose et al.: On the False-Positive Rate of Bloom Filters, 2008. */
#include <math.h>
#include <string.h>

#include "bloom/bits.h"
#include "bloom/family.h"
#include "filter.h"

static geometry shape(const tamis *f)
{
    return (geometry){ .range = f->plan.slots, .step = 0 };
}

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 60 && p->width == 0 && p->hashes > 0 &&
              p->hashes <= MAX_HASHES;

    return ok ? bytes_of_bits(p->slots) : 0;
}

/* The rate is E[(X / m)^k] for X set bits, which is more than (E[X] / m)^k: by so little that it
 * only shows in arrays this small. There the distribution of X is followed throw by throw. */
enum { SMALL_BITS = 2048 };

/* One more of the k n throws: it hits one of i set bits, or makes them i + 1. `from` .. `to` is
 * where the distribution has any weight. */
static void throw_once(double *p, int m, int *from, int *to)
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

static double rate_small(int m, unsigned k, double throws)
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
static double rate_large(double m, unsigned k, double throws)
{
    double clear = exp(throws * log1p(-1 / m)), fill = -expm1(throws * log1p(-1 / m));
    double excess = expm1(throws * log1p(-1 / ((m - 1) * (m - 1))));
    double two_clear = clear * clear * (1 + excess);
    double variance = clear * clear * excess + (clear - two_clear) / m;

    if (k < 2 || fill == 0)
        return k == 0 ? 1 : fill;
    return fmin(1, pow(fill, k) + 0.5 * k * (k - 1) * pow(fill, k - 2) * fmax(0, variance));
}

static double rate(const tamis_plan *p, double n)
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
static double fewest_slots(uint32_t k, double n, double fpr)
{
    return -(double)k * n / log1p(-pow(fpr, 1.0 / k));
}

enum { SLOT_UNIT = 64 };

/* ---- Operations -------------------------------------------------------- */

#include "bloom/scattered.h"

/* Position p of the large array falls on p / by of the small one: see scale64(). */
static void fold(tamis *f, const tamis *g, uint64_t by)
{
    fold_row(f->payload, 0, g->payload, 0, g->plan.slots, by);
}

static const char *verify(const tamis *f)
{
    return has_stray_bits(f->payload, f->plan.slots) ? "bits past the end are set" : NULL;
}

static void measure(const tamis *f, tamis_info *info)
{
    double m = (double)f->plan.slots;
    double ones = (double)ones_between(f->payload, 0, f->plan.slots);

    info->fill = ones / m;
    info->fpr = pow(info->fill, f->plan.hashes);
    info->cardinality = keys_from_clear(1 - info->fill, m, 1 / m) / f->plan.hashes;
}

const tamis_ops tamis__bloom = {
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .verify = verify,
    .measure = measure,
    .add = add,
    .merge = bits_merge,
    .intersect = bits_intersect,
    .fold = fold,
    .add_shared = add_shared,
    .only_sets_bits = true,
    .batch = batch,
};
