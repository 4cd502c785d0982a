/* workers.c - the work of the engine on several threads. A thread that the system refuses is not
 * missed: each takes the next unit when it is done with one. The program's handlers of signals do
 * not run on them. */
#include "os/workers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

typedef struct workers_pool {
    make_work *w;
    tamis_progress *progress;
    void *ctx;
    pthread_mutex_t lock; /* guards what follows, and w->m->done */
    size_t next;
    unsigned started;
    tamis_status status;
    int error; /* errno belongs to the thread that met it */
} workers_pool;

static void workers_end_unit(workers_pool *c, size_t unit, tamis_status status)
{
    make *m = c->w->m;

    if (c->w->is_shared)
        return;
    m->done += tamis__make_weight(c->w, unit);
    if (!status && c->progress && !c->progress(c->ctx, m->done, m->total))
        status = TAMIS_STOPPED;
    if (!c->status) {
        c->status = status;
        c->error = errno;
    }
}

static void *workers_work(void *arg)
{
    workers_pool *c = arg;

    pthread_mutex_lock(&c->lock);
    unsigned worker = c->started++;
    while (!c->status && c->next < c->w->units) {
        size_t unit = c->next++;
        pthread_mutex_unlock(&c->lock);
        tamis_status status = c->w->do_unit(c->w, unit, worker);
        int error = errno;
        pthread_mutex_lock(&c->lock);
        errno = error;
        workers_end_unit(c, unit, status);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* A new thread has the mask of the one that makes it: all signals are blocked but those of a fault
 * of its own, such as SIGBUS of a file that was cut short. */
static void workers_block_signals(sigset_t *before)
{
    static const int own[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
    sigset_t others;

    sigfillset(&others);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&others, own[i]);
    pthread_sigmask(SIG_BLOCK, &others, before);
}

tamis_status tamis__workers_run(make_work *w, unsigned workers, tamis_progress *progress, void *ctx)
{
    workers_pool c = {
        .w = w, .progress = progress, .ctx = ctx, .lock = PTHREAD_MUTEX_INITIALIZER
    };
    pthread_t threads[WORKERS_MAX];
    sigset_t before;
    unsigned n = 1;

    workers = workers < WORKERS_MAX ? workers : WORKERS_MAX;
    workers_block_signals(&before);
    while (n < workers && !pthread_create(&threads[n], NULL, workers_work, &c))
        n++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    workers_work(&c);
    while (n-- > 1)
        pthread_join(threads[n], NULL);
    pthread_mutex_destroy(&c.lock);
    if (c.status)
        errno = c.error;
    return c.status;
}

/* ---- Keys in an array -------------------------------------------------- */

static tamis_status workers_run_silently(make_work *w, unsigned workers)
{
    return tamis__workers_run(w, workers, NULL, NULL);
}

tamis_status tamis_build_threads(tamis **out, const tamis_plan *plan, const uint64_t *keys,
                                 size_t n, unsigned threads, const tamis_allocator *a)
{
    const make_host host = { .threads = threads < WORKERS_MAX ? threads : WORKERS_MAX,
                             .run = workers_run_silently };
    const make_keys k = { .keys = keys, .n = n, .host = &host };

    return tamis__make(out, plan, &k, 0, a);
}
