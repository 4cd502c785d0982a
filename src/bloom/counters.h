/* counters.h - what the Bloom kinds that count share: arrays of counters of 2, 4, 8 or 16 bits.
 *
 * A counter that has come to its maximum stays there: how often it would have gone beyond is not
 * known, so that to lower it could lose a key. All others are the exact number of keys that were
 * added there and not removed.
 *
 * Counter i has the bits from i * w on of an array of little-endian 64-bit words; none lies in two
 * words. Whole words are handled as lanes of w bits, side by side. */
#ifndef TAMIS_BLOOM_COUNTERS_H
#define TAMIS_BLOOM_COUNTERS_H

#include "base/bits.h"
#include "base/le.h"
#include "filter.h"

/* ---- One counter ------------------------------------------------------- */

static inline uint64_t counters_max(unsigned bits)
{
    return (UINT64_C(1) << bits) - 1;
}

static inline uint64_t counters_get(const void *counters, unsigned bits, uint64_t i)
{
    const uint64_t *words = counters;
    uint64_t at = i * bits;

    return LE_SWAP64(words[at / 64]) >> (at % 64) & counters_max(bits);
}

/* The sum, or the difference if `by` is negative, fits. */
static inline void counters_change(void *counters, unsigned bits, uint64_t i, int64_t by)
{
    uint64_t *word = (uint64_t *)counters + i * bits / 64;

    *word = LE_SWAP64(LE_SWAP64(*word) + ((uint64_t)by << i * bits % 64));
}

/* One more, while others do the same. Returns whether there was room. */
static inline bool counters_raise_atomic(void *counters, unsigned bits, uint64_t i)
{
    uint64_t *word = (uint64_t *)counters + i * bits / 64, more, shift = i * bits % 64;
    uint64_t now = __atomic_load_n(word, __ATOMIC_RELAXED);

    do {
        if ((LE_SWAP64(now) >> shift & counters_max(bits)) == counters_max(bits))
            return false;
        more = LE_SWAP64(LE_SWAP64(now) + (UINT64_C(1) << shift));
    } while (
        !__atomic_compare_exchange_n(word, &now, more, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return true;
}

/* ---- Words of counters ------------------------------------------------- */

/* The lowest bit of each lane. */
static inline uint64_t counters_low_bits(unsigned bits)
{
    return UINT64_MAX / counters_max(bits);
}

/* The lowest bit of each lane that is not 0, and of each that is at its maximum. Shifts bring in
 * bits of the next lane, but none to the lowest bit. */
static inline uint64_t counters_in_use(uint64_t x, unsigned bits)
{
    for (unsigned by = 1; by < bits; by *= 2)
        x |= x >> by;
    return x & counters_low_bits(bits);
}

static inline uint64_t counters_at_max(uint64_t x, unsigned bits)
{
    for (unsigned by = 1; by < bits; by *= 2)
        x &= x >> by;
    return x & counters_low_bits(bits);
}

/* All bits of the lanes whose highest bit is set in x. */
static inline uint64_t counters_spread(uint64_t x, unsigned bits)
{
    return (x >> (bits - 1) & counters_low_bits(bits)) * counters_max(bits);
}

/* Lane by lane: the sum, or the maximum if that is less. The highest bits are added by hand, so
 * that no lane carries into the next. */
static inline uint64_t counters_sum(uint64_t a, uint64_t b, unsigned bits)
{
    uint64_t highs = counters_low_bits(bits) << (bits - 1);
    uint64_t sum = ((a & ~highs) + (b & ~highs)) ^ ((a ^ b) & highs);

    return sum | counters_spread((a & b) | ((a | b) & ~sum), bits);
}

/* Lane by lane, the smaller of two. A lane of the difference that borrows has a below b. */
static inline uint64_t counters_min(uint64_t a, uint64_t b, unsigned bits)
{
    uint64_t highs = counters_low_bits(bits) << (bits - 1);
    uint64_t difference = ((a | highs) - (b & ~highs)) ^ (~(a ^ b) & highs);
    uint64_t below = counters_spread((~a & b) | (~(a ^ b) & difference), bits);

    return (a & below) | (b & ~below);
}

/* ---- Whole payloads ---------------------------------------------------- */

/* A counter of the union is what all keys of both would have made of it. */
static inline tamis_status counters_merge(tamis *f, const tamis *g)
{
    uint64_t *to = f->payload, count;
    const uint64_t *from = g->payload;

    if (add_overflows(f->count, g->count, &count))
        return TAMIS_RANGE;
    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        to[i] = LE_SWAP64(counters_sum(LE_SWAP64(to[i]), LE_SWAP64(from[i]), f->plan.width));
    f->count = count;
    return TAMIS_OK;
}

/* What two filters have in common was counted in both: no counter of it is above either's. */
static inline tamis_status counters_intersect(tamis *f, const tamis *g)
{
    uint64_t *to = f->payload;
    const uint64_t *from = g->payload;

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        to[i] = LE_SWAP64(counters_min(LE_SWAP64(to[i]), LE_SWAP64(from[i]), f->plan.width));
    if (g->count < f->count)
        f->count = g->count;
    return TAMIS_OK;
}

/* Returns how many are not 0, and sets info->saturated. */
static inline uint64_t counters_measure(const tamis *f, tamis_info *info)
{
    const uint64_t *words = f->payload;
    uint64_t used = 0, stopped = 0;

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++) {
        uint64_t word = LE_SWAP64(words[i]);
        used += (uint64_t)__builtin_popcountll(counters_in_use(word, f->plan.width));
        stopped += (uint64_t)__builtin_popcountll(counters_at_max(word, f->plan.width));
    }
    info->saturated = stopped;
    return used;
}

static inline tamis_limits counters_limits(const tamis_plan *p)
{
    return (tamis_limits){ .ceiling = counters_max(p->width) };
}

/* Whoever removes strangers that are taken for keys may remove more than was added. */
static inline void counters_forget(tamis *f, uint64_t times)
{
    f->count -= times < f->count ? times : f->count;
}

#endif
