/* cuckoo_many.h - many keys at once, a template for the kernels, which define place_keys() before.
 *
 * Each key reads two windows. Keys go through in groups of 64: while the windows of one group are
 * looked at, those of the next are on their way from memory. Slots of up to 16 bits, the usual
 * ones, have all four places of a key compared at once. */
#include "base/many.h"
#include "cuckoo/cuckoo.h"

/* Inlined by force: gcc takes a function that does nothing but prefetch for one without effect. */
__attribute__((always_inline)) static inline void fetch_bit(const table *t, uint64_t bit,
                                                            const bool writes)
{
    if (writes)
        __builtin_prefetch(t->slots + bit / 8, 1, 3);
    else
        __builtin_prefetch(t->slots + bit / 8, 0, 3);
}

/* A window is one line, or reaches into the next. */
__attribute__((always_inline)) static inline void fetch_window(const table *t, uint64_t start,
                                                               const bool writes)
{
    fetch_bit(t, start * t->width, writes);
}

__attribute__((always_inline)) static inline void fetch(const table *t, const group *g, size_t i,
                                                        const bool writes)
{
    fetch_bit(t, g->bit[0][i], writes);
    fetch_bit(t, g->bit[1][i], writes);
}

static inline entry entry_in(const group *g, size_t i)
{
    return (entry){ g->start[0][i], g->start[1][i], g->print[i] };
}

/* Looked up, not branched: which place it is, chance decides. */
static inline uint64_t bit_of(const table *t, const group *g, size_t i, unsigned place)
{
    return g->bit[place >> 1][i] + (place & 1) * (uint64_t)t->width;
}

/* The group of the keys from `from` on, as far as there are any. */
static inline void place_group(group *g, const tamis *f, const table *t, const uint64_t *keys,
                               size_t from, size_t n)
{
    g->n = many_group(from, n);
    if (g->n)
        place_keys(g, t, f->salt, keys + from);
}

__attribute__((always_inline)) static inline void fetch_group(const table *t, const group *g,
                                                              const bool writes)
{
    for (size_t i = 0; i < g->n; i++)
        fetch(t, g, i, writes);
}

/* ---- Lookups ----------------------------------------------------------- */

static bool has(const tamis *f, uint64_t key)
{
    table t = table_of(f);
    entry e = entry_of(&t, hash_key(key, f->salt));

    return holding(&t, &e) || stashed(&t, &e);
}

/* Of the keys that were not found, those that are in the stash. */
static uint64_t hits_in_stash(const table *t, const group *g, uint64_t hits)
{
    for (size_t i = 0; i < g->n; i++) {
        entry e = entry_in(g, i);
        if (!(hits >> i & 1))
            hits |= (uint64_t)(stashed(t, &e) != 0) << i;
    }
    return hits;
}

typedef enum { LOOK_SHORT, LOOK_LANES, LOOK_WIDE } look;

static inline look look_of(const table *t)
{
    return t->width <= WIDEST_SHORT ? LOOK_SHORT : t->width <= WIDEST_LANE ? LOOK_LANES : LOOK_WIDE;
}

/* The places of a key in four lanes; place 0 of fingerprint 0 never looks empty. */
__attribute__((always_inline)) static inline uint64_t
four_of(const table *t, const lanes *l, const group *g, size_t i, const bool is_short)
{
    uint64_t four = four_at(t, l, g->bit[0][i], g->bit[1][i], is_short);

    return four | (g->print[i] == 0);
}

static inline uint64_t target_of(const lanes *l, uint64_t print)
{
    return (print << TAG_BITS) * l->ones + l->tags;
}

__attribute__((always_inline)) static inline bool
group_has(const table *t, const lanes *l, const group *g, size_t i, const look how)
{
    if (how == LOOK_WIDE) {
        entry e = entry_in(g, i);
        return holding(t, &e) != 0;
    }
    uint64_t four = four_of(t, l, g, i, how == LOOK_SHORT);
    return zero_lanes(l, four ^ target_of(l, g->print[i])) != 0;
}

