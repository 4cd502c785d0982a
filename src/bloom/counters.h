/* counters.h - what the Bloom kinds that count share: arrays of counters of 1 to 16 bits.
 *
 * A counter that has come to its maximum stays there: how often it would have gone beyond is not
 * known, so that to lower it could lose a key. All others are the exact number of keys that were
 * added there and not removed.
 *
 * Counters lie in little-endian 64-bit words, as many in each as fit, from the lowest bits on: none
 * lies in two words, and if w is no power of two some bits of a word are zero. Whole words are
 * handled as lanes of w bits, side by side. */
#ifndef TAMIS_BLOOM_COUNTERS_H
#define TAMIS_BLOOM_COUNTERS_H

#include "base/bits.h"
#include "base/le.h"
#include "base/many.h"
#include "filter.h"

/* ---- One counter ------------------------------------------------------- */

static inline uint64_t counters_max(unsigned bits)
{
    return (UINT64_C(1) << bits) - 1;
}

/* How many are in a word. */
static inline unsigned counters_lanes(unsigned bits)
{
    return 64 / bits;
}

static inline bool counters_fill_words(unsigned bits)
{
    return (bits & (bits - 1)) == 0;
}

static inline uint64_t counters_bytes(uint64_t n, unsigned bits)
{
    return (n + counters_lanes(bits) - 1) / counters_lanes(bits) * 8;
}

/* Where a counter is: its word, and the bits below it in that. */
typedef struct counters_place {
    uint64_t word;
    unsigned shift;
} counters_place;

/* The word is i / lanes: by multiplication with 2^64 / lanes, rounded up, which is exact for i
 * below 2^56. Widths that fill words need none. */
static inline counters_place counters_find(unsigned bits, uint64_t i)
{
#define COUNTERS_INVERSE(lanes) (UINT64_MAX / (lanes) + 1)
    static const uint64_t inverses[17] = {
        [3] = COUNTERS_INVERSE(21), [5] = COUNTERS_INVERSE(12), [6] = COUNTERS_INVERSE(10),
        [7] = COUNTERS_INVERSE(9),  [9] = COUNTERS_INVERSE(7),  [10] = COUNTERS_INVERSE(6),
        [11] = COUNTERS_INVERSE(5), [12] = COUNTERS_INVERSE(5), [13] = COUNTERS_INVERSE(4),
        [14] = COUNTERS_INVERSE(4), [15] = COUNTERS_INVERSE(4),
    };
#undef COUNTERS_INVERSE
    if (counters_fill_words(bits))
        return (counters_place){ i * bits / 64, (unsigned)(i * bits % 64) };
    uint64_t word = mul_high64(i, inverses[bits]);
    return (counters_place){ word, (unsigned)(i - word * counters_lanes(bits)) * bits };
}

static inline uint64_t counters_get(const void *counters, unsigned bits, uint64_t i)
{
    counters_place at = counters_find(bits, i);

    return LE_SWAP64(((const uint64_t *)counters)[at.word]) >> at.shift & counters_max(bits);
}

/* The sum, or the difference if `by` is negative, fits. */
static inline void counters_change(void *counters, unsigned bits, uint64_t i, int64_t by)
{
    counters_place at = counters_find(bits, i);
    uint64_t *word = (uint64_t *)counters + at.word;

    *word = LE_SWAP64(LE_SWAP64(*word) + ((uint64_t)by << at.shift));
}

/* ---- Those of a key ---------------------------------------------------- */

enum { COUNTERS_MOST = 64 };

typedef struct counters_key {
    void *array;
    const uint64_t *slots; /* at most COUNTERS_MOST; two may be one, which is changed once */
    unsigned n, bits;
} counters_key;

/* Reads all of them; returns the lowest. */
static inline uint64_t counters_read(uint64_t *held, counters_key k)
{
    uint64_t least = counters_max(k.bits);

    for (unsigned i = 0; i < k.n; i++) {
        held[i] = counters_get(k.array, k.bits, k.slots[i]);
        least = held[i] < least ? held[i] : least;
    }
    return least;
}

static inline uint64_t counters_lowest(counters_key k)
{
    uint64_t held[COUNTERS_MOST];

    return counters_read(held, k);
}

/* A change, so many times. Returns whether the key was there as often, which adds need not ask. It
 * is counted unless all counters have stopped. There is no branch on what a counter holds: keys
 * wait for their lines, and a wrong guess would keep the processor from asking for the next. A
 * counter that is not what it was when all were read has been changed already: its slot came
 * before. */
typedef bool counters_change_key(counters_key k, uint64_t times, uint64_t *counted);

