/* morton.h - blocks of Morton filters, and how they are read; morton_change.h changes them.
 * morton.c says what it means. */
#ifndef TAMIS_CUCKOO_MORTON_H
#define TAMIS_CUCKOO_MORTON_H

#if defined __BMI2__ || defined __AVX2__
#include <immintrin.h>
#endif

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "filter.h"

/* ---- Geometry ---------------------------------------------------------- */

enum {
    MORTON_LINE = 64, /* bytes of a block */
    MORTON_LINE_BITS = 512,
    MORTON_BUCKET = 3, /* fingerprints, the most that a counter of two bits can tell */
    MORTON_CEILING =
        4, /* copies of a fingerprint; more would close both of its buckets to others */
    MORTON_MIN_WIDTH = 4, /* of fingerprints as they are stored */
    MORTON_MAX_WIDTH = 32,
    MORTON_MIN_BUCKETS = 16, /* in a block */
    MORTON_MAX_BUCKETS = 64,
    MORTON_MIN_MARKS = 16,
    MORTON_WIDE = 20,     /* bits of a slot: three may not be in eight bytes */
    MORTON_FEW_HOMES = 4, /* if there are fewer, both buckets of a key may be in one block */
    MORTON_REACH = 128,   /* blocks between the two buckets of a key: 8 KiB are a page or three */
};

/* Shares of slots that plans fill, if not told otherwise, and at most. */
#define MORTON_LOAD 0.95
#define MORTON_HIGHEST_LOAD 0.97

/* How a block is divided. */
typedef struct morton_shape {
    unsigned buckets, marks, slots, width;
    unsigned first; /* bit of the slots */
} morton_shape;

/* As many slots as fit beside the counters and the least number of marks, but no more than three
 * quarters of what buckets can take. What is left makes more marks, up to one per bucket. */
static inline morton_shape morton_shape_of(unsigned buckets, unsigned width)
{
    unsigned most = buckets * MORTON_BUCKET * 3 / 4,
             slots = (MORTON_LINE_BITS - 2 * buckets - MORTON_MIN_MARKS) / width;
    morton_shape s = { buckets, 0, slots < most ? slots : most, width, 0 };

    s.first = MORTON_LINE_BITS - s.slots * width;
    s.marks = s.first - 2 * buckets;
    if (s.marks > buckets)
        s.marks = buckets;
    return s;
}

/* plan.hashes: buckets of a block, and doublings. */
enum { MORTON_DOUBLINGS_SHIFT = 8 };

static inline unsigned morton_buckets(const tamis_plan *p)
{
    return p->hashes & 255;
}

static inline unsigned morton_doublings(const tamis_plan *p)
{
    return p->hashes >> MORTON_DOUBLINGS_SHIFT;
}

/* Eight bytes must hold the high bits of all counters, and eight all marks: of 62, they do not. */
static inline bool morton_buckets_are_valid(unsigned buckets)
{
    return buckets >= MORTON_MIN_BUCKETS && buckets <= MORTON_MAX_BUCKETS && buckets % 2 == 0 &&
           buckets + buckets % 8 <= 64;
}

/* A filter, taken apart. All but the first three are worked out once, by for_cpu(). */
typedef struct morton_table {
    uint8_t *at;
    uint64_t salt;
    bool is_far;
    uint64_t homes;          /* blocks before any doubling */
    uint64_t firsts, lasts;  /* bits of three slots side by side; of wide ones, of no use */
    uint32_t nearest, reach; /* homes to the nearest other bucket, and to choose from */
    uint32_t turn;           /* fingerprints are multiplied by it to be spread */
    uint32_t step;           /* marks per bucket, times 2^16, rounded up */
    unsigned doublings;
    morton_shape s;
    unsigned below;               /* a fingerprint, there are so many bits */
    uint8_t highs_at, highs_over; /* where high bits of counters start: a byte, and bits of it */
    uint8_t marks_at, marks_over;
} morton_table;

_Static_assert(sizeof(morton_table) <= TAMIS_DERIVED_SIZE, "");

static inline morton_table morton_of_plan(const tamis_plan *p)
{
    morton_shape s = morton_shape_of(morton_buckets(p), p->width);
    unsigned doublings = morton_doublings(p);
    uint64_t homes = p->slots >> doublings;
    uint64_t reach = homes < MORTON_FEW_HOMES   ? homes
                     : homes - 2 < MORTON_REACH ? homes - 2
                                                : MORTON_REACH;
    unsigned apart = p->width < MORTON_WIDE ? p->width : 0;
    uint64_t firsts = UINT64_C(1) | UINT64_C(1) << apart | UINT64_C(1) << 2 * apart;

    return (morton_table){
        .homes = homes,
        .firsts = firsts,
        .lasts = firsts << (p->width - 1),
        .below = 64 - p->width - doublings,
        .highs_at = (uint8_t)(s.buckets / 8),
        .highs_over = s.buckets % 8,
        .marks_at = (uint8_t)(s.buckets / 4),
        .marks_over = 2 * s.buckets % 8,
        .reach = (uint32_t)reach,
        .step = ((s.marks << 16) + s.buckets - 1) / s.buckets,
        .nearest = homes >= MORTON_FEW_HOMES,
        .turn = homes < MORTON_FEW_HOMES ? 1u << (32 - p->width - doublings) : UINT32_C(0x9E3779B1),
        .doublings = doublings,
        .s = s,
    };
}

