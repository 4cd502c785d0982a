/* merge.c - one filter of many, in a thread if they are large. */
#include "merge.h"

#include "job.h"
#include "reply.h"
#include "word_parse.h"

/* Less than this takes about a millisecond. */
enum { MERGE_LARGE = 4 << 20 };

typedef struct merge_source {
    redis_string *name;
    filter *filter; /* held until the work is done, so that nothing changes it */
    uint64_t state;
} merge_source;

typedef struct merge {
    job job;
    tamis_operation operation;
    size_t n;
    merge_source sources[];
} merge;

static void merge_let_go(merge *m)
{
    for (size_t i = 0; i < m->n; i++) {
        filter_drop(m->sources[i].filter);
        m->sources[i].filter = NULL;
    }
}

static size_t merge_size(size_t n)
{
    return sizeof(merge) + n * sizeof(merge_source);
}

static void merge_end(job *j)
{
    merge *m = (merge *)j;

    merge_let_go(m);
    for (size_t i = 0; i < m->n; i++)
        redis.FreeString(NULL, m->sources[i].name);
    memory_free_value(m, merge_size(m->n));
}

/* One after the other, into a copy of the first. */
static tamis_status merge_combine(merge *m, const tamis_allocator *a)
{
    tamis **made = &m->job.made->tamis;
    tamis_status status = tamis_clone(made, m->sources[0].filter->tamis, a);

    for (size_t i = 1; i < m->n && !status; i++)
        status = tamis_combine(*made, m->operation, m->sources[i].filter->tamis);
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
        filters[i] = m->sources[i].filter->tamis;
    status = tamis_merge_many(&m->job.made->tamis, filters, m->n, a);
    a->free(a->ctx, filters, size);
    return status;
}

static void merge_work(job *j)
{
    merge *m = (merge *)j;
    tamis_allocator a = value_allocator(j->made);

    if (m->operation == TAMIS_MERGE && filter_can(m->sources[0].filter) & TAMIS_CAN_RESIZE)
        j->status = merge_all(m, &a);
    else
        j->status = merge_combine(m, &a);
    merge_let_go(m);
}

/* If every source is still what it was, the same command makes the same filter elsewhere. */
static bool merge_replicate(redis_ctx *ctx, job *j)
{
    merge *m = (merge *)j;
    tamis_allocator a = memory_allocator(&j->memory);
    const size_t size = m->n * sizeof(redis_string *);
    redis_string **names = a.alloc(a.ctx, size);
    bool same = names != NULL;

    for (size_t i = 0; i < m->n && same; i++) {
        key k = key_read(ctx, m->sources[i].name, filter_type);

        same = k.holds == KEY_OURS && ((filter *)k.value)->state == m->sources[i].state;
        names[i] = m->sources[i].name;
        key_close(&k);
    }
    if (same)
        redis.Replicate(ctx, m->operation == TAMIS_MERGE ? "TAMIS.MERGE" : "TAMIS.INTERSECT", "slv",
                        j->into, (long long)m->n, names, m->n);
    if (names)
        a.free(a.ctx, names, size);
    return same;
}

/* Holds every source. False after a reply. */
static bool merge_hold(redis_ctx *ctx, merge *m, uint64_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < m->n; i++) {
        merge_source *s = &m->sources[i];
        key k = key_read(ctx, s->name, filter_type);
        filter *f = filter_of(&k);

        key_close(&k);
        if (!f)
            return false;
        filter_hold(f);
        s->filter = f;
        s->state = f->state;
        *bytes += tamis_plan_of(f->tamis)->bytes;
    }
    return true;
}

static merge *merge_new(redis_string **argv, tamis_operation operation, const char *event, size_t n)
{
    merge *m = memory_new_value(merge_size(n));
    filter *made = m ? filter_new() : NULL;

    if (!made) {
        if (m)
            memory_free_value(m, merge_size(n));
        return NULL;
    }
    m->job.into = argv[1];
    m->job.event = event;
    m->job.made = made;
    m->job.work = merge_work;
    m->job.replicate = merge_replicate;
    m->job.end = merge_end;
    m->operation = operation;
    m->n = n;
    for (size_t i = 0; i < n; i++)
        m->sources[i].name = redis.HoldString(NULL, argv[3 + i]);
    return m;
}

static int merge_run(redis_ctx *ctx, redis_string **argv, size_t n, tamis_operation operation,
                     const char *event)
{
    merge *m;
    uint64_t bytes;

    memory_begin(ctx);
    m = merge_new(argv, operation, event, n);
    if (!m)
        return filter_reply_status(ctx, TAMIS_NOMEM);
    if (merge_hold(ctx, m, &bytes)) {
        job_run(ctx, &m->job, bytes >= MERGE_LARGE);
        return REDIS_OK;
    }
    filter_drop(m->job.made);
    merge_end(&m->job);
    return REDIS_OK;
}

redis_key_spec merge_keys[] = { KEY_AT(1, KEY_REPLACE), KEYS_COUNTED_AT(2, KEY_READ), KEYS_END };

static int merge_parse(redis_ctx *ctx, redis_string **argv, int argc, tamis_operation operation,
                       const char *event)
{
    key k;
    bool is_other;
    uint64_t n;

    if (command_reports_keys(ctx, merge_keys, argv, argc))
        return REDIS_OK;
    if (!word_to_count(argv[2], &n) || n == 0 || n != (uint64_t)argc - 3)
        return reply_error(ctx, "ERR bad number of keys");
    k = key_write(ctx, argv[1], filter_type);
    is_other = k.holds == KEY_OTHER;
    key_close(&k);
    if (is_other)
        return reply_error(ctx, REPLY_WRONG_TYPE);
    return merge_run(ctx, argv, (size_t)n, operation, event);
}

int merge_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    return merge_parse(ctx, argv, argc, TAMIS_MERGE, "tamis.merge");
}

int merge_intersect_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    return merge_parse(ctx, argv, argc, TAMIS_INTERSECT, "tamis.intersect");
}
