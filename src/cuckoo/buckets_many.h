/* buckets_many.h - the kernels, a template: the file that includes it has included a layout of
 * buckets, and names the table of them BUCKETS_KERNELS. What instructions they are made of is up to
 * the options of that file. */
#include "cuckoo/buckets_change.h"

/* ---- Keys on their way ------------------------------------------------- */

typedef struct places {
    spot at[MANY];
    size_t n;
} places;

static inline void place_group(places *g, const table *t, const uint64_t *keys, size_t from,
                               size_t n)
{
    g->n = many_group(from, n);
    for (size_t i = 0; i < g->n; i++)
        g->at[i] = spot_of(t, place(keys[from + i], t->salt));
}

__attribute__((always_inline)) static inline void fetch_spot(const table *t, const spot *s)
{
    fetch_bucket(t, s->first);
    fetch_bucket(t, s->second);
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
        fetch_spot(t, &groups[0].at[i]);
    for (size_t from = 0; from < n; from += MANY) {
        const places *now = &groups[from / MANY % 2];
        places *next = &groups[from / MANY % 2 ^ 1];
        place_group(next, t, keys, from + MANY, n);
        for (size_t i = 0; i < now->n; i++) {
            if (i < next->n)
                fetch_spot(t, &next->at[i]);
            if (!visit_key(ctx, t, &now->at[i], from + i))
                return;
        }
    }
}

/* ---- Lookups ----------------------------------------------------------- */

__attribute__((always_inline)) static inline bool in_buckets(const table *t, const spot *s,
                                                             bool wide)
{
    return holds(t, s->first, s->tag, wide) | holds(t, s->second, s->tag, wide);
}

static bool has(const tamis *f, uint64_t key)
{
    table t = table_of(f);
    spot s = spot_of(&t, place(key, t.salt));

    if (is_wide(&t) ? in_buckets(&t, &s, true) : in_buckets(&t, &s, false))
        return true;
    return stash_copies(&t, &s) != 0;
}

typedef struct answers {
    uint64_t *hits;
    size_t found;
} answers;

__attribute__((always_inline)) static inline bool answer(answers *a, const table *t, const spot *s,
                                                         size_t i, bool wide)
{
    uint64_t hit = in_buckets(t, s, wide);

    if (__builtin_expect(is_stashed(t), 0))
        hit |= stash_copies(t, s) != 0;
    a->hits[i / 64] = (i % 64 ? a->hits[i / 64] : 0) | hit << i % 64;
    a->found += hit;
    return true;
}

static inline bool answer_narrow(void *ctx, const table *t, const spot *s, size_t i)
{
    return answer(ctx, t, s, i, false);
}

static inline bool answer_wide(void *ctx, const table *t, const spot *s, size_t i)
{
    return answer(ctx, t, s, i, true);
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const table t = table_of(f);
    answers a = { hits, 0 };

    if (is_wide(&t))
        visit_keys(&t, keys, n, answer_wide, &a);
    else
        visit_keys(&t, keys, n, answer_narrow, &a);
    return a.found;
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

static tamis_status try_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
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

extern const tamis_batch BUCKETS_KERNELS;
const tamis_batch BUCKETS_KERNELS = {
    .has = has,
    .has_many = has_many,
    .try_add_many = try_add_many,
    .remove_many = remove_many,
    .count_many = count_many,
};
