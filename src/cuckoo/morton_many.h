/* morton_many.h - lookups and changes, a template for the kernels: what instructions they are made
 * of is up to the options of the file that includes it, which names the table of them
 * MORTON_KERNELS.
 *
 * In batches, the blocks of the next 64 keys are on their way while those of one group are looked
 * at. Keys that have to be looked for in their other bucket wait for one group more, until its
 * block is there. */
#include "base/many.h"
#include "cuckoo/morton_moves.h"

/* ---- Lookups ----------------------------------------------------------- */

/* How often a key was added, as far as it can be told: its other bucket counts if its own has ever
 * been left. */
static inline unsigned count_seen(const table *t, const spot *at)
{
    unsigned n = copies_at(t, at);

    if (is_marked(t, line_of(t, at), at->bucket)) {
        spot other = other_of(t, at);
        n += copies_at(t, &other);
    }
    return n < CEILING ? n : CEILING;
}

static bool has(const tamis *f, uint64_t key)
{
    const table t = table_of(f);
    spot at = spot_of(&t, hash_key(key, t.salt));

    if (find_at(&t, &at).bits)
        return true;
    if (!is_marked(&t, line_of(&t, &at), at.bucket))
        return false;
    at = other_of(&t, &at);
    return find_at(&t, &at).bits != 0;
}

static uint64_t count(const tamis *f, uint64_t key)
{
    const table t = table_of(f);
    spot at = spot_of(&t, hash_key(key, t.salt));

    return count_seen(&t, &at);
}

/* ---- Groups of keys ---------------------------------------------------- */

/* A spot, with the block instead of the home. */
typedef struct seat {
    uint8_t *b;
    uint32_t bucket, print;
} seat;

static inline seat seat_at(const table *t, const spot *at)
{
    return (seat){ line_of(t, at), at->bucket, at->print };
}

static inline spot spot_at_seat(const table *t, const seat *at)
{
    return (spot){ (uint64_t)(at->b - t->at) / LINE >> t->doublings, at->bucket, at->print };
}

static inline seat other_seat(const table *t, const seat *at)
{
    spot here = spot_at_seat(t, at), other = other_of(t, &here);

    return seat_at(t, &other);
}

static inline uint32_t stored_at(const table *t, const seat *at)
{
    return (uint32_t)lowest(at->print, t->s.width);
}

__attribute__((always_inline)) static inline bool is_at(const table *t, const seat *at)
{
    return find(t, at->b, counters_of(t, at->b), at->bucket, stored_at(t, at)).bits != 0;
}

typedef struct group {
    seat seats[MANY];
    size_t n;
} group;

/* A function of its own, like others here that do one thing to a group: so the compiler has
 * registers for all that it needs. */
__attribute__((noinline)) static void place_group(group *g, const table *t, const uint64_t *keys,
                                                  size_t from, size_t n)
{
    const table own = *t;

    g->n = many_group(from, n);
    for (size_t i = 0; i < g->n; i++) {
        spot at = spot_of(&own, hash_key(keys[from + i], own.salt));
        g->seats[i] = seat_at(&own, &at);
    }
}

/* ---- Many lookups ------------------------------------------------------ */

/* Keys of a group that wait for their other bucket. */
typedef struct waiting {
    seat others[MANY];
    uint8_t at[MANY];
    size_t n;
} waiting;

__attribute__((noinline)) static uint64_t look_at_group(waiting *w, const table *t, const group *g,
                                                        const group *next)
{
    const table own = *t;
    uint64_t word = 0, later = 0;

    for (size_t i = 0; i < g->n; i++) {
        const seat *at = &g->seats[i];
        if (i < next->n)
            __builtin_prefetch(next->seats[i].b, 0, 3);
        word |= (uint64_t)is_at(&own, at) << i;
        later |= (uint64_t)is_marked(&own, at->b, at->bucket) << i;
    }
    w->n = 0;
    for (later &= ~word; later; later &= later - 1) {
        unsigned i = (unsigned)__builtin_ctzll(later);
        seat other = other_seat(t, &g->seats[i]);
        __builtin_prefetch(other.b, 0, 3);
        w->at[w->n] = (uint8_t)i;
        w->others[w->n++] = other;
    }
    return word;
}

