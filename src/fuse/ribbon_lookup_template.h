/* ribbon_lookup_template.h - TEMPLATE, compiled once for each CPU: lookups in a ribbon filter. The
 * includer has before it
 *
 *   static bool ribbon_holds(const uint8_t *slots, const ribbon_equation *e, unsigned width);
 *
 * which tells whether the slots of a level fulfil an equation. */
#include "fuse/ribbon.h"

static bool ribbon_last_holds(const uint8_t *part, const ribbon_level *l, uint64_t h,
                              const ribbon_shape *s)
{
    uint64_t sum = 0;

    return ribbon_get_last(&sum, s, l, part, h);
}

/* From a level on to which the key was bumped. */
static bool ribbon_has_from(const uint8_t *part, const ribbon_level *level, uint64_t h,
                            const ribbon_shape *s)
{
    ribbon_level l = *level;

    for (; !l.is_last; l = ribbon_next_level(&l, s->width)) {
        ribbon_equation e = ribbon_equation_of(s, &l, ribbon_rehash(h, l.number));
        if (!ribbon_is_bumped(part + l.at, e.start))
            return ribbon_holds(part + l.slots_at, &e, s->width);
    }
    return ribbon_last_holds(part, &l, h, s);
}

/* Not to be inlined where it is rare, as that would make registers scarce. */
__attribute__((noinline)) static bool ribbon_has_after_first(const uint8_t *part,
                                                             const ribbon_derived *d, uint64_t h)
{
    const ribbon_level second = ribbon_next_level(&d->first, d->shape.width);

    return ribbon_has_from(part, &second, h, &d->shape);
}

/* Any filter. */
static bool ribbon_has(const tamis *f, uint64_t key)
{
    const ribbon_derived *d = ribbon_derived_in(f);
    uint64_t h = hash_key(key, f->salt);

    return ribbon_has_from(ribbon_part_at(f, h, d->shape.part_bits), &d->first, h, &d->shape);
}

/* Nearly all filters have a level 0 that is not the last, with hash 0: what is constant then, and
 * what is not used, the compiler can leave out. */
FUSE_INLINE ribbon_level ribbon_usual_level(const tamis *f)
{
    const ribbon_level *l = &ribbon_derived_in(f)->first;

    return (ribbon_level){ .slots_at = l->slots_at,
                           .segment = l->segment,
                           .starts = l->starts,
                           .segment_bits = l->segment_bits };
}

FUSE_INLINE bool ribbon_has_usual(const tamis *f, uint64_t key, unsigned width, bool is_single)
{
    const ribbon_derived *d = ribbon_derived_in(f);
    const ribbon_level l = ribbon_usual_level(f);
    const unsigned part_bits = is_single ? 0 : d->shape.part_bits;
    uint64_t h = hash_key(key, f->salt);
    const uint8_t *part = is_single ? f->payload : ribbon_part_at(f, h, part_bits);
    const ribbon_equation e = { ribbon_start(&l, h, part_bits), ribbon_row(h),
                                ribbon_fingerprint(h, width) };

    if (ribbon_is_bumped(part, e.start))
        return ribbon_has_after_first(part, d, h);
    return ribbon_holds(part + l.slots_at, &e, width);
}

#define RIBBON_HAS(name, width, is_single)                 \
    static bool name(const tamis *f, uint64_t key)         \
    {                                                      \
        return ribbon_has_usual(f, key, width, is_single); \
    }

RIBBON_HAS(ribbon_has_8, 8, true)
RIBBON_HAS(ribbon_has_16, 16, true)
RIBBON_HAS(ribbon_has_any, ribbon_derived_in(f)->shape.width, true)
RIBBON_HAS(ribbon_has_8_in_parts, 8, false)
RIBBON_HAS(ribbon_has_16_in_parts, 16, false)
RIBBON_HAS(ribbon_has_any_in_parts, ribbon_derived_in(f)->shape.width, false)

static bool (*ribbon_has_for(const ribbon_derived *d))(const tamis *f, uint64_t key)
{
    const ribbon_shape *s = &d->shape;

    if (d->first.is_last || d->first.number)
        return ribbon_has;
    if (s->width == 8)
        return s->part_bits ? ribbon_has_8_in_parts : ribbon_has_8;
    if (s->width == 16)
        return s->part_bits ? ribbon_has_16_in_parts : ribbon_has_16;
    return s->part_bits ? ribbon_has_any_in_parts : ribbon_has_any;
}

/* ---- Many keys --------------------------------------------------------- */

/* Keys go through in groups of 64: while one group is looked at, the lines of the next are asked
 * for, key by key. The few keys that level 0 has bumped wait for one group more, as what they read
 * is fetched only then. */
enum { GROUP = 64 };

/* Keys on their way. */
typedef struct ribbon_group {
    const uint8_t *part[GROUP];
    uint64_t h[GROUP], start[GROUP];
    size_t n;
} ribbon_group;

/* What all keys of a call have in common. */
typedef struct ribbon_query {
    ribbon_level l; /* 0 */
    const uint8_t *payload;
    uint64_t salt, part_bytes;
    unsigned part_bits, width;
    bool is_far;
} ribbon_query;

FUSE_INLINE void ribbon_find_group(ribbon_group *g, const ribbon_query *q, const uint64_t *keys,
                                   size_t n)
{
    g->n = n < GROUP ? n : GROUP;
    for (size_t i = 0; i < g->n; i++) {
        uint64_t h = hash_key(keys[i], q->salt);
        g->h[i] = h;
        g->part[i] = q->payload + part_of(h, q->part_bits) * q->part_bytes;
        g->start[i] = ribbon_start(&q->l, h, q->part_bits);
    }
}

