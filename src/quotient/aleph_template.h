/* aleph_template.h - TEMPLATE, compiled once for each CPU, without macros: lookups and changes of
 * aleph, of one key and of many. */
#include "quotient/aleph.h"
#include "quotient/runs_change.h"
#include "quotient/runs_lookup.h"

/* ---- One fingerprint --------------------------------------------------- */

static inline void aleph_add_in_order(runs_table t, aleph_position at)
{
    runs_run r = runs_find(t, at.quotient);
    uint64_t i = aleph_slot_after(t, &r, at.fresh);

    runs_open_slot(t, at.quotient, &r, i);
    runs_put_slot(t, i, at.fresh);
}

static inline tamis_status aleph_add_at(const aleph_filter *a, aleph_position at)
{
    uint64_t used = runs_used(a->t);

    if (used >= a->room)
        return TAMIS_FULL;
    if (!runs_add_at_home(a->t, at.quotient, at.fresh))
        aleph_add_in_order(a->t, at);
    runs_put_used(a->t, used + 1);
    return TAMIS_OK;
}

/* The longest that covers it goes: shorter ones cover whatever that one did. Of a void that is all
 * over the table, the one that this key would be looked for in. */
static inline bool aleph_remove_at(const aleph_filter *a, aleph_position at)
{
    runs_run r = runs_find(a->t, at.quotient);
    uint64_t after = r.is_there ? aleph_find_longest(a->t, &r, at.fresh) : 0;

    if (!after)
        return false;
    runs_close_slot(a->t, at.quotient, &r, after - 1);
    runs_put_used(a->t, runs_used(a->t) - 1);
    return true;
}

/* ---- One key ----------------------------------------------------------- */

__attribute__((always_inline)) static inline runs_place aleph_locate(const void *self, uint64_t key)
{
    const aleph_filter *a = self;
    aleph_position at = aleph_position_of(a, hash_key(key, a->salt));

    return (runs_place){ .block = runs_home(a->t, at.quotient),
                         .wanted = at.fresh,
                         .quotient = at.quotient % RUNS_BLOCK };
}

/* All of a run is compared at once, as aleph_covers() does it. */
__attribute__((always_inline)) static inline int aleph_look(const lanes *l, const runs_place *at)
{
    runs_near r = runs_near_of(l, at->block, at->quotient);
    uint64_t differs = (r.slots ^ l->lows * at->wanted) & ~(r.slots ^ (r.slots - l->lows));

    if (!(r.is_occupied & (r.is_odd | (runs_near_zero(l, &r, differs) != 0))))
        return 0;
    return r.is_odd ? -1 : 1;
}

__attribute__((noinline)) static bool aleph_has_odd(const tamis *f, uint64_t key)
{
    aleph_filter a = aleph_of(f);
    aleph_position at = aleph_position_of(&a, hash_key(key, a.salt));
    runs_run r = runs_find(a.t, at.quotient);

    return r.is_there && aleph_find_longest(a.t, &r, at.fresh);
}

static bool aleph_has(const tamis *f, uint64_t key)
{
    const aleph_filter a = aleph_of(f);

    return runs_has(f, &a, &a.lanes, key, aleph_locate, aleph_look, aleph_has_odd);
}

static size_t aleph_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const aleph_filter a = aleph_of(f);

    return runs_has_many(f, &a, &a.lanes, hits, keys, n, aleph_locate, aleph_look, aleph_has_odd);
}

static tamis_status aleph_add(tamis *f, uint64_t key, uint64_t times)
{
    aleph_filter a = aleph_of(f);
    tamis_status status = aleph_add_at(&a, aleph_position_of(&a, hash_key(key, a.salt)));

    (void)times;
    f->count += !status;
    return status;
}

/* Copies of voids stay when the keys that they stood for are gone: they are nobody's to remove. */
static tamis_status aleph_remove(tamis *f, uint64_t key, uint64_t times)
{
    aleph_filter a = aleph_of(f);

    (void)times;
    if (f->count == 0 || !aleph_remove_at(&a, aleph_position_of(&a, hash_key(key, a.salt))))
        return TAMIS_ABSENT;
    f->count--;
    return TAMIS_OK;
}

/* ---- Many changes ------------------------------------------------------ */

__attribute__((always_inline)) static inline void aleph_fetch(const void *self, uint64_t hash)
{
    const aleph_filter *a = self;
    uint64_t q = aleph_position_of(a, hash).quotient;

    runs_fetch(runs_home(a->t, q), q % RUNS_BLOCK, a->t.width);
}

static tamis_status aleph_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    aleph_filter a = aleph_of(f);
    uint64_t hashes[MANY];
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n && !status; *added += !status) {
        uint64_t h = runs_hash_ahead(hashes, &a, a.salt, keys, *added, n, aleph_fetch);
        status = aleph_add_at(&a, aleph_position_of(&a, h));
    }
    f->count += *added;
    return status;
}

static size_t aleph_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    aleph_filter a = aleph_of(f);
    uint64_t hashes[MANY];
    size_t removed = 0;

    for (size_t i = 0; i < n && removed < f->count; i++) {
        uint64_t h = runs_hash_ahead(hashes, &a, a.salt, keys, i, n, aleph_fetch);
        removed += aleph_remove_at(&a, aleph_position_of(&a, h));
    }
    f->count -= removed;
    return removed;
}