/* No counter goes beyond the maximum. */
static inline bool counters_raise(counters_key k, uint64_t times, uint64_t *counted)
{
    uint64_t held[COUNTERS_MOST], most = 0;

    counters_read(held, k);
    for (unsigned i = 0; i < k.n; i++) {
        uint64_t now = counters_get(k.array, k.bits, k.slots[i]), room = counters_max(k.bits) - now;
        uint64_t step = times < room ? times : room;
        step = now == held[i] ? step : 0;
        counters_change(k.array, k.bits, k.slots[i], (int64_t)step);
        most = step > most ? step : most;
    }
    *counted += most;
    return true;
}

/* No counter goes below 0, and those that have stopped stay. */
static inline bool counters_lower(counters_key k, uint64_t times, uint64_t *counted)
{
    uint64_t held[COUNTERS_MOST], max = counters_max(k.bits), least = counters_read(held, k);
    uint64_t most = 0;

    if (least < times && least < max)
        return false;
    for (unsigned i = 0; i < k.n; i++) {
        uint64_t now = counters_get(k.array, k.bits, k.slots[i]);
        uint64_t step = now != max && now == held[i] ? times : 0;
        counters_change(k.array, k.bits, k.slots[i], -(int64_t)step);
        most |= step;
    }
    *counted += most;
    return true;
}

static inline bool counters_came_before(counters_key k, unsigned i)
{
    unsigned j = 0;

    while (k.slots[j] != k.slots[i])
        j++;
    return j < i;
}

/* One more in each, while others do the same. */
static inline bool counters_raise_atomic(counters_key k, uint64_t times, uint64_t *counted)
{
    uint64_t raised = 0;

    (void)times;
    for (unsigned i = 0; i < k.n; i++) {
        counters_place at = counters_find(k.bits, k.slots[i]);
        uint64_t *word = (uint64_t *)k.array + at.word, more, room;
        if (counters_came_before(k, i))
            continue;
        uint64_t now = __atomic_load_n(word, __ATOMIC_RELAXED);
        do {
            room = (LE_SWAP64(now) >> at.shift & counters_max(k.bits)) != counters_max(k.bits);
            more = LE_SWAP64(LE_SWAP64(now) + (room << at.shift));
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

/* All bits of the lanes of a word. */
static inline uint64_t counters_lane_bits(unsigned bits)
{
    return UINT64_MAX >> (64 - counters_lanes(bits) * bits);
}

/* The lowest bit of each lane. */
static inline uint64_t counters_low_bits(unsigned bits)
{
    return counters_lane_bits(bits) / counters_max(bits);
}

/* The lowest bit of each lane that is not 0: its other bits, if one of them is set, carry into the
 * highest when all but one are added. */
static inline uint64_t counters_in_use(uint64_t x, unsigned bits)
{
    uint64_t lows = counters_low_bits(bits), highs = lows << (bits - 1), rest = highs - lows;

    return (((x & rest) + rest) | x) >> (bits - 1) & lows;
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

typedef uint64_t counters_of_words(uint64_t a, uint64_t b, unsigned bits);

MANY_INLINE void counters_combine(tamis *f, const tamis *g, counters_of_words *of)
{
    uint64_t *to = f->payload;
    const uint64_t *from = g->payload;

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        to[i] = LE_SWAP64(of(LE_SWAP64(to[i]), LE_SWAP64(from[i]), f->plan.width));
}

/* A counter of the union is what all keys of both would have made of it. */
static inline tamis_status counters_merge(tamis *f, const tamis *g)
{
    counters_combine(f, g, counters_sum);
    f->count += g->count;
    return TAMIS_OK;
}

/* What two filters have in common was counted in both: no counter of it is above either's. */
static inline tamis_status counters_intersect(tamis *f, const tamis *g)
{
    counters_combine(f, g, counters_min);
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
    if (!counters_hold(f, g))
        return TAMIS_ABSENT;
    counters_combine(f, g, counters_difference);
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
    info->saturated = f->plan.bytes / 8 * counters_lanes(f->plan.width) - below;
    return used;
}

/* An array of n counters fills whole words. Bits that belong to none stay zero: why it is damaged,
 * or NULL. */
static inline const char *counters_verify(const tamis *f, uint64_t n)
{
    const uint64_t *words = f->payload, bits = f->plan.width, lanes = counters_lanes(f->plan.width);
    uint64_t others = ~counters_lane_bits(f->plan.width), last = n % lanes, stray = 0;

    for (uint64_t i = 0; others && i < f->plan.bytes / 8; i++)
        stray |= LE_SWAP64(words[i]) & others;
    if (last)
        stray |= LE_SWAP64(words[n / lanes]) >> last * bits;
    return stray ? "bits of no counter are set" : NULL;
}

/* What the tables of these kinds have in common. */
#define COUNTERS_OPS                                                                \
    .traits = TAMIS_TRAIT_COUNTER_BITS | TAMIS_TRAIT_BITS, .merge = counters_merge, \
    .reduce = counters_reduce

#endif
