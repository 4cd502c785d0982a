/* aqf_template.h - TEMPLATE, compiled once for each CPU, without macros: lookups and changes of
 * aqf. */

#include "quotient/aqf.h"
#include "quotient/runs_lookup.h"

/* ---- Lookups ----------------------------------------------------------- */

static inline aqf_position aqf_position_of_key(const tamis *f, uint64_t key)
{
    shards s = shards_of(f);

    return aqf_position_of(&s, hash_key(key, s.salt));
}

static uint64_t aqf_count(const tamis *f, uint64_t key)
{
    aqf_position p = aqf_position_of_key(f, key);
    aqf_found found = aqf_find(&p);

    return found.item.slots ? found.item.count : 0;
}

/* Places are slots, counted through all shards. */
static bool aqf_locate(const tamis *f, uint64_t *place, uint64_t key)
{
    shards s = shards_of(f);
    uint64_t hash = hash_key(key, s.salt), shard = shards_number(&s, hash);
    aqf_position p = aqf_position_of(&s, hash);
    aqf_item e = aqf_find(&p).item;
    uint64_t at = shard * s.slots + (e.at < s.slots ? e.at : e.at - s.slots);

    if (!e.slots || at < *place)
        return false;
    *place = at;
    return true;
}

static void aqf_touch(const tamis *f, uint64_t key)
{
    shards s = shards_of(f);

    shards_fetch(&s, hash_key(key, s.salt));
}

/* Only the first slot of an item has a low bit of 0, as what is looked for has, so that nothing
 * else is equal to it. Most of what is there is alone in its run, and one slot. */
__attribute__((always_inline)) static inline int aqf_look(const lanes *l, const runs_place *at)
{
    runs_near r = runs_near_of(l, at->block, at->quotient);
    uint64_t differs = r.slots ^ l->lows * at->wanted;

    if (!(r.is_occupied & (r.is_odd | (runs_near_zero(l, &r, differs) != 0))))
        return 0;
    bool is_first = ((uint32_t)differs & packed_mask(l->width)) == 0;
    bool goes_on = r.n > 1 && r.slots >> l->width & AQF_MORE;
    return r.is_odd || !is_first || goes_on ? -1 : 1;
}

__attribute__((noinline)) static bool aqf_has_odd(const tamis *f, uint64_t key)
{
    aqf_position p = aqf_position_of_key(f, key);

    return aqf_find(&p).item.slots;
}

static bool aqf_has(const tamis *f, uint64_t key)
{
    return shards_has(f, shards_of(f), key, aqf_look, aqf_has_odd);
}

static size_t aqf_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return shards_has_many(f, shards_of(f), hits, keys, n, aqf_look, aqf_has_odd);
}

/* ---- Changes ----------------------------------------------------------- */

static tamis_status aqf_add(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t hash = hash_key(key, f->salt), total, count, other;
    aqf_position p = aqf_position_of_key(f, key);
    aqf_found at = aqf_find(&p);
    bool is_new = !at.item.slots;
    tamis_status status = TAMIS_OK;

    if (add_overflows(f->count, times, &total) ||
        add_overflows(is_new ? 0 : at.item.count, times, &count))
        return TAMIS_FULL;
    if (!is_new)
        status = tamis__aqf_key_of(f, &p, &at.item, hash, &other, &is_new);
    /* Others have this fingerprint. */
    if (!status && is_new && (at.item.slots || at.apart)) {
        status = tamis__aqf_separate_neighbours(f, &p, &at, hash, times);
        at = aqf_find(&p);
    }
    if (!status)
        status = aqf_put(f, &p, &at, hash, at.apart, is_new ? times : count);
    if (!status)
        f->count = total;
    return status;
}

/* A filter that asks for its keys takes the caller's word for it that this one was added. */
static tamis_status aqf_remove(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t hash = hash_key(key, f->salt);
    aqf_position p = aqf_position_of_key(f, key);
    aqf_found at = aqf_find(&p);

    if (!at.item.slots || at.item.count < times ||
        (p.shard.hashes && le64(aqf_hash_at(&p.shard, at.item.at)) != hash))
        return TAMIS_ABSENT;
    tamis_status status = aqf_put(f, &p, &at, hash, at.item.chunks, at.item.count - times);
    if (!status)
        f->count -= times;
    return status;
}

/* Of the first item that the key is taken for. */
static tamis_status aqf_adapt_item(tamis *f, uint64_t key)
{
    shards s = shards_of(f);
    uint64_t hash = hash_key(key, f->salt), other;
    aqf_position p = aqf_position_of(&s, hash);
    aqf_found at = aqf_find(&p);
    bool is_other = false;

    tamis_status status = tamis__aqf_key_of(f, &p, &at.item, hash, &other, &is_other);
    if (status || !is_other)
        return status ? status : TAMIS_PRESENT;
    unsigned apart = aqf_chunks_to_differ(p.tail, other * s.fingerprints, p.shard.chunk);
    return aqf_put(f, &p, &at, other, apart, at.item.count);
}

static tamis_status aqf_adapt(tamis *f, uint64_t key)
{
    tamis_status status = TAMIS_OK;

    for (uint64_t place = 0; !status && aqf_locate(f, &place, key); place++)
        status = aqf_adapt_item(f, key);
    return status;
}
