/* ribbon_many.h - lookups, a template for the kernels.
 *
 * A kernel defines holds() for its instruction set, then includes this. Keys go through in groups
 * of 64: while one group is looked at, the lines of the next are on their way from memory. The few
 * keys that level 0 has bumped wait for one group more, as what they read is fetched only then. */
#include "fuse/ribbon.h"

static bool last_holds(const uint8_t *part, const level *l, uint64_t h, const tamis_plan *p)
{
    unsigned seed = part[l->end - LAST_STATE];

    if (seed == 0)
        return false;
    equation e = equation_of(l, draw(h, l->number + seed - 1), part_bits(p->capacity), p->width);
    for (unsigned j = 0; j < p->width; j++) {
        const uint8_t *column = part + l->slots_at + j * l->slots / 8;
        if (parity(last_window(column, e.start) & e.row) != (e.fingerprint >> j & 1))
            return false;
    }
    return true;
}

/* From a level that has bumped the key, or is the last, onward. */
static bool has_after(const uint8_t *part, const level *bumping, uint64_t h, const tamis_plan *p)
{
    level l = *bumping;

    while (!l.is_last) {
        l = next_level(&l, p->width);
        if (l.is_last)
            break;
        equation e = equation_of(&l, draw(h, l.number), part_bits(p->capacity), p->width);
        if (!is_bumped(part + l.at, e.start))
            return holds(part + l.slots_at, &e, p->width);
    }
    return last_holds(part, &l, h, p);
}

static bool has(const tamis *f, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);
    unsigned bits = part_bits(f->plan.capacity);
    const uint8_t *part = part_at(f, h, bits);
    level l = first_level_of(&f->plan);

    if (!l.is_last) {
        equation e = equation_of(&l, h, bits, f->plan.width);
        if (!is_bumped(part, e.start))
            return holds(part + l.slots_at, &e, f->plan.width);
    }
    return has_after(part, &l, h, &f->plan);
}

/* ---- Many keys --------------------------------------------------------- */

enum { GROUP = 64 };

/* Keys on their way. */
typedef struct {
    const uint8_t *part[GROUP];
    uint64_t h[GROUP], start[GROUP];
    size_t n;
} group;

static inline void fetch(const uint8_t *part, const level *l, uint64_t start, unsigned width)
{
    const uint8_t *words = part + l->slots_at + start / 64 * 8 * width;

    __builtin_prefetch(part + l->at + start / BUCKET / 4, 0, 3);
    for (unsigned i = 0; i < 16 * width; i += 64)
        __builtin_prefetch(words + i, 0, 3);
    if (width % 8)
        __builtin_prefetch(words + 16 * width - 1, 0, 3);
}

/* What is read for every key is copied first: writing to the group could have changed it, for all
 * that the compiler knows. */
static inline void place_next(group *g, const tamis *f, const level *first, const uint64_t *keys,
                              size_t n, unsigned width)
{
    const unsigned bits = part_bits(f->plan.capacity);
    const uint64_t salt = f->salt, size = f->plan.bytes >> bits;
    const uint8_t *payload = f->payload;
    const level l = *first;

    n = n < GROUP ? n : GROUP;
    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_key(keys[i], salt), start = start_of(&l, h, bits);
        const uint8_t *part = payload + part_of(h, bits) * size;
        g->h[i] = h;
        g->part[i] = part;
        g->start[i] = start;
        fetch(part, &l, start, width);
    }
    g->n = n;
}

/* Keys that wait for the next level, with the place of their answers. */
typedef struct {
    const uint8_t *part[GROUP];
    uint64_t h[GROUP];
    size_t index[GROUP], n;
} bumped;

static inline uint64_t ask_group(const group *g, const level *l, bumped *later, size_t from,
                                 unsigned width)
{
    uint64_t word = 0;

    later->n = 0;
    for (size_t i = 0; i < g->n; i++) {
        uint64_t h = g->h[i];
        equation e = { g->start[i], row_of(h), fingerprint_of(h, width) };
        later->part[later->n] = g->part[i];
        later->h[later->n] = h;
        later->index[later->n] = from + i;
        bool is_later = is_bumped(g->part[i] + l->at, e.start);
        later->n += is_later;
        word |= (uint64_t)(!is_later & holds(g->part[i] + l->slots_at, &e, width)) << i;
    }
    return word;
}

static void fetch_bumped(const bumped *b, const level *l, unsigned width)
{
    for (size_t i = 0; i < b->n && !l->is_last; i++)
        fetch(b->part[i], l, start_of(l, draw(b->h[i], l->number), 0), width);
}

static size_t ask_bumped(const bumped *b, const level *first, uint64_t *hits, const tamis_plan *p)
{
    size_t found = 0;

    for (size_t i = 0; i < b->n; i++) {
        uint64_t hit = has_after(b->part[i], first, b->h[i], p);
        hits[b->index[i] / 64] |= hit << b->index[i] % 64;
        found += hit;
    }
    return found;
}

static inline __attribute__((always_inline)) size_t
has_many_in_levels(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n, unsigned width)
{
    level first = first_level_of(&f->plan), second = next_level(&first, width);
    bumped later[2];
    group groups[2];
    size_t found = 0;

    later[1].n = 0;
    place_next(&groups[0], f, &first, keys, n, width);
    for (size_t from = 0; from < n; from += GROUP) {
        size_t turn = from / GROUP % 2;
        if (n - from > GROUP)
            place_next(&groups[turn ^ 1], f, &first, keys + from + GROUP, n - from - GROUP, width);
        uint64_t word = ask_group(&groups[turn], &first, &later[turn], from, width);
        hits[from / GROUP] = word;
        found += (size_t)__builtin_popcountll(word);
        fetch_bumped(&later[turn], &second, width);
        found += ask_bumped(&later[turn ^ 1], &first, hits, &f->plan);
    }
    return found + ask_bumped(&later[(n - 1) / GROUP % 2], &first, hits, &f->plan);
}

static size_t has_many_in_last(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    level l = first_level_of(&f->plan);
    size_t found = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof *hits);
    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_key(keys[i], f->salt);
        uint64_t hit = last_holds(part_at(f, h, part_bits(f->plan.capacity)), &l, h, &f->plan);
        hits[i / 64] |= hit << i % 64;
        found += hit;
    }
    return found;
}

/* Of the most common widths each is worth a copy in which it is a constant. */
static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    if (n == 0)
        return 0;
    if (first_level_of(&f->plan).is_last)
        return has_many_in_last(f, hits, keys, n);
    if (f->plan.width == 8)
        return has_many_in_levels(f, hits, keys, n, 8);
    if (f->plan.width == 10)
        return has_many_in_levels(f, hits, keys, n, 10);
    if (f->plan.width == 16)
        return has_many_in_levels(f, hits, keys, n, 16);
    return has_many_in_levels(f, hits, keys, n, f->plan.width);
}
