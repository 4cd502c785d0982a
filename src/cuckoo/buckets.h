/* buckets.h - tables of four-slot buckets: where keys go, how buckets lie in memory, the stash.
 *
 * A key has a bucket and a tag of plan.width bits that is never 0, which is an empty slot. From the
 * bucket and the tag follows the other bucket where it may be, and from that one and the tag the
 * first one again: a tag can be moved between its two buckets by someone who does not know its key.
 * Keys with the same tag and the same two buckets are of one class and cannot be told apart.
 *
 * The distance between the two is odd, up from even buckets and down from odd ones, around the end
 * of the table. So the number of buckets may be any even number, and no key has but one bucket.
 *
 * Behind the buckets is a stash of eight classes, for what finds no room anywhere. Their bits lie
 * across its bytes: entry e is bit e of each. One pass over the bytes compares all eight.
 *
 *   stash:  entries in use, 1 byte | a byte for each bit of a class, lowest first | zeros
 *   class:  tag + (number of the even bucket / 2 << width) */
#ifndef TAMIS_CUCKOO_BUCKETS_H
#define TAMIS_CUCKOO_BUCKETS_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "base/many.h"
#include "base/packed.h"
#include "filter.h"

enum {
    SLOTS = 4,
    MIN_TAG = 4,
    MAX_TAG = 32,
    STASH = 8,     /* entries */
    STASH_MIN = 8, /* bytes; loads at the last bucket reach fewer beyond it */
    CLASS_BITS = 62,
};

/* Two buckets have eight slots. A key that takes seven of them stays for good, and leaves one for
 * another that would have nowhere else to go. */
enum { CEILING = 7 };

typedef struct table {
    uint8_t *at, *stash;
    uint64_t buckets, salt, reach;
    uint64_t tags;   /* there are, without 0 */
    uint64_t ones;   /* one in each lane: of four if the bucket is narrow, else of two */
    uint64_t tops;   /* the highest bit of each lane */
    uint64_t halves; /* bytes of a bucket */
    unsigned width, bits, lane, class_bits;
} table;

typedef struct bucket {
    uint32_t tag[SLOTS];
} bucket;

/* What has to be known of a key. */
typedef struct spot {
    uint64_t first, second; /* buckets */
    uint32_t tag;
} spot;

/* ---- Geometry ---------------------------------------------------------- */

static inline uint64_t buckets_of(const tamis_plan *p)
{
    return p->slots / SLOTS;
}

/* Of a number below (buckets / 2) << width. */
static inline unsigned class_bits(uint64_t buckets, unsigned width)
{
    return 64 - (unsigned)__builtin_clzll((buckets / 2 << width) - 1);
}

static inline uint64_t bytes_of_buckets(uint64_t buckets, unsigned bits)
{
    return (buckets * bits + 7) / 8;
}

static inline uint64_t bytes_of_stash(uint64_t buckets, unsigned width)
{
    unsigned planes = 1 + class_bits(buckets, width);

    return planes > STASH_MIN ? planes : STASH_MIN;
}

static inline uint64_t lanes_of(unsigned lane, unsigned n)
{
    uint64_t ones = 0;

    for (unsigned i = 0; i < n; i++)
        ones |= UINT64_C(1) << i * lane;
    return ones;
}

/* Buckets have that many bits; lanes of them are what lookups compare at once. */
static inline table table_with(const tamis *f, unsigned bits, unsigned lane)
{
    uint64_t buckets = buckets_of(&f->plan), ones = lanes_of(lane, bits <= 64 ? 4 : 2);
    uint8_t *at = f->payload;

    return (table){
        .at = at,
        .stash = at + bytes_of_buckets(buckets, bits),
        .buckets = buckets,
        .salt = f->salt,
        .reach = buckets < UINT64_C(1) << 32 ? buckets : UINT64_C(1) << 32,
        .tags = packed_mask(f->plan.width),
        .ones = ones,
        .tops = lane ? ones << (lane - 1) : 0,
        .halves = bits / 4,
        .width = f->plan.width,
        .bits = bits,
        .lane = lane,
        .class_bits = class_bits(buckets, f->plan.width),
    };
}

