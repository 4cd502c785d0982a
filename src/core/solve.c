/* solve.c - static kinds: from hashes that wait in buckets to a payload, part by part.
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
#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "base/pages.h"
#include "base/parts.h"
#include "base/sort.h"
#include "core/builder.h"
#include "core/file.h"
#include "core/plan.h"
#include "core/workers.h"

/* ---- Work in pieces ---------------------------------------------------- */

/* Work that several threads share, unit by unit. */
typedef struct pass {
    tamis_builder *b;
    tamis_status (*do_unit)(struct pass *p, size_t unit, unsigned worker);
    size_t units, next;   /* a unit is BUCKETS / units buckets */
    pthread_mutex_t lock; /* guards next and what follows */
    uint64_t done, total;
    tamis_status status;
    int error; /* errno belongs to the thread that met it */

    const tamis_plan *plan; /* of solving */
    tamis *filter;          /* whose payload is in memory, or NULL: */
    const file_save *save;  /* where it is written to */
    uint64_t count;         /* distinct keys solved */
    uint64_t *distinct;     /* of counting: hashes in each bucket */

    size_t room;                 /* of each worker: hashes that it can hold, */
    uint64_t scratch, part;      /* bytes that it solves with, and for a part */
    uint8_t *block[WORKERS_MAX]; /* all three */
} pass;

static bool take_unit(pass *p, size_t *unit)
{
    pthread_mutex_lock(&p->lock);
    bool more = !p->status && p->next < p->units;
    *unit = p->next;
    p->next += more;
    pthread_mutex_unlock(&p->lock);
    return more;
}

static void end_unit(pass *p, size_t unit, tamis_status status)
{
    size_t buckets = BUCKETS / p->units;
    int error = errno;

    pthread_mutex_lock(&p->lock);
    for (size_t i = unit * buckets; i < (unit + 1) * buckets; i++)
        p->done += tamis__spill_count(&p->b->spill, i);
    if (!status && !tamis__is_wanted(p->b, p->done, p->total))
        status = TAMIS_STOPPED;
    if (!p->status) {
        p->status = status;
        p->error = error;
    }
    pthread_mutex_unlock(&p->lock);
}

static void work(void *ctx, unsigned worker)
{
    pass *p = ctx;
    size_t unit;

    while (take_unit(p, &unit))
        end_unit(p, unit, p->do_unit(p, unit, worker));
}

/* The three uses of a worker's block, the widest alignment first. */
static void *part_of_worker(const pass *p, unsigned worker)
{
    return p->block[worker];
}

static void *scratch_of(const pass *p, unsigned worker)
{
    return p->block[worker] + p->part;
}

static uint64_t *hashes_of(const pass *p, unsigned worker)
{
    return (uint64_t *)(void *)(p->block[worker] + p->part + round_up(p->scratch, 64));
}

static uint64_t block_size(const pass *p)
{
    return p->part + round_up(p->scratch, 64) + p->room * sizeof(uint64_t) + 64;
}

/* As many as have something to do and fit in the memory that is left. */
static unsigned workers_for(const pass *p, uint64_t held)
{
    uint64_t n = p->b->options.threads ? p->b->options.threads : 1;
    uint64_t fit = tamis__memory_left(p->b, held) / block_size(p);

    n = n < WORKERS_MAX ? n : WORKERS_MAX;
    n = n < p->units ? n : p->units;
    return (unsigned)(n < fit ? n : fit);
}

static tamis_status run(pass *p, uint64_t held)
{
    unsigned wanted = workers_for(p, held), n = 0;
    size_t size = (size_t)block_size(p);

    pthread_mutex_init(&p->lock, NULL);
    for (; n < wanted; n++)
        if (!(p->block[n] = tamis__pages_new(size)))
            break;
    if (n > 0)
        tamis__work(work, p, n);
    else
        p->status = TAMIS_NOMEM;
    while (n-- > 0)
        tamis__pages_free(p->block[n], size);
    pthread_mutex_destroy(&p->lock);
    errno = p->error;
    return p->status;
}

