/* morton.h - blocks of Morton filters, and what is done to one fingerprint. */
#ifndef TAMIS_CUCKOO_MORTON_H
#define TAMIS_CUCKOO_MORTON_H

#if defined __BMI2__ || defined __AVX2__
#include <immintrin.h>
#endif

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#ifdef __AVX2__
#include "cuckoo/morton_avx2.h"
#endif
#include "filter.h"

/* ---- Geometry ---------------------------------------------------------- */

enum {
    LINE = 64, /* bytes of a block */
    LINE_BITS = 512,
    BUCKET = 3,    /* what a counter of two bits can tell */
    CEILING = 4,   /* two buckets that only one fingerprint fills would be closed to others */
    MIN_WIDTH = 4, /* of fingerprints as they are stored */
    MAX_WIDTH = 32,
    MIN_BUCKETS = 16, /* in a block */
    MAX_BUCKETS = 64,
    MIN_MARKS = 16,
    FEW_HOMES = 4, /* fewer have more pairs of buckets if both may be in one block */
    REACH = 128,   /* blocks between the two buckets of a key: 8 KiB are a page or three */
};

/* How a block is divided. */
typedef struct shape {
    unsigned buckets, marks, slots, width;
    unsigned first; /* bit of the slots */
} shape;

/* As many slots as fit beside the counters and the least number of marks, but no more than three
 * quarters of what buckets can take. What is left makes more marks, up to one per bucket. */
static inline shape shape_of(unsigned buckets, unsigned width)
{
    unsigned most = buckets * BUCKET * 3 / 4, slots = (LINE_BITS - 2 * buckets - MIN_MARKS) / width;
    shape s = { buckets, 0, slots < most ? slots : most, width, 0 };

    s.first = LINE_BITS - s.slots * width;
    s.marks = s.first - 2 * buckets;
    if (s.marks > buckets)
        s.marks = buckets;
    return s;
}

/* A filter, taken apart. */
typedef struct table {
    uint8_t *at;
    uint64_t salt, homes;   /* blocks before any doubling */
    uint32_t reach, step;   /* homes to choose from; 2^16 marks per bucket, rounded up */
    uint32_t nearest, turn; /* homes; what fingerprints are multiplied by to be spread */
    unsigned doublings;
    shape s;
} table;

_Static_assert(sizeof(table) <= TAMIS_DERIVED_SIZE, "");

/* plan.hashes: buckets of a block, and doublings. */
enum { DOUBLINGS_SHIFT = 8 };

/* So that eight bytes have all the high bits of counters, and eight all the marks: of 62, they
 * would not. */
static inline bool buckets_are_valid(unsigned buckets)
{
    return buckets >= MIN_BUCKETS && buckets <= MAX_BUCKETS && buckets % 2 == 0 &&
           buckets + buckets % 8 <= 64;
}

static inline unsigned buckets_of(const tamis_plan *p)
{
    return p->hashes & 255;
}

static inline unsigned doublings_of(const tamis_plan *p)
{
    return p->hashes >> DOUBLINGS_SHIFT & 255;
}

static inline bool may_grow(const tamis_plan *p)
{
    return p->flags & TAMIS_PLAN_GROWS;
}

static inline table table_of_plan(const tamis_plan *p)
{
    shape s = shape_of(buckets_of(p), p->width);
    unsigned bits = p->width + doublings_of(p);
    uint64_t homes = p->slots >> doublings_of(p);
    uint64_t reach = homes < FEW_HOMES ? homes : homes - 2 < REACH ? homes - 2 : REACH;

    return (table){ .homes = homes,
                    .reach = (uint32_t)reach,
                    .step = ((s.marks << 16) + s.buckets - 1) / s.buckets,
                    .nearest = homes >= FEW_HOMES,
                    .turn = homes < FEW_HOMES ? UINT32_C(1) << (32 - bits) : UINT32_C(0x9E3779B1),
                    .doublings = doublings_of(p),
                    .s = s };
}

static inline table table_of(const tamis *f)
{
    table t = *(const table *)(const void *)f->derived;

    t.at = f->payload;
    t.salt = f->salt;
    return t;
}

/* ---- Places ------------------------------------------------------------ */