/* ---- From a key to its buckets ----------------------------------------- */

/* Mixed, since a few tags at even distances would make the same buckets meet again and again. */
static inline uint64_t distance_of(const table *t, uint32_t tag)
{
    uint32_t x = tag * UINT32_C(0x9E3779B1);

    x ^= x >> 15;
    x *= UINT32_C(0x85EBCA6B);
    return (x * t->reach >> 32) | 1;
}

static inline uint64_t other_bucket(const table *t, uint64_t i, uint32_t tag)
{
    uint64_t distance = distance_of(t, tag), up = i & 1 ? t->buckets - distance : distance;
    uint64_t j = i + up;

    return j >= t->buckets ? j - t->buckets : j;
}

/* The bucket is where h lies among all hashes; the tag, where it lies in its bucket. */
static inline spot spot_of(const table *t, uint64_t h)
{
    spot s = { .first = scale64(h, t->buckets) };

    s.tag = 1 + (uint32_t)scale64(h * t->buckets, t->tags);
    s.second = other_bucket(t, s.first, s.tag);
    return s;
}

static inline uint64_t class_of(const table *t, const spot *s)
{
    uint64_t even = s->first & 1 ? s->second : s->first;

    return even / 2 << t->width | s->tag;
}

static inline spot spot_of_class(const table *t, uint64_t class)
{
    spot s = { .first = class >> t->width << 1, .tag = (uint32_t) class & packed_mask(t->width) };

    s.second = other_bucket(t, s.first, s.tag);
    return s;
}

/* ---- Bits of a bucket -------------------------------------------------- */

/* Up to 64 bits are in `low`; buckets of more are called wide. */
typedef struct raw {
    uint64_t low, high;
} raw;

static inline bool is_wide(const table *t)
{
    return t->bits > 64;
}

static inline uint64_t low_mask(unsigned bits)
{
    return UINT64_MAX >> (64 - bits);
}

/* Buckets start at half bytes, of which this is the number. */
static inline uint64_t half_of(const table *t, uint64_t i)
{
    return i * t->halves;
}

static inline unsigned shift_of(uint64_t half)
{
    return (unsigned)(half % 2 * 4);
}

/* What is behind the bucket stays in the bits that it does not have. */
static inline raw load_narrow(const table *t, uint64_t half)
{
    return (raw){ le64(t->at + half / 2) >> shift_of(half), 0 };
}

static inline raw load_wide(const table *t, uint64_t half)
{
    const uint8_t *at = t->at + half / 2;
    unsigned shift = shift_of(half);
    uint64_t low = le64(at), high = le64(at + 8);

    return (raw){ low >> shift | high << 1 << (63 - shift), high >> shift };
}

static inline raw load_bucket(const table *t, uint64_t i)
{
    return is_wide(t) ? load_wide(t, half_of(t, i)) : load_narrow(t, half_of(t, i));
}

static inline void merge_le64(uint8_t *at, uint64_t x, uint64_t mask)
{
    put_le64(at, (le64(at) & ~mask) | x);
}

static inline void store_bucket(const table *t, uint64_t i, raw r)
{
    uint64_t half = half_of(t, i);
    uint8_t *at = t->at + half / 2;
    unsigned shift = shift_of(half);

    if (!is_wide(t)) {
        merge_le64(at, r.low << shift, low_mask(t->bits) << shift);
        return;
    }
    merge_le64(at, r.low << shift, UINT64_MAX << shift);
    merge_le64(at + 8, r.high << shift | r.low >> 1 >> (63 - shift),
               low_mask(t->bits - 64 + shift));
}

/* 64 bits from there on; `from` is below 128. */
static inline uint64_t bits_from(raw r, unsigned from)
{
    if (from >= 64)
        return r.high >> (from - 64);
    return r.low >> from | r.high << 1 << (63 - from);
}