/* ---- Hashes of buckets ------------------------------------------------- */

/* Reads buckets of the file to `to`. Repeated hashes are dropped when room runs out, and only then.
 */
static tamis_status read_buckets(const pass *p, size_t first, size_t buckets, uint64_t *to,
                                 size_t *n)
{
    const spill *s = &p->b->spill;

    *n = 0;
    for (size_t i = first; i < first + buckets; i++)
        for (spill_cursor c = tamis__spill_start(s, i); c.left > 0;) {
            if (p->room - *n < c.piece)
                *n = tamis__sort_unique(to, *n);
            if (p->room - *n < c.piece)
                return TAMIS_NOMEM;
            size_t at = *n;
            *n += c.piece;
            if (!tamis__spill_read(s, &c, to + at))
                return TAMIS_IO;
        }
    return TAMIS_OK;
}

/* Where the hashes of these buckets are: in the memory of the worker, or where they were kept. */
static tamis_status load(const pass *p, size_t first, size_t buckets, unsigned worker,
                         uint64_t **hashes, size_t *n)
{
    const spill *s = &p->b->spill;

    if (!s->words) {
        *hashes = hashes_of(p, worker);
        return read_buckets(p, first, buckets, *hashes, n);
    }
    *hashes = s->words + s->starts[first];
    *n = s->starts[first + buckets] - s->starts[first];
    return TAMIS_OK;
}

/* A part is made of that many buckets, or a bucket of several parts. */
static size_t buckets_per_unit(unsigned part_bits)
{
    return part_bits < BUCKET_BITS ? (size_t)BUCKETS >> part_bits : 1;
}

/* Hashes in the largest of the groups of that many buckets: all, or the distinct ones. */
static uint64_t largest_group(const spill *s, const uint64_t *distinct, size_t buckets)
{
    uint64_t most = 0;

    for (size_t first = 0; first < BUCKETS; first += buckets) {
        uint64_t n = 0;
        for (size_t i = first; i < first + buckets; i++)
            n += distinct ? distinct[i] : tamis__spill_count(s, i);
        most = n > most ? n : most;
    }
    return most;
}

/* ---- Counting ---------------------------------------------------------- */

/* Repeated hashes stay: in memory, buckets lie side by side. */
static size_t count_unique(uint64_t *hashes, size_t n)
{
    size_t unique = n > 0;

    tamis__sort(hashes, n);
    for (size_t i = 1; i < n; i++)
        unique += hashes[i] != hashes[i - 1];
    return unique;
}

static tamis_status count_bucket(pass *p, size_t bucket, unsigned worker)
{
    uint64_t *hashes;
    size_t n;
    tamis_status status = load(p, bucket, 1, worker, &hashes, &n);

    if (status)
        return status;
    p->distinct[bucket] = count_unique(hashes, n);
    return TAMIS_OK;
}

/* Enough room for the largest bucket, or all there is if that is full of repeated hashes. */
static tamis_status count_distinct(tamis_builder *b, uint64_t distinct[BUCKETS])
{
    const spill *s = &b->spill;
    uint64_t held = tamis__spill_held(s), left = tamis__memory_left(b, held);
    uint64_t room = s->words ? 0 : largest_group(s, NULL, 1);
    pass p = {
        .b = b, .do_unit = count_bucket, .units = BUCKETS, .total = 2 * s->n, .distinct = distinct
    };

    if (room > (left - left / 8) / sizeof(uint64_t))
        room = (left - left / 8) / sizeof(uint64_t);
    p.room = (size_t)room;
    return run(&p, held);
}

/* Whether there may be more keys than planned for, or so many repeated ones that a part is too
 * large to be read as it is. */
static bool is_in_doubt(const tamis_builder *b)
{
    uint64_t capacity = b->spec.keys;
    unsigned bits = part_bits(capacity);
    uint64_t most = largest_group(&b->spill, NULL, buckets_per_unit(bits));

    return b->spill.n > capacity || most > part_room(capacity)
                                               << (bits > BUCKET_BITS ? bits - BUCKET_BITS : 0);
}

