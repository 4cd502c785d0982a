/* buckets.h - tables of four-slot buckets: where keys go, how buckets lie in memory, the stash.
 *
 * A key has a bucket and a tag of plan.width bits. A tag is never 0, which is an empty slot. Bucket
 * and tag give the other bucket of the key, and that one and the tag give the first again. So a tag
 * can move between its two buckets without its key. Keys with the same tag and the same two buckets
 * are one class, and cannot be told apart.
 *
 *             +3
 *         .--------.
 *         |        v           The distance between the two is odd, up from even buckets and down
 *  bucket 0  1  2  3  4  5     from odd ones, around the end of the table. So there may be any
 *         ^        |           even number of buckets, and the two always differ.
 *         `--------'
 *             -3
 *
 * A bucket is four tags, those in use first. Behind the buckets is a stash of eight classes, for
 * what finds no room anywhere. Entry e of it is bit e of each of its bytes, so that one pass over
 * the bytes compares all eight.
 *
 *   stash:  entries in use, 1 byte | a byte for each bit of a class, lowest first | zeros
 *   class:  tag + (number of the even bucket / 2 << width) */
#ifndef TAMIS_CUCKOO_BUCKETS_H
#define TAMIS_CUCKOO_BUCKETS_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/packed.h"
#include "base/surplus.h"
#include "cuckoo/cuckoo_group.h"
#include "filter.h"

enum {
    SLOTS = 4,
    MIN_TAG = 4,
    MAX_TAG = 32,
    STASH = 8,     /* entries */
    STASH_MIN = 8, /* bytes; loads at the last bucket reach fewer beyond it */
    CLASS_BITS = 62,
};

/* Two buckets have eight slots, seven of which one class may have: one is left to others. What
 * comes beyond is the surplus of the class. With one key for 2^(width - 3) classes, 2^(21 - 7
 * width) / 8! classes have one for each key: a thousandth in 2^(7 width - 16) slots. */
enum { CEILING = 7, SURPLUS_SHIFT = 16 };

/* A filter, taken apart. All but the first four are worked out once, by for_cpu(). */
typedef struct buckets_table {
    uint8_t *at, *stash;
    uint64_t salt;
    bool is_far;
    uint64_t buckets, reach;
    uint64_t bytes;       /* of a bucket, if all start at a byte */
    uint64_t ones, tops;  /* the lowest and the highest bit of each lane: see buckets_equal() */
    uint64_t stash_at;    /* in the payload */
    uint32_t tags;        /* there are, without 0 */
    unsigned width, bits; /* of a tag and of a bucket */
    unsigned class_bits;
} buckets_table;

_Static_assert(sizeof(buckets_table) <= TAMIS_DERIVED_SIZE, "");

/* What has to be known of a key. */
typedef struct buckets_key {
    uint64_t first, second; /* buckets */
    uint32_t tag;
} buckets_key;

/* ---- Geometry ---------------------------------------------------------- */

static inline uint64_t buckets_number(const tamis_plan *p)
{
    return p->slots / SLOTS;
}

/* Of a number below (buckets / 2) << width. */
static inline unsigned buckets_class_bits(const tamis_plan *p)
{
    return 64 - (unsigned)__builtin_clzll((buckets_number(p) / 2 << p->width) - 1);
}

/* Where the stash begins. */
static inline uint64_t buckets_bytes(const tamis_plan *p)
{
    return (p->slots * p->width + 7) / 8;
}

static inline uint64_t buckets_stash_bytes(unsigned class_bits)
{
    return 1 + class_bits > STASH_MIN ? 1 + class_bits : STASH_MIN;
}

/* Buckets of up to 64 bits are compared at once, others in two halves. */
static inline bool buckets_are_wide(const buckets_table *t)
{
    return t->bits > 64;
}

static inline buckets_table buckets_of_plan(const tamis_plan *p)
{
    uint64_t n = buckets_number(p), two = 1 | UINT64_C(1) << p->width;
    uint64_t ones = SLOTS * p->width <= 64 ? two | two << 2 * p->width : two;

    return (buckets_table){ .buckets = n,
                            .reach = n < UINT64_C(1) << 32 ? n : UINT64_C(1) << 32,
                            .bytes = SLOTS * p->width / 8,
                            .ones = ones,
                            .tops = ones << (p->width - 1),
                            .stash_at = buckets_bytes(p),
                            .tags = packed_mask(p->width),
                            .width = p->width,
                            .bits = SLOTS * p->width,
                            .class_bits = buckets_class_bits(p) };
}

static inline buckets_table buckets_of(const tamis *f)
{
    buckets_table t = *(const buckets_table *)(const void *)f->derived;

    t.at = f->payload;
    t.stash = t.at + t.stash_at;
    t.salt = f->salt;
    t.is_far = f->is_far;
    return t;
}

/* ---- From a key to its buckets ----------------------------------------- */

