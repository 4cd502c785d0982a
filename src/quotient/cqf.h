/* cqf.h - the geometry of counting quotient filters, and what is done to one fingerprint. */
#ifndef TAMIS_QUOTIENT_CQF_H
#define TAMIS_QUOTIENT_CQF_H

#include <math.h>

#include "base/bits.h"
#include "base/hash.h"
#include "filter.h"
#include "quotient/runs.h"

/* ---- Geometry ---------------------------------------------------------- */

/* Shards have fewer than 2^17 slots: a change shifts no more than that, one of them fits in the
 * second level of the cache, and six standard deviations are 2.4 % of the smallest. */
enum { SHARD_BITS = 17, MIN_WIDTH = 2, MAX_WIDTH = 32, SHARD_HEADER = 64, LOCK = 8 };

static inline unsigned shard_bits(uint64_t slots)
{
    uint64_t more = slots >> SHARD_BITS;

    return more ? 64 - (unsigned)__builtin_clzll(more) : 0;
}

static inline uint64_t shard_bytes(uint64_t slots, unsigned width)
{
    uint64_t blocks = (slots >> shard_bits(slots)) / BLOCK;

    return round_up(SHARD_HEADER + blocks * (SLOTS + 8 * width) + 8, 64);
}

/* Slots of a shard that may be in use: with one shard, as many as keys; else the mean and six
 * standard deviations, which one shard in a billion exceeds. The root is exact below 2^52. */
static inline uint64_t shard_room(uint64_t capacity, unsigned bits)
{
    uint64_t mean = (capacity >> bits) + 1;

    return bits ? mean + 6 * (uint64_t)(sqrt((double)mean) + 1) : capacity;
}

/* A filter, taken apart. */
typedef struct shards {
    uint8_t *at;
    uint64_t salt, prints; /* fingerprints are below that */
    uint64_t slots, bytes; /* of each */
    uint64_t room;
    unsigned bits, width;
} shards;

static inline shards shards_of(const tamis *f)
{
    const tamis_plan *p = &f->plan;
    unsigned bits = shard_bits(p->slots);

    return (shards){ .at = f->payload,
                     .salt = f->salt,
                     .prints = p->slots << p->width,
                     .slots = p->slots >> bits,
                     .bytes = shard_bytes(p->slots, p->width),
                     .room = shard_room(p->capacity, bits),
                     .bits = bits,
                     .width = p->width };
}

static inline uint8_t *shard_at(const shards *s, uint64_t i)
{
    return s->at + i * s->bytes;
}

static inline table table_of(const shards *s, uint64_t i)
{
    return table_at(shard_at(s, i) + SHARD_HEADER, s->slots, s->width);
}

static inline uint64_t used_of(const uint8_t *shard)
{
    return le64(shard);
}

/* Where a key goes. */
typedef struct spot {
    uint64_t shard, quotient;
    uint32_t remainder;
} spot;

static inline spot spot_of(const shards *s, uint64_t h)
{
    uint64_t print = scale64(h, s->prints), shard = s->bits ? h >> (64 - s->bits) : 0;
    uint32_t mask = packed_mask(s->width);

    return (spot){ shard, (print >> s->width) - shard * s->slots, (uint32_t)print & mask };
}

/* ---- One fingerprint --------------------------------------------------- */

static inline uint64_t count_in(const table *t, uint64_t q, uint32_t x)
{
    run r = find_run(t, q);

    return find_entry(t, &r, x).count;
}

/* Remainders that one load is sure to hold: how many, and the lowest and highest bit of each. */
typedef struct lanes {
    unsigned n;
    uint64_t lows, highs;
} lanes;

static inline lanes lanes_of(unsigned width)
{
    lanes l = { (64 - 7) / width, 0, 0 };

    for (unsigned i = 0; i < l.n; i++)
        l.lows |= UINT64_C(1) << i * width;
    l.highs = l.lows << (width - 1);
    return l;
}

/* A run that lies within the block of its quotient and in one load, as most do. */
typedef struct brief {
    unsigned start, n;
    uint64_t slots;  /* what is after the run is of no matter */
    bool is_there;   /* the quotient has a run */
    bool is_another; /* which is of another sort: find_run() has to tell */
} brief;

