/* fill.c - keys into filters.
 *
 * The bytes of a filter must not depend on the number of threads. Kinds that take keys from several
 * threads promise it; the others get theirs from one thread at a time, in input order. */
#include <stdatomic.h>
#include <string.h>

#include "crew.h"
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

static bool takes_shared(const tamis_plan *plan, unsigned threads)
{
    return threads > 1 && (tamis_kind_can(plan->kind) & TAMIS_CAN_SHARE);
}

/* ---- From inputs, at once ---------------------------------------------- */

static void add_batch_shared(void *ctx, job *j)
{
    filling *fill = ctx;

    batch_drop_keyless(&j->batch);
    check(fill, tamis_add_shared(fill->filter, j->batch.keys, j->batch.n));
}

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
    pipeline shared = { .take_batch = add_batch_shared, .ctx = &fill };
    pipeline ordered = { .take_batch = pipeline_keep_keys,
                         .finish_chunk = add_chunk,
                         .ctx = &fill };
    const tamis_plan *plan = tamis_plan_of(f);

    s->format.hasher = plan->hasher;
    if (tamis_kind_can(plan->kind) & TAMIS_IS_INDEXED)
        s->format.below = plan->capacity;
    return pipeline_run(takes_shared(plan, s->threads) ? &shared : &ordered, s);
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

enum { PIECE_KEYS = 1 << 14 };

typedef struct sharing {
    filling fill;
    const uint64_t *keys;
    size_t n;
    atomic_size_t next;
} sharing;

static void add_pieces(void *ctx)
{
    sharing *share = ctx;
    size_t at;

    while ((at = atomic_fetch_add(&share->next, PIECE_KEYS)) < share->n) {
        size_t n = share->n - at < PIECE_KEYS ? share->n - at : PIECE_KEYS;

        check(&share->fill, tamis_add_shared(share->fill.filter, share->keys + at, n));
        progress_show(at, share->n, "keys");
    }
}

static void add_in_parallel(sharing *share, unsigned threads)
{
    crew helpers;

    crew_init(&helpers, add_pieces, share);
    while (helpers.started + 1 < threads && helpers.started < share->n / PIECE_KEYS)
        if (!crew_grow(&helpers))
            break;
    add_pieces(share);
    crew_wait(&helpers);
    progress_erase();
}

tamis *fill_from_keys(const tamis_plan *plan, const char *path, const buffer *keys,
                      unsigned threads)
{
    sharing share = { .fill = { .path = path },
                      .keys = (const void *)keys->bytes,
                      .n = keys->size / sizeof *share.keys };

    if (takes_shared(plan, threads)) {
        check(&share.fill, tamis_new(&share.fill.filter, plan, NULL));
        add_in_parallel(&share, threads);
    } else
        check(&share.fill, tamis_build(&share.fill.filter, plan, share.keys, share.n, NULL));
    return share.fill.filter;
}
