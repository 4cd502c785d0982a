/* buckets_many.h - the kernels, a template: the file that includes it has included a layout of
 * buckets, and names the table of them BUCKETS_KERNELS. What instructions they are made of is up to
 * the options of that file. */
#include "cuckoo/buckets_change.h"

/* ---- Keys on their way ------------------------------------------------- */

typedef struct places {
    uint64_t first[MANY], second[MANY], tag[MANY];
    uint64_t first_half[MANY], second_half[MANY]; /* where these buckets start: half_of() */
    size_t n;
} places;

static inline spot spot_at(const places *g, size_t i)
{
    return (spot){ g->first[i], g->second[i], (uint32_t)g->tag[i] };
}

static inline void place_one(places *g, size_t i, const table *t, uint64_t key)
{
    spot s = spot_of(t, hash_key(key, t->salt));

    g->first[i] = s.first;
    g->second[i] = s.second;
    g->tag[i] = s.tag;
    g->first_half[i] = half_of(t, s.first);
    g->second_half[i] = half_of(t, s.second);
}

#ifdef __AVX2__
#include "cuckoo/buckets_avx2.h"
#else
static inline size_t place_fours(places *g, const table *t, const uint64_t *keys, size_t n)
{
    (void)g;
    (void)t;
    (void)keys;
    (void)n;
    return 0;
}
#endif

static inline void place_group(places *g, const table *t, const uint64_t *keys, size_t from,
                               size_t n)
{
    g->n = many_group(from, n);
    for (size_t i = place_fours(g, t, keys + from, g->n); i < g->n; i++)
        place_one(g, i, t, keys[from + i]);
}

__attribute__((always_inline)) static inline void fetch_place(const table *t, const places *g,
                                                              size_t i)
{
    fetch_half(t, g->first_half[i]);
    fetch_half(t, g->second_half[i]);
}

/* What is done with each key; false ends it. */
typedef bool visit(void *ctx, const table *t, const spot *s, size_t i);

/* As many_lookups(): while one group is visited, the buckets of the next are on their way. */
__attribute__((always_inline)) static inline void visit_keys(const table *t, const uint64_t *keys,
                                                             size_t n, visit *visit_key, void *ctx)
{
    places groups[2];

    place_group(&groups[0], t, keys, 0, n);
    for (size_t i = 0; i < groups[0].n; i++)
        fetch_place(t, &groups[0], i);
    for (size_t from = 0; from < n; from += MANY) {
        const places *now = &groups[from / MANY % 2];
        places *next = &groups[from / MANY % 2 ^ 1];
        place_group(next, t, keys, from + MANY, n);
        for (size_t i = 0; i < now->n; i++) {
            if (i < next->n)
                fetch_place(t, next, i);
            spot s = spot_at(now, i);
            if (!visit_key(ctx, t, &s, from + i))
                return;
        }
    }
}

/* ---- Lookups ----------------------------------------------------------- */

static bool has(const tamis *f, uint64_t key)
{
    table t = table_of(f);
    spot s = spot_of(&t, hash_key(key, t.salt));

    uint64_t first = half_of(&t, s.first), second = half_of(&t, s.second);

    if (is_wide(&t) ? in_buckets(&t, first, second, s.tag, true)
                    : in_buckets(&t, first, second, s.tag, false))
        return true;
    return stash_copies(&t, &s) != 0;
}

/* Those of a group that are in the stash. */
__attribute__((noinline)) static uint64_t look_in_stash(const table *t, const places *g)
{
    uint64_t word = 0;

    for (size_t i = 0; i < g->n; i++) {
        spot s = spot_at(g, i);
        word |= (uint64_t)(stash_copies(t, &s) != 0) << i;
    }
    return word;
}

/* Those of keys i to end - 1 that are in their buckets, as bits from bit i on. */
__attribute__((always_inline)) static inline uint64_t
look_at_places(const table *t, const places *g, size_t i, size_t end, bool wide)
{
    uint64_t word = 0;

    for (; i < end; i++)
        word |=
            (uint64_t)in_buckets(t, g->first_half[i], g->second_half[i], (uint32_t)g->tag[i], wide)
            << i;
    return word;
}

__attribute__((always_inline)) static inline uint64_t
look_at_group(const table *t, const places *now, const places *next, bool wide)
{
    uint64_t word = 0;

    for (size_t i = 0; i < now->n; i += 4) {
        for (size_t k = i; k < i + 4 && k < next->n; k++)
            fetch_place(t, next, k);
        word |= look_at_places(t, now, i, i + 4 < now->n ? i + 4 : now->n, wide);
    }
    return is_stashed(t) ? word | look_in_stash(t, now) : word;
}

__attribute__((always_inline)) static inline size_t
look_at_keys(const table *t, uint64_t *hits, const uint64_t *keys, size_t n, bool wide)
{
    places groups[2];
    size_t found = 0;

    place_group(&groups[0], t, keys, 0, n);
    for (size_t i = 0; i < groups[0].n; i++)
        fetch_place(t, &groups[0], i);
    for (size_t from = 0; from < n; from += MANY) {
        const places *now = &groups[from / MANY % 2];
        places *next = &groups[from / MANY % 2 ^ 1];
        place_group(next, t, keys, from + MANY, n);
        hits[from / MANY] = look_at_group(t, now, next, wide);
        found += (size_t)__builtin_popcountll(hits[from / MANY]);
    }
    return found;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const table t = table_of(f);

    return is_wide(&t) ? look_at_keys(&t, hits, keys, n, true)
                       : look_at_keys(&t, hits, keys, n, false);
}

static inline bool count_next(void *counts, const table *t, const spot *s, size_t i)
{
    ((uint64_t *)counts)[i] = copies_of(t, s);
    return true;
}

static void count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    const table t = table_of(f);

    visit_keys(&t, keys, n, count_next, counts);
}

/* ---- Changes ----------------------------------------------------------- */

typedef struct changes {
    tamis *f;
    size_t done;
    tamis_status status;
} changes;

static inline bool add_next(void *ctx, const table *t, const spot *s, size_t i)
{
    changes *c = ctx;

    (void)i;
    c->status = add_spot(c->f, t, s);
    c->done += !c->status;
    return !c->status;
}

static tamis_status add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    const table t = table_of(f);
    changes c = { f, 0, TAMIS_OK };

    visit_keys(&t, keys, n, add_next, &c);
    *added = c.done;
    return c.status;
}

static inline bool remove_next(void *ctx, const table *t, const spot *s, size_t i)
{
    changes *c = ctx;

    (void)i;
    c->done += !remove_spot(c->f, t, s, 1);
    return true;
}

static size_t remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    const table t = table_of(f);
    changes c = { f, 0, TAMIS_OK };

    visit_keys(&t, keys, n, remove_next, &c);
    return c.done;
}

static void use_kernels(tamis_ops *ops)
{
    ops->has = has;
    ops->has_many = has_many;
    ops->count_many = count_many;
    ops->add_many = add_many;
    ops->remove_many = remove_many;
}
