/* aleph_template.h - TEMPLATE, compiled once for each CPU, without macros: lookups and changes of
 * aleph, of one key and of many. */
#include "quotient/aleph.h"

/* ---- One fingerprint --------------------------------------------------- */

static inline void aleph_add_in_order(const shards_position *at)
{
    runs_run r = runs_find(at->t, at->quotient);
    uint64_t i = aleph_slot_after(at->t, &r, aleph_fresh(at));

    runs_open_slot(at->t, at->quotient, &r, i);
    runs_put_slot(at->t, i, aleph_fresh(at));
}

/* In a table that may use `room` slots. */
static inline tamis_status aleph_add_at(shards_position at, uint64_t room)
{
    uint64_t used = runs_used(at.t);

    if (used >= room)
        return TAMIS_FULL;
    if (!runs_add_at_home(at.t, at.quotient, aleph_fresh(&at)))
        aleph_add_in_order(&at);
    runs_put_used(at.t, used + 1);
    return TAMIS_OK;
}

/* The longest that covers it goes: shorter ones cover whatever that one did. Of a void that is all
 * over the table, the one that this key would be looked for in. */
static inline bool aleph_remove_at(shards_position at)
{
    runs_run r = runs_find(at.t, at.quotient);
    uint64_t after = r.is_there ? aleph_find_longest(at.t, &r, aleph_fresh(&at)) : 0;

    if (!after)
        return false;
    runs_close_slot(at.t, at.quotient, &r, after - 1);
    runs_put_used(at.t, runs_used(at.t) - 1);
    return true;
}

/* ---- One key ----------------------------------------------------------- */

/* All of a run is compared at once, as aleph_covers() does it. */
__attribute__((always_inline)) static inline int aleph_look(const lanes *l, const runs_place *at)
{
    runs_near r = runs_near_of(l, at->block, at->quotient);
    uint64_t differs = (r.slots ^ l->lows * (at->wanted | 1)) & ~(r.slots ^ (r.slots - l->lows));

    if (!(r.is_occupied & (r.is_odd | (runs_near_zero(l, &r, differs) != 0))))
        return 0;
    return r.is_odd ? -1 : 1;
}

__attribute__((noinline)) static bool aleph_has_odd(const tamis *f, uint64_t key)
{
    shards s = aleph_of(f);
    shards_position at = shards_position_of(&s, hash_key(key, s.salt));
    runs_run r = runs_find(at.t, at.quotient);

    return r.is_there && aleph_find_longest(at.t, &r, aleph_fresh(&at));
}

static bool aleph_has(const tamis *f, uint64_t key)
{
    return shards_has(f, aleph_of(f), key, aleph_look, aleph_has_odd);
}

static size_t aleph_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return shards_has_many(f, aleph_of(f), hits, keys, n, aleph_look, aleph_has_odd);
}

static tamis_status aleph_add(tamis *f, uint64_t key, uint64_t times)
{
    shards s = aleph_of(f);
    tamis_status status = aleph_add_at(shards_position_of(&s, hash_key(key, s.salt)), s.room);

    (void)times;
    f->count += !status;
    return status;
}

/* Copies of voids stay when the keys that they stood for are gone: they are nobody's to remove. */
static tamis_status aleph_remove(tamis *f, uint64_t key, uint64_t times)
{
    shards s = aleph_of(f);

    (void)times;
    if (f->count == 0 || !aleph_remove_at(shards_position_of(&s, hash_key(key, s.salt))))
        return TAMIS_ABSENT;
    f->count--;
    return TAMIS_OK;
}

/* ---- Many changes ------------------------------------------------------ */

static tamis_status aleph_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    shards s = aleph_of(f);
    uint64_t hashes[MANY];
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n && !status; *added += !status)
        status = aleph_add_at(shards_position_ahead(hashes, &s, keys, *added, n), s.room);
    f->count += *added;
    return status;
}

static size_t aleph_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    shards s = aleph_of(f);
    uint64_t hashes[MANY];
    size_t removed = 0;

    for (size_t i = 0; i < n && removed < f->count; i++)
        removed += aleph_remove_at(shards_position_ahead(hashes, &s, keys, i, n));
    f->count -= removed;
    return removed;
}
