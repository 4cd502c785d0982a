/* morton_template.h - TEMPLATE, compiled once for each CPU: lookups and changes, one by one and in
 * batches. It needs no macro: the compiler's options choose the instructions. */
#include "cuckoo/cuckoo_group.h"
#include "cuckoo/morton_moves_template.h"

/* ---- One key ----------------------------------------------------------- */

__attribute__((noinline)) static bool morton_has_elsewhere(const tamis *f, uint64_t key)
{
    const morton_table t = morton_of(f);
    morton_position p = morton_position_of(&t, hash_key(key, t.salt)), other = morton_other(&t, &p);

    return morton_find(&t, &other).bits != 0;
}

/* One key in nine has to be looked for in its other bucket. That begins anew, so that nothing is
 * kept for it. One branch tells: two would be mispredicted more often. */
__attribute__((always_inline)) static inline bool morton_has_as(const tamis *f, uint64_t key,
                                                                bool narrow)
{
    const morton_table t = morton_of(f);
    morton_position p = morton_position_of(&t, hash_key(key, t.salt));
    uint64_t here = morton_holds(&t, &p, narrow);
    uint64_t is_final = here | !morton_is_marked(&t, p.block, p.bucket);

    return is_final ? cuckoo_group_guess(here) : morton_has_elsewhere(f, key);
}

static bool morton_has_narrow(const tamis *f, uint64_t key)
{
    return morton_has_as(f, key, true);
}

static bool morton_has_wide(const tamis *f, uint64_t key)
{
    return morton_has_as(f, key, false);
}

/* How often a key was added, as far as it can be told. Its other bucket counts if its own is
 * marked. */
static inline unsigned morton_count_seen(const morton_table *t, const morton_position *p)
{
    unsigned n = morton_copies(t, p);

    if (morton_is_marked(t, p->block, p->bucket)) {
        morton_position other = morton_other(t, p);
        n += morton_copies(t, &other);
    }
    return n < MORTON_CEILING ? n : MORTON_CEILING;
}

static uint64_t morton_count(const tamis *f, uint64_t key)
{
    const morton_table t = morton_of(f);
    morton_position p = morton_position_of(&t, hash_key(key, t.salt));

    return morton_count_seen(&t, &p);
}

/* Filters that grow do so at their capacity. */
static inline uint64_t morton_most(const tamis *f)
{
    return f->plan.flags & TAMIS_PLAN_GROWS ? f->plan.capacity : UINT64_MAX;
}

static inline void morton_add_surplus(const morton_table *t, const morton_position *p,
                                      uint64_t times)
{
    const surplus s = morton_surplus_of(t);

    tamis__surplus_add(&s, morton_class(t, p), times);
}

/* All or none. Those beyond the ceiling need no room. */
static tamis_status morton_add_copies(tamis *f, const morton_table *t, const morton_position *p,
                                      uint64_t times)
{
    moves_word words[MORTON_CEILING * MORTON_ADD_BLOCKS * MORTON_LINE / 8];
    moves_journal j = { words, 0 };
    uint64_t stored = 0;

    for (uint64_t i = 0; i < times && i < MORTON_CEILING && stored == i; i++)
        if (f->count + stored >= morton_most(f) || morton_add_copy(t, p, &j, &stored)) {
            moves_undo(&j, 0);
            return TAMIS_FULL;
        }
    f->count += stored;
    if (times > stored)
        morton_add_surplus(t, p, times - stored);
    return TAMIS_OK;
}

static tamis_status morton_add_one(const morton_table *t, const morton_position *p, uint64_t *held)
{
    uint64_t stored = 0;
    tamis_status status = morton_add_copy(t, p, NULL, &stored);

    *held += stored;
    if (!status && !stored)
        morton_add_surplus(t, p, 1);
    return status;
}

__attribute__((noinline)) static tamis_status morton_add_slowly(tamis *f, uint64_t key,
                                                                uint64_t times)
{
    const morton_table t = morton_of(f);
    morton_position p = morton_position_of(&t, hash_key(key, t.salt));

    return times > 1 ? morton_add_copies(f, &t, &p, times) : morton_add_one(&t, &p, &f->count);
}

static tamis_status morton_add(tamis *f, uint64_t key, uint64_t times)
{
    const morton_table t = morton_of(f);
    morton_position p = morton_position_of(&t, hash_key(key, t.salt));

    if (times == 1 && f->count >= morton_most(f))
        return TAMIS_FULL;
    if (times > 1 || !morton_try_simply(&t, &p))
        return morton_add_slowly(f, key, times);
    f->count++;
    return TAMIS_OK;
}

/* From the key's own bucket first: a copy in the other may be of a key that has it as its first
 * bucket, and never looks here. */
static inline void morton_take_copy(const morton_table *t, const morton_position *p)
{
    if (morton_take(t, p))
        return;
    morton_position other = morton_other(t, p);
    morton_take(t, &other);
}

__attribute__((noinline)) static tamis_status morton_remove_copies(const morton_table *t,
                                                                   const morton_position *p,
                                                                   uint64_t times, uint64_t *held)
{
    const surplus s = morton_surplus_of(t);

    if (!tamis__surplus_remove(&s, morton_class(t, p), morton_count_seen(t, p), MORTON_CEILING,
                               &times))
        return TAMIS_ABSENT;
    for (uint64_t i = 0; i < times; i++)
        morton_take_copy(t, p);
    *held -= times;
    return TAMIS_OK;
}

__attribute__((noinline)) static tamis_status morton_remove_slowly(tamis *f, uint64_t key,
                                                                   uint64_t times)
{
    const morton_table t = morton_of(f);
    morton_position p = morton_position_of(&t, hash_key(key, t.salt));

    return morton_remove_copies(&t, &p, times, &f->count);
}

/* A fingerprint that is at the ceiling is in marked buckets; in others, there is no surplus. */
static tamis_status morton_remove(tamis *f, uint64_t key, uint64_t times)
{
    const morton_table t = morton_of(f);
    morton_position p = morton_position_of(&t, hash_key(key, t.salt));

    if (times > 1 || morton_is_marked(&t, p.block, p.bucket))
        return morton_remove_slowly(f, key, times);
    if (!morton_take(&t, &p))
        return TAMIS_ABSENT;
    f->count--;
    return TAMIS_OK;
}

#include "cuckoo/morton_many_template.h"

/* ---- The functions of a filter ----------------------------------------- */

static void morton_use(tamis *f)
{
    f->ops.has = f->plan.width < MORTON_WIDE ? morton_has_narrow : morton_has_wide;
    f->ops.count = morton_count;
    f->ops.add = morton_add;
    f->ops.remove = morton_remove;
    f->ops.has_many = morton_has_many;
    f->ops.count_many = morton_count_many;
    f->ops.add_many = morton_add_many;
    f->ops.remove_many = morton_remove_many;
}