/* A bucket, and a fingerprint that belongs there. Of the fingerprint, the first bits are the last
 * of the number of the block, one for each doubling; the rest is stored. */
typedef struct spot {
    uint64_t home;
    uint32_t bucket, print;
} spot;

static inline unsigned print_bits(const table *t)
{
    return t->s.width + t->doublings;
}

static inline uint64_t block_of(const table *t, const spot *at)
{
    return at->home << t->doublings | (uint64_t)at->print >> t->s.width;
}

static inline uint8_t *line_of(const table *t, const spot *at)
{
    return t->at + LINE * block_of(t, at);
}

static inline uint32_t stored_of(const table *t, const spot *at)
{
    return at->print & UINT32_MAX >> (32 - t->s.width);
}

/* The digits of scale64(h, homes * buckets << bits), one multiplication each. */
static inline spot spot_of(const table *t, uint64_t h)
{
    uint64_t rest = h * t->homes, last = rest * t->s.buckets;

    return (spot){ scale64(h, t->homes), (uint32_t)scale64(rest, t->s.buckets),
                   (uint32_t)(last >> (64 - print_bits(t))) };
}

/* The other bucket of a fingerprint: up from odd buckets, down from even ones, by an odd number
 * that the fingerprint decides, so that twice leads back. That number is at least the buckets of a
 * block unless homes are few, and leads around the end of the table.
 *
 * Two fingerprints with one distance share both buckets, and would fill them before copies stop.
 * So distances are spread evenly and not at random: by multiples of the golden ratio, which are
 * far apart for any fingerprints that follow each other, as those of a block do that was split; or
 * in equal steps where homes are few. */
static inline spot other_of(const table *t, const spot *at)
{
    uint64_t turns = (uint64_t)(uint32_t)(at->print * t->turn) * t->reach;
    uint64_t homes = t->nearest + (turns >> 32);
    uint32_t odd = 1 + 2 * (uint32_t)((uint64_t)(uint32_t)turns * (t->s.buckets / 2) >> 32);
    uint32_t up = at->bucket + odd, down = at->bucket - odd;

    if (at->bucket & 1) {
        uint64_t home = at->home + homes + (up >= t->s.buckets);
        return (spot){ home < t->homes ? home : home - t->homes,
                       up < t->s.buckets ? up : up - t->s.buckets, at->print };
    }
    uint64_t back = homes + (odd > at->bucket);
    return (spot){ at->home >= back ? at->home - back : at->home + t->homes - back,
                   odd > at->bucket ? down + t->s.buckets : down, at->print };
}

/* ---- Reading a block --------------------------------------------------- */

/* The lowest n bits of x, which has 64 of them. */
static inline uint64_t lowest(uint64_t x, unsigned n)
{
#ifdef __BMI2__
    return _bzhi_u64(x, n);
#else
    return n < 64 ? x & ((UINT64_C(1) << n) - 1) : x;
#endif
}

static inline uint64_t below(unsigned bits)
{
    return lowest(~UINT64_C(0), bits);
}

/* The low bits of all counters, and the high ones, with whatever is above them in the block. */
typedef struct counters {
    uint64_t low, high;
} counters;

/* Eight bytes have all the high bits: see buckets_are_valid(). */
static inline counters counters_of(const table *t, const uint8_t *b)
{
    return (counters){ le64(b), le64(b + t->s.buckets / 8) >> t->s.buckets % 8 };
}

/* Fingerprints in the buckets before this one. */
static inline unsigned sum_before(counters c, unsigned bucket)
{
    uint64_t x = lowest(c.low, bucket), y = lowest(c.high, bucket);
#ifdef __POPCNT__
    return (unsigned)(__builtin_popcountll(x) + 2 * __builtin_popcountll(y));
#else
    const uint64_t twos = UINT64_C(0x3333333333333333), fours = UINT64_C(0x0f0f0f0f0f0f0f0f);

    x -= x >> 1 & UINT64_C(0x5555555555555555);
    y -= y >> 1 & UINT64_C(0x5555555555555555);
    x = (x & twos) + (x >> 2 & twos) + 2 * ((y & twos) + (y >> 2 & twos));
    return (unsigned)(((x & fours) + (x >> 4 & fours)) * UINT64_C(0x0101010101010101) >> 56);
#endif
}

