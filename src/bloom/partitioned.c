/* partitioned.c - Bloom filter with one row of bits per hash.
 *
 * Probe i goes to row i, so that a key always has k different bits and the rows know nothing of
 * each other. That makes the rate a formula without approximation,
 *
 *   (1 - (1 - 1/w)^n)^k      for k rows of w bits and n keys,
 *
 * a hair above the classic filter's, and lets a row live apart from the others.
 *
 * Payload: plan.hashes = k rows of plan.slots = w bits, one after the other without gaps, in whole
 * 64-bit words; what sticks out is zero.
 *
 * Mullin: A Second Look at Bloom Filters, 1983. */
#include <math.h>
#include <string.h>

#include "bloom/bits.h"
#include "bloom/family.h"
#include "filter.h"

static geometry shape(const tamis *f)
{
    return (geometry){ .range = f->plan.slots, .step = f->plan.slots, .bits = 1 };
}

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t bytes(const tamis_plan *p)
{
    uint64_t bits;

    if (p->slots == 0 || p->width != 0 || p->hashes == 0 || p->hashes > MAX_HASHES ||
        !has_no_options(p))
        return 0;
    if (mul_overflows(p->slots, p->hashes, &bits) || bits >= UINT64_C(1) << 60)
        return 0;
    return bytes_of_bits(bits);
}

static double rate(const tamis_plan *p, double n)
{
    /* Rows of one bit have no logarithm to multiply 0 with. */
    return n == 0 ? 0 : pow(-expm1(n * log1p(-1 / (double)p->slots)), p->hashes);
}

/* Each row may be filled to fpr^(1/k). */
static double fewest_slots(uint32_t k, double n, double fpr)
{
    return n > 0 ? -1 / expm1(log1p(-pow(fpr, 1.0 / k)) / n) : 1;
}

enum { SLOT_UNIT = 1 };

/* ---- Operations -------------------------------------------------------- */

#include "bloom/scattered.h"

static tamis_status move(tamis *f, const tamis *g)
{
    uint64_t by = g->plan.slots / f->plan.slots;

    for (uint32_t row = 0; row < f->plan.hashes; row++)
        fold_row(f->payload, row * f->plan.slots, g->payload, row * g->plan.slots, g->plan.slots,
                 by);
    f->count = g->count;
    return TAMIS_OK;
}

static const char *verify(const tamis *f)
{
    uint64_t bits = f->plan.slots * f->plan.hashes;

    return has_stray_bits(f->payload, bits) ? "bits past the end are set" : NULL;
}

/* Each row is a witness of its own: rates multiply, estimates are averaged. */
static void measure(const tamis *f, tamis_info *info)
{
    double w = (double)f->plan.slots, keys = 0, fill = 0, fpr = 1;

    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        uint64_t from = row * f->plan.slots;
        double ones = (double)ones_between(f->payload, from, from + f->plan.slots);
        fill += ones / w;
        fpr *= ones / w;
        keys += keys_from_clear(1 - ones / w, w, 1 / w);
    }
    info->fill = fill / f->plan.hashes;
    info->fpr = fpr;
    info->cardinality = keys / f->plan.hashes;
}

const tamis_ops tamis__partitioned = {
    .traits = TAMIS_TRAIT_ONLY_SETS_BITS,
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .verify = verify,
    .measure = measure,
    .add = add,
    .merge = bits_merge,
    .intersect = bits_intersect,
    .move = move,
    .has_many = has_many,
    .add_many = add_many,
    .add_concurrent = add_concurrent,
};
