/* cuckoo_buckets.h - buckets of four tags, the buckets of a key, the stash: what the files of the
 * kind share. cuckoo_buckets.c says what it means.
 * Prefix: buckets_. */
#ifndef TAMIS_CUCKOO_BUCKETS_H
#define TAMIS_CUCKOO_BUCKETS_H

#include "base/bits.h"
#include "base/many.h"
#include "base/packed.h"
#include "base/surplus.h"
#include "filter.h"

enum {
    BUCKETS_SLOTS = 4,
    BUCKETS_OF_KEY = 2,
    BUCKETS_STEP = BUCKETS_SLOTS * BUCKETS_OF_KEY, /* of plan.slots */
    BUCKETS_MIN_TAG = 4,
    BUCKETS_MAX_TAG = 32,
    BUCKETS_NARROW_TAG = 16, /* four of these are in eight bytes, from any half byte on */
    BUCKETS_CEILING = 7,
    BUCKETS_STASH = 8,
    BUCKETS_STASH_MIN = 8, /* bytes: loads at the last bucket reach fewer beyond it */
    BUCKETS_CLASS_BITS = 62,
};

static const uint64_t BUCKETS_MOST_SLOTS = UINT64_C(1) << 48;

/* A filter, taken apart. All but the first three are worked out once, by for_cpu(). */
typedef struct buckets_table {
    uint8_t *at, *stash;
    uint64_t salt;
    uint64_t buckets, reach, stash_at;
    uint64_t ones, tops; /* the lowest and the highest bits of four narrow tags */
    uint32_t tags;       /* there are, without 0 */
    unsigned width, class_bits;
} buckets_table;

_Static_assert(sizeof(buckets_table) <= TAMIS_DERIVED_SIZE, "");

/* What has to be known of a key. */
typedef struct buckets_key {
    uint64_t first, second; /* buckets */
    uint32_t tag;
} buckets_key;

/* ---- Geometry ---------------------------------------------------------- */

static inline buckets_table buckets_of_plan(const tamis_plan *p)
{
    uint64_t n = p->slots / BUCKETS_SLOTS, two = 1 | UINT64_C(1) << p->width;
    uint64_t ones = p->width <= BUCKETS_NARROW_TAG ? two | two << 2 * p->width : 0;

    return (buckets_table){ .buckets = n,
                            .reach = n < UINT64_C(1) << 32 ? n : UINT64_C(1) << 32,
                            .stash_at = (p->slots * p->width + 7) / 8,
                            .ones = ones,
                            .tops = ones << (p->width - 1),
                            .tags = packed_mask(p->width),
                            .width = p->width,
                            .class_bits = 64 - (unsigned)__builtin_clzll((n / 2 << p->width) - 1) };
}

static inline buckets_table buckets_of(const tamis *f)
{
    buckets_table t = *(const buckets_table *)(const void *)f->derived;

    t.at = f->payload;
    t.stash = t.at + t.stash_at;
    t.salt = f->salt;
    return t;
}

/* ---- From a key to its buckets ----------------------------------------- */

/*             +3
 *         .--------.
 *         |        v           The distance between the two is odd, up from even buckets and down
 *  bucket 0  1  2  3  4  5     from odd ones, around the end of the table. So there may be any
 *         ^        |           even number of buckets, and the two always differ.
 *         `--------'
 *             -3
 */

/* Mixed, too: if distances were multiples of each other, moves would lead to few buckets. */
static inline uint64_t buckets_distance(const buckets_table *t, uint32_t tag)
{
    uint32_t x = tag * UINT32_C(0x9E3779B1);

    x ^= x >> 15;
    x *= UINT32_C(0x85EBCA6B);
    return (x * t->reach >> 32) | 1;
}

static inline uint64_t buckets_other(const buckets_table *t, uint64_t i, uint32_t tag)
{
    uint64_t distance = buckets_distance(t, tag),
             to = i + (i & 1 ? t->buckets - distance : distance);

    return to < t->buckets ? to : to - t->buckets;
}

/* The bucket is where h lies among all hashes; the tag, where it lies in its bucket. */
static inline buckets_key buckets_key_of(const buckets_table *t, uint64_t h)
{
    uint64_t first = scale64(h, t->buckets);
    uint32_t tag = 1 + (uint32_t)scale64(h * t->buckets, t->tags);

    return (buckets_key){ first, buckets_other(t, first, tag), tag };
}

MANY_INLINE buckets_key buckets_find(const buckets_table *t, uint64_t key)
{
    return buckets_key_of(t, hash_key(key, t->salt));
}

static inline uint64_t buckets_class(const buckets_table *t, const buckets_key *k)
{
    uint64_t even = k->first & 1 ? k->second : k->first;

    return even / 2 << t->width | k->tag;
}

