/* cuckoo.h - slots, windows and the places of a key: what the kind and its kernels share. cuckoo.c
 * says what it means. */
#ifndef TAMIS_CUCKOO_CUCKOO_H
#define TAMIS_CUCKOO_CUCKOO_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "filter.h"

void tamis__cuckoo_use_avx2(tamis_ops *ops);

/* ---- Layout ------------------------------------------------------------ */

/* Bits of a slot that tell which of its places an entry is at. */
enum { TAG_BITS = 2, PLACES = 1 << TAG_BITS, TAG_MASK = PLACES - 1 };

/* A slot of up to 57 bits, or a window of two that have 28 each, lies within eight bytes from the
 * byte that it starts in. */
enum { NARROWEST = 6, WIDEST = 64, WIDEST_LOAD = 57, WIDEST_PAIR = 28 };

/* The class of a key has at most this many entries: one of its four places is left to others. */
enum { CEILING = 3 };

enum { STASH_MOST = 4, STASH_BYTES = 8 + 8 * STASH_MOST };

typedef struct table {
    uint8_t *slots, *stash;
    uint64_t starts; /* of windows: one fewer than slots */
    unsigned width;
} table;

static inline uint64_t slots_bytes(const tamis_plan *p)
{
    return (p->slots * p->width + 7) / 8;
}

static inline table table_of(const tamis *f)
{
    uint8_t *slots = f->payload;

    return (table){ slots, slots + slots_bytes(&f->plan), f->plan.slots - 1, f->plan.width };
}

static inline uint64_t mask_of(unsigned width)
{
    return UINT64_MAX >> (64 - width);
}

/* 0: empty. What lies behind the last slot is the stash, so that loads end in the payload. */
static inline uint64_t slot_at(const table *t, uint64_t slot)
{
    const uint8_t *at = t->slots + slot * t->width / 8;
    unsigned shift = (unsigned)(slot * t->width % 8);
    uint64_t x = le64(at) >> shift;

    if (t->width > WIDEST_LOAD && shift)
        x |= (uint64_t)at[8] << (64 - shift);
    return x & mask_of(t->width);
}

/* ---- Entries ----------------------------------------------------------- */

/* All that the filter knows of a key. Keys of one class have the same. */
typedef struct entry {
    uint64_t first, second; /* starts of its windows */
    uint64_t print;
} entry;

/* The 32-bit prime next to 2^32 divided by the golden ratio, and another: of xxHash. */
#define STEP_FIRST UINT32_C(0x9E3779B1)
#define STEP_SECOND UINT32_C(0x85EBCA77)

/* From the first window to the second, going up and around. The windows never overlap. Mixed twice:
 * steps that are multiples of each other would lead back to where they came from. */
static inline uint64_t step_of(const table *t, uint64_t print)
{
    uint32_t x = (uint32_t)(print ^ print >> 32) * STEP_FIRST;

    x = (x ^ x >> 15) * STEP_SECOND;
    return 2 + scale64((uint64_t)x << 32, t->starts - 3);
}

static inline uint64_t step_up(const table *t, uint64_t start, uint64_t step)
{
    uint64_t to = start + step;

    return to < t->starts ? to : to - t->starts;
}

static inline uint64_t step_down(const table *t, uint64_t start, uint64_t step)
{
    return start >= step ? start - step : start + t->starts - step;
}

/* The other window of what is in a slot. Chosen by arithmetic: which it is, chance decides. */
static inline uint64_t other_start(const table *t, uint64_t slot, uint64_t value)
{
    uint64_t step = step_of(t, value >> TAG_BITS), back = t->starts - step;
    uint64_t to = slot - (value & 1) + (value & 2 ? back : step);

    return to - (to >= t->starts ? t->starts : 0);
}

static inline entry entry_of(const table *t, uint64_t h)
{
    entry e = { .first = scale64(h, t->starts),
                .print = h * t->starts >> (64 + TAG_BITS - t->width) };

    e.second = step_up(t, e.first, step_of(t, e.print));
    return e;
}

/* What is in a slot: whose it is follows from the value. */
static inline entry entry_at(const table *t, uint64_t slot, uint64_t value)
{
    uint64_t start = slot - (value & 1), other = other_start(t, slot, value);

    return value & 2 ? (entry){ other, start, value >> TAG_BITS }
                     : (entry){ start, other, value >> TAG_BITS };
}

/* Keys on their way, with the bits that their windows start at. */
enum { GROUP = 64 };

typedef struct group {
    uint64_t start[2][GROUP], bit[2][GROUP], print[GROUP];
    size_t n;
} group;

static inline void place_each(group *g, size_t from, const table *t, uint64_t salt,
                              const uint64_t *keys)
{
    for (size_t i = from; i < g->n; i++) {
        entry e = entry_of(t, hash_key(keys[i], salt));
        g->start[0][i] = e.first;
        g->start[1][i] = e.second;
        g->bit[0][i] = e.first * t->width;
        g->bit[1][i] = e.second * t->width;
        g->print[i] = e.print;
    }
}

/* Places 0 and 1 are the slots of the first window, 2 and 3 those of the second. */
static inline uint64_t slot_of(const entry *e, unsigned i)
{
    return (i & 2 ? e->second : e->first) + (i & 1);
}