/* No branch depends on where the run lies. */
static inline brief brief_of(const lanes *l, const uint8_t *b, unsigned j, unsigned width)
{
    uint64_t occupied = occupieds(b), ends = runends(b);
    unsigned offset = b[OFFSET], first = offset % BLOCK;
    /* A one where each run starts or could: after the offset, and after each end. */
    uint64_t starts = (ends & ~below(first)) << 1 | UINT64_C(1) << first;
    unsigned before = select_or_64(starts, ones(occupied & below(j)));
    unsigned start = before > j ? before : j;
    uint64_t rest = ends >> before % BLOCK;
    unsigned end = before + (unsigned)__builtin_ctzll(rest | UINT64_C(1) << 63) + 1;
    unsigned n = end - start, bit = start % BLOCK * width;

    return (brief){ .start = start,
                    .n = n,
                    .slots = le64(b + SLOTS + bit / 8) >> bit % 8,
                    .is_there = occupied >> j & 1,
                    .is_another =
                        (offset >= BLOCK) | (before >= BLOCK) | (rest == 0) | (n - 1 >= l->n) };
}

/* A one at the top of each lane that is x, for all lanes of the run; above the first, maybe also of
 * others. */
static inline uint64_t equal_lanes(const lanes *l, const brief *r, uint32_t x, unsigned width)
{
    uint64_t v = r->slots ^ l->lows * x;

    /* Lanes beyond the run are made to differ. */
    v |= ~UINT64_C(0) << r->n * width % 64;
    return (v - l->lows) & ~v & l->highs;
}

/* Whether remainder x of the quotient of slot j is there: 1 or 0, or -1 if count_in() has to tell.
 * Most of what is asked for is not there. The first slot of a run is a remainder; what is equal
 * later on may be a digit. */
static inline int look_in(const lanes *l, const uint8_t *b, unsigned j, uint32_t x, unsigned width)
{
    brief r = brief_of(l, b, j, width);
    uint64_t equal = equal_lanes(l, &r, x, width);

    if (!(r.is_there & (r.is_another | (equal != 0))))
        return 0;
    return !r.is_another && (((uint32_t)r.slots ^ x) & packed_mask(width)) == 0 ? 1 : -1;
}

/* Each slot of the run is higher than the one before: no count is written there. */
static inline bool ascends(const lanes *l, const brief *r, unsigned width)
{
    uint64_t a = r->slots, b = r->slots >> width, highs = l->highs;
    uint64_t is_low_not_less = (a | highs) - (b & ~highs);
    uint64_t is_not_less = ((a & ~b) | (~(a ^ b) & is_low_not_less)) & highs;

    return (is_not_less & below((r->n - 1) * width % 64)) == 0;
}

/* A slot that is empty and at home takes a remainder without more ado. */
static inline bool add_at_home(const table *t, uint64_t q, uint32_t x)
{
    uint8_t *b = t->at + q / BLOCK * t->stride;
    uint64_t occupied = occupieds(b), ends = runends(b);
    unsigned j = q % BLOCK, offset = b[OFFSET];

    if (offset > j || occupied >> j & 1 ||
        ones(occupied & below(j)) != ones(ends & ~below(offset) & below(j)))
        return false;
    packed_put(b + SLOTS, j, t->width, x);
    put_le64(b, occupied | UINT64_C(1) << j);
    put_le64(b + RUNENDS, ends | UINT64_C(1) << j);
    return true;
}

/* Copies of remainder x of quotient q, in a shard that may use `room` slots. */
static inline tamis_status add_in(uint8_t *shard, const table *t, uint64_t room, uint64_t q,
                                  uint32_t x, uint64_t times)
{
    uint32_t code[COUNTER_MOST];
    run r = find_run(t, q);
    entry e = find_entry(t, &r, x);
    uint64_t used = used_of(shard), count;

    if (add_overflows(e.count, times, &count))
        return TAMIS_FULL;
    unsigned n = counter_put(code, x, count, t->width);
    if (used + n > room + e.slots)
        return TAMIS_FULL;
    replace_entry(t, q, &r, &e, code, n);
    put_le64(shard, used + n - e.slots);
    return TAMIS_OK;
}

static inline tamis_status add_one_in(uint8_t *shard, const table *t, uint64_t room, uint64_t q,
                                      uint32_t x)
{
    uint64_t used = used_of(shard);

    if (used >= room || !add_at_home(t, q, x))
        return add_in(shard, t, room, q, x, 1);
    put_le64(shard, used + 1);
    return TAMIS_OK;
}

static inline tamis_status remove_in(uint8_t *shard, const table *t, uint64_t q, uint32_t x,
                                     uint64_t times)
{
    uint32_t code[COUNTER_MOST];
    run r = find_run(t, q);
    entry e = find_entry(t, &r, x);

    if (e.count < times)
        return TAMIS_ABSENT;
    unsigned n = counter_put(code, x, e.count - times, t->width);
    replace_entry(t, q, &r, &e, code, n);
    put_le64(shard, used_of(shard) + n - e.slots);
    return TAMIS_OK;
}

/* Everything that ranks and selects, with the instructions of one kind of machine. */
void tamis__cqf_use_avx2(tamis_ops *ops);

#endif