/* Lane s of those from that bit on. */
static inline uint32_t get_lane(const table *t, raw r, unsigned from, unsigned s)
{
    uint64_t bits = is_wide(t) ? bits_from(r, from + s * t->lane) : r.low >> (from + s * t->lane);

    return (uint32_t)(bits & ((UINT64_C(1) << t->lane) - 1));
}

static inline void put_wide(raw *r, unsigned from, uint64_t x)
{
    if (from >= 64) {
        r->high |= x << (from - 64);
        return;
    }
    r->low |= x << from;
    r->high |= x >> 1 >> (63 - from);
}

/* Where zeros are. */
static inline void put_lane(const table *t, raw *r, unsigned from, unsigned s, uint64_t x)
{
    if (is_wide(t))
        put_wide(r, from + s * t->lane, x);
    else
        r->low |= x << (from + s * t->lane);
}

/* The highest bit of each lane that equals x. */
static inline uint64_t equal_lanes(const table *t, uint64_t lanes, uint32_t x)
{
    uint64_t rest = t->tops - t->ones, differs = lanes ^ x * t->ones;

    return ~(((differs & rest) + rest) | differs) & t->tops;
}

/* Whether one of the four lanes from that bit on equals x. */
static inline bool any_lane_narrow(const table *t, raw r, unsigned from, uint32_t x)
{
    return equal_lanes(t, r.low >> from, x) != 0;
}

static inline bool any_lane_wide(const table *t, raw r, unsigned from, uint32_t x)
{
    return (equal_lanes(t, bits_from(r, from), x) |
            equal_lanes(t, bits_from(r, from + 2 * t->lane), x)) != 0;
}

/* ---- Four tags --------------------------------------------------------- */

static inline unsigned copies_in(const bucket *b, uint32_t tag)
{
    unsigned n = 0;

    for (unsigned s = 0; s < SLOTS; s++)
        n += b->tag[s] == tag;
    return n;
}

static inline unsigned used_in(const bucket *b)
{
    return SLOTS - copies_in(b, 0);
}

/* Where the tag is; it is there. */
static inline unsigned slot_of(const bucket *b, uint32_t tag)
{
    unsigned s = 0;

    while (s < SLOTS - 1 && b->tag[s] != tag)
        s++;
    return s;
}

/* ---- Stash ------------------------------------------------------------- */

static inline bool is_stashed(const table *t)
{
    return t->stash[0] != 0;
}

/* Which entries are that class. */
static inline unsigned stash_find(const table *t, uint64_t class)
{
    unsigned same = t->stash[0];

    for (unsigned j = 0; j < t->class_bits && same; j++)
        same &= (class >> j & 1 ? 0u : ~0u) ^ t->stash[1 + j];
    return same;
}

static inline unsigned stash_copies(const table *t, const spot *s)
{
    if (!is_stashed(t))
        return 0;
    return (unsigned)__builtin_popcount(stash_find(t, class_of(t, s)));
}

static inline uint64_t stash_get(const table *t, unsigned entry)
{
    uint64_t class = 0;

    for (unsigned j = 0; j < t->class_bits; j++)
        class |= (uint64_t)(t->stash[1 + j] >> entry & 1) << j;
    return class;
}

static inline bool stash_put(const table *t, uint64_t class)
{
    if (t->stash[0] == UINT8_MAX)
        return false;
    unsigned entry = (unsigned)__builtin_ctz(~(unsigned)t->stash[0]);
    t->stash[0] |= (uint8_t)(1u << entry);
    for (unsigned j = 0; j < t->class_bits; j++)
        t->stash[1 + j] |= (uint8_t)((class >> j & 1) << entry);
    return true;
}

static inline void stash_drop(const table *t, unsigned entry)
{
    for (unsigned j = 0; j <= t->class_bits; j++)
        t->stash[j] &= (uint8_t) ~(1u << entry);
}

#endif