static inline morton_table morton_of(const tamis *f)
{
    morton_table t = *(const morton_table *)(const void *)f->derived;

    t.at = f->payload;
    t.salt = f->salt;
    t.is_far = f->is_far;
    return t;
}

/* ---- Positions --------------------------------------------------------- */

/* A bucket, and a fingerprint that belongs there. The first bits of the fingerprint, one for each
 * doubling, are the last bits of the number of the block; the rest is stored. */
typedef struct morton_position {
    uint64_t home;
    uint8_t *block;
    uint32_t bucket, fingerprint;
} morton_position;

static inline morton_position morton_position_at(const morton_table *t, uint64_t home,
                                                 uint32_t bucket, uint32_t fingerprint)
{
    uint64_t block = home << t->doublings | (uint64_t)fingerprint >> t->s.width;

    return (morton_position){ home, t->at + MORTON_LINE * block, bucket, fingerprint };
}

/* The digits of scale64(h, homes * buckets << bits of a fingerprint), one multiplication each. */
static inline morton_position morton_position_of(const morton_table *t, uint64_t h)
{
    uint64_t rest = h * t->homes, last = rest * t->s.buckets;

    return morton_position_at(t, scale64(h, t->homes), (uint32_t)scale64(rest, t->s.buckets),
                              (uint32_t)(last >> t->below));
}

/* The other bucket of a fingerprint: up from odd buckets and down from even ones, by an odd
 * distance that follows from the fingerprint. So the other of the other is the first. The distance
 * is at least the number of buckets in a block unless homes are few, and goes around the end of the
 * table.
 *
 * Two fingerprints with the same distance share both buckets, and would fill them before copies
 * stop. So distances are not random but spread evenly: as multiples of the golden ratio, which are
 * far apart for fingerprints that follow each other, as those of a split block do; or in equal
 * steps if homes are few. */
static inline morton_position morton_other(const morton_table *t, const morton_position *p)
{
    uint64_t turns = (uint64_t)(uint32_t)(p->fingerprint * t->turn) * t->reach;
    uint64_t homes = t->nearest + (turns >> 32);
    uint32_t odd = 1 + 2 * (uint32_t)((uint64_t)(uint32_t)turns * (t->s.buckets / 2) >> 32);
    uint32_t up = p->bucket + odd, down = p->bucket - odd;

    if (p->bucket & 1) {
        uint64_t home = p->home + homes + (up >= t->s.buckets);
        return morton_position_at(t, home < t->homes ? home : home - t->homes,
                                  up < t->s.buckets ? up : up - t->s.buckets, p->fingerprint);
    }
    uint64_t back = homes + (odd > p->bucket);
    return morton_position_at(t, p->home >= back ? p->home - back : p->home + t->homes - back,
                              odd > p->bucket ? down + t->s.buckets : down, p->fingerprint);
}

/* ---- Reading a block --------------------------------------------------- */

/* The lowest n bits of x, which has 64 of them. */
static inline uint64_t morton_lowest(uint64_t x, unsigned n)
{
#ifdef __BMI2__
    return _bzhi_u64(x, n);
#else
    return n < 64 ? x & ((UINT64_C(1) << n) - 1) : x;
#endif
}

static inline uint32_t morton_stored(const morton_table *t, const morton_position *p)
{
    return (uint32_t)morton_lowest(p->fingerprint, t->s.width);
}

/* The low and the high bits of all counters, with whatever is above them in the block. */
typedef struct morton_counters {
    uint64_t low, high;
} morton_counters;

/* Eight bytes have all the high bits: see morton_buckets_are_valid(). */
static inline morton_counters morton_counters_of(const morton_table *t, const uint8_t *b)
{
    return (morton_counters){ le64(b), le64(b + t->highs_at) >> t->highs_over };
}

