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

/* ---- Those of a key ---------------------------------------------------- */

typedef struct counters_key {
    void *array;
    const uint64_t *slots; /* different ones */
    unsigned n, bits;
} counters_key;

static inline uint64_t counters_lowest(counters_key k)
{
    uint64_t least = counters_max(k.bits);

    for (unsigned i = 0; i < k.n; i++) {
        uint64_t here = counters_get(k.array, k.bits, k.slots[i]);
        least = here < least ? here : least;
    }
    return least;
}

/* A change, so many times. Returns whether the key was there as often, which adds need not ask. It
 * is counted unless all counters have stopped. There is no branch on what a counter holds: keys
 * wait for their lines, and a wrong guess would keep the processor from asking for the next. */
typedef bool counters_change_key(counters_key k, uint64_t times, uint64_t *counted);

/* No counter goes beyond the maximum. */
static inline bool counters_raise(counters_key k, uint64_t times, uint64_t *counted)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < k.n; i++) {
        uint64_t room = counters_max(k.bits) - counters_get(k.array, k.bits, k.slots[i]);
        uint64_t step = times < room ? times : room;
        counters_change(k.array, k.bits, k.slots[i], (int64_t)step);
        most = step > most ? step : most;
    }
    *counted += most;
    return true;
}

/* No counter goes below 0, and those that have stopped stay. */
static inline bool counters_lower(counters_key k, uint64_t times, uint64_t *counted)
{
    uint64_t max = counters_max(k.bits), held = counters_lowest(k), most = 0;

    if (held < times && held < max)
        return false;
    for (unsigned i = 0; i < k.n; i++) {
        uint64_t step = counters_get(k.array, k.bits, k.slots[i]) != max ? times : 0;
        counters_change(k.array, k.bits, k.slots[i], -(int64_t)step);
        most |= step;
    }
    *counted += most;
    return true;
}

/* One more in each, while others do the same. */
static inline bool counters_raise_atomic(counters_key k, uint64_t times, uint64_t *counted)
{
    uint64_t raised = 0;

    (void)times;
    for (unsigned i = 0; i < k.n; i++) {
        uint64_t *word = (uint64_t *)k.array + k.slots[i] * k.bits / 64, more, room;
        uint64_t now = __atomic_load_n(word, __ATOMIC_RELAXED), shift = k.slots[i] * k.bits % 64;
        do {
            room = (LE_SWAP64(now) >> shift & counters_max(k.bits)) != counters_max(k.bits);
            more = LE_SWAP64(LE_SWAP64(now) + (room << shift));
        } while (room && !__atomic_compare_exchange_n(word, &now, more, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED));
        raised |= room;
    }
    *counted += raised;
    return true;
}

/* Whoever removes strangers that are taken for keys may remove more than was added. */
static inline void counters_forget(tamis *f, uint64_t times)
{
    f->count -= times < f->count ? times : f->count;
}

static inline tamis_status counters_remove(tamis *f, counters_key k, uint64_t times)
{
    uint64_t counted = 0;
    bool there = counters_lower(k, times, &counted);

    counters_forget(f, counted);
    return there ? TAMIS_OK : TAMIS_ABSENT;
}

/* ---- Words of counters ------------------------------------------------- */

/* The lowest bit of each lane. */
static inline uint64_t counters_low_bits(unsigned bits)
{
    return UINT64_MAX / counters_max(bits);
}

/* The lowest bit of each lane that is not 0. Shifts bring in bits of the next lane, but none to the
 * lowest bit. */
static inline uint64_t counters_in_use(uint64_t x, unsigned bits)
{
    for (unsigned by = 1; by < bits; by *= 2)
        x |= x >> by;
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

/* All bits of the lanes that have come to the maximum. */
static inline uint64_t counters_stopped(uint64_t x, unsigned bits)
{
    return (counters_low_bits(bits) & ~counters_in_use(~x, bits)) * counters_max(bits);
}

/* Lane by lane, for lanes of a that are no less than those of b: the difference. Those that have
 * stopped stay. */
static inline uint64_t counters_difference(uint64_t a, uint64_t b, unsigned bits)
{
    return a - (b & ~counters_stopped(a, bits));
}

/* ---- Whole payloads ---------------------------------------------------- */

/* A counter of the union is what all keys of both would have made of it. */
static inline tamis_status counters_merge(tamis *f, const tamis *g)
{
    uint64_t *to = f->payload;
    const uint64_t *from = g->payload;

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        to[i] = LE_SWAP64(counters_sum(LE_SWAP64(to[i]), LE_SWAP64(from[i]), f->plan.width));
    f->count += g->count;
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

static inline bool counters_hold(const tamis *f, const tamis *g)
{
    const uint64_t *a = f->payload, *b = g->payload;

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        if (counters_min(LE_SWAP64(a[i]), LE_SWAP64(b[i]), f->plan.width) != LE_SWAP64(b[i]))
            return false;
    return true;
}

/* If all that g counts was counted in f, no counter of f is below that of g. */
static inline tamis_status counters_subtract(tamis *f, const tamis *g)
{
    uint64_t *to = f->payload;
    const uint64_t *from = g->payload;

    if (!counters_hold(f, g))
        return TAMIS_ABSENT;
    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        to[i] = LE_SWAP64(counters_difference(LE_SWAP64(to[i]), LE_SWAP64(from[i]), f->plan.width));
    counters_forget(f, g->count);
    return TAMIS_OK;
}

static inline tamis_status counters_reduce(tamis *f, const tamis *g, tamis_operation op)
{
    return op == TAMIS_INTERSECT ? counters_intersect(f, g) : counters_subtract(f, g);
}

/* Returns how many are not 0, and sets info->saturated. */
static inline uint64_t counters_measure(const tamis *f, tamis_info *info)
{
    const uint64_t *words = f->payload;
    uint64_t used = 0, below = 0; /* of them: above 0, below the maximum */

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++) {
        uint64_t word = LE_SWAP64(words[i]);
        used += (uint64_t)__builtin_popcountll(counters_in_use(word, f->plan.width));
        below += (uint64_t)__builtin_popcountll(counters_in_use(~word, f->plan.width));
    }
    info->saturated = f->plan.bytes * 8 / f->plan.width - below;
    return used;
}

static inline tamis_limits counters_limits(const tamis_plan *p)
{
    return (tamis_limits){ .ceiling = counters_max(p->width) };
}

#endif
