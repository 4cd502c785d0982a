/* cqf_lookup_template.h - TEMPLATE, compiled once for each CPU in cqf_template.h, without macros:
 * lookups of cqf, of one key and of many. */
#include "quotient/cqf.h"

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

static bool cqf_has(const tamis *f, uint64_t key)
{
    const shards s = shards_of(f);

    return runs_has(f, &s, &s.lanes, key, shards_locate, cqf_look, cqf_has_odd);
}

static size_t cqf_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const shards s = shards_of(f);

    return runs_has_many(f, &s, &s.lanes, hits, keys, n, shards_locate, cqf_look, cqf_has_odd);
}

/* With remainders of a byte, which the compiler knows. */
__attribute__((always_inline)) static inline shards cqf_shards_of_bytes(const tamis *f)
{
    shards s = shards_of(f);

    s.width = 8;
    s.lanes = lanes_of(8);
    return s;
}

static bool cqf_has_bytes(const tamis *f, uint64_t key)
{
    const shards s = cqf_shards_of_bytes(f);

    return runs_has(f, &s, &s.lanes, key, shards_locate, cqf_look, cqf_has_odd);
}

static size_t cqf_has_many_bytes(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const shards s = cqf_shards_of_bytes(f);

    return runs_has_many(f, &s, &s.lanes, hits, keys, n, shards_locate, cqf_look, cqf_has_odd);
}

static void cqf_count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    shards s = shards_of(f);
    uint64_t hashes[MANY];

    for (size_t i = 0; i < n; i++)
        counts[i] = cqf_count_at(shards_position_ahead(hashes, &s, keys, i, n));
}
