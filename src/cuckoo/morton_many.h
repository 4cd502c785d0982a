/* morton_many.h - lookups and changes, a template for the kernels: what instructions they are made
 * of is up to the options of the file that includes it, which names the table of them
 * MORTON_KERNELS, and may have bytes_in(), which finds fingerprints of eight bits.
 *
 * In batches, the blocks of the next 64 keys are on their way while those of one group are looked
 * at. Keys that have to be looked for in their other bucket wait for one group more, until its
 * block is there. */
#include "base/many.h"
#include "cuckoo/morton_moves.h"

#ifndef MORTON_BYTES
/* Three bytes of the block, taken from no further than its end. */
static inline unsigned bytes_in(const table *t, const uint8_t *b, unsigned bucket, uint32_t x)
{
    run r = run_of(t, b, bucket);
    unsigned at = LINE - t->s.slots + r.start, from = at < LINE - 4 ? at : LINE - 4;
    uint32_t found = le32(b + from) >> 8 * (at - from) % 32, n = 0;

    for (unsigned i = 0; i < BUCKET; i++)
        n += ((found >> 8 * i & 255) == x) & (r.start + i < r.end);
    return n;
}
#endif

static inline unsigned copies(const table *t, const uint8_t *b, unsigned bucket, uint32_t x)
{
    return t->s.width == 8 ? bytes_in(t, b, bucket, x) : copies_in(t, b, bucket, x);
}

/* ---- Lookups ----------------------------------------------------------- */

static inline unsigned count_at(const table *t, const spot *at)
{
    return copies(t, line_of(t, at), at->bucket, stored_of(t, at));
}

/* How often a key was added, as far as it can be told: its other bucket counts if its own has ever
 * been left. */
static inline unsigned count_seen(const table *t, const spot *at)
{
    unsigned n = count_at(t, at);

    if (is_marked(t, line_of(t, at), at->bucket)) {
        spot other = other_of(t, at);
        n += count_at(t, &other);
    }
    return n < CEILING ? n : CEILING;
}

static bool has(const tamis *f, uint64_t key)
{
    const table t = table_of(f);
    spot at = spot_of(&t, place(key, t.salt));

    if (count_at(&t, &at))
        return true;
    if (!is_marked(&t, line_of(&t, &at), at.bucket))
        return false;
    at = other_of(&t, &at);
    return count_at(&t, &at) != 0;
}

static uint64_t count(const tamis *f, uint64_t key)
{
    const table t = table_of(f);
    spot at = spot_of(&t, place(key, t.salt));

    return count_seen(&t, &at);
}

/* ---- Groups of keys ---------------------------------------------------- */

typedef struct group {
    spot spots[MANY];
    uint8_t later[MANY]; /* which of them wait for their other bucket */
    size_t n, n_later;
} group;

static inline void place_group(group *g, const table *t, const uint64_t *keys, size_t from,
                               size_t n)
{
    g->n = many_group(from, n);
    for (size_t i = 0; i < g->n; i++)
        g->spots[i] = spot_of(t, place(keys[from + i], t->salt));
}

__attribute__((always_inline)) static inline void fetch(const table *t, const group *g, size_t i)
{
    if (i < g->n)
        __builtin_prefetch(line_of(t, &g->spots[i]), 0, 3);
}

__attribute__((always_inline)) static inline void fetch_to_change(const table *t, const group *g,
                                                                  size_t i)
{
    if (i < g->n)
        __builtin_prefetch(line_of(t, &g->spots[i]), 1, 3);
}

__attribute__((always_inline)) static inline uint64_t look_at_group(group *g, const table *t,
                                                                    const group *next)
{
    uint64_t word = 0;

    g->n_later = 0;
    for (size_t i = 0; i < g->n; i++) {
        const spot *at = &g->spots[i];
        const uint8_t *b = line_of(t, at);
        fetch(t, next, i);
        uint64_t hit = count_at(t, at) != 0;
        word |= hit << i;
        g->later[g->n_later] = (uint8_t)i;
        g->n_later += !hit & is_marked(t, b, at->bucket);
    }
    for (size_t i = 0; i < g->n_later; i++) {
        g->spots[g->later[i]] = other_of(t, &g->spots[g->later[i]]);
        fetch(t, g, g->later[i]);
    }
    return word;
}

__attribute__((always_inline)) static inline uint64_t look_later(const group *g, const table *t)
{
    uint64_t word = 0;

    for (size_t i = 0; i < g->n_later; i++)
        word |= (uint64_t)(count_at(t, &g->spots[g->later[i]]) != 0) << g->later[i];
    return word;
}

