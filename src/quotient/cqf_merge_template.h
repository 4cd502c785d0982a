/* cqf_merge_template.h - TEMPLATE, compiled once for each CPU in cqf_template.h, without macros:
 * many adds in one pass that moves nothing.
 *
 * The fingerprints of the keys come in ascending order. Each shard that gets some is set aside, and
 * what it held is merged with them into the shard, which starts empty:
 *
 *   shard before     3 x 1            7 x 2    9 x 1              read by a cqf_walk
 *   keys                      5       7   7             12        in a sorted_group
 *   shard after      3 x 1    5 x 1   7 x 4    9 x 1    12 x 1    written by a runs_writer
 *
 * The state is passed and returned by value: no pointer to it exists, so that no store to a shard
 * can seem to change it, and the loop keeps it in registers. */
#include "quotient/cqf.h"
#include "quotient/runs_writer.h"
#include "quotient/sorted.h"

typedef struct cqf_merge {
    uint64_t least, beyond; /* fingerprints of the open shard; 0, 0: there is none */
    cqf_walk old;           /* what it held; fingerprints there start with 0 */
    bool is_old_over;
    runs_writer to;
    uint64_t used;
    size_t taken; /* of the keys of the group */
} cqf_merge;

/* Any count, anywhere. */
static runs_writer cqf_merge_put_count(runs_writer to, uint64_t q, uint32_t x, uint64_t count,
                                       unsigned *n)
{
    uint32_t code[COUNTER_MOST];

    *n = cqf_counter_put(code, x, count, to.t.width);
    return runs_writer_put(to, q, code, *n);
}

static inline void cqf_merge_put(cqf_merge *m, uint64_t fingerprint, uint64_t count)
{
    uint64_t q = fingerprint >> m->to.t.width;
    uint32_t x = (uint32_t)fingerprint & packed_mask(m->to.t.width);
    unsigned n = 1;

    if (count == 1 && runs_writer_fits(&m->to, q, 1))
        runs_writer_add(&m->to, q, x);
    else
        m->to = cqf_merge_put_count(m->to, q, x, count, &n);
    m->used += n;
}

static inline uint64_t cqf_merge_old(const cqf_merge *m)
{
    return (m->old.run.after - 1) << m->to.t.width | m->old.remainder;
}

static inline void cqf_merge_pass_old(cqf_merge *m)
{
    cqf_merge_put(m, cqf_merge_old(m), m->old.count);
    m->is_old_over = !cqf_walk_on(&m->old);
}

/* Goes on with the group, up to its end or that of the shard. */
static cqf_merge cqf_merge_group(cqf_merge m, sorted_group g)
{
    for (size_t times; m.taken < g.n; m.taken += times) {
        uint64_t fingerprint = sorted_at(&g, m.taken), held = 0;
        if (fingerprint >= m.beyond)
            break;
        for (times = 1; m.taken + times < g.n && sorted_at(&g, m.taken + times) == fingerprint;)
            times++;
        fingerprint -= m.least;
        while (!m.is_old_over && cqf_merge_old(&m) < fingerprint)
            cqf_merge_pass_old(&m);
        if (!m.is_old_over && cqf_merge_old(&m) == fingerprint)
            held = m.old.count;
        cqf_merge_put(&m, fingerprint, held + times);
        if (held)
            m.is_old_over = !cqf_walk_on(&m.old);
    }
    return m;
}

static void cqf_merge_close(cqf_merge m)
{
    if (!m.beyond)
        return;
    while (!m.is_old_over)
        cqf_merge_pass_old(&m);
    runs_writer_end(&m.to);
    runs_put_used(m.to.t, m.used);
}

/* `copy` is memory for what the shard holds. */
static cqf_merge cqf_merge_open(const shards *s, uint64_t shard, uint8_t *copy, size_t taken)
{
    uint64_t range = s->slots << s->width;
    runs_table t = shards_table(s, shard);
    cqf_merge m = { .least = shard * range,
                    .beyond = (shard + 1) * range,
                    .is_old_over = runs_used(t) == 0,
                    .taken = taken };

    if (!m.is_old_over) {
        memcpy(copy, t.at - RUNS_HEADER, (size_t)s->bytes);
        memset(t.at - RUNS_HEADER, 0, (size_t)s->bytes);
        m.old.run.t = runs_table_at(copy, s->slots, s->width);
        m.is_old_over = !cqf_walk_on(&m.old);
    }
    m.to = runs_writer_at(t, 0, 0, false);
    return m;
}

/* keys->extra starts with memory for a copy of a shard. */
static void cqf_merge_all(const shards *s, const sorted_keys *keys)
{
    cqf_merge m = { .is_old_over = true };

    for (size_t group = 0; group < (size_t)1 << keys->bits; group++) {
        sorted_group g = tamis__sorted_group(keys, group, 0);
        for (m.taken = 0; m.taken < g.n; m = cqf_merge_group(m, g)) {
            uint64_t next = sorted_at(&g, m.taken);
            if (next >= m.beyond) {
                cqf_merge_close(m);
                m = cqf_merge_open(s, next / (s->slots << s->width), keys->extra, m.taken);
            }
        }
    }
    cqf_merge_close(m);
}

/* Each key takes one slot at most. */
static bool cqf_merge_fits(const shards *s, const size_t *counts)
{
    for (uint64_t i = 0; i < UINT64_C(1) << s->bits; i++)
        if (runs_used(shards_table(s, i)) + counts[i] > s->room)
            return false;
    return true;
}

/* False: they may not all fit, or there is no memory; nothing was done. */
static bool cqf_merge_many(tamis *f, const uint64_t *keys, size_t n)
{
    shards s = shards_of(f);
    sorted_keys sorted;

    if (!tamis__sorted_new(&sorted, f, n, s.bytes + ((uint64_t)sizeof(size_t) << s.bits)))
        return false;
    size_t *counts = (size_t *)(void *)(sorted.extra + s.bytes);
    tamis__sorted_count(&sorted, counts, s.bits, keys, n);
    bool fits = cqf_merge_fits(&s, counts);
    if (fits) {
        tamis__sorted_deal(&sorted, keys, n);
        cqf_merge_all(&s, &sorted);
        f->count += n;
    }
    tamis__sorted_free(f, &sorted);
    return fits;
}