/* Mixed: if distances were multiples of each other, moves would lead to few buckets. */
static inline uint64_t buckets_distance(const buckets_table *t, uint32_t tag)
{
    uint32_t x = tag * UINT32_C(0x9E3779B1);

    x ^= x >> 15;
    x *= UINT32_C(0x85EBCA6B);
    return (x * t->reach >> 32) | 1;
}

/* Around the end. The subtraction is the comparison. */
static inline uint64_t buckets_wrap(const buckets_table *t, uint64_t i)
{
    uint64_t wrapped;
    bool is_inside = __builtin_sub_overflow(i, t->buckets, &wrapped);

    return is_inside ? i : wrapped;
}

static inline uint64_t buckets_other(const buckets_table *t, uint64_t i, uint32_t tag)
{
    uint64_t distance = buckets_distance(t, tag), up = i & 1 ? t->buckets - distance : distance;

    return buckets_wrap(t, i + up);
}

/* The bucket is where h lies among all hashes; the tag, where it lies in its bucket. */
static inline buckets_key buckets_key_of(const buckets_table *t, uint64_t h)
{
    uint64_t first = scale64(h, t->buckets);
    uint32_t tag = 1 + (uint32_t)scale64(h * t->buckets, t->tags);

    return (buckets_key){ first, buckets_other(t, first, tag), tag };
}

/* The keys of a group from number i on. */
static inline void buckets_hash_each(cuckoo_group *g, size_t i, const buckets_table *t,
                                     const uint64_t *keys)
{
    for (; i < g->n; i++) {
        buckets_key k = buckets_key_of(t, hash_key(keys[i], t->salt));
        cuckoo_group_set(g, i, k.first, k.second, k.tag, t->bits);
    }
}

static inline buckets_key buckets_key_in(const cuckoo_group *g, size_t i)
{
    return (buckets_key){ g->start[0][i], g->start[1][i], (uint32_t)g->fingerprint[i] };
}

static inline uint64_t buckets_class(const buckets_table *t, const buckets_key *k)
{
    uint64_t even = k->first & 1 ? k->second : k->first;

    return even / 2 << t->width | k->tag;
}

/* In a damaged stash, `class` may be any number, and the bucket one that is not there. */
static inline buckets_key buckets_key_of_class(const buckets_table *t, uint64_t class)
{
    buckets_key k = { .first = class >> t->width << 1, .tag = (uint32_t) class & t->tags };

    k.second = buckets_other(t, k.first, k.tag);
    return k;
}

/* ---- Reading ----------------------------------------------------------- */

typedef struct buckets_bucket {
    uint32_t tag[SLOTS];
} buckets_bucket;

/* A bucket of up to 64 bits. It starts at a whole or half byte; above it there may be anything. */
static inline uint64_t buckets_narrow(const buckets_table *t, uint64_t bit)
{
    return le64(t->at + bit / 8) >> bit % 8;
}

/* 64 bits from any bit on. */
static inline uint64_t buckets_word(const buckets_table *t, uint64_t bit)
{
    const uint8_t *at = t->at + bit / 8;

    return le64(at) >> bit % 8 | (uint64_t)at[8] << 1 << (63 - bit % 8);
}

static inline buckets_bucket buckets_read(const buckets_table *t, uint64_t i)
{
    uint64_t bit = i * t->bits, low, high;
    unsigned width = t->width;

    if (buckets_are_wide(t)) {
        low = buckets_word(t, bit);
        high = buckets_word(t, bit + 2 * width);
    } else {
        low = buckets_narrow(t, bit);
        high = low >> 2 * width;
    }
    return (buckets_bucket){ { (uint32_t)low & t->tags, (uint32_t)(low >> width) & t->tags,
                               (uint32_t)high & t->tags, (uint32_t)(high >> width) & t->tags } };
}

/* The highest bit of each lane of `width` bits that equals the tag: of four lanes if the bucket is
 * narrow, else of two. */
static inline uint64_t buckets_equal(const buckets_table *t, uint64_t lanes, uint32_t tag)
{
    uint64_t rest = t->tops - t->ones, differs = lanes ^ tag * t->ones;

    return ~(((differs & rest) + rest) | differs) & t->tops;
}

/* How buckets are read: as bytes, if all start at one; else from any half byte on; or in halves. */
enum { LOOK_BYTES, LOOK_NARROW, LOOK_WIDE };

static inline unsigned buckets_look(const buckets_table *t)
{
    return buckets_are_wide(t) ? LOOK_WIDE : t->bits % 8 ? LOOK_NARROW : LOOK_BYTES;
}

/* Not 0 in the highest bits of lanes that are all ones. The lowest is right; above it, a lane with
 * one 0 may be taken for one of ones. Quicker than buckets_equal(). */
static inline uint64_t buckets_all_ones(const buckets_table *t, uint64_t lanes)
{
    return lanes & ~(lanes + t->ones);
}

/* Not 0 in the highest bits of lanes if bucket i has the tag that is the inverse of all lanes of
 * `inverse`. */
