/* buckets_plain.h - buckets as they come: four tags one behind the other, those in use first. */
#ifndef TAMIS_CUCKOO_BUCKETS_PLAIN_H
#define TAMIS_CUCKOO_BUCKETS_PLAIN_H

#include "cuckoo/buckets.h"

static inline unsigned bits_of_bucket(unsigned width)
{
    return SLOTS * width;
}

static inline table table_of(const tamis *f)
{
    return table_with(f, bits_of_bucket(f->plan.width), f->plan.width);
}

static inline bucket read_bucket(const table *t, uint64_t i)
{
    raw r = load_bucket(t, i);
    bucket b;

    for (unsigned s = 0; s < SLOTS; s++)
        b.tag[s] = (uint32_t)bits_from(r, s * t->width) & packed_mask(t->width);
    return b;
}

static inline void write_bucket(const table *t, uint64_t i, const bucket *b)
{
    raw r = { 0, 0 };

    for (unsigned s = 0; s < SLOTS; s++)
        put_bits(&r, s * t->width, b->tag[s]);
    store_bucket(t, i, r);
}

/* Whether the tag is in the bucket. */
__attribute__((always_inline)) static inline bool holds(const table *t, uint64_t i, uint32_t tag,
                                                        bool wide)
{
    return wide ? any_lane_wide(t, load_wide(t, i), 0, tag)
                : any_lane_narrow(t, load_narrow(t, i), 0, tag);
}

/* Room for the tag there is. */
static inline void put_tag(bucket *b, uint32_t tag)
{
    b->tag[slot_of(b, 0)] = tag;
}

/* The last one in use goes where the removed one was. */
static inline void drop_tag(bucket *b, unsigned slot)
{
    unsigned last = used_in(b) - 1;

    b->tag[slot] = b->tag[last];
    b->tag[last] = 0;
}

static inline const char *check_bucket(const table *t, uint64_t i, const bucket *b)
{
    (void)t;
    (void)i;
    for (unsigned s = 1; s < SLOTS; s++)
        if (b->tag[s] && !b->tag[s - 1])
            return "an empty slot comes before one in use";
    return NULL;
}

#endif
