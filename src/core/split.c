/* split.c - kinds that tell their keys from certain others: from hashes of both, that wait in
 * buckets, to a payload in memory, part by part.
 *
 * The buckets are gone through four times. Of a part, no more is in memory than its keys and those
 * of the others that pass its sieve, about as many, however large the universe:
 *
 *   count    how many keys there are, and how many others
 *   sieve    of the keys; if the plan is inverted, of the others
 *   tell     how many others pass it, so that no more room is taken than they need
 *   rest     of the keys and the others that pass
 *
 * A key that is among the others, too, is a key. */
#include <string.h>

#include "base/hash.h"
#include "base/parts.h"
#include "base/sort.h"
#include "core/pass.h"
#include "core/plan.h"

typedef struct splitting {
    tamis_builder *b;
    const tamis_splitter *splitter;
    tamis_plan plan;
    tamis *filter;
    uint64_t done;
    uint64_t keys[BUCKETS]; /* distinct ones */
    uint64_t both[BUCKETS]; /* and others */
    uint64_t rest[BUCKETS]; /* keys, and others that pass */
} splitting;

enum { PASSES = 4 };

/* ---- Gathering --------------------------------------------------------- */

/* Pairs of one part that a worker has room for: 1 is the value of keys, 0 that of others. */
typedef struct gathering {
    const pass *p;
    const tamis *sieve; /* of which only what passes is taken; NULL: all is */
    uint64_t part;
    unsigned part_bits;
    tamis_entry *pairs;
    size_t n;
} gathering;

/* Sorts them and keeps one of each hash. */
static void settle(gathering *g)
{
    tamis_entry *pairs = g->pairs;
    size_t kept = g->n > 0;

    tamis__sort_pairs(pairs, g->n);
    for (size_t i = 1; i < g->n; i++)
        if (pairs[i].hash != pairs[kept - 1].hash)
            pairs[kept++] = pairs[i];
        else
            pairs[kept - 1].value |= pairs[i].value;
    g->n = kept;
}

static bool passes(const tamis *f, uint64_t hash)
{
    return f->ops->splitter->passes(f, unhash_key(hash, f->salt));
}

static bool is_wanted(const gathering *g, uint64_t hash)
{
    return part_of(hash, g->part_bits) == g->part && (!g->sieve || passes(g->sieve, hash));
}

/* Hashes are read to where the second half of their pairs will be: none is overwritten before it is
 * read. */
static tamis_status take_piece(gathering *g, const spill *s, spill_cursor *c, uint64_t value)
{
    size_t piece = c->piece;

    if (g->p->room - g->n < piece)
        settle(g);
    if (g->p->room - g->n < piece)
        return TAMIS_NOMEM;
    uint64_t *hashes = (uint64_t *)(g->pairs + g->n) + piece;
    if (!tamis__spill_read(s, c, hashes))
        return TAMIS_IO;
    for (size_t i = 0; i < piece; i++)
        if (is_wanted(g, hashes[i]))
            g->pairs[g->n++] = (tamis_entry){ hashes[i], value };
    return TAMIS_OK;
}

static tamis_status gather(gathering *g, const spill *s, uint64_t value)
{
    size_t buckets = tamis__buckets_per_unit(g->part_bits);
    size_t first = g->part_bits > BUCKET_BITS ? (size_t)(g->part >> (g->part_bits - BUCKET_BITS))
                                              : (size_t)g->part * buckets;
    tamis_status status = TAMIS_OK;

    for (size_t i = first; i < first + buckets && !status; i++)
        for (spill_cursor c = tamis__spill_start(s, i); c.left > 0 && !status;)
            status = take_piece(g, s, &c, value);
    return status;
}

static tamis_status gather_both(gathering *g)
{
    tamis_status status = gather(g, &g->p->b->spill, 1);

    return status ? status : gather(g, &g->p->b->others, 0);
}

/* ---- Running passes ---------------------------------------------------- */

static uint64_t held_by_items(const tamis_builder *b)
{
    return tamis__spill_held(&b->spill) + tamis__spill_held(&b->others);
}

static tamis_status to_file(tamis_builder *b)
{
    tamis_status status = b->spill.words ? tamis__spill_to_file(&b->spill) : TAMIS_OK;

    if (!status && b->others.words)
        status = tamis__spill_to_file(&b->others);
    return status;
}

static bool is_possible(const splitting *s, const pass *p)
{
    uint64_t payload = s->filter ? s->plan.bytes : 0;

    return tamis__pass_workers(p, payload + held_by_items(s->b)) > 0;
}

/* Less room is often enough: items are settled when it is full, and most may be repeated ones. */
static void make_do(const splitting *s, pass *p)
{
    while (!is_possible(s, p) && p->room > s->b->others.chunk)
        p->room -= p->room / 16 + 1;
}

