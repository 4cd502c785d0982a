/* buckets_sorted.h - buckets in order: one bit less for each tag.
 *
 * A bucket is a multiset, so that its order can be anything, and what can be anything is wasted.
 * Sorted by their low four bits, tags leave 3876 of 65536 combinations of these: 12 bits tell
 * which (cuckoo/nibbles.h), and the other bits of the tags follow in the same order. Tags with the
 * same four are sorted by the others, and empty slots, which are 0, come first. */
#ifndef TAMIS_CUCKOO_BUCKETS_SORTED_H
#define TAMIS_CUCKOO_BUCKETS_SORTED_H

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

    for (unsigned s = 0; s < SLOTS; s++) {
        uint64_t rest = bits_from(r, NIBBLES_BITS + s * t->lane) & ((UINT64_C(1) << t->lane) - 1);
        b.tag[s] = (uint32_t)rest << 4 | (nibbles >> 4 * s & 15);
    }
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
        put_bits(&r, NIBBLES_BITS + s * t->lane, x[s] & UINT32_C(0x0FFFFFFF));
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

/* Whether the tag is in the bucket. Nearly always the bits that are not sorted tell that it is
 * not; those of four bits have none. */
__attribute__((always_inline)) static inline bool holds(const table *t, uint64_t i, uint32_t tag,
                                                        bool wide)
{
    raw r = wide ? load_wide(t, i) : load_narrow(t, i);
    bool may = wide ? any_lane_wide(t, r, NIBBLES_BITS, tag >> 4)
                    : any_lane_narrow(t, r, NIBBLES_BITS, tag >> 4);

    if (__builtin_expect(!may && t->lane, 1))
        return false;
    bucket b = unpack(t, r);
    return copies_in(&b, tag) != 0;
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

    if (is.low % NIBBLES_ROOM >= NIBBLES)
        return "a bucket has a code that means nothing";
    return is.low == ought.low && is.high == ought.high ? NULL : "a bucket is out of order";
}

#endif
