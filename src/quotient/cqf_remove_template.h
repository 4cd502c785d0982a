/* cqf_remove_template.h - TEMPLATE, compiled once for each CPU in cqf_template.h, without macros:
 * many removes, in order of their fingerprints.
 *
 * 64 fingerprints are found, then taken out from the highest to the lowest. Taking one out moves
 * only what lies after it, so that the others are still where they were found:
 *
 *   slot            20   21   22   23   24   25
 *   held             a    b    c    d    e         to go: d, found in slot 23, and b, in slot 21
 *   d goes           a    b    c    e
 *   b goes           a    c    e
 *
 * This does not hold for a second one of the same run, whose end may move, nor in runs that lie
 * before the first edge of a table whose last runs go around its end. These go the ordinary way, as
 * do runs with counts or more slots than a load holds. */
#include "quotient/cqf.h"
#include "quotient/runs_lookup.h"
#include "quotient/sorted.h"

enum { CQF_LEAST_SORTED = 64, CQF_MOST_SHARD_BITS = 20 };

/* ---- A group at a time ------------------------------------------------- */

/* Where a fingerprint was found. */
typedef struct cqf_site {
    uint64_t quotient, slot;
    uint32_t remainder;
    unsigned ahead, n; /* slots of its run before it, and all; 0: cqf_remove_at() has to tell */
} cqf_site;

/* A shard that fingerprints are taken out of. */
typedef struct cqf_remover {
    shards s;
    runs_table t;
    uint64_t least, beyond; /* fingerprints of the shard */
    uint64_t edge;          /* no run that goes around has part in what lies from this slot on */
} cqf_remover;

/* `next` is the fingerprint that goes before it, unless that is in another shard. */
static inline cqf_site cqf_find_site(const cqf_remover *m, uint64_t fingerprint, uint64_t next)
{
    const lanes *l = &m->s.lanes;
    uint64_t q = fingerprint >> l->width;
    uint32_t x = (uint32_t)fingerprint & packed_mask(l->width);
    runs_near r = runs_near_of(l, runs_home(m->t, q), q % RUNS_BLOCK);
    uint64_t equal = runs_near_zero(l, &r, r.slots ^ l->lows * x);
    unsigned ahead = word_ones(l->highs & (equal - 1) & ~equal);
    uint64_t slot = q / RUNS_BLOCK * RUNS_BLOCK + r.start + ahead;
    bool is_plain = r.is_occupied & !r.is_odd & (equal != 0) & (q != next >> l->width) &
                    (slot >= m->edge) & runs_near_ascends(l, &r);

    return (cqf_site){ q, slot, x, ahead, is_plain ? r.n : 0 };
}

/* As runs_close_slot(), where the run lies within its block. */
static inline void cqf_close_site(runs_table t, const cqf_site *at)
{
    uint8_t *b = runs_home(t, at->quotient);
    unsigned j = at->slot % RUNS_BLOCK;
    uint64_t is_alone = at->n == 1, is_last = at->ahead + 1 == at->n;
    bool is_far = false;
    uint64_t last = runs_shift_down(t, at->slot, &is_far);

    put_le64(b, runs_occupied(b) & ~(is_alone << at->quotient % RUNS_BLOCK));
    put_le64(b + RUNS_ENDS, runs_ends(b) | (is_last & ~is_alone) << j >> 1);
    if (is_far)
        runs_recount_offsets(t, at->quotient, last);
}

static inline bool cqf_remove_site(runs_table t, const cqf_site *at)
{
    if (at->n == 0)
        return !cqf_remove_at((shards_position){ t, at->quotient, at->remainder }, 1);
    cqf_close_site(t, at);
    runs_put_used(t, runs_used(t) - 1);
    return true;
}

static cqf_remover cqf_remover_of(const shards *s, uint64_t fingerprint)
{
    uint64_t range = s->slots << s->width, shard = fingerprint / range;
    runs_table t = shards_table(s, shard);

    return (cqf_remover){ *s, t, shard * range, (shard + 1) * range,
                          t.at[RUNS_OFFSET] ? runs_find_edge(t, runs_offset(t, 0)) : 0 };
}

/* Asks for the block of the one that comes a group later. */
__attribute__((always_inline)) static inline void cqf_fetch_later(const cqf_remover *m,
                                                                  const sorted_group *g, size_t i)
{
    uint64_t fingerprint = sorted_at(g, i + MANY < g->n ? i + MANY : i);
    uint64_t q = ((fingerprint < m->beyond ? fingerprint : m->beyond - 1) - m->least) >> m->s.width;

    runs_fetch(runs_home(m->t, q), q % RUNS_BLOCK, m->s.width);
}

/* Those from i on that are in the open shard, MANY at most; returns where they end. */
static inline size_t cqf_remove_some(const cqf_remover *m, const sorted_group *g, size_t i,
                                     uint64_t *removed)
{
    cqf_site sites[MANY];
    size_t n = 0, end = g->n - i < MANY ? g->n : i + MANY;

    for (; i < end && sorted_at(g, i) < m->beyond; i++) {
        uint64_t next = i + 1 < end ? sorted_at(g, i + 1) - m->least : UINT64_MAX;
        cqf_fetch_later(m, g, i);
        sites[n++] = cqf_find_site(m, sorted_at(g, i) - m->least, next);
    }
    while (n)
        *removed += cqf_remove_site(m->t, &sites[--n]);
    return i;
}

/* ---- All --------------------------------------------------------------- */

/* As cqf_remove_some(). */
typedef size_t cqf_remove_part(const cqf_remover *m, const sorted_group *g, size_t i,
                               uint64_t *removed);

/* False: there is no memory; nothing was done. `loose` is as in tamis__sorted_group(). */
__attribute__((always_inline)) static inline bool cqf_remove_sorted(tamis *f, const uint64_t *keys,
                                                                    size_t n, size_t *all_removed,
                                                                    unsigned loose,
                                                                    cqf_remove_part *some)
{
    cqf_remover m = { .s = shards_of(f) };
    uint64_t removed = 0;
    sorted_keys sorted;
    size_t all;

    if (!tamis__sorted_new(&sorted, f, n, 0))
        return false;
    tamis__sorted_count(&sorted, &all, 0, keys, n);
    tamis__sorted_deal(&sorted, keys, n);
    for (size_t group = 0; group < (size_t)1 << sorted.bits; group++) {
        sorted_group g = tamis__sorted_group(&sorted, group, loose);
        for (size_t i = 0; i < g.n; i = some(&m, &g, i, &removed))
            if (sorted_at(&g, i) >= m.beyond)
                m = cqf_remover_of(&m.s, sorted_at(&g, i));
    }
    tamis__sorted_free(f, &sorted);
    f->count -= removed;
    *all_removed = (size_t)removed;
    return true;
}

/* Few beside the shards do not share what they find in the cache. */
__attribute__((always_inline)) static inline size_t
cqf_remove_all(tamis *f, const uint64_t *keys, size_t n, unsigned loose, cqf_remove_part *some)
{
    shards s = shards_of(f);
    bool pays = n >= CQF_LEAST_SORTED && s.bits <= CQF_MOST_SHARD_BITS && n >> s.bits;
    uint64_t hashes[MANY];
    size_t removed = 0;

    if (pays && cqf_remove_sorted(f, keys, n, &removed, loose, some))
        return removed;
    for (size_t i = 0; i < n; i++)
        removed += !cqf_remove_at(shards_position_ahead(hashes, &s, keys, i, n), 1);
    f->count -= removed;
    return removed;
}
