/* fill.c - keys into filters.
 *
 * Reading, splitting and hashing take most of the time, and are done by all threads. Adding is left
 * to one at a time, in input order: a plain add of one thread is several times as fast as an atomic
 * one of each of two, and the bytes of a filter never depend on the number of threads. */
#include "fill.h"
#include "message.h"
#include "progress.h"

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

/* ---- From inputs, counted first ---------------------------------------- */

static void collect_chunk(void *ctx, job *j)
{
    buffer_append(ctx, j->out.bytes, j->out.size);
}

void fill_collect(buffer *keys, source *s)
{
    pipeline p = { .take_batch = pipeline_keep_keys, .finish_chunk = collect_chunk, .ctx = keys };

    /* An array without keys is an array still. */
    buffer_reserve(keys, sizeof(uint64_t));
    pipeline_run(&p, s);
}

/* ---- From collected keys ----------------------------------------------- */

/* What a person who watches need not wait for. */
enum { PIECE_KEYS = 1 << 20 };

static void add_pieces(const filling *fill, const uint64_t *keys, size_t n)
{
    size_t added;

    for (size_t at = 0; at < n; at += PIECE_KEYS) {
        size_t piece = n - at < PIECE_KEYS ? n - at : PIECE_KEYS;

        progress_show(at, n, "keys");
        check(fill, tamis_add_many(fill->filter, &added, keys + at, piece));
    }
    progress_erase();
}

tamis *fill_from_keys(const tamis_plan *plan, const char *path, const buffer *keys)
{
    filling fill = { .path = path };
    const uint64_t *at = (const void *)keys->bytes;
    size_t n = keys->size / sizeof *at;

    if (tamis_kind_can(plan->kind) & TAMIS_CAN_ADD) {
        check(&fill, tamis_new(&fill.filter, plan, NULL));
        add_pieces(&fill, at, n);
    } else
        check(&fill, tamis_build(&fill.filter, plan, at, n, NULL));
    return fill.filter;
}