static inline unsigned count_before(const table *t, const uint8_t *b, unsigned bucket)
{
    return sum_before(counters_of(t, b), bucket);
}

static inline unsigned counter_in(counters c, unsigned bucket)
{
    return (unsigned)((c.low >> bucket & 1) + 2 * (c.high >> bucket & 1));
}

static inline unsigned counter(const table *t, const uint8_t *b, unsigned bucket)
{
    return counter_in(counters_of(t, b), bucket);
}

/* Slots of a bucket. Whatever the counters say, they are in the block. */
typedef struct run {
    unsigned start, end;
} run;

static inline run run_in(const table *t, counters c, unsigned bucket)
{
    unsigned start = sum_before(c, bucket), end = start + counter_in(c, bucket);

    return (run){ start < t->s.slots ? start : t->s.slots, end < t->s.slots ? end : t->s.slots };
}

static inline run run_of(const table *t, const uint8_t *b, unsigned bucket)
{
    return run_in(t, counters_of(t, b), bucket);
}

static inline unsigned slot_bit(const shape *s, unsigned i)
{
    return s->first + i * s->width;
}

/* Eight bytes of the block hold it, from where it starts or from the last ones of the block. */
static inline uint32_t slot(const shape *s, const uint8_t *b, unsigned i)
{
    unsigned bit = slot_bit(s, i), byte = bit / 8 < LINE - 8 ? bit / 8 : LINE - 8;

    return (uint32_t)(le64(b + byte) >> (bit - 8 * byte)) & UINT32_MAX >> (32 - s->width);
}

/* Where a bucket has a fingerprint: for each slot that does, bit i if from + i step is the first of
 * the slot. */
typedef struct found {
    uint64_t bits;
    unsigned from, step;
} found;

enum { WIDE = 20 }; /* three slots may not be in eight bytes */

static inline found find_wide(const table *t, const uint8_t *b, run r, uint32_t x)
{
    unsigned equal = 0, last = t->s.slots - 1;

    for (unsigned i = 0; i < BUCKET; i++) {
        unsigned at = r.start + i;
        equal |= (unsigned)((slot(&t->s, b, at < last ? at : last) == x) & (at < r.end)) << i;
    }
    return (found){ equal, slot_bit(&t->s, r.start), t->s.width };
}

/* Three slots in one number, with the fingerprint taken from each: those that become zero have no
 * last bit, and get none if ones are added to all their others. Of a damaged block, other bits of
 * it may be seen. */
static inline found find_narrow(const table *t, const uint8_t *b, unsigned start, unsigned n,
                                uint32_t x)
{
    unsigned width = t->s.width, bit = t->s.first + start * width;
    unsigned byte = bit / 8 < LINE - 8 ? bit / 8 : LINE - 8;
    uint64_t firsts = UINT64_C(1) | UINT64_C(1) << width | UINT64_C(1) << 2 * width;
    uint64_t lasts = firsts << (width - 1), others = lasts - firsts;
    uint64_t y = le64(b + byte) >> (bit - 8 * byte) % 64 ^ x * firsts;
    uint64_t equal = ~(((y & others) + others) | y) & lasts;

    return (found){ lowest(equal, n * width), bit + 1 - width, 1 };
}

__attribute__((always_inline)) static inline found find(const table *t, const uint8_t *b,
                                                        counters c, unsigned bucket, uint32_t x)
{
    if (t->s.width < WIDE)
        return find_narrow(t, b, sum_before(c, bucket), counter_in(c, bucket), x);
    return find_wide(t, b, run_in(t, c, bucket), x);
}

static inline found find_at(const table *t, const spot *at)
{
    const uint8_t *b = line_of(t, at);

    return find(t, b, counters_of(t, b), at->bucket, stored_of(t, at));
}

static inline unsigned copies_at(const table *t, const spot *at)
{
    return (unsigned)__builtin_popcountll(find_at(t, at).bits);
}

static inline unsigned mark_bit(const table *t, unsigned bucket)
{
    return 2 * t->s.buckets + (bucket * t->step >> 16);
}