/* In a damaged payload, `class` may be any number, and the bucket one that is not there. */
static inline buckets_key buckets_key_of_class(const buckets_table *t, uint64_t class)
{
    buckets_key k = { .first = class >> t->width << 1, .tag = (uint32_t) class & t->tags };

    k.second = buckets_other(t, k.first, k.tag);
    return k;
}

static inline bool buckets_is_key(const buckets_table *t, const buckets_key *k)
{
    return k->tag && k->first < t->buckets;
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

/* Slots in use come first. */
static inline bool buckets_has_room(const buckets_table *t, uint64_t i)
{
    return buckets_get(t, i, BUCKETS_SLOTS - 1) == 0;
}

/* Four narrow tags are compared at once: a tag that is found becomes 0, and less 1 has its highest
 * bit. Above one that is found, another may be taken for one. */
static inline bool buckets_holds(const buckets_table *t, uint64_t i, uint32_t tag)
{
    uint64_t bit = i * BUCKETS_SLOTS * t->width;

    if (t->width > BUCKETS_NARROW_TAG)
        return buckets_copies_in(t, i, tag) != 0;
    uint64_t x = le64(t->at + bit / 8) >> bit % 8 ^ tag * t->ones;
    return ((x - t->ones) & ~x & t->tops) != 0;
}

/* Both are read: which of them has the tag is unpredictable. */
static inline bool buckets_hold(const buckets_table *t, const buckets_key *k)
{
    return buckets_holds(t, k->first, k->tag) | buckets_holds(t, k->second, k->tag);
}

/* ---- Stash ------------------------------------------------------------- */

/* Entry e of it is bit e of each of its bytes.
 *
 *   stash:  entries in use, 1 byte | a byte for each bit of a class, lowest first | zeros
 *   class:  tag + (number of the even bucket / 2 << width) */

static inline uint64_t buckets_stash_bytes(const buckets_table *t)
{
    return 1 + t->class_bits > BUCKETS_STASH_MIN ? 1 + t->class_bits : BUCKETS_STASH_MIN;
}

/* Which entries are that class. */
static inline unsigned buckets_stash_find(const buckets_table *t, uint64_t class)
{
    unsigned same = t->stash[0];

    for (unsigned j = 0; j < t->class_bits && same; j++)
        same &= (class >> j & 1 ? 0u : ~0u) ^ t->stash[1 + j];
    return same;
}

static inline unsigned buckets_stashed(const buckets_table *t, const buckets_key *k)
{
    return (unsigned)__builtin_popcount(buckets_stash_find(t, buckets_class(t, k)));
}

static inline uint64_t buckets_stash_get(const buckets_table *t, unsigned entry)
{
    uint64_t class = 0;

    for (unsigned j = 0; j < t->class_bits; j++)
        class |= (uint64_t)(t->stash[1 + j] >> entry & 1) << j;
    return class;
}

static inline bool buckets_stash_put(const buckets_table *t, uint64_t class)
{
    unsigned entry = ~(unsigned)t->stash[0] & (t->stash[0] + 1u); /* the lowest that is free */

    if (entry > UINT8_MAX)
        return false;
    t->stash[0] |= (uint8_t)entry;
    for (unsigned j = 0; j < t->class_bits; j++)
        t->stash[1 + j] |= (uint8_t)(class >> j & 1 ? entry : 0);
    return true;
}

static inline void buckets_stash_drop(const buckets_table *t, unsigned entries)
{
    for (unsigned j = 0; j <= t->class_bits; j++)
        t->stash[j] &= (uint8_t)~entries;
}

/* ---- Surplus ----------------------------------------------------------- */

/* With one key for 2^(width - 3) classes, 2^(21 - 7 width) / 8! classes have a surplus for each
 * key: a thousandth in 2^(7 width - 16) slots. */
static inline uint64_t buckets_surplus_entries(const buckets_table *t)
{
    return surplus_entries(BUCKETS_SLOTS * t->buckets, BUCKETS_CEILING * t->width - 16,
                           t->class_bits);
}

static inline surplus buckets_surplus_of(const buckets_table *t)
{
    return (surplus){ t->stash + buckets_stash_bytes(t), buckets_surplus_entries(t),
                      t->class_bits };
}

/* ---- Copies ------------------------------------------------------------ */

static inline unsigned buckets_copies(const buckets_table *t, const buckets_key *k)
{
    return buckets_copies_in(t, k->first, k->tag) + buckets_copies_in(t, k->second, k->tag) +
           buckets_stashed(t, k);
}

static inline unsigned buckets_count_of(const buckets_table *t, const buckets_key *k)
{
    unsigned copies = buckets_copies(t, k);

    return copies < BUCKETS_CEILING ? copies : BUCKETS_CEILING;
}

void tamis__cuckoo_buckets_cells(const tamis *f, tamis_telling *to);
bool tamis__cuckoo_buckets_explain(const tamis *f, uint64_t key, tamis_telling *to);

#endif
