/* cuckoo_buckets.h - buckets of four tags, and the stash. cuckoo_buckets.c says what they mean.
 * Prefixes: buckets_, stash_. */
#ifndef TAMIS_CUCKOO_CUCKOO_BUCKETS_H
#define TAMIS_CUCKOO_CUCKOO_BUCKETS_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/packed.h"
#include "base/surplus.h"
#include "filter.h"

/* ---- The stash --------------------------------------------------------- */

/* Eight numbers, bit by bit:
 *
 *   byte 0       bit e: entry e is in use
 *   byte 1 + j   bit e: bit j of the number of entry e
 *
 * There are eight bytes at least: loads at the last bucket, which is before, reach fewer beyond it.
 * An entry that is read or written is its number above a 1, or 0 if it is not in use. */
enum { STASH_ENTRIES = 8, STASH_LEAST_BYTES = 8, STASH_MOST_BITS = 62 };

typedef struct stash {
    uint8_t *at;
    unsigned bits; /* of a number */
} stash;

static inline unsigned stash_bytes(unsigned bits)
{
    return 1 + bits > STASH_LEAST_BYTES ? 1 + bits : STASH_LEAST_BYTES;
}

static inline uint64_t stash_get(const stash *s, unsigned e)
{
    uint64_t entry = 0;

    for (unsigned j = 0; j < stash_bytes(s->bits); j++)
        entry |= (uint64_t)(s->at[j] >> e & 1) << j;
    return entry;
}

static inline void stash_put(const stash *s, unsigned e, uint64_t entry)
{
    for (unsigned j = 0; j < stash_bytes(s->bits); j++)
        s->at[j] = (uint8_t)((s->at[j] & ~(1u << e)) | (entry >> j & 1) << e);
}

/* Only these entries stay. */
static inline void stash_keep(const stash *s, unsigned entries)
{
    for (unsigned j = 0; j < stash_bytes(s->bits); j++)
        s->at[j] &= (uint8_t)entries;
}

/* Bit e: entry e is this. */
static inline unsigned stash_find(const stash *s, uint64_t entry)
{
    unsigned same = 0;

    if (entry && !s->at[0]) /* as nearly always */
        return 0;
    for (unsigned e = 0; e < STASH_ENTRIES; e++)
        same |= (unsigned)(stash_get(s, e) == entry) << e;
    return same;
}

/* The lowest that is `from` becomes `to`; false: none is. */
static inline bool stash_replace(const stash *s, uint64_t from, uint64_t to)
{
    unsigned same = stash_find(s, from);

    if (same)
        stash_put(s, (unsigned)__builtin_ctz(same), to);
    return same;
}

/* ---- Layout ------------------------------------------------------------ */

enum {
    BUCKETS_SLOTS = 4,
    BUCKETS_OF_KEY = 2,
    BUCKETS_STEP = BUCKETS_SLOTS * BUCKETS_OF_KEY, /* of plan.slots */
    BUCKETS_MIN_TAG = 4,
    BUCKETS_MAX_TAG = 32,
    BUCKETS_NARROW_TAG = 16, /* four of these are in eight bytes, from any half byte on */
    BUCKETS_CEILING = 7,
};

static const uint64_t BUCKETS_MOST_SLOTS = UINT64_C(1) << 48;

/* A filter, taken apart. */
typedef struct buckets_table {
    uint8_t *at;
    stash stash; /* of classes */
    uint64_t stash_at, buckets;
    unsigned width;
} buckets_table;

/* Of a plan alone, which has no payload. */
static inline buckets_table buckets_of_plan(const tamis_plan *p)
{
    uint64_t n = p->slots / BUCKETS_SLOTS;
    stash classes = { NULL, 64 - (unsigned)__builtin_clzll((n / 2 << p->width) - 1) };

    return (buckets_table){
        .stash = classes, .stash_at = (p->slots * p->width + 7) / 8, .buckets = n, .width = p->width
    };
}

static inline buckets_table buckets_of(const tamis *f)
{
    buckets_table t = buckets_of_plan(&f->plan);

    t.at = f->payload;
    t.stash.at = t.at + t.stash_at;
    return t;
}

/* ---- From a key to its buckets ----------------------------------------- */

typedef struct buckets_key {
    uint64_t first, second; /* buckets */
    uint32_t tag;
} buckets_key;

/*             +3
 *         .--------.
 *         |        v           The distance between the two is odd, up from even buckets and down
 *  bucket 0  1  2  3  4  5     from odd ones, around the end of the table. So there may be any
 *         ^        |           even number of buckets, and the two always differ.
 *         `--------'
 *             -3
 *
 * Mixed, too: if distances were multiples of each other, moves would lead to few buckets. */