/* Marks, too, are in eight bytes. */
static inline bool is_marked(const table *t, const uint8_t *b, unsigned bucket)
{
    uint64_t marks = le64(b + t->s.buckets / 4) >> 2 * t->s.buckets % 8;

    return marks >> (bucket * t->step >> 16) & 1;
}

static inline void mark(const table *t, const spot *at)
{
    unsigned bit = mark_bit(t, at->bucket);

    line_of(t, at)[bit / 8] |= (uint8_t)(1u << bit % 8);
}

/* ---- Changing a block -------------------------------------------------- */

static inline bool has_room_in(const table *t, counters c, unsigned bucket)
{
    return ((c.low & c.high) >> bucket & 1) == 0 && sum_before(c, t->s.buckets) < t->s.slots;
}

static inline bool has_room(const table *t, const uint8_t *b, unsigned bucket)
{
    return has_room_in(t, counters_of(t, b), bucket);
}

static inline void flip(uint8_t *b, unsigned bit, bool by)
{
    b[bit / 8] ^= (uint8_t)((unsigned)by << bit % 8);
}

static inline void count_up(const table *t, uint8_t *b, counters c, unsigned bucket)
{
    flip(b, bucket, true);
    flip(b, t->s.buckets + bucket, c.low >> bucket & 1);
}

static inline void count_down(const table *t, uint8_t *b, counters c, unsigned bucket)
{
    flip(b, bucket, true);
    flip(b, t->s.buckets + bucket, ~c.low >> bucket & 1);
}

#ifndef __AVX2__
/* All from `bit` on moves up by `width` bits, into which x goes. */
static inline void push_bits(uint8_t *b, unsigned bit, unsigned width, uint32_t x)
{
    unsigned k = bit / 64, low = bit % 64;
    uint64_t word = le64(b + 8 * k), high = word & ~below(low);
    uint64_t over = high >> (64 - width) | (low + width > 64 ? (uint64_t)x >> (64 - low) : 0);

    put_le64(b + 8 * k, (word & below(low)) | high << width | (uint64_t)x << low);
    while (++k < LINE / 8) {
        word = le64(b + 8 * k);
        put_le64(b + 8 * k, word << width | over);
        over = word >> (64 - width);
    }
}

/* The `width` bits from `bit` on go, and all that follows moves down; zeros come in. */
static inline void pull_bits(uint8_t *b, unsigned bit, unsigned width)
{
    unsigned k = bit / 64, low = bit % 64;
    uint64_t word = le64(b + 8 * k), keep = below(low);

    for (; k < LINE / 8; k++) {
        uint64_t next = k + 1 < LINE / 8 ? le64(b + 8 * (k + 1)) : 0;
        put_le64(b + 8 * k, (word & keep) | ((word >> width | next << (64 - width)) & ~keep));
        word = next;
        keep = 0;
    }
}
#endif

static inline void put_in(const table *t, uint8_t *b, counters c, unsigned bucket, uint32_t x)
{
    push_bits(b, slot_bit(&t->s, sum_before(c, bucket)), t->s.width, x);
    count_up(t, b, c, bucket);
}

static inline bool try_put(const table *t, const spot *at)
{
    uint8_t *b = line_of(t, at);
    counters c = counters_of(t, b);

    if (!has_room_in(t, c, at->bucket))
        return false;
    put_in(t, b, c, at->bucket, stored_of(t, at));
    return true;
}

/* One copy of a fingerprint, if there is any. */
__attribute__((always_inline)) static inline bool take_from(const table *t, uint8_t *b,
                                                            unsigned bucket, uint32_t x)
{
    counters c = counters_of(t, b);
    found f = find(t, b, c, bucket, x);

    if (!f.bits)
        return false;
    pull_bits(b, f.from + f.step * (unsigned)__builtin_ctzll(f.bits), t->s.width);
    count_down(t, b, c, bucket);
    return true;
}

static inline bool take(const table *t, const spot *at)
{
    return take_from(t, line_of(t, at), at->bucket, stored_of(t, at));
}

/* ---- Kernels ----------------------------------------------------------- */

void tamis__morton_use_avx2(tamis_ops *ops);

#endif