/* Items in memory go to the file if there is no room left to work beside them. */
static tamis_status run(splitting *s, pass *p)
{
    uint64_t payload = s->filter ? s->plan.bytes : 0;
    tamis_status status = TAMIS_OK;

    p->b = s->b;
    p->ctx = s;
    p->stride = 2;
    p->done = s->done;
    p->total = PASSES * (s->b->spill.n + s->b->others.n);
    if (!is_possible(s, p))
        status = to_file(s->b);
    if (status)
        return status;
    make_do(s, p);
    status = tamis__pass_run(p, payload + held_by_items(s->b));
    s->done = p->done;
    return status;
}

/* A piece must fit beside what is there. */
static size_t room_for(const tamis_builder *b, uint64_t all, uint64_t distinct)
{
    const spill *s = b->others.chunk > b->spill.chunk ? &b->others : &b->spill;

    return tamis__room_for(s, all, distinct) + s->chunk;
}

/* ---- Counting ---------------------------------------------------------- */

static gathering of_bucket(const pass *p, size_t bucket, unsigned worker)
{
    return (gathering){
        .p = p, .part = bucket, .part_bits = BUCKET_BITS, .pairs = tamis__pass_items(p, worker)
    };
}

static tamis_status count_bucket(pass *p, size_t bucket, unsigned worker)
{
    splitting *s = p->ctx;
    gathering g = of_bucket(p, bucket, worker);
    tamis_status status = gather_both(&g);
    settle(&g);
    s->both[bucket] = g.n;
    s->keys[bucket] = 0;
    for (size_t i = 0; i < g.n; i++)
        s->keys[bucket] += g.pairs[i].value;
    return status;
}

static uint64_t largest_bucket(const tamis_builder *b)
{
    uint64_t most = 0;

    for (size_t i = 0; i < BUCKETS; i++)
        if (tamis__items_in(b, i) > most)
            most = tamis__items_in(b, i);
    return most;
}

static tamis_status count(splitting *s)
{
    pass p = { .do_unit = count_bucket, .units = BUCKETS };
    uint64_t most = largest_bucket(s->b);

    p.room = room_for(s->b, most, most);
    return run(s, &p);
}

/* ---- Parts ------------------------------------------------------------- */

static size_t parts_per_unit(const splitting *s)
{
    unsigned bits = part_bits(s->plan.capacity);

    return bits > BUCKET_BITS ? (size_t)1 << (bits - BUCKET_BITS) : 1;
}

static uint8_t *part_at(const splitting *s, uint64_t part)
{
    uint64_t size = s->plan.bytes >> part_bits(s->plan.capacity);

    return (uint8_t *)s->filter->payload + part * size;
}

static bool is_inverted(const splitting *s)
{
    return s->splitter->is_inverted(&s->plan);
}

static void drop_keys(gathering *g)
{
    size_t kept = 0;

    for (size_t i = 0; i < g->n; i++)
        if (g->pairs[i].value == 0)
            g->pairs[kept++] = g->pairs[i];
    g->n = kept;
}

/* Of an inverted plan: keys that fail are told by that. */
static void drop_failing_keys(gathering *g, const tamis *f)
{
    size_t kept = 0;

    for (size_t i = 0; i < g->n; i++)
        if (g->pairs[i].value == 0 || passes(f, g->pairs[i].hash))
            g->pairs[kept++] = g->pairs[i];
    g->n = kept;
}

static tamis_status make_sieve(splitting *s, gathering *g, void *scratch)
{
    tamis_status status = is_inverted(s) ? gather_both(g) : gather(g, &s->b->spill, 1);

    if (status)
        return status;
    settle(g);
    if (is_inverted(s))
        drop_keys(g);
    return s->splitter->sieve->solve(&s->plan, part_at(s, g->part), g->pairs, &g->n, scratch);
}

static tamis_status gather_rest(splitting *s, gathering *g)
{
    tamis_status status = gather(g, &s->b->spill, 1);

    g->sieve = s->filter;
    return status ? status : gather(g, &s->b->others, 0);
}

static tamis_status make_rest(splitting *s, gathering *g, void *scratch)
{
    tamis_status status = is_inverted(s) ? gather_both(g) : gather_rest(s, g);

    if (status)
        return status;
    settle(g);
    if (is_inverted(s))
        drop_failing_keys(g, s->filter);
    return s->splitter->rest->solve(&s->plan, part_at(s, g->part), g->pairs, &g->n, scratch);
}

typedef tamis_status step(splitting *s, gathering *g, void *scratch);

