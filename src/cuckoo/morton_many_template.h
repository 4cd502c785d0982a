/* morton_many_template.h - TEMPLATE, part of morton_template.h: keys in batches. The blocks of the
 * next 64 keys are on their way while those of one group are looked at. Keys that have to be looked
 * for in their other bucket wait for one group more, until its block is there. */
#include "base/many.h"
#include "cuckoo/morton_change.h"

/* ---- Many lookups ------------------------------------------------------ */

typedef struct morton_group {
    morton_position keys[MANY];
    size_t n;
} morton_group;

/* Not inlined, like others that do one thing to a group: then there are registers for all. */
__attribute__((noinline)) static void morton_hash_group(morton_group *g, const morton_table *t,
                                                        const uint64_t *keys, size_t from, size_t n)
{
    const morton_table own = *t;

    g->n = many_group(from, n);
    for (size_t i = 0; i < g->n; i++)
        g->keys[i] = morton_position_of(&own, hash_key(keys[from + i], own.salt));
}

/* Keys of a group that wait for their other bucket. */
typedef struct morton_waiting {
    morton_position others[MANY];
    uint8_t at[MANY];
    size_t n;
} morton_waiting;

typedef uint64_t morton_look(morton_waiting *w, const morton_table *t, const morton_group *g,
                             const morton_group *next);

__attribute__((always_inline)) static inline uint64_t
morton_look_at_group(morton_waiting *w, const morton_table *t, const morton_group *g,
                     const morton_group *next, bool narrow)
{
    const morton_table own = *t;
    uint64_t word = 0, later = 0;

    for (size_t i = 0; i < g->n; i++) {
        const morton_position *p = &g->keys[i];
        if (i < next->n)
            ahead_read(next->keys[i].block, own.is_far);
        word |= (uint64_t)(morton_holds(&own, p, narrow) != 0) << i;
        later |= (uint64_t)morton_is_marked(&own, p->block, p->bucket) << i;
    }
    w->n = 0;
    for (later &= ~word; later; later &= later - 1) {
        unsigned i = (unsigned)__builtin_ctzll(later);
        morton_position other = morton_other(t, &g->keys[i]);
        ahead_read(other.block, t->is_far);
        w->at[w->n] = (uint8_t)i;
        w->others[w->n++] = other;
    }
    return word;
}

__attribute__((noinline)) static uint64_t morton_look_narrow(morton_waiting *w,
                                                             const morton_table *t,
                                                             const morton_group *g,
                                                             const morton_group *next)
{
    return morton_look_at_group(w, t, g, next, true);
}

__attribute__((noinline)) static uint64_t morton_look_wide(morton_waiting *w, const morton_table *t,
                                                           const morton_group *g,
                                                           const morton_group *next)
{
    return morton_look_at_group(w, t, g, next, false);
}

__attribute__((noinline)) static uint64_t morton_look_later(const morton_waiting *w,
                                                            const morton_table *t)
{
    const morton_table own = *t;
    uint64_t word = 0;

    for (size_t i = 0; i < w->n; i++)
        word |= (uint64_t)(morton_find(&own, &w->others[i]).bits != 0) << w->at[i];
    return word;
}

static size_t morton_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const morton_table t = morton_of(f);
    morton_group groups[2];
    morton_waiting waits[2];
    morton_look *look = t.s.width < MORTON_WIDE ? morton_look_narrow : morton_look_wide;
    size_t n_hits = 0, i = 0;

    waits[1].n = 0;
    morton_hash_group(&groups[0], &t, keys, 0, n);
    for (size_t k = 0; k < groups[0].n; k++)
        ahead_read(groups[0].keys[k].block, t.is_far);
    for (size_t from = 0; from < n + MANY; from += MANY, i++) {
        morton_group *next = &groups[(i + 1) % 2];
        uint64_t word = 0;
        morton_hash_group(next, &t, keys, from + MANY, n);
        if (from < n)
            word = look(&waits[i % 2], &t, &groups[i % 2], next);
        if (i) {
            hits[i - 1] |= morton_look_later(&waits[(i + 1) % 2], &t);
            n_hits += (size_t)__builtin_popcountll(hits[i - 1]);
        }
        if (from < n)
            hits[i] = word;
    }
    return n_hits;
}

/* ---- What may take two blocks ------------------------------------------ */

/* What is done to each key, in order; false: no more. */
typedef bool morton_visit(void *self, const morton_table *t, const morton_position *p, size_t i);

