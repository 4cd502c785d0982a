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
        b.tag[s] = get_lane(t, r, 0, s);
    return b;
}

static inline void write_bucket(const table *t, uint64_t i, const bucket *b)
{
    raw r = { 0, 0 };

    for (unsigned s = 0; s < SLOTS; s++)
        put_lane(t, &r, 0, s, b->tag[s]);
    store_bucket(t, i, r);
}

static inline bool holds(const table *t, uint64_t half, uint32_t tag, bool wide)
{
    return wide ? any_lane_wide(t, load_wide(t, half), 0, tag)
                : any_lane_narrow(t, load_narrow(t, half), 0, tag);
}

/* Whether the tag is in one of its buckets, which start at these half bytes. */
__attribute__((always_inline)) static inline bool
in_buckets(const table *t, uint64_t first, uint64_t second, uint32_t tag, bool wide)
{
    return holds(t, first, tag, wide) | holds(t, second, tag, wide);
}

/* ---- Short ways -------------------------------------------------------- */

/* What most keys need: no copies to be counted in both buckets, none in the stash. No branch here
 * depends on which of the two buckets it is, which is a matter of chance. False: nothing was done.
 */

/* a if it is so, else b; compilers would branch. */
static inline uint64_t choose(bool so, uint64_t a, uint64_t b)
{
    return b ^ ((a ^ b) & (0 - (uint64_t)so));
}

static inline unsigned lane_at(const table *t, uint64_t top)
{
    return (unsigned)__builtin_ctzll(top) - (t->lane - 1);
}

/* Empty slots are the last ones of a bucket: the more of them, the greater the number. */
static inline bool put_shortly(const table *t, const spot *s)
{
    if (is_wide(t) || is_stashed(t))
        return false;
    uint64_t first = load_bucket(t, s->first).low, second = load_bucket(t, s->second).low;
    uint64_t room = equal_lanes(t, first, 0), room_there = equal_lanes(t, second, 0);
    bool has_copies = equal_lanes(t, first, s->tag) && equal_lanes(t, second, s->tag);
    if (has_copies || !(room | room_there))
        return false;
    bool is_second = room_there > room;
    uint64_t half = half_of(t, choose(is_second, s->second, s->first));
    unsigned at = lane_at(t, choose(is_second, room_there, room)) + shift_of(half);
    put_le64(t->at + half / 2, le64(t->at + half / 2) | (uint64_t)s->tag << at);
    return true;
}

/* The last one in use goes where the removed one was; if it is the same, it is cleared. */
static inline bool drop_shortly(const table *t, const spot *s)
{
    if (is_wide(t) || is_stashed(t))
        return false;
    uint64_t first = load_bucket(t, s->first).low, second = load_bucket(t, s->second).low;
    uint64_t here = equal_lanes(t, first, s->tag), there = equal_lanes(t, second, s->tag);
    bool is_in_one = (here != 0) != (there != 0);
    if (!is_in_one)
        return false;
    uint64_t half = half_of(t, choose(here != 0, s->first, s->second));
    uint64_t lanes = choose(here != 0, first, second);
    unsigned used = SLOTS - (unsigned)__builtin_popcountll(equal_lanes(t, lanes, 0));
    unsigned at = lane_at(t, here | there), last = (used - 1) * t->lane;
    uint64_t moved = lanes >> last & t->tags;
    uint64_t changes = moved << last ^ (moved ^ s->tag) << at;
    put_le64(t->at + half / 2, le64(t->at + half / 2) ^ changes << shift_of(half));
    return true;
}

/* ---- Tags -------------------------------------------------------------- */

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
