/* solve.c - static kinds: from hashes, perhaps with values, that wait in buckets to a payload, part
 * by part.
 *
 * Parts are cut by the same leading bits as buckets, so that a part is made of whole buckets (or,
 * of more keys than most disks hold, a bucket of whole parts). They are read, solved and put in
 * place one by one, as many at a time as there are threads and memory:
 *
 *   buckets   0 1 2 3 | 4 5 6 7 | 8 ...     their distinct hashes are counted, if in doubt
 *   parts     0       | 1       | 2 ...     read, solved, written
 *
 * Parts go to the payload in memory or to their place in the file, of which there is then no more
 * in memory than the parts at hand. */
#include <string.h>

#include "base/parts.h"
#include "base/sort.h"
#include "core/file.h"
#include "core/parts.h"
#include "core/pass.h"
#include "core/plan.h"

/* What all passes of one solution have in common. */
typedef struct solution {
    const tamis_plan *plan;
    tamis *filter;         /* whose payload is in memory, or NULL: */
    const file_save *save; /* where it is written to */
    uint64_t count;        /* distinct keys solved */
    uint64_t *distinct;    /* hashes in each bucket; NULL: they were not counted */
} solution;

static size_t scratch_for(const tamis_ops *ops, const tamis_plan *plan, size_t n)
{
    return ops->mapper ? ops->mapper->solver->scratch(plan, n) : ops->solver->scratch(plan, n);
}

static tamis_status solve_with(const tamis_ops *ops, const tamis_plan *plan, void *part,
                               uint64_t *items, size_t *n, void *scratch)
{
    if (ops->mapper)
        return ops->mapper->solver->solve(plan, part, (tamis_entry *)items, n, scratch);
    return ops->solver->solve(plan, part, items, n, scratch);
}

/* ---- Items of buckets -------------------------------------------------- */

static void sort_items(const spill *s, uint64_t *items, size_t n)
{
    if (s->stride > 1)
        tamis__sort_pairs(items, n);
    else
        tamis__sort(items, n);
}

/* Of sorted pairs, one of each is kept. */
static tamis_status drop_twins(tamis_entry *pairs, size_t *n)
{
    size_t kept = *n > 0;

    for (size_t i = 1; i < *n; i++)
        if (pairs[i].hash != pairs[kept - 1].hash)
            pairs[kept++] = pairs[i];
        else if (pairs[i].value != pairs[kept - 1].value)
            return TAMIS_CONFLICT;
    *n = kept;
    return TAMIS_OK;
}

static tamis_status drop_repeated(const spill *s, uint64_t *items, size_t *n)
{
    if (s->stride == 1) {
        *n = tamis__sort_unique(items, *n);
        return TAMIS_OK;
    }
    tamis__sort_pairs(items, *n);
    return drop_twins((tamis_entry *)items, n);
}

/* Reads buckets of the file to `to`. Repeated items are dropped when room runs out, and only then.
 */
static tamis_status read_buckets(const pass *p, size_t first, size_t buckets, uint64_t *to,
                                 size_t *n)
{
    const spill *s = &p->b->spill;
    tamis_status status = TAMIS_OK;

    *n = 0;
    for (size_t i = first; i < first + buckets; i++)
        for (spill_cursor c = tamis__spill_start(s, i); c.left > 0;) {
            if (p->room - *n < c.piece)
                status = drop_repeated(s, to, n);
            if (status)
                return status;
            if (p->room - *n < c.piece)
                return TAMIS_NOMEM;
            size_t at = *n;
            *n += c.piece;
            if (!tamis__spill_read(s, &c, to + at * s->stride))
                return TAMIS_IO;
        }
    return TAMIS_OK;
}

/* Where the items of these buckets are: in the memory of the worker, or where they were kept. */
static tamis_status load(const pass *p, size_t first, size_t buckets, unsigned worker,
                         uint64_t **items, size_t *n)
{
    const spill *s = &p->b->spill;

    if (!s->words) {
        *items = tamis__pass_items(p, worker);
        return read_buckets(p, first, buckets, *items, n);
    }
    *items = s->words + s->starts[first] * s->stride;
    *n = s->starts[first + buckets] - s->starts[first];
    return TAMIS_OK;
}

/* Items in the largest of the groups of that many buckets. */
static uint64_t largest_group(const tamis_builder *b, size_t buckets)
{
    uint64_t n[BUCKETS];

    for (size_t i = 0; i < BUCKETS; i++)
        n[i] = tamis__items_in(b, i);
    return tamis__largest_group(n, buckets);
}

/* ---- Counting ---------------------------------------------------------- */

/* Repeated items stay: in memory, buckets lie side by side. */
static size_t count_unique(const spill *s, uint64_t *items, size_t n)
{
    size_t unique = n > 0;

    sort_items(s, items, n);
    for (size_t i = s->stride; i < n * s->stride; i += s->stride)
        unique += items[i] != items[i - s->stride];
    return unique;
}

