/* ribbon_lookup_template.h - TEMPLATE, compiled once for each CPU: lookups in a ribbon filter. The
 * includer has before it
 *
 *   static bool ribbon_holds(const uint8_t *slots, const ribbon_equation *e, unsigned width);
 *
 * which tells whether the slots of a level fulfil an equation. */
#include "base/many.h"
#include "fuse/ribbon.h"

/* From a level on to which the key was bumped. */
static bool ribbon_has_from(const uint8_t *part, const ribbon_level *level, uint64_t h,
                            const ribbon_shape *s)
{
    ribbon_level l = *level;
    uint64_t sum = 0;

    for (; !l.is_last; l = ribbon_next_level(&l, s->width)) {
        ribbon_equation e = ribbon_equation_of(s, &l, ribbon_rehash(h, l.number));
        if (!ribbon_is_bumped(part + l.at, e.start))
            return ribbon_holds(part + l.slots_at, &e, s->width);
    }
    return ribbon_get_last(&sum, s, &l, part, h);
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

/* What all keys of a call have in common. */
typedef struct ribbon_query {
    ribbon_level l, second; /* level 0, and the next */
    const ribbon_shape *shape;
    const uint8_t *payload;
    uint64_t salt, part_bytes;
    unsigned part_bits, width;
    bool is_far;
} ribbon_query;

typedef struct ribbon_group {
    const uint8_t *part[MANY];
    uint64_t h[MANY], start[MANY];
    uint64_t bumped; /* keys that wait for their second look */
} ribbon_group;

MANY_INLINE void ribbon_prepare(const void *self, void *group, const uint64_t *keys, size_t n)
{
    const ribbon_query *q = self;
    ribbon_group *to = group;

    to->bumped = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_key(keys[i], q->salt);
        to->h[i] = h;
        to->part[i] = q->payload + part_of(h, q->part_bits) * q->part_bytes;
        to->start[i] = ribbon_start(&q->l, h, q->part_bits);
    }
}

MANY_INLINE void ribbon_fetch_key(const void *self, const void *group, size_t i)
{
    const ribbon_query *q = self;
    const ribbon_group *g = group;

    ribbon_fetch_slots(g->part[i], &q->l, g->start[i], q->width, q->is_far);
}

/* Level 0 has bumped few keys: what they read is asked for only now. */
static inline void ribbon_put_off(const ribbon_query *q, ribbon_group *g, size_t i)
{
    uint64_t y = ribbon_rehash(g->h[i], q->second.number);

    g->bumped |= UINT64_C(1) << i;
    if (!q->second.is_last)
        ribbon_fetch(g->part[i], &q->second, ribbon_start(&q->second, y, 0), q->width, q->is_far);
}

MANY_INLINE uint64_t ribbon_look(void *self, void *group, size_t i)
{
    const ribbon_query *q = self;
    ribbon_group *g = group;
    const ribbon_equation e = { g->start[i], ribbon_row(g->h[i]),
                                ribbon_fingerprint(g->h[i], q->width) };

    if (__builtin_expect(!ribbon_is_bumped(g->part[i], e.start), 1))
        return ribbon_holds(g->part[i] + q->l.slots_at, &e, q->width);
    ribbon_put_off(q, g, i);
    return 0;
}

MANY_INLINE uint64_t ribbon_look_again(void *self, void *group, uint64_t hits)
{
    const ribbon_query *q = self;
    const ribbon_group *g = group;

    for (uint64_t left = g->bumped; left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        hits |= (uint64_t)ribbon_has_from(g->part[i], &q->second, g->h[i], q->shape) << i;
    }
    return hits;
}

FUSE_INLINE size_t ribbon_has_many_of(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                      size_t n, unsigned width)
{
    const ribbon_derived *d = ribbon_derived_in(f);
    const unsigned bits = d->shape.part_bits;
    const ribbon_query q = { .l = ribbon_usual_level(f),
                             .second = ribbon_next_level(&d->first, width),
                             .shape = &d->shape,
                             .payload = f->payload,
                             .salt = f->salt,
                             .part_bytes = f->plan.bytes >> bits,
                             .part_bits = bits,
                             .width = width,
                             .is_far = f->is_far };
    ribbon_group groups[2];

    return many_lookups(&q, hits, keys, n, &groups[0], &groups[1], ribbon_prepare, ribbon_fetch_key,
                        ribbon_look, ribbon_look_again);
}

/* Of the most common widths each is worth a copy in which it is a constant. */
static size_t ribbon_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    if (f->plan.width == 8)
        return ribbon_has_many_of(f, hits, keys, n, 8);
    if (f->plan.width == 10)
        return ribbon_has_many_of(f, hits, keys, n, 10);
    if (f->plan.width == 16)
        return ribbon_has_many_of(f, hits, keys, n, 16);
    return ribbon_has_many_of(f, hits, keys, n, f->plan.width);
}

/* Puts the functions for this plan into the table. has_many() knows filters of several levels and
 * of hash 0 only. */
static inline void ribbon_use(tamis *f)
{
    const ribbon_derived *d = ribbon_derived_in(f);

    f->ops.has = ribbon_has_for(d);
    f->ops.has_many = d->first.is_last || d->first.number ? NULL : ribbon_has_many;
}
