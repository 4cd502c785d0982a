/* aqf_add.c - which items of a filter must become longer when a key comes, and by what.
 *
 * Items of one fingerprint stand in order of their chunks, and none is the beginning of another. A
 * new hash has two neighbours: the item that it begins with, or those on both sides of it. In hex,
 * chunks of 4 bits, for a key with the tail 52 7..:
 *
 *   tails of keys    before    after      why
 *   18 4..           1         1          differs from 5 in its first chunk
 *                              5 2 7      new: up to the first chunk that separates it from 52 9
 *   52 9..           5         5 2 9      the new tail begins with 5: extended up to there, too
 *   63 1..           6 3       6 3        learned: 3 more than 6 is to exclude a false positive
 *
 * What an item has learned stays one chunk more at least than its neighbours need: if a key with
 * the tail 64 .. came, from which 6 3 differs in its last chunk, that would become 6 3 1. */
#include "quotient/aqf.h"

/* ---- Keys -------------------------------------------------------------- */

/* What is looked for among the keys of a group. */
typedef struct aqf_query {
    const aqf_position *p;
    const aqf_item *item;
    uint64_t salt, fingerprints;
    uint64_t hash, other;
    bool has_hash, has_other;
} aqf_query;

static bool aqf_see_key(void *ctx, uint64_t key, uint64_t count)
{
    aqf_query *a = ctx;
    uint64_t hash = hash_key(key, a->salt);
    unsigned chunk;

    (void)count;
    if (scale64(hash, a->fingerprints) != scale64(a->hash, a->fingerprints) ||
        aqf_compare(&a->p->shard, a->item, hash * a->fingerprints, &chunk) != 0)
        return true;
    if (hash == a->hash) {
        a->has_hash = true;
        return true;
    }
    a->other = hash;
    a->has_other = true;
    return false;
}

tamis_status tamis__aqf_key_of(const tamis *f, const aqf_position *p, const aqf_item *e,
                               uint64_t hash, uint64_t *of, bool *is_other)
{
    shards s = shards_of(f);
    aqf_query a = { p, e, s.salt, s.fingerprints, hash, 0, false, false };

    if (p->shard.hashes) {
        *of = le64(aqf_hash_at(&p->shard, e->at));
        *is_other = *of != hash;
        return TAMIS_OK;
    }
    if (!f->keys)
        return TAMIS_CANNOT;
    tamis_status status = f->keys(f->keys_ctx, scale64(hash, s.fingerprints), aqf_see_key, &a);
    if (status)
        return status;
    *of = a.has_other ? a.other : hash;
    *is_other = a.has_other;
    return a.has_other || a.has_hash ? TAMIS_OK : TAMIS_ABSENT;
}

/* ---- Neighbours -------------------------------------------------------- */

/* The items of a fingerprint around a hash, in order; those that are not there have no slots. `at`
 * is the one that the hash begins with or, if there is none, the first above it. */
typedef struct aqf_neighbours {
    aqf_item before[2], at, after; /* before[1] is next to it */
    bool is_beginning;
} aqf_neighbours;

static aqf_neighbours aqf_find_neighbours(const aqf_position *p, const runs_run *run)
{
    aqf_neighbours a = { 0 };
    unsigned chunk;

    for (uint64_t i = run->start; i < run->end && !a.after.slots;) {
        aqf_item e = aqf_read(&p->shard, i, run->end);
        i += e.slots;
        if (e.remainder != p->remainder)
            continue;
        int order = aqf_compare(&p->shard, &e, p->tail, &chunk);
        if (a.at.slots) {
            a.after = e;
        } else if (order < 0) {
            a.before[0] = a.before[1];
            a.before[1] = e;
        } else {
            a.at = e;
            a.is_beginning = order == 0;
        }
    }
    return a;
}

/* Chunks that e needs once the hash of p is inserted beside it; `tail` is that of e. */
static unsigned aqf_chunks_needed(const aqf_position *p, const aqf_item *low, const aqf_item *e,
                                  const aqf_item *high, uint64_t tail)
{
    const aqf_shard *s = &p->shard;
    unsigned needs = aqf_larger(aqf_chunks_apart(s, low, e), aqf_chunks_apart(s, high, e));
    unsigned apart = aqf_chunks_to_differ(tail, p->tail, s->chunk);

    return e->chunks > needs ? aqf_larger(e->chunks, apart + 1) : aqf_larger(needs, apart);
}

/* An item that has to be longer: its hash, the chunks it gets, and how many more; 0: it stays. */
typedef struct aqf_extension {
    uint64_t hash;
    unsigned chunks, more;
} aqf_extension;

/* What differs within the chunks of an item is told by them: its hash is looked up only if it has
 * to be longer. */
static tamis_status aqf_plan_extension(aqf_extension *out, const tamis *f, const aqf_position *p,
                                       const aqf_item *low, const aqf_item *e, const aqf_item *high,
                                       bool is_beginning, uint64_t hash)
{
    shards s = shards_of(f);
    bool is_other;

    if (!e->slots || (!is_beginning &&
                      aqf_chunks_needed(p, low, e, high, aqf_beginning(&p->shard, e)) <= e->chunks))
        return TAMIS_OK;
    tamis_status status = tamis__aqf_key_of(f, p, e, hash, &out->hash, &is_other);
    if (status)
        return status;
    out->chunks = aqf_chunks_needed(p, low, e, high, out->hash * s.fingerprints);
    out->more = out->chunks - e->chunks;
    return TAMIS_OK;
}

tamis_status tamis__aqf_separate_neighbours(tamis *f, const aqf_position *p, const aqf_found *at,
                                            uint64_t hash, uint64_t times)
{
    shards s = shards_of(f);
    aqf_neighbours a = aqf_find_neighbours(p, &at->run);
    aqf_extension longer[2] = { { 0 }, { 0 } };
    tamis_status status =
        aqf_plan_extension(&longer[0], f, p, &a.before[1], &a.at, &a.after, a.is_beginning, hash);

    if (!status && !a.is_beginning)
        status =
            aqf_plan_extension(&longer[1], f, p, &a.before[0], &a.before[1], &a.at, false, hash);
    if (status)
        return status;
    unsigned apart = a.is_beginning ? aqf_chunks_to_differ(p->tail, longer[0].hash * s.fingerprints,
                                                           p->shard.chunk)
                                    : at->apart;
    unsigned slots =
        1 + apart + aqf_digits(times, p->shard.chunk) + longer[0].more + longer[1].more;
    if (runs_used(p->shard.t) + slots > s.room)
        return TAMIS_FULL;
    for (int i = 0; i < 2 && !status; i++) {
        aqf_position q = aqf_position_of(&s, longer[i].hash);
        aqf_found found = aqf_find(&q);
        if (longer[i].chunks)
            status = aqf_put(f, &q, &found, longer[i].hash, longer[i].chunks, found.item.count);
    }
    return status;
}
