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

/* From a level that has bumped the key, or is the last, onward. */
static bool ribbon_has_after(const uint8_t *part, const ribbon_level *bumping, uint64_t h,
                             const ribbon_shape *s)
{
    ribbon_level l = *bumping;

    while (!l.is_last) {
        l = ribbon_next_level(&l, s->width);
        if (l.is_last)
            break;
        ribbon_equation e = ribbon_equation_of(s, &l, ribbon_rehash(h, l.number));
        if (!ribbon_is_bumped(part + l.at, e.start))
            return ribbon_holds(part + l.slots_at, &e, s->width);
    }
    return ribbon_last_holds(part, &l, h, s);
}

static bool ribbon_has(const tamis *f, uint64_t key)
{
    const ribbon_shape *s = &ribbon_derived_in(f)->shape;
    const ribbon_level *l = &ribbon_derived_in(f)->first;
    uint64_t h = hash_key(key, f->salt);
    const uint8_t *part = ribbon_part_at(f, h, s->part_bits);

    if (!l->is_last) {
        ribbon_equation e = ribbon_equation_of(s, l, ribbon_rehash(h, l->number));
        if (!ribbon_is_bumped(part, e.start))
            return ribbon_holds(part + l->slots_at, &e, s->width);
    }
    return ribbon_has_after(part, l, h, s);
}

/* ---- Many keys --------------------------------------------------------- */

/* Keys go through in groups of 64: while one group is looked at, the lines of the next are on their
 * way from memory. The few keys that level 0 has bumped wait for one group more, as what they read
 * is fetched only then. */
enum { GROUP = 64 };

/* Keys on their way. */
typedef struct ribbon_group {
    const uint8_t *part[GROUP];
    uint64_t h[GROUP], start[GROUP];
    size_t n;
} ribbon_group;

/* What is read for every key is copied first: writing to the group could have changed it, for all
 * that the compiler knows. */
static inline void ribbon_start_group(ribbon_group *g, const tamis *f, const ribbon_level *first,
                                      const uint64_t *keys, size_t n, unsigned width)
{
    const unsigned bits = ribbon_derived_in(f)->shape.part_bits;
    const uint64_t salt = f->salt, size = f->plan.bytes >> bits;
    const uint8_t *payload = f->payload;
    const ribbon_level l = *first;
    const bool is_far = f->is_far;

    n = n < GROUP ? n : GROUP;
    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_key(keys[i], salt), start = ribbon_start(&l, h, bits);
        const uint8_t *part = payload + part_of(h, bits) * size;
        g->h[i] = h;
        g->part[i] = part;
        g->start[i] = start;
        ribbon_fetch(part, &l, start, width, is_far);
    }
    g->n = n;
}

/* Keys that wait for the next level, with the numbers of their answers. */
typedef struct ribbon_bumped {
    const uint8_t *part[GROUP];
    uint64_t h[GROUP];
    size_t index[GROUP], n;
} ribbon_bumped;

static inline uint64_t ribbon_look_at_group(const ribbon_group *g, const ribbon_level *l,
                                            ribbon_bumped *later, size_t from, unsigned width)
{
    uint64_t word = 0;

    later->n = 0;
    for (size_t i = 0; i < g->n; i++) {
        uint64_t h = g->h[i];
        ribbon_equation e = { g->start[i], ribbon_row(h), ribbon_fingerprint(h, width) };
        later->part[later->n] = g->part[i];
        later->h[later->n] = h;
        later->index[later->n] = from + i;
        bool is_later = ribbon_is_bumped(g->part[i] + l->at, e.start);
        later->n += is_later;
        word |= (uint64_t)(!is_later & ribbon_holds(g->part[i] + l->slots_at, &e, width)) << i;
    }
    return word;
}

static size_t ribbon_look_at_bumped(const ribbon_bumped *b, const ribbon_derived *d, uint64_t *hits)
{
    size_t found = 0;

    for (size_t i = 0; i < b->n; i++) {
        uint64_t hit = ribbon_has_after(b->part[i], &d->first, b->h[i], &d->shape);
        hits[b->index[i] / 64] |= hit << b->index[i] % 64;
        found += hit;
    }
    return found;
}

FUSE_INLINE size_t ribbon_has_many_in_levels(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                             size_t n, unsigned width)
{
    const ribbon_derived *d = ribbon_derived_in(f);
    const ribbon_level first = d->first, second = ribbon_next_level(&first, width);
    ribbon_bumped later[2];
    ribbon_group groups[2];
    size_t found = 0;

    later[1].n = 0;
    ribbon_start_group(&groups[0], f, &first, keys, n, width);
    for (size_t from = 0; from < n; from += GROUP) {
        size_t turn = from / GROUP % 2;
        if (n - from > GROUP)
            ribbon_start_group(&groups[turn ^ 1], f, &first, keys + from + GROUP, n - from - GROUP,
                               width);
        uint64_t word = ribbon_look_at_group(&groups[turn], &first, &later[turn], from, width);
        hits[from / GROUP] = word;
        found += (size_t)__builtin_popcountll(word);
        for (size_t i = 0; i < later[turn].n && !second.is_last; i++) {
            uint64_t y = ribbon_rehash(later[turn].h[i], second.number);
            ribbon_fetch(later[turn].part[i], &second, ribbon_start(&second, y, 0), width,
                         f->is_far);
        }
        found += ribbon_look_at_bumped(&later[turn ^ 1], d, hits);
    }
    return found + ribbon_look_at_bumped(&later[(n - 1) / GROUP % 2], d, hits);
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
        found += hit;
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