static inline uint64_t buckets_other(const buckets_table *t, uint64_t i, uint32_t tag)
{
    uint64_t reach = t->buckets < UINT64_C(1) << 32 ? t->buckets : UINT64_C(1) << 32;
    uint32_t x = tag * UINT32_C(0x9E3779B1);

    x = (x ^ x >> 15) * UINT32_C(0x85EBCA6B);
    uint64_t distance = (x * reach >> 32) | 1, to = i + (i & 1 ? t->buckets - distance : distance);
    return to < t->buckets ? to : to - t->buckets;
}

/* The bucket is where h lies among all hashes; the tag, where it lies in its bucket. */
static inline buckets_key buckets_key_of(const buckets_table *t, uint64_t h)
{
    uint64_t first = scale64(h, t->buckets);
    uint32_t tag = 1 + (uint32_t)scale64(h * t->buckets, packed_mask(t->width));

    return (buckets_key){ first, buckets_other(t, first, tag), tag };
}

/* As one number: the tag, above it half the even bucket. */
static inline uint64_t buckets_class(const buckets_table *t, const buckets_key *k)
{
    uint64_t even = k->first & 1 ? k->second : k->first;

    return even / 2 << t->width | k->tag;
}

/* False: in a damaged payload, `class` may be any number. */
static inline bool buckets_key_of_class(const buckets_table *t, uint64_t class, buckets_key *k)
{
    uint64_t first = class >> t->width << 1;
    uint32_t tag = (uint32_t) class & packed_mask(t->width);

    *k = (buckets_key){ first, buckets_other(t, first, tag), tag };
    return tag && first < t->buckets;
}

/* ---- Buckets ----------------------------------------------------------- */

static inline uint32_t buckets_get(const buckets_table *t, uint64_t i, unsigned slot)
{
    return packed_get_odd(t->at, BUCKETS_SLOTS * i + slot, t->width);
}

static inline unsigned buckets_copies_in(const buckets_table *t, uint64_t i, uint32_t tag)
{
    unsigned n = 0;

    for (unsigned slot = 0; slot < BUCKETS_SLOTS; slot++)
        n += buckets_get(t, i, slot) == tag;
    return n;
}

static inline unsigned buckets_used(const buckets_table *t, uint64_t i)
{
    return BUCKETS_SLOTS - buckets_copies_in(t, i, 0);
}

/* Where the tag is; it is there. */
static inline unsigned buckets_slot_of(const buckets_table *t, uint64_t i, uint32_t tag)
{
    unsigned slot = 0;

    while (slot < BUCKETS_SLOTS - 1 && buckets_get(t, i, slot) != tag)
        slot++;
    return slot;
}

/* Four narrow tags are compared at once: a tag that is found becomes 0, and less 1 has its highest
 * bit. Above one that is found, another may be taken for one. */
static inline bool buckets_holds(const buckets_table *t, uint64_t i, uint32_t tag)
{
    uint64_t bit = i * BUCKETS_SLOTS * t->width;

    if (t->width > BUCKETS_NARROW_TAG)
        return buckets_copies_in(t, i, tag) != 0;
    uint64_t two = 1 | UINT64_C(1) << t->width, ones = two | two << 2 * t->width;
    uint64_t x = le64(t->at + bit / 8) >> bit % 8 ^ tag * ones;
    return ((x - ones) & ~x & ones << (t->width - 1)) != 0;
}

/* Both are read: which of them has the tag is unpredictable. */
static inline bool buckets_hold(const buckets_table *t, const buckets_key *k)
{
    return buckets_holds(t, k->first, k->tag) | buckets_holds(t, k->second, k->tag);
}

/* ---- Stash and surplus of a filter -------------------------------------- */

static inline uint64_t buckets_entry(const buckets_table *t, const buckets_key *k)
{
    return buckets_class(t, k) << 1 | 1;
}

static inline unsigned buckets_stashed(const buckets_table *t, const buckets_key *k)
{
    return (unsigned)__builtin_popcount(stash_find(&t->stash, buckets_entry(t, k)));
}

static inline unsigned buckets_copies(const buckets_table *t, const buckets_key *k)
{
    return buckets_copies_in(t, k->first, k->tag) + buckets_copies_in(t, k->second, k->tag) +
           buckets_stashed(t, k);
}

/* With one key for 2^(width - 3) classes, 2^(21 - 7 width) / 8! classes have a surplus for each
 * key: a thousandth in 2^(7 width - 16) slots. */
static inline uint64_t buckets_surplus_entries(const buckets_table *t)
{
    return surplus_entries(BUCKETS_SLOTS * t->buckets, BUCKETS_CEILING * t->width - 16,
                           t->stash.bits);
}

static inline surplus buckets_surplus_of(const buckets_table *t)
{
    return (surplus){ t->stash.at + stash_bytes(t->stash.bits), buckets_surplus_entries(t),
                      t->stash.bits };
}

#endif
