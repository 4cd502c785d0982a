/* merge.c - one filter of many, in a thread if they are large. */
#include "merge.h"

#include "job.h"
#include "reply.h"
#include "word.h"

/* Less than this takes about a millisecond. */
enum { MERGE_LARGE = 4 << 20 };

/* The sources are held, so that nothing changes them. */
typedef struct merge {
    job job;
    tamis_operation operation;
    size_t n; /* sources that are held */
    filter **sources;
    size_t size; /* of all this */
} merge;

static void merge_let_go(merge *m)
{
    for (size_t i = 0; i < m->n; i++)
        filter_drop(m->sources[i]);
    m->n = 0;
}

static void merge_end(job *j)
{
    merge *m = (merge *)j;

    merge_let_go(m);
    memory_free_value(m, m->size);
}

/* One after the other, into a copy of the first. */
static tamis_status merge_combine(merge *m, const tamis_allocator *a)
{
    tamis **made = &m->job.made->tamis;
    tamis_status status = tamis_clone(made, m->sources[0]->tamis, a);

    for (size_t i = 1; i < m->n && !status; i++)
        status = tamis_combine(*made, m->operation, m->sources[i]->tamis);
    return status;
}

/* All at once, into one with room for them. */
static tamis_status merge_all(merge *m, const tamis_allocator *a)
{
    const size_t size = m->n * sizeof(tamis *);
    const tamis **filters = a->alloc(a->ctx, size);
    tamis_status status;

    if (!filters)
        return TAMIS_NOMEM;
    for (size_t i = 0; i < m->n; i++)
        filters[i] = m->sources[i]->tamis;
    status = tamis_merge_many(&m->job.made->tamis, filters, m->n, a);
    a->free(a->ctx, filters, size);
    return status;
}

static void merge_work(job *j)
{
    merge *m = (merge *)j;
    tamis_allocator a = memory_allocator(&j->made->memory);

    if (m->operation == TAMIS_MERGE && filter_can(m->sources[0]) & TAMIS_CAN_RESIZE)
        j->status = merge_all(m, &a);
    else
        j->status = merge_combine(m, &a);
    merge_let_go(m);
}

/* Holds every source. False after a reply. */
static bool merge_hold(redis_ctx *ctx, merge *m, redis_string **names, size_t n, uint64_t *bytes)
{
    for (*bytes = 0; m->n < n; m->n++) {
        key k = key_read(ctx, names[m->n], filter_type);
        filter *f = filter_of(&k);

        key_close(&k);
        if (!f)
            return false;
        filter_hold(f);
        m->sources[m->n] = f;
        *bytes += tamis_plan_of(f->tamis)->bytes;
    }
    return true;
}

static merge *merge_new(redis_string *into, tamis_operation operation, const char *event, size_t n)
{
    const size_t size = sizeof(merge) + n * sizeof(filter *);
    merge *m = memory_new_value(size);
    filter *made = m ? filter_new() : NULL;

    if (!made) {
        if (m)
            memory_free_value(m, size);
        return NULL;
    }
    m->job.into = into;
    m->job.event = event;
    m->job.made = made;
    m->job.work = merge_work;
    m->job.end = merge_end;
    m->operation = operation;
    m->sources = (filter **)(m + 1);
    m->size = size;
    return m;
}

static int merge_run(redis_ctx *ctx, redis_string **argv, size_t n, tamis_operation operation,
                     const char *event)
{
    merge *m;
    uint64_t bytes;

    memory_begin(ctx);
    m = merge_new(argv[1], operation, event, n);
    if (!m)
        return filter_reply_status(ctx, TAMIS_NOMEM);
    if (merge_hold(ctx, m, argv + 3, n, &bytes)) {
        job_run(ctx, &m->job, bytes >= MERGE_LARGE);
        return REDIS_OK;
    }
    filter_drop(m->job.made);
    merge_end(&m->job);
    return REDIS_OK;
}

static int merge_parse(redis_ctx *ctx, redis_string **argv, int argc, tamis_operation operation,
                       const char *event)
{
    key k;
    bool is_other;
    uint64_t n;

    if (!word_to_count(argv[2], &n) || n == 0 || n != (uint64_t)argc - 3)
        return reply_error(ctx, "ERR bad number of keys");
    k = key_write(ctx, argv[1], filter_type);
    is_other = k.holds == KEY_OTHER;
    key_close(&k);
    if (is_other)
        return reply_error(ctx, REPLY_WRONG_TYPE);
    return merge_run(ctx, argv, n, operation, event);
}

int merge_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    return merge_parse(ctx, argv, argc, TAMIS_MERGE, "tamis.merge");
}

int merge_intersect_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    return merge_parse(ctx, argv, argc, TAMIS_INTERSECT, "tamis.intersect");
}