static tamis_status count_bucket(pass *p, size_t bucket, unsigned worker)
{
    const solution *sol = p->ctx;
    uint64_t *items;
    size_t n;
    tamis_status status = load(p, bucket, 1, worker, &items, &n);

    if (status)
        return status;
    sol->distinct[bucket] = count_unique(&p->b->spill, items, n);
    return TAMIS_OK;
}

/* Enough room for the largest bucket, or all there is if that is full of repeated items. */
static tamis_status count_distinct(tamis_builder *b, solution *sol)
{
    const spill *s = &b->spill;
    uint64_t held = tamis__spill_held(s), left = tamis__memory_left(b, held);
    uint64_t room = s->words ? 0 : largest_group(b, 1);
    uint64_t most = (left - left / 8) / (s->stride * sizeof(uint64_t));
    pass p = { .b = b, .do_unit = count_bucket, .ctx = sol, .units = BUCKETS, .total = 2 * s->n };

    p.stride = s->stride;
    p.room = (size_t)(room < most ? room : most);
    return tamis__pass_run(&p, held);
}

/* Whether there may be more keys than planned for, or so many repeated ones that a part is too
 * large to be read as it is. */
static bool is_in_doubt(const tamis_builder *b)
{
    const tamis_plan planned = { .kind = b->kind, .capacity = b->spec.keys };
    unsigned bits = tamis__part_bits(&planned);
    uint64_t most = largest_group(b, tamis__buckets_per_unit(bits));

    return b->spill.n > planned.capacity ||
           most > tamis__part_room(&planned) << (bits > BUCKET_BITS ? bits - BUCKET_BITS : 0);
}

/* ---- Solving ----------------------------------------------------------- */

/* Solvers of hashes want them in groups, those of pairs have an order of their own. */
static tamis_status solve_part(pass *p, size_t part, uint64_t *items, size_t n, unsigned worker)
{
    solution *sol = p->ctx;
    unsigned bits = tamis__part_bits(sol->plan);
    size_t size = (size_t)(sol->plan->bytes >> bits), starts[(1 << SORT_MOST_BITS) + 1];
    uint8_t *at = tamis__pass_part(p, worker);

    if (p->stride == 1)
        tamis__sort_group(items, n, bits, group_bits(n), starts);
    if (sol->filter)
        at = (uint8_t *)sol->filter->payload + part * size;
    else
        memset(at, 0, size);
    tamis_status status =
        solve_with(p->b->ops, sol->plan, at, items, &n, tamis__pass_scratch(p, worker));
    if (status)
        return status;
    if (sol->save) {
        image_sink sink = tamis__save_sink(sol->save);
        if (!sink.write(&sink, tamis__image_offset(sol->plan) + part * size, at, size))
            return TAMIS_IO;
    }
    __atomic_fetch_add(&sol->count, n, __ATOMIC_RELAXED);
    return TAMIS_OK;
}