__attribute__((noinline)) static uint64_t look_later(const waiting *w, const table *t)
{
    const table own = *t;
    uint64_t word = 0;

    for (size_t i = 0; i < w->n; i++)
        word |= (uint64_t)is_at(&own, &w->others[i]) << w->at[i];
    return word;
}

static size_t look_at_all(const table *t, uint64_t *hits, const uint64_t *keys, size_t n)
{
    group groups[2];
    waiting waits[2];
    size_t n_hits = 0, i = 0;

    waits[1].n = 0;
    place_group(&groups[0], t, keys, 0, n);
    for (size_t k = 0; k < groups[0].n; k++)
        __builtin_prefetch(groups[0].seats[k].b, 0, 3);
    for (size_t from = 0; from < n + MANY; from += MANY, i++) {
        group *next = &groups[(i + 1) % 2];
        uint64_t word = 0;
        place_group(next, t, keys, from + MANY, n);
        if (from < n)
            word = look_at_group(&waits[i % 2], t, &groups[i % 2], next);
        if (i) {
            hits[i - 1] |= look_later(&waits[(i + 1) % 2], t);
            n_hits += (size_t)__builtin_popcountll(hits[i - 1]);
        }
        if (from < n)
            hits[i] = word;
    }
    return n_hits;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const table t = table_of(f);

    return look_at_all(&t, hits, keys, n);
}

/* ---- What may take two blocks ------------------------------------------ */

/* What is done to each key, in order; false: no more. */
typedef bool act(void *self, const table *t, const seat *at, size_t i);

/* Whether the other bucket will be read, or, by adds, changed. A block whose last byte is not zero
 * is full. */
__attribute__((always_inline)) static inline bool is_crowded(const table *t, const seat *at,
                                                             bool adds)
{
    counters c = counters_of(t, at->b);
    bool is_full = (c.low & c.high) >> at->bucket & 1;

    return is_marked(t, at->b, at->bucket) | (adds & (is_full | (at->b[LINE - 1] != 0)));
}

__attribute__((always_inline)) static inline void fetch_others(const table *t, const group *g,
                                                               bool adds)
{
    for (size_t i = 0; i < g->n; i++)
        if (is_crowded(t, &g->seats[i], adds))
            __builtin_prefetch(other_seat(t, &g->seats[i]).b, 1, 3);
}

__attribute__((always_inline)) static inline size_t
do_to_group(const table *t, const group *g, const group *next, size_t from, act *what, void *self)
{
    const table own = *t;
    size_t most = g->n > next->n ? g->n : next->n;

    for (size_t i = 0; i < most; i++) {
        if (i < next->n)
            __builtin_prefetch(next->seats[i].b, 1, 3);
        if (i < g->n && !what(self, &own, &g->seats[i], from + i))
            return i;
    }
    return g->n;
}

/* One group is asked for, of the one before other blocks may be asked for as well, and the one
 * before that is done. Returns how many keys were. */
__attribute__((always_inline)) static inline size_t
do_to_all(const table *t, const uint64_t *keys, size_t n, bool adds, act *what, void *self)
{
    group groups[3];
    size_t done = 0;

    groups[1].n = groups[2].n = 0;
    for (size_t from = 0, k = 0; from < n + 2 * MANY; from += MANY, k++) {
        group *next = &groups[k % 3], *now = &groups[(k + 2) % 3], *last = &groups[(k + 1) % 3];
        place_group(next, t, keys, from, n);
        fetch_others(t, now, adds);
        size_t here = do_to_group(t, last, next, done, what, self);
        done += here;
        if (here < last->n)
            break;
    }
    return done;
}

static unsigned count_at_seat(const table *t, const seat *at)
{
    spot here = spot_at_seat(t, at);

    return count_seen(t, &here);
}

/* A filter that is changed, or what is asked of it. What does not go the short way is done with a
 * table that the rest does not look at: what has an address is read again after each change. */
typedef struct batch_of {
    const table *t;
    uint64_t *counts;
    uint64_t held, most, removed;
} batch_of;

__attribute__((always_inline)) static inline bool count_it(void *self, const table *t,
                                                           const seat *at, size_t i)
{
    batch_of *x = self;

    (void)t;
    x->counts[i] = count_at_seat(x->t, at);
    return true;
}

