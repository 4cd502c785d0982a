/* partitioned.c - Bloom filter with one row of bits per hash.
 *
 * Probe i goes to row i, so that a key always has k different bits and the rows know nothing of
 * each other. That makes the rate a formula without approximation,
 *
 *   (1 - (1 - 1/w)^n)^k      for k rows of w bits and n keys,
 *
 * a hair above the classic filter's, and lets a row live apart from the others. Without its last
 * rows, it is the filter that would have been built with fewer: that is how it shrinks.
 *
 * Payload: plan.hashes = k rows of plan.slots = w bits, one after the other without gaps, in whole
 * 64-bit words; what sticks out is zero.
 *
 * Mullin: A Second Look at Bloom Filters, 1983. */
#include <math.h>

#define scattered_name(function) partitioned_##function
#define SCATTERED_HAS_ROWS true
#include "bloom/scattered_template.h"

static double partitioned_rate(const tamis_plan *p, double n)
{
    /* Rows of one bit have no logarithm to multiply 0 with. */
    return n == 0 ? 0 : pow(-expm1(n * log1p(-1 / (double)p->slots)), p->hashes);
}

/* Each row may be filled to fpr^(1/k). */
static double partitioned_slots(uint32_t k, double n, double fpr)
{
    return n > 0 ? -1 / expm1(log1p(-pow(fpr, 1.0 / k)) / n) : 1;
}

static tamis_status partitioned_plan(tamis_plan *p, const tamis_spec *spec)
{
    static const rates_layout rows = { partitioned_slots, 1, true };

    return tamis__rates_plan(p, spec, &rows);
}

const tamis_ops tamis__partitioned = {
    SCATTERED_OPS,
    .plan = partitioned_plan,
    .rate = partitioned_rate,
};

#undef scattered_name
#undef SCATTERED_HAS_ROWS
