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
#include "bloom/classic.h"
#include "bloom/family.h"
#include "filter.h"

static geometry shape(const tamis *f)
{
    return (geometry){ .range = f->plan.slots, .step = 0, .bits = 1 };
}

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 60 && p->width == 0 && p->hashes > 0 &&
              p->hashes <= MAX_HASHES && has_no_options(p);

    return ok ? bytes_of_bits(p->slots) : 0;
}

/* ---- Operations -------------------------------------------------------- */

#include "bloom/scattered.h"

/* Position p of the large array falls on p / by of the small one: see scale64(). */
static tamis_status move(tamis *f, const tamis *g)
{
    fold_row(f->payload, 0, g->payload, 0, g->plan.slots, g->plan.slots / f->plan.slots);
    f->count = g->count;
    return TAMIS_OK;
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
