/* buckets_sorted.h - buckets in order: one bit less for each tag.
 *
 * A bucket is a multiset, so that its order can be anything, and what can be anything is wasted.
 * Sorted by their low four bits, tags leave 3876 of 65536 combinations of these: 12 bits tell
 * which (cuckoo/nibbles.h), and the other bits of the tags follow in the same order. Tags with the
 * same four are sorted by the others, and empty slots, which are 0, come first. */
#ifndef TAMIS_CUCKOO_BUCKETS_SORTED_H
#define TAMIS_CUCKOO_BUCKETS_SORTED_H

#ifdef __BMI2__
#include <immintrin.h>
#endif

#include "cuckoo/buckets.h"
#include "cuckoo/nibbles.h"

static inline unsigned bits_of_bucket(unsigned width)
{
    return SLOTS * (width - 1);
}

static inline table table_of(const tamis *f)
{
    return table_with(f, bits_of_bucket(f->plan.width), f->plan.width - 4);
}

static inline bucket unpack(const table *t, raw r)
{
    unsigned nibbles = tamis__nibbles[r.low % NIBBLES_ROOM];
    bucket b;

    for (unsigned s = 0; s < SLOTS; s++)
        b.tag[s] = get_lane(t, r, NIBBLES_BITS, s) << 4 | (nibbles >> 4 * s & 15);
    return b;
}

static inline void order(uint32_t *a, uint32_t *b)
{
    uint32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;

    *a = low;
    *b = high;
}

static inline raw pack(const table *t, const bucket *b)
{
    uint32_t x[SLOTS];

    for (unsigned s = 0; s < SLOTS; s++)
        x[s] = b->tag[s] >> 4 | b->tag[s] << 28;
    order(&x[0], &x[2]);
    order(&x[1], &x[3]);
    order(&x[0], &x[1]);
    order(&x[2], &x[3]);
    order(&x[1], &x[2]);
    raw r = { nibbles_code(x[0] >> 28, x[1] >> 28, x[2] >> 28, x[3] >> 28), 0 };
    for (unsigned s = 0; s < SLOTS; s++)
        put_lane(t, &r, NIBBLES_BITS, s, x[s] & UINT32_C(0x0FFFFFFF));
    return r;
}

static inline bucket read_bucket(const table *t, uint64_t i)
{
    return unpack(t, load_bucket(t, i));
}

static inline void write_bucket(const table *t, uint64_t i, const bucket *b)
{
    store_bucket(t, i, pack(t, b));
}

/* The highest bit of each lane whose bits are those of the tag; of tags of four bits there are
 * none. */
static inline uint64_t lanes_like(const table *t, raw r, uint32_t tag)
{
    return equal_lanes(t, r.low >> NIBBLES_BITS, tag >> 4);
}

/* Whether one of these lanes has the nibble of the tag as well. */
static inline bool nibble_agrees(const table *t, raw r, uint64_t like, uint32_t tag)
{
    unsigned differs = tamis__nibbles[r.low % NIBBLES_ROOM] ^ (tag & 15) * 0x1111;
    unsigned same = ~(((differs & 0x7777) + 0x7777) | differs) & 0x8888;

#ifdef __BMI2__
    return (_pext_u64(like, t->tops) & _pext_u32(same, 0x8888)) != 0;
#else
    uint64_t both = 0;
    for (unsigned s = 0; s < SLOTS; s++)
        both |= like >> ((s + 1) * t->lane - 1) & same >> (4 * s + 3);
    return both & 1;
#endif
}

static inline bool in_decoded(const table *t, raw r, uint32_t tag)
{
    bucket b = unpack(t, r);

    return copies_in(&b, tag) != 0;
}

static inline bool in_narrow(const table *t, uint64_t first, uint64_t second, uint32_t tag)
{
    raw a = load_narrow(t, first), b = load_narrow(t, second);
    uint64_t here = lanes_like(t, a, tag), there = lanes_like(t, b, tag);

    if (t->lane == 0)
        return in_decoded(t, a, tag) | in_decoded(t, b, tag);
    if (__builtin_expect(!(here | there), 1))
        return false;
    return nibble_agrees(t, a, here, tag) | nibble_agrees(t, b, there, tag);
}

static inline bool in_wide(const table *t, uint64_t first, uint64_t second, uint32_t tag)
{
    raw a = load_wide(t, first), b = load_wide(t, second);

    if (!(any_lane_wide(t, a, NIBBLES_BITS, tag >> 4) |
          any_lane_wide(t, b, NIBBLES_BITS, tag >> 4)))
        return false;
    return in_decoded(t, a, tag) | in_decoded(t, b, tag);
}

/* Whether the tag is in one of its buckets, which start at these half bytes. Nearly always the bits
 * that are not sorted tell that it is not. */
__attribute__((always_inline)) static inline bool
in_buckets(const table *t, uint64_t first, uint64_t second, uint32_t tag, bool wide)
{
    return wide ? in_wide(t, first, second, tag) : in_narrow(t, first, second, tag);
}

/* There is no short way: a change sorts the bucket anew. */
static inline bool put_shortly(const table *t, const spot *s)
{
    (void)t;
    (void)s;
    return false;
}

static inline bool drop_shortly(const table *t, const spot *s)
{
    (void)t;
    (void)s;
    return false;
}

/* Room for the tag there is. */
static inline void put_tag(bucket *b, uint32_t tag)
{
    b->tag[slot_of(b, 0)] = tag;
}

static inline void drop_tag(bucket *b, unsigned slot)
{
    b->tag[slot] = 0;
}

static inline const char *check_bucket(const table *t, uint64_t i, const bucket *b)
{
    raw is = load_bucket(t, i), ought = pack(t, b);
    bucket in_order = unpack(t, ought);

    if (is.low % NIBBLES_ROOM >= NIBBLES)
        return "a bucket has a code that means nothing";
    return memcmp(&in_order, b, sizeof *b) == 0 ? NULL : "a bucket is out of order";
}

#endif