static inline uint64_t value_at(const entry *e, unsigned i)
{
    return e->print << TAG_BITS | i;
}

/* Which of the slots of a window hold `value` and `next`; bit 0 is for the first. */
static inline unsigned window_holds(const table *t, uint64_t start, uint64_t value, uint64_t next)
{
    if (t->width > WIDEST_PAIR)
        return (unsigned)(slot_at(t, start) == value) | (unsigned)(slot_at(t, start + 1) == next)
                                                            << 1;
    uint64_t bit = start * t->width, mask = mask_of(t->width);
    uint64_t x = le64(t->slots + bit / 8) >> bit % 8 ^ (value | next << t->width);
    return (unsigned)((x & mask) == 0) | (unsigned)((x >> t->width & mask) == 0) << 1;
}

/* Of a key whose fingerprint is 0, place 0 would look empty: it has three places. */
static inline unsigned usable(const entry *e)
{
    return (1u << PLACES) - 1 - (e->print == 0);
}

/* Bit i: the entry is at place i. */
static inline unsigned holding(const table *t, const entry *e)
{
    uint64_t value = value_at(e, 0);

    return (window_holds(t, e->first, value, value + 1) |
            window_holds(t, e->second, value + 2, value + 3) << 2) &
           usable(e);
}

/* Bit i: place i is free. */
static inline unsigned vacant(const table *t, const entry *e)
{
    return (window_holds(t, e->first, 0, 0) | window_holds(t, e->second, 0, 0) << 2) & usable(e);
}

/* ---- Four places at once ----------------------------------------------- */

/* Slots of up to 16 bits: all places of a key in one word, a lane for each. Those of a window of 12
 * bits lie within four bytes from the byte that it starts in, and reach into the next line of the
 * cache less often than eight. */
enum { WIDEST_LANE = 16, WIDEST_SHORT = 12 };

typedef struct lanes {
    uint64_t ones, tops; /* the lowest and the highest bit of each */
    uint64_t tags;       /* 0, 1, 2, 3 */
    uint64_t window;     /* the lower two */
    unsigned width;
} lanes;

static inline lanes lanes_of(const table *t)
{
    unsigned w = t->width;
    uint64_t ones = 1 | UINT64_C(1) << w;

    ones |= ones << 2 * w;
    return (lanes){ ones, ones << (w - 1),
                    UINT64_C(1) << w | UINT64_C(2) << 2 * w | UINT64_C(3) << 3 * w, mask_of(2 * w),
                    w };
}

__attribute__((always_inline)) static inline uint64_t window_at(const table *t, uint64_t bit,
                                                                const bool is_short)
{
    const uint8_t *at = t->slots + bit / 8;

    return (is_short ? le32(at) : le64(at)) >> bit % 8;
}

/* Above the lanes there may be anything. */
__attribute__((always_inline)) static inline uint64_t four_at(const table *t, const lanes *l,
                                                              uint64_t first_bit,
                                                              uint64_t second_bit,
                                                              const bool is_short)
{
    return (window_at(t, first_bit, is_short) & l->window) | window_at(t, second_bit, is_short)
                                                                 << 2 * l->width;
}

/* The highest bits of lanes that are zero. The lowest of them is found exactly; the ones after it,
 * perhaps not. */
static inline uint64_t zero_lanes(const lanes *l, uint64_t x)
{
    return (x - l->ones) & ~x & l->tops;
}

static inline unsigned lowest_lane(const lanes *l, uint64_t zeros)
{
    return (unsigned)__builtin_popcountll(l->tops & (zeros - 1) & ~zeros);
}

/* ---- The stash --------------------------------------------------------- */

/* Whatever the payload says, no more than there is room for. */
static inline unsigned stash_size(const table *t)
{
    uint64_t n = le64(t->stash);

    return n < STASH_MOST ? (unsigned)n : STASH_MOST;
}

unsigned tamis__cuckoo_stashed(const table *t, const entry *e);

static inline unsigned stashed(const table *t, const entry *e)
{
    return stash_size(t) ? tamis__cuckoo_stashed(t, e) : 0;
}

/* ---- One key ----------------------------------------------------------- */

tamis_status tamis__cuckoo_add(tamis *f, uint64_t h, const entry *e);
tamis_status tamis__cuckoo_remove(tamis *f, const entry *e, uint64_t times);

static inline unsigned copies_of(const table *t, const entry *e)
{
    unsigned copies = (unsigned)__builtin_popcount(holding(t, e)) + stashed(t, e);

    return copies < CEILING ? copies : CEILING;
}

/* Where a slot starts is given in bits. */
static inline void put_at(const table *t, uint64_t bit, uint64_t value)
{
    uint8_t *at = t->slots + bit / 8;
    unsigned shift = (unsigned)(bit % 8);
    uint64_t mask = mask_of(t->width);

    put_le64(at, (le64(at) & ~(mask << shift)) | value << shift);
    if (t->width > WIDEST_LOAD && shift)
        at[8] = (uint8_t)((at[8] & ~(mask >> (64 - shift))) | value >> (64 - shift));
}

#endif
