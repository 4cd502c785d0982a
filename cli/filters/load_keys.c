/* load_keys.c - keys into filters.
 *
 * All threads read, split and hash, which takes most of the time. One thread at a time adds, in
 * input order: plain adds of one thread are several times as fast as atomic adds of two, and the
 * bytes of a filter then do not depend on the number of threads. */
#include "load_keys.h"
#include "tamis_values.h"
#include "term/message.h"

typedef struct load {
    tamis *filter;
    const char *path;
    bool absent_only;
} load;

/* Whether counts of repeated keys take room too. */
static bool counts_take_slots(tamis_kind kind)
{
    const unsigned both = TAMIS_CAN_COUNT | TAMIS_CAN_RESIZE;

    return (tamis_kind_can(kind) & both) == both;
}

void refuse_full(const char *path, tamis_kind kind, uint64_t planned, bool grows, bool is_made)
{
    const char *name = tamis_kind_name(kind);
    bool takes_slots = counts_take_slots(kind), can_grow = tamis_kind_can(kind) & TAMIS_CAN_GROW;

    if (grows)
        die(CODE_LIMIT,
            "%s: the filter is full: how far %s filters grow depends on the -n they begin with; "
            "build it with a larger one",
            path, name);
    if (takes_slots && is_made)
        die(CODE_LIMIT,
            "%s: the filter is full: keys and counts of repeated ones share %" PRIu64
            " slots; make room with 'tamis resize -n %" PRIu64 "'",
            path, planned, 2 * planned);
    if (takes_slots)
        die(CODE_LIMIT,
            "%s: the filter is full: keys and counts of repeated ones share %" PRIu64
            " slots; build it without -n, which finds out how many it takes, or with --grow",
            path, planned);
    die(CODE_LIMIT,
        "%s: the filter is full: %" PRIu64 " keys were planned; build it with a larger -n%s", path,
        planned, can_grow ? ", or with --grow" : "");
}

static void check(const load *l, tamis_status status)
{
    const tamis_plan *plan = tamis_plan_of(l->filter);

    if (status == TAMIS_FULL)
        refuse_full(l->path, plan->kind, plan->capacity, plan->flags & TAMIS_PLAN_GROWS, true);
    if (status)
        die_status("fill", l->path, status);
}

/* For each batch: the number of keys, the keys, the values. */
static void keep_pairs(void *ctx, job *j)
{
    uint64_t n;

    (void)ctx;
    batch_drop_keyless(&j->batch);
    n = j->batch.n;
    buffer_append(&j->out, &n, sizeof n);
    buffer_append(&j->out, j->batch.keys, (size_t)n * sizeof *j->batch.keys);
    buffer_append(&j->out, j->batch.values, (size_t)n * sizeof *j->batch.values);
}

/* ---- From inputs, at once ---------------------------------------------- */

static void add_absent(const load *l, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!tamis_has(l->filter, keys[i]))
            check(l, tamis_add(l->filter, keys[i]));
}

static void put_pairs(const load *l, const uint64_t *keys, const uint64_t *values, size_t n)
{
    size_t done;

    if (!l->absent_only)
        check(l, tamis_put_many(l->filter, &done, keys, values, n));
    for (size_t i = 0; i < n && l->absent_only; i++)
        if (!tamis_has(l->filter, keys[i]))
            check(l, tamis_put(l->filter, keys[i], values[i]));
}

static void put_chunk(void *ctx, job *j)
{
    const uint64_t *at = (const void *)j->out.bytes, *end = at + j->out.size / sizeof *at;

    while (at < end) {
        size_t n = (size_t)*at++;
        put_pairs(ctx, at, at + n, n);
        at += 2 * n;
    }
}

static void add_chunk(void *ctx, job *j)
{
    load *l = ctx;
    size_t n, added;
    const uint64_t *keys = pipeline_kept_keys(j, &n);

    if (l->absent_only)
        add_absent(l, keys, n);
    else if (n > 0)
        check(l, tamis_add_many(l->filter, &added, keys, n));
}

uint64_t load_keys(tamis *f, const char *path, source *s, bool absent_only)
{
    load l = { f, path, absent_only };
    pipeline p = { .take_batch = pipeline_keep_keys, .finish_chunk = add_chunk, .ctx = &l };
    const tamis_plan *plan = tamis_plan_of(f);

    if (s->format.value_field) {
        p.take_batch = keep_pairs;
        p.finish_chunk = put_chunk;
    }
    s->format.hasher = plan->hasher;
    if (tamis_kind_can(plan->kind) & TAMIS_IS_INDEXED)
        s->format.below = plan->capacity;
    return pipeline_run(&p, s);
}

/* ---- For a filter that is built at the end ------------------------------ */

typedef struct feeding {
    const load_target *to;
    uint64_t n;
} feeding;

static void end_feed(feeding *feed, tamis_status status, size_t n)
{
    if (status == TAMIS_FULL)
        refuse_full(feed->to->path, feed->to->kind, feed->to->spec->keys,
                    feed->to->spec->can & TAMIS_CAN_GROW, false);
    if (status)
        die_status("keep the keys for", feed->to->path, status);
    feed->n += n;
}

static void feed_keys(void *ctx, job *j)
{
    feeding *feed = ctx;
    size_t n;
    const uint64_t *keys = pipeline_kept_keys(j, &n);

    end_feed(feed, n > 0 ? tamis_builder_add_many(feed->to->builder, keys, n) : TAMIS_OK, n);
}

static void feed_excluded(void *ctx, job *j)
{
    feeding *feed = ctx;
    size_t n;
    const uint64_t *excluded = pipeline_kept_keys(j, &n);

    end_feed(feed, n > 0 ? tamis_builder_add_excluded(feed->to->builder, excluded, n) : TAMIS_OK,
             n);
}

static void check_values(const feeding *feed, const uint64_t *values, size_t n)
{
    uint64_t all = 0;

    for (size_t i = 0; i < n; i++)
        all |= values[i];
    if (feed->to->value_bits == 64 || all >> feed->to->value_bits == 0)
        return;
    if (feed->to->value_bits == 32)
        die(CODE_LIMIT, "build: a value has more than 32 bits: values are 0 to 4294967295");
    die(CODE_LIMIT, "build: a value has more than %" PRIu32 " bits; give more --value-bits",
        feed->to->value_bits);
}

static void feed_pairs(void *ctx, job *j)
{
    feeding *feed = ctx;
    const uint64_t *at = (const void *)j->out.bytes, *end = at + j->out.size / sizeof *at;

    while (at < end) {
        size_t n = (size_t)*at++;
        check_values(feed, at + n, n);
        end_feed(feed, tamis_builder_add_map(feed->to->builder, at, at + n, n), n);
        at += 2 * n;
    }
}

uint64_t load_builder(const load_target *to, source *s)
{
    feeding feed = { .to = to };
    pipeline p = { .take_batch = pipeline_keep_keys, .finish_chunk = feed_keys, .ctx = &feed };

    if (s->format.value_field) {
        p.take_batch = keep_pairs;
        p.finish_chunk = feed_pairs;
    }
    pipeline_run(&p, s);
    return feed.n;
}

uint64_t load_excluded(const load_target *to, source *s)
{
    feeding feed = { .to = to };
    pipeline p = { .take_batch = pipeline_keep_keys, .finish_chunk = feed_excluded, .ctx = &feed };

    pipeline_run(&p, s);
    return feed.n;
}