__attribute__((always_inline)) static inline size_t
look_up(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n, const look how)
{
    table t = table_of(f);
    lanes l = how == LOOK_WIDE ? (lanes){ 0 } : lanes_of(&t);
    group groups[2];
    size_t found = 0;

    place_group(&groups[0], f, &t, keys, 0, n);
    fetch_group(&t, &groups[0], false);
    for (size_t from = 0; from < n; from += MANY) {
        const group *now = &groups[from / MANY % 2];
        group *next = &groups[from / MANY % 2 ^ 1];
        uint64_t word = 0;
        place_group(next, f, &t, keys, from + MANY, n);
        for (size_t i = 0; i < now->n; i++) {
            if (i < next->n)
                fetch(&t, next, i, false);
            word |= (uint64_t)group_has(&t, &l, now, i, how) << i;
        }
        hits[from / MANY] = stash_size(&t) ? hits_in_stash(&t, now, word) : word;
        found += (size_t)__builtin_popcountll(hits[from / MANY]);
    }
    return found;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    table t = table_of(f);

    switch (look_of(&t)) {
    case LOOK_SHORT:
        return look_up(f, hits, keys, n, LOOK_SHORT);
    case LOOK_LANES:
        return look_up(f, hits, keys, n, LOOK_LANES);
    case LOOK_WIDE:
        break;
    }
    return look_up(f, hits, keys, n, LOOK_WIDE);
}

static void count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    table t = table_of(f);
    group groups[2];

    place_group(&groups[0], f, &t, keys, 0, n);
    fetch_group(&t, &groups[0], false);
    for (size_t from = 0; from < n; from += MANY) {
        const group *now = &groups[from / MANY % 2];
        group *next = &groups[from / MANY % 2 ^ 1];
        place_group(next, f, &t, keys, from + MANY, n);
        for (size_t i = 0; i < now->n; i++) {
            entry e = entry_in(now, i);
            if (i < next->n)
                fetch(&t, next, i, false);
            counts[from + i] = copies_of(&t, &e);
        }
    }
}

/* ---- Changes ----------------------------------------------------------- */

/* The usual case in a few steps: one copy, in the slots, of a filter without a stash. */
__attribute__((always_inline)) static inline bool
remove_lone(tamis *f, const table *t, const lanes *l, const group *g, size_t i, const bool is_short)
{
    uint64_t four = four_of(t, l, g, i, is_short) ^ target_of(l, g->print[i]);
    uint64_t held = zero_lanes(l, four), rest = held & (held - 1);

    if (!held || rest)
        return false;
    unsigned place = lowest_lane(l, held);
    put_at(t, bit_of(t, g, i, place), 0);
    f->count--;
    return true;
}

__attribute__((always_inline)) static inline size_t take_all(tamis *f, const uint64_t *keys,
                                                             size_t n, const look how)
{
    table t = table_of(f);
    lanes l = how == LOOK_WIDE ? (lanes){ 0 } : lanes_of(&t);
    group groups[2];
    size_t removed = 0;

    place_group(&groups[0], f, &t, keys, 0, n);
    fetch_group(&t, &groups[0], true);
    for (size_t from = 0; from < n; from += MANY) {
        const group *now = &groups[from / MANY % 2];
        group *next = &groups[from / MANY % 2 ^ 1];
        place_group(next, f, &t, keys, from + MANY, n);
        for (size_t i = 0; i < now->n; i++) {
            entry e = entry_in(now, i);
            if (i < next->n)
                fetch(&t, next, i, true);
            if (how != LOOK_WIDE && !stash_size(&t) &&
                remove_lone(f, &t, &l, now, i, how == LOOK_SHORT))
                removed++;
            else
                removed += tamis__cuckoo_remove(f, &e, 1) == TAMIS_OK;
        }
    }
    return removed;
}

static size_t remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    table t = table_of(f);

    switch (look_of(&t)) {
    case LOOK_SHORT:
        return take_all(f, keys, n, LOOK_SHORT);
    case LOOK_LANES:
        return take_all(f, keys, n, LOOK_LANES);
    case LOOK_WIDE:
        break;
    }
    return take_all(f, keys, n, LOOK_WIDE);
}

#include "cuckoo/cuckoo_walks.h"

/* A group at most, one after the other. */
static tamis_status add_in_turn(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    table t = table_of(f);
    group g;

    place_group(&g, f, &t, keys, *added, n);
    fetch_group(&t, &g, true);
    for (size_t i = 0; i < g.n; i++, ++*added) {
        entry e = entry_in(&g, i);
        tamis_status status = tamis__cuckoo_add(f, hash_key(keys[*added], f->salt), &e);
        if (status)
            return status;
    }
    return TAMIS_OK;
}

static tamis_status add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    table t = table_of(f);
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n && !status;) {
        size_t some = can_walk(&t) ? add_some(f, keys + *added, n - *added) : 0;
        *added += some;
        if (!some)
            status = add_in_turn(f, added, keys, n);
    }
    return status;
}
