/* bloom.c - the classic Bloom filter.
 *
 * An array of m bits, all clear. Adding a key sets k of them, drawn by its hash; a key is present
 * if its k bits are set. Others may have set them: that is the false positive. Nothing is ever
 * cleared, so there is no false negative, and the union of two filters is the union of their bits.
 *
 *   bits, after adding a and b   0 1 0 0 1 0 1 0 0 1 0 0 1 0 1 0
 *   of a                           ^         ^           ^
 *   of b                                 ^         ^         ^
 *   of c: all are set              ^               ^     ^        found, by mistake
 *   of d: the second is clear            ^       ^           ^    absent, for certain
 *
 * For n keys the best k is (m / n) ln 2, where half of the bits are set and the rate is 2^-k: 1.44
 * log2(1 / rate) bits per key. A query reads lines until it meets a clear bit: two on average if
 * the key is absent, k if it is present.
 *
 * Payload: plan.slots = m bits in whole 64-bit words; what sticks out is zero. plan.hashes = k.
 *
 * Bloom: Space/Time Trade-offs in Hash Coding with Allowable Errors, 1970. */
#define scattered_name(function) bloom_##function
#define SCATTERED_HAS_ROWS false
#include "bloom/scattered_template.h"

static tamis_status bloom_plan(tamis_plan *p, const tamis_spec *spec)
{
    return tamis__rates_plan(p, spec, &RATES_CLASSIC);
}

const tamis_ops tamis__bloom = {
    SCATTERED_OPS,
    .plan = bloom_plan,
    .rate = tamis__rates_classic,
};

#undef scattered_name
#undef SCATTERED_HAS_ROWS
