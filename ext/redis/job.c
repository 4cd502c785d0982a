/* job.c - work in the background.
 *
 * A timer takes a job from step to step, in the thread of the server: it reads a slice, starts the
 * thread, looks whether it has ended, and puts what was made into the key. */
#include "job.h"

#include <signal.h>
#include <sys/resource.h>

#include "reply.h"

enum { JOBS_MAX = 16, JOB_SLICE_US = 2000, JOB_PERIOD_MS = 1, JOB_NICE = 10 };

static job *jobs;
static unsigned jobs_n;

void job_tell(redis_info *info)
{
    redis.InfoAddFieldULongLong(info, "jobs", jobs_n);
}

bool job_must_pause(const job *j)
{
    return redis.MonotonicMicroseconds() >= j->slice_end_us;
}

static bool job_failed(const job *j)
{
    return j->status || j->error;
}

/* ---- At the end --------------------------------------------------------- */

static void job_put(redis_ctx *ctx, job *j)
{
    key k = key_write(ctx, j->into, filter_type);

    if (k.holds == KEY_OTHER)
        j->error = REPLY_WRONG_TYPE;
    else {
        if (!j->replicate || !j->replicate(ctx, j))
            filter_replicate(&k, j->made);
        key_set(&k, filter_type, j->made);
        key_changed(&k, j->event);
        j->made = NULL;
    }
    key_close(&k);
}

/* Whether the key is this server's. In a cluster, its slot may have moved while the job worked; a
 * command that looks at the key would then be redirected. */
static bool job_has_slot(redis_ctx *ctx, const job *j)
{
    redis_reply *reply = NULL;

    if (!(redis.GetContextFlags(ctx) & REDIS_CTX_CLUSTER))
        return true;
    reply = redis.Call(ctx, "EXISTS", "s", j->into);
    if (reply)
        redis.FreeCallReply(reply);
    return reply != NULL;
}

static void job_reply(redis_ctx *ctx, const job *j)
{
    if (j->error)
        reply_error(ctx, j->error);
    else if (j->status)
        filter_reply_status(ctx, j->status);
    else
        reply_ok(ctx);
}

static void job_free(job *j)
{
    redis.FreeString(NULL, j->into);
    filter_drop(j->made);
    j->end(j);
}

static int job_reply_to_client(redis_ctx *ctx, redis_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    job_reply(ctx, redis.GetBlockedClientPrivateData(ctx));
    return REDIS_OK;
}

static void job_free_for_client(redis_ctx *ctx, void *data)
{
    (void)ctx;
    job_free(data);
}

static void job_finish(redis_ctx *ctx, job *j)
{
    job **at = &jobs;

    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    jobs_n--;
    if (!job_has_slot(ctx, j))
        j->error = "TRYAGAIN the slot of this key has moved to another server";
    if (!job_failed(j))
        job_put(ctx, j);
    redis.UnblockClient(j->client, j);
}

/* ---- The thread --------------------------------------------------------- */

static void *job_thread(void *data)
{
    job *j = data;

#ifdef __linux__
    /* Of this thread alone: the one that answers clients goes first. */
    (void)!setpriority(PRIO_PROCESS, 0, JOB_NICE);
#endif
    j->work(j);
    j->is_worked = true;
    return NULL;
}

/* Signals are for the server's own threads. */
static void job_start_thread(job *j)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    j->has_thread = pthread_create(&j->thread, NULL, job_thread, j) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!j->has_thread)
        j->status = TAMIS_NOMEM;
}

/* ---- From step to step ---------------------------------------------------- */

/* One slice of reading; when all is there, the thread starts. */
static void job_read(redis_ctx *ctx, job *j)
{
    j->slice_end_us = redis.MonotonicMicroseconds() + JOB_SLICE_US;
    if ((!j->read || j->read(ctx, j)) && !job_failed(j))
        job_start_thread(j);
}

/* True when there is nothing left but to finish. */
static bool job_step(redis_ctx *ctx, job *j)
{
    if (redis.GetContextFlags(ctx) & REDIS_CTX_REPLICA)
        j->error = "READONLY the server has become a replica, and the work was given up";
    if (!j->has_thread && !job_failed(j))
        job_read(ctx, j);
    if (!j->has_thread)
        return job_failed(j);
    if (!j->is_worked || redis.AvoidReplicaTraffic())
        return false;
    pthread_join(j->thread, NULL);
    return true;
}

static void job_tick(redis_ctx *ctx, void *data)
{
    memory_begin(ctx);
    if (job_step(ctx, data))
        job_finish(ctx, data);
    else
        redis.CreateTimer(ctx, JOB_PERIOD_MS, job_tick, data);
}

static void job_run_now(redis_ctx *ctx, job *j)
{
    j->slice_end_us = UINT64_MAX;
    if (j->read)
        (void)j->read(ctx, j);
    if (!job_failed(j))
        j->work(j);
    if (!job_failed(j))
        job_put(ctx, j);
    job_reply(ctx, j);
    job_free(j);
}

static bool job_is_busy(const job *j)
{
    const job *other = jobs;

    while (other && (other->db != j->db || redis.StringCompare(other->into, j->into)))
        other = other->next;
    return other != NULL;
}

void job_run(redis_ctx *ctx, job *j, bool is_large)
{
    j->into = redis.HoldString(NULL, j->into);
    j->db = redis.GetSelectedDb(ctx);
    if (!is_large || memory_must_obey() || redis.GetContextFlags(ctx) & REDIS_CTX_DENY_BLOCKING) {
        job_run_now(ctx, j);
        return;
    }
    if (jobs_n == JOBS_MAX || job_is_busy(j)) {
        reply_error(ctx, "TRYAGAIN this key is being made already, or too many others are");
        job_free(j);
        return;
    }
    j->next = jobs;
    jobs = j;
    jobs_n++;
    j->client = redis.BlockClient(ctx, job_reply_to_client, NULL, job_free_for_client, 0);
    redis.CreateTimer(ctx, 0, job_tick, j);
}