/* How many of the sorted items belong to the parts before this one. */
static size_t before_part(const uint64_t *items, size_t stride, size_t n, uint64_t part,
                          unsigned bits)
{
    size_t low = 0;

    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (part_of(items[middle * stride], bits) < part)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* A bucket of several parts. */
static tamis_status solve_bucket(pass *p, size_t bucket, uint64_t *items, size_t n, unsigned worker)
{
    const solution *sol = p->ctx;
    unsigned bits = tamis__part_bits(sol->plan);
    size_t parts = (size_t)1 << (bits - BUCKET_BITS), end = 0;
    tamis_status status = TAMIS_OK;

    sort_items(&p->b->spill, items, n);
    for (size_t i = 0; i < parts && !status; i++) {
        size_t part = bucket * parts + i, start = end;
        end = before_part(items, p->stride, n, part + 1, bits);
        status = solve_part(p, part, items + start * p->stride, end - start, worker);
    }
    return status;
}

/* A solver spoils what it is given, and the builder may need it again. */
static uint64_t *own_copy(const pass *p, uint64_t *items, size_t n, unsigned worker)
{
    size_t size = n * p->stride * sizeof *items;

    return p->b->spill.words ? memcpy(tamis__pass_items(p, worker), items, size) : items;
}

static tamis_status solve_unit(pass *p, size_t unit, unsigned worker)
{
    const solution *sol = p->ctx;
    size_t buckets = BUCKETS / p->units, n;
    uint64_t *items;
    tamis_status status = load(p, unit * buckets, buckets, worker, &items, &n);

    if (status)
        return status;
    items = own_copy(p, items, n, worker);
    if (tamis__part_bits(sol->plan) > BUCKET_BITS)
        return solve_bucket(p, unit, items, n, worker);
    return solve_part(p, unit, items, n, worker);
}

static void size_blocks(pass *p)
{
    const solution *sol = p->ctx;
    const spill *s = &p->b->spill;
    size_t buckets = BUCKETS / p->units;
    uint64_t all = largest_group(p->b, buckets);

    p->room = (size_t)all;
    if (sol->distinct && !s->words)
        p->room = tamis__room_for(s, all, tamis__largest_group(sol->distinct, buckets));
    p->scratch = scratch_for(p->b->ops, sol->plan, p->room);
    p->part = sol->filter ? 0 : sol->plan->bytes >> tamis__part_bits(sol->plan);
}

/* Items in memory go to the file if there is no room left to solve beside them. */
static tamis_status solve(pass *p)
{
    const solution *sol = p->ctx;
    unsigned bits = tamis__part_bits(sol->plan);
    spill *s = &p->b->spill;
    uint64_t payload = sol->filter ? sol->plan->bytes : 0;

    p->do_unit = solve_unit;
    p->units = BUCKETS / tamis__buckets_per_unit(bits);
    p->stride = s->stride;
    size_blocks(p);
    if (s->words && tamis__pass_workers(p, payload + tamis__spill_held(s)) == 0) {
        tamis_status status = tamis__spill_to_file(s);
        if (status)
            return status;
        size_blocks(p);
    }
    return tamis__pass_run(p, payload + tamis__spill_held(s));
}

/* ---- Plans of static kinds --------------------------------------------- */

static tamis_status plan_for(const tamis_builder *b, tamis_plan *plan, uint64_t keys)
{
    tamis_spec spec = tamis__builder_spec(b);

    if (spec.keys < keys)
        spec.keys = keys;
    if (spec.keys == 0)
        spec.keys = 1;
    return tamis_plan_kind(plan, b->kind, &spec);
}

static tamis_status enlarge(const tamis_builder *b, tamis_plan *plan)
{
    (b->ops->mapper ? b->ops->mapper->enlarge : b->ops->solver->enlarge)(plan);
    plan->bytes = b->ops->bytes(plan);
    return tamis__plan_is_valid(plan) ? TAMIS_OK : TAMIS_RANGE;
}

uint64_t tamis__solve_needs(const tamis_builder *b, const tamis_plan *plan)
{
    uint64_t n = tamis__part_room(plan);
    pass p = { .room = (size_t)n,
               .stride = b->ops->mapper ? 2 : 1,
               .scratch = scratch_for(b->ops, plan, (size_t)n),
               .part = plan->bytes >> tamis__part_bits(plan) };

    return tamis__pass_needs(&p);
}

/* One try at a plan: in memory if there is no `save`. */
static tamis_status try_plan(tamis_builder *b, solution *sol)
{
    uint64_t total = b->spill.n * (sol->distinct ? 2 : 1);
    pass p = { .b = b, .ctx = sol, .done = total - b->spill.n, .total = total };
    tamis_status status = TAMIS_OK;

    sol->filter = NULL;
    sol->count = 0;
    if (!sol->save) {
        if (sol->plan->bytes > tamis__memory_left(b, 0))
            return TAMIS_NOMEM;
        status = tamis_new(&sol->filter, sol->plan, NULL);
    }
    if (!status)
        status = solve(&p);
    if (!sol->filter)
        return status;
    sol->filter->count = sol->count;
    if (status)
        tamis_free(sol->filter);
    return status;
}

/* Makes a plan and fills it. */
static tamis_status solve_all(tamis_builder *b, tamis_plan *plan, solution *sol)
{
    uint64_t distinct[BUCKETS], keys = 0;
    tamis_status status = TAMIS_OK;

    tamis__spill_group(&b->spill);
    sol->plan = plan;
    if (is_in_doubt(b)) {
        sol->distinct = distinct;
        status = count_distinct(b, sol);
    }
    for (size_t i = 0; i < BUCKETS && sol->distinct && !status; i++)
        keys += distinct[i];
    if (!status)
        status = plan_for(b, plan, keys);
    while (!status && (status = try_plan(b, sol)) == TAMIS_FULL)
        status = enlarge(b, plan);
    sol->distinct = NULL;
    return status;
}

tamis_status tamis__solve(tamis **out, tamis_builder *b)
{
    tamis_plan plan;
    solution sol = { .plan = NULL };
    tamis_status status = solve_all(b, &plan, &sol);

    if (!status)
        *out = sol.filter;
    return status;
}

tamis_status tamis__solve_to_file(tamis_builder *b, const char *path)
{
    file_save s;
    solution sol = { .save = &s };
    tamis f = { .ops = b->ops, .fd = -1 };
    tamis_status status = tamis__save_begin(&s, path, b->spec.hasher.hash == TAMIS_KEYED);

    if (status)
        return status;
    status = solve_all(b, &f.plan, &sol);
    f.count = sol.count;
    if (!status) {
        image_sink sink = tamis__save_sink(&s);
        image_source written = tamis__save_source(&s);
        if (!tamis__image_complete(&f, &written, &sink))
            status = TAMIS_IO;
    }
    return tamis__save_end(&s, status);
}