static tamis_status for_each_part(pass *p, size_t unit, unsigned worker, step *make)
{
    splitting *s = p->ctx;
    size_t parts = parts_per_unit(s);
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < parts && !status; i++) {
        gathering g = { .p = p, .part = unit * parts + i };
        g.part_bits = part_bits(s->plan.capacity);
        g.pairs = tamis__pass_items(p, worker);
        status = make(s, &g, tamis__pass_scratch(p, worker));
    }
    return status;
}

static tamis_status sieve_unit(pass *p, size_t unit, unsigned worker)
{
    return for_each_part(p, unit, worker, make_sieve);
}

static tamis_status rest_unit(pass *p, size_t unit, unsigned worker)
{
    return for_each_part(p, unit, worker, make_rest);
}

static tamis_status tell_bucket(pass *p, size_t bucket, unsigned worker)
{
    splitting *s = p->ctx;
    gathering g = of_bucket(p, bucket, worker);
    tamis_status status = gather_rest(s, &g);

    settle(&g);
    s->rest[bucket] = g.n;
    return status;
}

/* ---- Passes over parts ------------------------------------------------- */

static pass over_parts(const splitting *s, const tamis_pair_solver *solver, const uint64_t *all,
                       const uint64_t *distinct)
{
    size_t buckets = tamis__buckets_per_unit(part_bits(s->plan.capacity));
    pass p = { .units = BUCKETS / buckets };

    uint64_t most = tamis__largest_group(distinct, buckets);
    p.room = room_for(s->b, tamis__largest_group(all, buckets), most);
    p.scratch = solver->scratch(&s->plan, (size_t)most);
    return p;
}

static tamis_status solve_sieve(splitting *s)
{
    uint64_t all[BUCKETS];

    for (size_t i = 0; i < BUCKETS; i++)
        all[i] = is_inverted(s) ? tamis__items_in(s->b, i) : tamis__spill_count(&s->b->spill, i);
    pass p = over_parts(s, s->splitter->sieve, all, is_inverted(s) ? s->both : s->keys);
    p.do_unit = sieve_unit;
    return run(s, &p);
}

/* All keys pass in an inverted plan, for all that is known. */
static tamis_status tell_passing(splitting *s)
{
    pass p = { .do_unit = tell_bucket, .units = BUCKETS };

    p.room = room_for(s->b, largest_bucket(s->b), tamis__largest_group(s->both, 1));
    if (!is_inverted(s))
        return run(s, &p);
    memcpy(s->rest, s->both, sizeof s->rest);
    s->done += s->b->spill.n + s->b->others.n;
    return TAMIS_OK;
}

static tamis_status solve_rest(splitting *s)
{
    uint64_t all[BUCKETS];

    for (size_t i = 0; i < BUCKETS; i++)
        all[i] = tamis__items_in(s->b, i);
    pass p = over_parts(s, s->splitter->rest, all, s->rest);
    p.do_unit = rest_unit;
    return run(s, &p);
}

/* ---- Plans ------------------------------------------------------------- */

static uint64_t sum(const uint64_t n[BUCKETS])
{
    uint64_t all = 0;

    for (size_t i = 0; i < BUCKETS; i++)
        all += n[i];
    return all;
}

static tamis_status make_plan(splitting *s)
{
    uint64_t keys = sum(s->keys), others = sum(s->both) - keys;
    tamis_spec spec = s->b->spec;

    if (spec.keys < keys)
        spec.keys = keys;
    if (spec.keys == 0)
        spec.keys = 1;
    if (spec.universe < spec.keys + others)
        spec.universe = spec.keys + others;
    return tamis_plan_kind(&s->plan, s->b->kind, &spec);
}

static tamis_status enlarge(splitting *s)
{
    s->splitter->enlarge(&s->plan);
    return tamis__plan_is_valid(&s->plan) ? TAMIS_OK : TAMIS_RANGE;
}

static tamis_status try_plan(splitting *s)
{
    tamis_status status = TAMIS_NOMEM;

    s->done = s->b->spill.n + s->b->others.n;
    if (s->plan.bytes <= tamis__memory_left(s->b, 0))
        status = tamis_new(&s->filter, &s->plan, NULL);
    if (status)
        return status;
    status = solve_sieve(s);
    if (!status)
        status = tell_passing(s);
    if (!status)
        status = solve_rest(s);
    if (status) {
        tamis_free(s->filter);
        s->filter = NULL;
    }
    return status;
}

tamis_status tamis__split(tamis **out, tamis_builder *b)
{
    splitting s = { .b = b, .splitter = b->ops->splitter };

    tamis__spill_group(&b->spill);
    tamis__spill_group(&b->others);
    tamis_status status = count(&s);
    if (!status)
        status = make_plan(&s);
    while (!status && (status = try_plan(&s)) == TAMIS_FULL)
        status = enlarge(&s);
    if (status)
        return status;
    s.filter->count = sum(s.keys);
    *out = s.filter;
    return TAMIS_OK;
}