/* Fetches the other buckets that will be read or, by adds, changed. A block whose last byte is not
 * zero is full. */
__attribute__((always_inline)) static inline void
morton_fetch_others(const morton_table *t, const morton_group *g, bool adds)
{
    for (size_t i = 0; i < g->n; i++) {
        const morton_position *p = &g->keys[i];
        morton_counters c = morton_counters_of(t, p->block);
        bool is_full = ((c.low & c.high) >> p->bucket & 1) | (p->block[MORTON_LINE - 1] != 0);
        if (morton_is_marked(t, p->block, p->bucket) | (adds & is_full))
            ahead_write(morton_other(t, p).block, t->is_far);
    }
}

__attribute__((always_inline)) static inline size_t
morton_visit_group(const morton_table *t, const morton_group *g, const morton_group *next,
                   size_t from, morton_visit *visit, void *self)
{
    const morton_table own = *t;
    size_t most = g->n > next->n ? g->n : next->n;

    for (size_t i = 0; i < most; i++) {
        if (i < next->n)
            ahead_write(next->keys[i].block, own.is_far);
        if (i < g->n && !visit(self, &own, &g->keys[i], from + i))
            return i;
    }
    return g->n;
}

/* Three groups are on their way:
 *
 *   fetch first blocks   group 2      group 3      group 4
 *   fetch other blocks   group 1      group 2      group 3
 *   visit                group 0      group 1      group 2
 *
 * Returns how many keys were visited before one was refused. */
__attribute__((always_inline)) static inline size_t morton_visit_all(const morton_table *t,
                                                                     const uint64_t *keys, size_t n,
                                                                     bool adds, morton_visit *visit,
                                                                     void *self)
{
    morton_group groups[3];
    size_t done = 0;

    groups[1].n = groups[2].n = 0;
    for (size_t from = 0, k = 0; from < n + 2 * MANY; from += MANY, k++) {
        morton_group *next = &groups[k % 3], *now = &groups[(k + 2) % 3];
        morton_group *last = &groups[(k + 1) % 3];
        morton_hash_group(next, t, keys, from, n);
        morton_fetch_others(t, now, adds);
        size_t here = morton_visit_group(t, last, next, done, visit, self);
        done += here;
        if (here < last->n)
            break;
    }
    return done;
}

/* What a batch works on. `t` is for functions that are not inlined: a table whose address is taken
 * would be read again after each change. */
typedef struct morton_batch {
    const morton_table *t;
    uint64_t *counts;
    uint64_t held, most, removed;
} morton_batch;

__attribute__((always_inline)) static inline bool
morton_visit_count(void *self, const morton_table *t, const morton_position *p, size_t i)
{
    morton_batch *b = self;

    (void)t;
    b->counts[i] = morton_count_seen(b->t, p);
    return true;
}

static void morton_count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    const morton_table t = morton_of(f);
    morton_batch b = { .t = &t, .counts = counts };

    morton_visit_all(&t, keys, n, false, morton_visit_count, &b);
}

__attribute__((always_inline)) static inline bool
morton_visit_add(void *self, const morton_table *t, const morton_position *p, size_t i)
{
    morton_batch *b = self;

    (void)i;
    if (b->held >= b->most)
        return false;
    if (morton_try_simply(t, p)) {
        b->held++;
        return true;
    }
    return morton_add_one(b->t, p, &b->held) == TAMIS_OK;
}

static tamis_status morton_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    const morton_table t = morton_of(f);
    morton_batch b = { .t = &t, .held = f->count, .most = morton_most(f) };

    *added = morton_visit_all(&t, keys, n, true, morton_visit_add, &b);
    f->count = b.held;
    return *added < n ? TAMIS_FULL : TAMIS_OK;
}

/* As morton_remove(). */
__attribute__((always_inline)) static inline bool
morton_visit_remove(void *self, const morton_table *t, const morton_position *p, size_t i)
{
    morton_batch *b = self;
    uint64_t held = b->held;
    bool ok;

    (void)i;
    if (morton_is_marked(t, p->block, p->bucket)) {
        ok = morton_remove_copies(b->t, p, 1, &held) == TAMIS_OK;
    } else {
        ok = morton_take(t, p);
        held -= ok;
    }
    b->held = held;
    b->removed += ok;
    return true;
}

static size_t morton_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    const morton_table t = morton_of(f);
    morton_batch b = { .t = &t, .held = f->count };

    morton_visit_all(&t, keys, n, false, morton_visit_remove, &b);
    f->count = b.held;
    return (size_t)b.removed;
}