/* Fingerprints in the buckets before this one. */
static inline unsigned morton_sum_before(morton_counters c, unsigned bucket)
{
    uint64_t x = morton_lowest(c.low, bucket), y = morton_lowest(c.high, bucket);
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

static inline unsigned morton_counter(morton_counters c, unsigned bucket)
{
    return (unsigned)((c.low >> bucket & 1) + 2 * (c.high >> bucket & 1));
}

/* Slots of a bucket: within the block, whatever the counters say. */
typedef struct morton_run {
    unsigned start, end;
} morton_run;

static inline morton_run morton_run_of(const morton_table *t, morton_counters c, unsigned bucket)
{
    unsigned start = morton_sum_before(c, bucket), end = start + morton_counter(c, bucket);

    return (morton_run){ start < t->s.slots ? start : t->s.slots,
                         end < t->s.slots ? end : t->s.slots };
}

static inline unsigned morton_slot_bit(const morton_shape *s, unsigned i)
{
    return s->first + i * s->width;
}

/* Read from the eight bytes where it starts, or from the last eight of the block. */
static inline uint32_t morton_slot(const morton_shape *s, const uint8_t *b, unsigned i)
{
    unsigned bit = morton_slot_bit(s, i),
             byte = bit / 8 < MORTON_LINE - 8 ? bit / 8 : MORTON_LINE - 8;

    return (uint32_t)(le64(b + byte) >> (bit - 8 * byte)) & UINT32_MAX >> (32 - s->width);
}

/* Which slots of a bucket have a fingerprint: bit i stands for the slot that starts at bit
 * from + i * step of the block. */
typedef struct morton_found {
    uint64_t bits;
    unsigned from, step;
} morton_found;

static inline morton_found morton_find_wide(const morton_table *t, const uint8_t *b, morton_run r,
                                            uint32_t x)
{
    unsigned equal = 0, last = t->s.slots - 1;

    for (unsigned i = 0; i < MORTON_BUCKET; i++) {
        unsigned at = r.start + i;
        bool is_equal = morton_slot(&t->s, b, at < last ? at : last) == x;
        equal |= (unsigned)(is_equal & (at < r.end)) << i;
    }
    return (morton_found){ equal, morton_slot_bit(&t->s, r.start), t->s.width };
}

/* All three slots in one number, from that bit on, xored with a fingerprint: equal ones become 0.
 * In a damaged block, this may look at bits that are no slot. */
static inline uint64_t morton_three(const morton_table *t, const uint8_t *b, unsigned bit,
                                    uint32_t x)
{
    int over =
        (int)(bit / 8) - (MORTON_LINE - 8); /* one in six is, and no branch should tell which */
    unsigned byte = MORTON_LINE - 8 + (unsigned)(over & over >> 31);

    return le64(b + byte) >> (bit - 8 * byte) % 64 ^ x * t->firsts;
}

/* Only in slots that are 0, the last bit stays 0 when the others are added to all ones. */
static inline morton_found morton_find_narrow(const morton_table *t, const uint8_t *b,
                                              unsigned start, unsigned n, uint32_t x)
{
    unsigned width = t->s.width, bit = t->s.first + start * width;
    uint64_t others = t->lasts - t->firsts, y = morton_three(t, b, bit, x);
    uint64_t equal = ~(((y & others) + others) | y) & t->lasts;

    return (morton_found){ morton_lowest(equal, n * width), bit + 1 - width, 1 };
}

__attribute__((always_inline)) static inline morton_found
morton_find_in(const morton_table *t, const morton_position *p, morton_counters c)
{
    uint32_t x = morton_stored(t, p);

    if (t->s.width < MORTON_WIDE)
        return morton_find_narrow(t, p->block, morton_sum_before(c, p->bucket),
                                  morton_counter(c, p->bucket), x);
    return morton_find_wide(t, p->block, morton_run_of(t, c, p->bucket), x);
}

__attribute__((always_inline)) static inline morton_found morton_find(const morton_table *t,
                                                                      const morton_position *p)
{
    return morton_find_in(t, p, morton_counters_of(t, p->block));
}

/* Not 0 if a bucket has a fingerprint. Less to do than in morton_find(): a slot of 1 may be taken
 * for one of 0, but only above one that is 0. */
__attribute__((always_inline)) static inline uint64_t
morton_holds(const morton_table *t, const morton_position *p, bool narrow)
{
    if (!narrow)
        return morton_find(t, p).bits;
    morton_counters c = morton_counters_of(t, p->block);
    unsigned bit = t->s.first + morton_sum_before(c, p->bucket) * t->s.width;
    uint64_t y = morton_three(t, p->block, bit, morton_stored(t, p));
    uint64_t zeros = (y - t->firsts) & ~y & t->lasts;
    return morton_lowest(zeros, morton_counter(c, p->bucket) * t->s.width);
}

static inline unsigned morton_copies(const morton_table *t, const morton_position *p)
{
    return (unsigned)__builtin_popcountll(morton_find(t, p).bits);
}

static inline unsigned morton_mark_of(const morton_table *t, unsigned bucket)
{
    return bucket * t->step >> 16;
}

/* Eight bytes have all marks: see morton_buckets_are_valid(). */
static inline bool morton_is_marked(const morton_table *t, const uint8_t *b, unsigned bucket)
{
    return le64(b + t->marks_at) >> (t->marks_over + morton_mark_of(t, bucket)) & 1;
}

/* ---- Between files ----------------------------------------------------- */

/* morton_rate.c: the false positive rate; and the keys that fit after so many doublings. */
double tamis__morton_rate(const tamis_plan *p, double n);
uint64_t tamis__morton_room(const morton_shape *s, uint64_t homes, unsigned doublings);

void tamis__morton_use_avx2(tamis *f);
void tamis__morton_use_avx512(tamis *f);
void tamis__morton_cells(const tamis *f, tamis_telling *to);
bool tamis__morton_explain(const tamis *f, uint64_t key, tamis_telling *to);

#endif