/* ---- Solving ----------------------------------------------------------- */

static tamis_status solve_part(pass *p, size_t part, uint64_t *hashes, size_t n, unsigned worker)
{
    unsigned bits = part_bits(p->plan->capacity);
    size_t size = (size_t)(p->plan->bytes >> bits), starts[(1 << SORT_MOST_BITS) + 1];
    uint8_t *at = part_of_worker(p, worker);

    tamis__sort_group(hashes, n, bits, group_bits(n), starts);
    if (p->filter)
        at = (uint8_t *)p->filter->payload + part * size;
    else
        memset(at, 0, size);
    tamis_status status = p->b->ops->solver->solve(p->plan, at, hashes, &n, scratch_of(p, worker));
    if (status)
        return status;
    if (p->save) {
        image_sink sink = tamis__save_sink(p->save);
        if (!sink.write(&sink, tamis__image_offset(p->plan) + part * size, at, size))
            return TAMIS_IO;
    }
    __atomic_fetch_add(&p->count, n, __ATOMIC_RELAXED);
    return TAMIS_OK;
}

/* How many of the sorted hashes belong to the parts before this one. */
static size_t before_part(const uint64_t *hashes, size_t n, uint64_t part, unsigned bits)
{
    size_t low = 0;

    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (part_of(hashes[middle], bits) < part)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* A bucket of several parts. */
static tamis_status solve_bucket(pass *p, size_t bucket, uint64_t *hashes, size_t n,
                                 unsigned worker)
{
    unsigned bits = part_bits(p->plan->capacity);
    size_t parts = (size_t)1 << (bits - BUCKET_BITS), end = 0;
    tamis_status status = TAMIS_OK;

    tamis__sort(hashes, n);
    for (size_t i = 0; i < parts && !status; i++) {
        size_t part = bucket * parts + i, start = end;
        end = before_part(hashes, n, part + 1, bits);
        status = solve_part(p, part, hashes + start, end - start, worker);
    }
    return status;
}

/* A solver spoils what it is given, and the builder may need it again. */
static uint64_t *own_copy(const pass *p, uint64_t *hashes, size_t n, unsigned worker)
{
    return p->b->spill.words ? memcpy(hashes_of(p, worker), hashes, n * sizeof *hashes) : hashes;
}

static tamis_status solve_unit(pass *p, size_t unit, unsigned worker)
{
    size_t buckets = BUCKETS / p->units, n;
    uint64_t *hashes;
    tamis_status status = load(p, unit * buckets, buckets, worker, &hashes, &n);

    if (status)
        return status;
    hashes = own_copy(p, hashes, n, worker);
    if (part_bits(p->plan->capacity) > BUCKET_BITS)
        return solve_bucket(p, unit, hashes, n, worker);
    return solve_part(p, unit, hashes, n, worker);
}

/* What a worker needs: room for the largest unit, and if repeated hashes can be dropped, for the
 * distinct ones with so much to spare that dropping is rare. */
static void size_blocks(pass *p, const uint64_t *distinct)
{
    const spill *s = &p->b->spill;
    size_t buckets = BUCKETS / p->units;
    uint64_t all = largest_group(s, NULL, buckets), n = all;

    if (distinct && !s->words) {
        uint64_t least = largest_group(s, distinct, buckets);
        least += least / 4 + s->chunk;
        n = least < all ? least : all;
    }
    p->room = (size_t)n;
    p->scratch = p->b->ops->solver->scratch(p->plan, (size_t)n);
    p->part = p->filter ? 0 : p->plan->bytes >> part_bits(p->plan->capacity);
}

/* Hashes in memory go to the file if there is no room left to solve beside them. */
static tamis_status solve(pass *p, const uint64_t *distinct)
{
    unsigned bits = part_bits(p->plan->capacity);
    spill *s = &p->b->spill;
    uint64_t payload = p->filter ? p->plan->bytes : 0;

    p->do_unit = solve_unit;
    p->units = BUCKETS / buckets_per_unit(bits);
    size_blocks(p, distinct);
    if (s->words && workers_for(p, payload + tamis__spill_held(s)) == 0) {
        tamis_status status = tamis__spill_to_file(s);
        if (status)
            return status;
        size_blocks(p, distinct);
    }
    return run(p, payload + tamis__spill_held(s));
}

/* ---- Plans of static kinds --------------------------------------------- */

static tamis_status plan_for(const tamis_builder *b, tamis_plan *plan, uint64_t keys)
{
    tamis_spec spec = b->spec;

    if (spec.keys < keys)
        spec.keys = keys;
    if (spec.keys == 0)
        spec.keys = 1;
    return tamis_plan_kind(plan, b->kind, &spec);
}

static tamis_status enlarge(const tamis_builder *b, tamis_plan *plan)
{
    b->ops->solver->enlarge(plan);
    plan->bytes = b->ops->bytes(plan);
    return tamis__plan_is_valid(plan) ? TAMIS_OK : TAMIS_RANGE;
}

uint64_t tamis__solve_needs(const tamis_ops *ops, const tamis_plan *plan)
{
    uint64_t n = part_room(plan->capacity);
    pass p = { .room = (size_t)n,
               .scratch = ops->solver->scratch(plan, (size_t)n),
               .part = plan->bytes >> part_bits(plan->capacity) };

    return block_size(&p);
}

/* One try at a plan: in memory if there is no `save`. */
static tamis_status try_plan(pass *p, tamis **out, const uint64_t *distinct)
{
    tamis *f = NULL;
    tamis_status status = TAMIS_OK;

    if (!p->save) {
        if (p->plan->bytes > tamis__memory_left(p->b, 0))
            return TAMIS_NOMEM;
        status = tamis_new(&f, p->plan, NULL);
    }
    p->filter = f;
    if (!status)
        status = solve(p, distinct);
    if (status) {
        tamis_free(f);
        return status;
    }
    if (f)
        f->count = p->count;
    *out = f;
    return TAMIS_OK;
}

/* Makes a plan and fills it; *count tells how many keys there are. */
static tamis_status solve_all(tamis_builder *b, tamis_plan *plan, uint64_t *count, tamis **out,
                              const file_save *save)
{
    uint64_t distinct[BUCKETS], keys = 0;
    tamis_status status = TAMIS_OK;

    if (b->spill.words)
        tamis__spill_group(&b->spill);
    bool counted = is_in_doubt(b);
    if (counted)
        status = count_distinct(b, distinct);
    for (size_t i = 0; i < BUCKETS && counted; i++)
        keys += distinct[i];
    if (!status)
        status = plan_for(b, plan, keys);
    while (!status) {
        uint64_t total = b->spill.n * (counted ? 2 : 1);
        pass p = { .b = b, .plan = plan, .save = save, .total = total };
        p.done = total - b->spill.n;
        status = try_plan(&p, out, counted ? distinct : NULL);
        *count = p.count;
        if (status != TAMIS_FULL)
            break;
        status = enlarge(b, plan);
    }
    return status;
}

tamis_status tamis__solve(tamis **out, tamis_builder *b)
{
    tamis_plan plan;
    uint64_t count;

    return solve_all(b, &plan, &count, out, NULL);
}

tamis_status tamis__solve_to_file(tamis_builder *b, const char *path)
{
    file_save s;
    tamis f = { .ops = b->ops, .fd = -1 };
    tamis *none;
    tamis_status status = tamis__save_begin(&s, path, b->spec.hasher.hash == TAMIS_KEYED);

    if (status)
        return status;
    status = solve_all(b, &f.plan, &f.count, &none, &s);
    if (!status) {
        image_sink sink = tamis__save_sink(&s);
        image_source written = tamis__save_source(&s);
        if (!tamis__image_complete(&f, &written, &sink))
            status = TAMIS_IO;
    }
    return tamis__save_end(&s, status);
}