static void count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    const table t = table_of(f);
    batch_of x = { .t = &t, .counts = counts };

    do_to_all(&t, keys, n, false, count_it, &x);
}

/* ---- Adding ------------------------------------------------------------ */

/* Filters that grow do so at their capacity. */
static inline uint64_t most_of(const tamis *f)
{
    return may_grow(&f->plan) ? f->plan.capacity : UINT64_MAX;
}

__attribute__((noinline)) static tamis_status add_seat(const table *t, const seat *at,
                                                       uint64_t *stored)
{
    spot here = spot_at_seat(t, at);

    return add_copy(t, &here, NULL, stored);
}

__attribute__((always_inline)) static inline bool add_it(void *self, const table *t, const seat *at,
                                                         size_t i)
{
    batch_of *x = self;

    (void)i;
    if (x->held >= x->most)
        return false;
    if (!try_simply(t, at->b, at->bucket, stored_at(t, at)))
        return add_seat(x->t, at, &x->held) == TAMIS_OK;
    x->held++;
    return true;
}

static tamis_status add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    const table t = table_of(f);
    batch_of x = { .t = &t, .held = f->count, .most = most_of(f) };

    *added = do_to_all(&t, keys, n, true, add_it, &x);
    f->count = x.held;
    return *added < n ? TAMIS_FULL : TAMIS_OK;
}

/* All or none; more than reach the ceiling need no room. */
static tamis_status add_copies(tamis *f, const table *t, const spot *at, uint64_t times)
{
    journal j;
    uint64_t stored = 0;

    j.n = 0;
    for (uint64_t i = 0; i < times && i < CEILING; i++)
        if (f->count + stored >= most_of(f) || add_copy(t, at, &j, &stored)) {
            undo(&j, 0);
            return TAMIS_FULL;
        }
    f->count += stored;
    return TAMIS_OK;
}

static tamis_status add(tamis *f, uint64_t key, uint64_t times)
{
    const table t = table_of(f);
    spot at = spot_of(&t, hash_key(key, t.salt));

    if (times > 1)
        return add_copies(f, &t, &at, times);
    return f->count < most_of(f) ? add_copy(&t, &at, NULL, &f->count) : TAMIS_FULL;
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

static tamis_status remove_copies(const table *t, const spot *at, uint64_t times, uint64_t *held)
{
    unsigned n = count_seen(t, at);

    if (n == CEILING)
        return TAMIS_OK;
    if (n < times)
        return TAMIS_ABSENT;
    for (uint64_t i = 0; i < times; i++)
        take_copy(t, at);
    *held -= times;
    return TAMIS_OK;
}

__attribute__((noinline)) static bool remove_seat(const table *t, const seat *at, uint64_t *held)
{
    spot here = spot_at_seat(t, at);

    return remove_copies(t, &here, 1, held) == TAMIS_OK;
}

static tamis_status remove_key(tamis *f, uint64_t key, uint64_t times)
{
    const table t = table_of(f);
    spot at = spot_of(&t, hash_key(key, t.salt));

    return remove_copies(&t, &at, times, &f->count);
}

/* What is at the ceiling is in marked buckets. */
__attribute__((always_inline)) static inline bool remove_it(void *self, const table *t,
                                                            const seat *at, size_t i)
{
    batch_of *x = self;
    bool ok;

    (void)i;
    if (is_marked(t, at->b, at->bucket)) {
        ok = remove_seat(x->t, at, &x->held);
    } else {
        ok = take_from(t, at->b, at->bucket, stored_at(t, at));
        x->held -= ok;
    }
    x->removed += ok;
    return true;
}

static size_t remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    const table t = table_of(f);
    batch_of x = { .t = &t, .held = f->count };

    do_to_all(&t, keys, n, false, remove_it, &x);
    f->count = x.held;
    return x.removed;
}

static void use_kernels(tamis_ops *ops)
{
    ops->has = has;
    ops->count = count;
    ops->add = add;
    ops->remove = remove_key;
    ops->has_many = has_many;
    ops->count_many = count_many;
    ops->add_many = add_many;
    ops->remove_many = remove_many;
}