CUCKOO_GROUP_INLINE uint64_t buckets_holding(const buckets_table *t, uint64_t i, uint64_t inverse,
                                             unsigned how)
{
    uint64_t bit = i * t->bits;

    if (how == LOOK_BYTES)
        return buckets_all_ones(t, le64(t->at + i * t->bytes) ^ inverse);
    if (how == LOOK_NARROW)
        return buckets_all_ones(t, buckets_narrow(t, bit) ^ inverse);
    return buckets_all_ones(t, buckets_word(t, bit) ^ inverse) |
           buckets_all_ones(t, buckets_word(t, bit + 2 * t->width) ^ inverse);
}

/* Both are read: which of them has the tag is unpredictable. */
CUCKOO_GROUP_INLINE bool buckets_either_holds(const buckets_table *t, const buckets_key *k,
                                              unsigned how)
{
    uint64_t inverse = ~(k->tag * t->ones);

    return ((buckets_holding(t, k->first, inverse, how) |
             buckets_holding(t, k->second, inverse, how)) &
            t->tops) != 0;
}

/* Bit k: one of the buckets of key i + k has its tag. */
CUCKOO_GROUP_INLINE uint64_t buckets_each_holds(const buckets_table *t, const cuckoo_group *g,
                                                size_t i, size_t end, unsigned how)
{
    uint64_t word = 0;

    for (size_t k = i; k < end; k++) {
        buckets_key key = buckets_key_in(g, k);
        word |= (uint64_t)buckets_either_holds(t, &key, how) << (k - i);
    }
    return word;
}

/* ---- Four tags --------------------------------------------------------- */

static inline unsigned buckets_copies_in(const buckets_bucket *b, uint32_t tag)
{
    unsigned n = 0;

    for (unsigned s = 0; s < SLOTS; s++)
        n += b->tag[s] == tag;
    return n;
}

static inline unsigned buckets_used(const buckets_bucket *b)
{
    return SLOTS - buckets_copies_in(b, 0);
}

/* Where the tag is; it is there. */
static inline unsigned buckets_slot_of(const buckets_bucket *b, uint32_t tag)
{
    unsigned s = 0;

    while (s < SLOTS - 1 && b->tag[s] != tag)
        s++;
    return s;
}

/* Slots in use come first. */
static inline bool buckets_has_room(const buckets_table *t, uint64_t i)
{
    return packed_get_odd(t->at, SLOTS * i + SLOTS - 1, t->width) == 0;
}

/* ---- Stash ------------------------------------------------------------- */

static inline bool buckets_have_stash(const buckets_table *t)
{
    return t->stash[0] != 0;
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
    if (!buckets_have_stash(t))
        return 0;
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
    if (t->stash[0] == UINT8_MAX)
        return false;
    unsigned entry = (unsigned)__builtin_ctz(~(unsigned)t->stash[0]);
    t->stash[0] |= (uint8_t)(1u << entry);
    for (unsigned j = 0; j < t->class_bits; j++)
        t->stash[1 + j] |= (uint8_t)((class >> j & 1) << entry);
    return true;
}

static inline void buckets_stash_drop(const buckets_table *t, unsigned entry)
{
    for (unsigned j = 0; j <= t->class_bits; j++)
        t->stash[j] &= (uint8_t) ~(1u << entry);
}

/* ---- Surplus ----------------------------------------------------------- */

static inline uint64_t buckets_surplus_entries(uint64_t slots, unsigned width, unsigned class_bits)
{
    return surplus_entries(slots, CEILING * width - SURPLUS_SHIFT, class_bits);
}

static inline surplus buckets_surplus_of(const buckets_table *t)
{
    uint64_t entries = buckets_surplus_entries(SLOTS * t->buckets, t->width, t->class_bits);

    return (surplus){ t->stash + buckets_stash_bytes(t->class_bits), entries, t->class_bits };
}

/* ---- Copies of a key --------------------------------------------------- */

/* The two buckets of a key. */
typedef struct buckets_pair {
    buckets_bucket first, second;
} buckets_pair;

static inline buckets_pair buckets_read_pair(const buckets_table *t, const buckets_key *k)
{
    return (buckets_pair){ buckets_read(t, k->first), buckets_read(t, k->second) };
}

static inline unsigned buckets_copies(const buckets_table *t, const buckets_key *k,
                                      const buckets_pair *p)
{
    return buckets_copies_in(&p->first, k->tag) + buckets_copies_in(&p->second, k->tag) +
           buckets_stashed(t, k);
}

static inline unsigned buckets_count(const buckets_table *t, const buckets_key *k)
{
    buckets_pair p = buckets_read_pair(t, k);
    unsigned copies = buckets_copies(t, k, &p);

    return copies < CEILING ? copies : CEILING;
}

void tamis__cuckoo_buckets_use_avx2(tamis *f);
void tamis__cuckoo_buckets_cells(const tamis *f, tamis_telling *to);
bool tamis__cuckoo_buckets_explain(const tamis *f, uint64_t key, tamis_telling *to);

#endif
