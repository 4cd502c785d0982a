/* fill.c - keys into filters.
 *
 * Reading, splitting and hashing take most of the time, and are done by all threads. Adding is left
 * to one at a time, in input order: a plain add of one thread is several times as fast as an atomic
 * one of each of two, and the bytes of a filter never depend on the number of threads. */
#include "fill.h"
#include "message.h"

typedef struct filling {
    tamis *filter;
    const char *path;
} filling;

static void check(const filling *fill, tamis_status status)
{
    if (status)
        die_status("fill", fill->path, status);
}

/* ---- From inputs, at once ---------------------------------------------- */

static void add_chunk(void *ctx, job *j)
{
    filling *fill = ctx;
    size_t n, added;
    const uint64_t *keys = pipeline_kept_keys(j, &n);

    if (n > 0)
        check(fill, tamis_add_many(fill->filter, &added, keys, n));
}

uint64_t fill_from_source(tamis *f, const char *path, source *s)
{
    filling fill = { f, path };
    pipeline p = { .take_batch = pipeline_keep_keys, .finish_chunk = add_chunk, .ctx = &fill };
    const tamis_plan *plan = tamis_plan_of(f);

    s->format.hasher = plan->hasher;
    if (tamis_kind_can(plan->kind) & TAMIS_IS_INDEXED)
        s->format.below = plan->capacity;
    return pipeline_run(&p, s);
}

/* ---- For a filter that is built at the end ------------------------------ */

typedef struct feeding {
    tamis_builder *builder;
    const char *path;
    uint64_t n;
} feeding;

static void feed_chunk(void *ctx, job *j)
{
    feeding *feed = ctx;
    size_t n;
    const uint64_t *keys = pipeline_kept_keys(j, &n);
    tamis_status status = n > 0 ? tamis_builder_add_many(feed->builder, keys, n) : TAMIS_OK;

    if (status)
        die_status("keep the keys for", feed->path, status);
    feed->n += n;
}

uint64_t fill_builder(tamis_builder *b, const char *path, const source *s)
{
    feeding feed = { b, path, 0 };
    pipeline p = { .take_batch = pipeline_keep_keys, .finish_chunk = feed_chunk, .ctx = &feed };

    pipeline_run(&p, s);
    return feed.n;
}
