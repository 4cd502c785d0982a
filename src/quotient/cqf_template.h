/* cqf_template.h - TEMPLATE, compiled once for each CPU, without macros: lookups and changes of
 * cqf, of one key and of many, and the choice of all that depends on the CPU.
 *
 * Adds that are many beside the table are sorted, and merged with what it holds. Removes are sorted
 * too, so that each finds in the cache what the one before has left there. Few of either go key by
 * key, a group of blocks ahead of the next. */

#include "quotient/cqf_merge_template.h"
#include "quotient/cqf_remove_template.h"

/* ---- Lookups ----------------------------------------------------------- */

/* Most of what is asked for is not there. The first slot of a run is a remainder; what is equal
 * later on may be a digit. */
__attribute__((always_inline)) static inline int cqf_look(const lanes *l, const runs_place *at)
{
    runs_near r = runs_near_of(l, at->block, at->quotient);
    uint64_t differs = r.slots ^ l->lows * at->wanted;

    if (!(r.is_occupied & (r.is_odd | (runs_near_zero(l, &r, differs) != 0))))
        return 0;
    bool is_first = ((uint32_t)differs & packed_mask(l->width)) == 0;
    return !r.is_odd && (is_first | runs_near_ascends(l, &r)) ? 1 : -1;
}

static uint64_t cqf_count(const tamis *f, uint64_t key)
{
    shards s = shards_of(f);

    return cqf_count_at(shards_position_of(&s, hash_key(key, s.salt)));
}

__attribute__((noinline)) static bool cqf_has_odd(const tamis *f, uint64_t key)
{
    return cqf_count(f, key) != 0;
}

/* With remainders of a byte, which the compiler knows. */
MANY_INLINE shards cqf_shards_of_bytes(const tamis *f)
{
    shards s = shards_of(f);

    s.width = 8;
    s.lanes = lanes_of(8);
    return s;
}

static bool cqf_has(const tamis *f, uint64_t key)
{
    return shards_has(f, shards_of(f), key, cqf_look, cqf_has_odd);
}

static size_t cqf_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return shards_has_many(f, shards_of(f), hits, keys, n, cqf_look, cqf_has_odd);
}

static bool cqf_has_bytes(const tamis *f, uint64_t key)
{
    return shards_has(f, cqf_shards_of_bytes(f), key, cqf_look, cqf_has_odd);
}

static size_t cqf_has_many_bytes(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return shards_has_many(f, cqf_shards_of_bytes(f), hits, keys, n, cqf_look, cqf_has_odd);
}

static void cqf_count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    shards s = shards_of(f);
    uint64_t hashes[MANY];

    for (size_t i = 0; i < n; i++)
        counts[i] = cqf_count_at(shards_position_ahead(hashes, &s, keys, i, n));
}

/* ---- One key ----------------------------------------------------------- */

static tamis_status cqf_add(tamis *f, uint64_t key, uint64_t times)
{
    shards s = shards_of(f);
    shards_position at = shards_position_of(&s, hash_key(key, s.salt));
    uint64_t total;

    if (add_overflows(f->count, times, &total))
        return TAMIS_FULL;
    tamis_status status = times == 1 ? cqf_add_one_at(at, s.room) : cqf_add_at(at, s.room, times);
    if (!status)
        f->count = total;
    return status;
}

static tamis_status cqf_remove(tamis *f, uint64_t key, uint64_t times)
{
    shards s = shards_of(f);
    tamis_status status = cqf_remove_at(shards_position_of(&s, hash_key(key, s.salt)), times);

    if (!status)
        f->count -= times;
    return status;
}

/* ---- One after the other ----------------------------------------------- */

/* Whoever holds a lock may have lost the processor: let it go on. */
static tamis_status cqf_add_locked(shards_position at, uint64_t room)
{
    uint32_t *lock = (uint32_t *)(void *)(at.t.at - RUNS_HEADER + CQF_LOCK);

    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(lock, __ATOMIC_RELAXED))
            tamis__yield();
    tamis_status status = cqf_add_one_at(at, room);
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
    return status;
}

/* Does not change f->count. */
__attribute__((always_inline)) static inline tamis_status
cqf_add_each(const tamis *f, size_t *added, const uint64_t *keys, size_t n, bool locks)
{
    shards s = shards_of(f);
    uint64_t hashes[MANY];
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n; ++*added) {
        shards_position at = shards_position_ahead(hashes, &s, keys, *added, n);
        status = locks ? cqf_add_locked(at, s.room) : cqf_add_one_at(at, s.room);
        if (status)
            break;
    }
    return status;
}

static tamis_status cqf_add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    tamis_status status = cqf_add_each(f, added, keys, n, true);

    __atomic_fetch_add(&f->count, *added, __ATOMIC_RELAXED);
    return status;
}

/* ---- Many changes ------------------------------------------------------ */

/* A pass over the table takes as long as single adds of one key for 16 slots. */
enum { CQF_SLOTS_A_KEY = 16 };

/* Keys that may not all fit go in one by one, in order. */
static tamis_status cqf_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    bool pays = n >= CQF_LEAST_SORTED && n >= f->plan.slots / CQF_SLOTS_A_KEY &&
                shards_bits(f->plan.slots) <= CQF_MOST_SHARD_BITS;

    if (pays && cqf_merge_many(f, keys, n)) {
        *added = n;
        return TAMIS_OK;
    }
    tamis_status status = cqf_add_each(f, added, keys, n, false);
    f->count += *added;
    return status;
}

static size_t cqf_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    return cqf_remove_all(f, keys, n, 0, cqf_remove_some);
}

/* ---- The choice of code ------------------------------------------------ */

static void cqf_use(tamis_ops *ops, unsigned width)
{
    ops->has = width == 8 ? cqf_has_bytes : cqf_has;
    ops->count = cqf_count;
    ops->add = cqf_add;
    ops->remove = cqf_remove;
    ops->has_many = width == 8 ? cqf_has_many_bytes : cqf_has_many;
    ops->count_many = cqf_count_many;
    ops->add_many = cqf_add_many;
    ops->remove_many = cqf_remove_many;
    ops->add_concurrent = cqf_add_concurrent;
}