__attribute__((always_inline)) static inline size_t look_at_all(const table *t, uint64_t *hits,
                                                                const uint64_t *keys, size_t n)
{
    group groups[3] = { { .n = 0 } };
    size_t found = 0, i = 0;

    place_group(&groups[0], t, keys, 0, n);
    for (size_t k = 0; k < groups[0].n; k++)
        fetch(t, &groups[0], k);
    for (size_t from = 0; from < n + MANY; from += MANY, i++) {
        group *now = &groups[i % 3], *next = &groups[(i + 1) % 3], *last = &groups[(i + 2) % 3];
        place_group(next, t, keys, from + MANY, n);
        if (from < n)
            hits[i] = look_at_group(now, t, next);
        if (i) {
            hits[i - 1] |= look_later(last, t);
            found += (size_t)__builtin_popcountll(hits[i - 1]);
        }
    }
    return found;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    table t = table_of(f);

    if (t.s.width != 8 || t.doublings)
        return look_at_all(&t, hits, keys, n);
    /* What the compiler knows, it leaves out. */
    t.s.width = 8;
    t.doublings = 0;
    return look_at_all(&t, hits, keys, n);
}

static void count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    const table t = table_of(f);
    group groups[2];

    place_group(&groups[0], &t, keys, 0, n);
    for (size_t k = 0; k < groups[0].n; k++)
        fetch(&t, &groups[0], k);
    for (size_t from = 0; from < n; from += MANY) {
        const group *now = &groups[from / MANY % 2];
        group *next = &groups[from / MANY % 2 ^ 1];
        place_group(next, &t, keys, from + MANY, n);
        for (size_t i = 0; i < now->n; i++) {
            fetch(&t, next, i);
            counts[from + i] = count_seen(&t, &now->spots[i]);
        }
    }
}

/* ---- Adding ------------------------------------------------------------ */

/* Filters that grow do so at their capacity. */
static inline uint64_t most_of(const tamis *f)
{
    return may_grow(&f->plan) ? f->plan.capacity : UINT64_MAX;
}

static tamis_status try_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    const table t = table_of(f);
    const uint64_t most = most_of(f);
    group groups[2];

    *added = 0;
    place_group(&groups[0], &t, keys, 0, n);
    for (size_t k = 0; k < groups[0].n; k++)
        fetch_to_change(&t, &groups[0], k);
    for (size_t from = 0; from < n; from += MANY) {
        const group *now = &groups[from / MANY % 2];
        group *next = &groups[from / MANY % 2 ^ 1];
        place_group(next, &t, keys, from + MANY, n);
        for (size_t i = 0; i < now->n; i++, ++*added) {
            fetch_to_change(&t, next, i);
            if (f->count >= most || add_copy(&t, &now->spots[i], NULL, &f->count))
                return TAMIS_FULL;
        }
    }
    return TAMIS_OK;
}

/* More than reach the ceiling need no room. */
static tamis_status add_times(tamis *f, uint64_t key, uint64_t times)
{
    const table t = table_of(f);
    spot at = spot_of(&t, place(key, t.salt));
    journal j = { .n = 0 };
    uint64_t stored = 0;

    for (uint64_t i = 0; i < times && i < CEILING; i++) {
        if (f->count + stored >= most_of(f) || add_copy(&t, &at, times > 1 ? &j : NULL, &stored)) {
            undo(&j, 0);
            return TAMIS_FULL;
        }
    }
    f->count += stored;
    return TAMIS_OK;
}

/* ---- Removing ---------------------------------------------------------- */

/* From the key's own bucket first: what is in the other one may be of a key that is at home there,
 * and never looks here. */
static inline bool take_copy(const table *t, const spot *at)
{
    if (take(t, at))
        return true;
    if (!is_marked(t, line_of(t, at), at->bucket))
        return false;
    spot other = other_of(t, at);
    return take(t, &other);
}

static inline tamis_status remove_at(tamis *f, const table *t, const spot *at, uint64_t times)
{
    unsigned n = count_seen(t, at);

    if (n == CEILING)
        return TAMIS_OK;
    if (n < times)
        return TAMIS_ABSENT;
    for (uint64_t i = 0; i < times; i++)
        take_copy(t, at);
    f->count -= times;
    return TAMIS_OK;
}

static tamis_status remove_times(tamis *f, uint64_t key, uint64_t times)
{
    const table t = table_of(f);
    spot at = spot_of(&t, place(key, t.salt));

    return remove_at(f, &t, &at, times);
}

static size_t remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    const table t = table_of(f);
    group groups[2];
    size_t removed = 0;

    place_group(&groups[0], &t, keys, 0, n);
    for (size_t k = 0; k < groups[0].n; k++)
        fetch_to_change(&t, &groups[0], k);
    for (size_t from = 0; from < n; from += MANY) {
        const group *now = &groups[from / MANY % 2];
        group *next = &groups[from / MANY % 2 ^ 1];
        place_group(next, &t, keys, from + MANY, n);
        for (size_t i = 0; i < now->n; i++) {
            fetch_to_change(&t, next, i);
            removed += !remove_at(f, &t, &now->spots[i], 1);
        }
    }
    return removed;
}

const morton_kernels MORTON_KERNELS = {
    .batch = { .has = has,
               .has_many = has_many,
               .try_add_many = try_add_many,
               .remove_many = remove_many,
               .count_many = count_many },
    .count = count,
    .add_times = add_times,
    .remove_times = remove_times,
};