FUSE_INLINE void ribbon_fetch_key(const ribbon_group *g, const ribbon_query *q, size_t i)
{
    ribbon_fetch_slots(g->part[i], &q->l, g->start[i], q->width, q->is_far);
}

/* Looks at the keys of a group, and sets the bits of those that are bumped; asks for the lines of
 * the next group, which has no more keys. */
FUSE_INLINE uint64_t ribbon_look_at_group(const ribbon_group *g, const ribbon_group *next,
                                          const ribbon_query *q, uint64_t *bumped)
{
    uint64_t word = 0, later = 0;

    for (size_t i = 0; i < g->n; i++) {
        uint64_t h = g->h[i];
        const ribbon_equation e = { g->start[i], ribbon_row(h), ribbon_fingerprint(h, q->width) };
        if (i < next->n)
            ribbon_fetch_key(next, q, i);
        later |= (uint64_t)ribbon_is_bumped(g->part[i], e.start) << i;
        word |= (uint64_t)ribbon_holds(g->part[i] + q->l.slots_at, &e, q->width) << i;
    }
    *bumped = later;
    return word & ~later;
}

/* Keys that wait for the next level, with the numbers of their answers. */
typedef struct ribbon_bumped {
    const uint8_t *part[GROUP];
    uint64_t h[GROUP];
    size_t index[GROUP], n;
} ribbon_bumped;

/* Those of a group whose first key is number `from`: their lines are asked for. */
static void ribbon_put_off(ribbon_bumped *to, const ribbon_group *g, uint64_t bumped, size_t from,
                           const ribbon_level *second, const ribbon_query *q)
{
    to->n = 0;
    for (; bumped; bumped &= bumped - 1) {
        size_t i = (size_t)__builtin_ctzll(bumped);
        to->part[to->n] = g->part[i];
        to->h[to->n] = g->h[i];
        to->index[to->n++] = from + i;
        uint64_t y = ribbon_rehash(g->h[i], second->number);
        if (!second->is_last)
            ribbon_fetch(g->part[i], second, ribbon_start(second, y, 0), q->width, q->is_far);
    }
}

static size_t ribbon_look_at_bumped(const ribbon_bumped *b, const ribbon_shape *s,
                                    const ribbon_level *second, uint64_t *hits)
{
    size_t found = 0;

    for (size_t i = 0; i < b->n; i++) {
        uint64_t hit = ribbon_has_from(b->part[i], second, b->h[i], s);
        hits[b->index[i] / 64] |= hit << b->index[i] % 64;
        found += (size_t)hit;
    }
    return found;
}

FUSE_INLINE size_t ribbon_has_many_in_levels(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                             size_t n, unsigned width)
{
    const ribbon_derived *d = ribbon_derived_in(f);
    const ribbon_level second = ribbon_next_level(&d->first, width);
    const unsigned bits = d->shape.part_bits;
    const ribbon_query q = {
        ribbon_usual_level(f), f->payload, f->salt, f->plan.bytes >> bits, bits, width, f->is_far
    };
    ribbon_bumped later[2];
    ribbon_group groups[2];
    size_t found = 0;

    later[1].n = 0;
    ribbon_find_group(&groups[0], &q, keys, n);
    for (size_t i = 0; i < groups[0].n; i++)
        ribbon_fetch_key(&groups[0], &q, i);
    for (size_t from = 0; from < n; from += GROUP) {
        size_t turn = from / GROUP % 2, left = n - from;
        ribbon_group *g = &groups[turn], *next = &groups[turn ^ 1];
        uint64_t bumped;
        ribbon_find_group(next, &q, keys + from + g->n, left - g->n);
        uint64_t word = ribbon_look_at_group(g, next, &q, &bumped);
        hits[from / GROUP] = word;
        found += (size_t)__builtin_popcountll(word);
        ribbon_put_off(&later[turn], g, bumped, from, &second, &q);
        found += ribbon_look_at_bumped(&later[turn ^ 1], &d->shape, &second, hits);
    }
    return found + ribbon_look_at_bumped(&later[(n - 1) / GROUP % 2], &d->shape, &second, hits);
}

static size_t ribbon_has_many_in_last(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                      size_t n)
{
    const ribbon_derived d = *ribbon_derived_in(f);
    size_t found = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof *hits);
    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_key(keys[i], f->salt);
        const uint8_t *part = ribbon_part_at(f, h, d.shape.part_bits);
        uint64_t hit = ribbon_last_holds(part, &d.first, h, &d.shape);
        hits[i / 64] |= hit << i % 64;
        found += (size_t)hit;
    }
    return found;
}

/* Of the most common widths each is worth a copy in which it is a constant. */
static size_t ribbon_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    if (n == 0)
        return 0;
    if (ribbon_derived_in(f)->first.is_last)
        return ribbon_has_many_in_last(f, hits, keys, n);
    if (f->plan.width == 8)
        return ribbon_has_many_in_levels(f, hits, keys, n, 8);
    if (f->plan.width == 10)
        return ribbon_has_many_in_levels(f, hits, keys, n, 10);
    if (f->plan.width == 16)
        return ribbon_has_many_in_levels(f, hits, keys, n, 16);
    return ribbon_has_many_in_levels(f, hits, keys, n, f->plan.width);
}

/* Puts the functions for this plan into the table. has_many() knows hash 0 only. */
static inline void ribbon_use(tamis *f)
{
    const ribbon_derived *d = ribbon_derived_in(f);

    f->ops.has = ribbon_has_for(d);
    f->ops.has_many = d->shape.first_hash ? NULL : ribbon_has_many;
}
