/* thread_pool.c - threads that work beside the caller.
 *
 * They are detached: if the program ends early, at a bad key or the first match, nobody has to join
 * them. */
#include "thread_pool.h"

#include "term/progress.h"

void thread_pool_init(thread_pool *c, void (*work)(void *ctx), void *ctx)
{
    *c = (thread_pool){ .work = work,
                        .ctx = ctx,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .left = PTHREAD_COND_INITIALIZER };
}

static void count(thread_pool *c, int change)
{
    pthread_mutex_lock(&c->lock);
    c->working += (unsigned)change;
    if (c->working == 0)
        pthread_cond_signal(&c->left);
    pthread_mutex_unlock(&c->lock);
}

static void *serve(void *ctx)
{
    thread_pool *c = ctx;

    c->work(c->ctx);
    count(c, -1);
    return NULL;
}

bool thread_pool_grow(thread_pool *c)
{
    pthread_t thread;

    count(c, +1);
    if (pthread_create(&thread, NULL, serve, c)) {
        count(c, -1);
        return false;
    }
    pthread_detach(thread);
    c->started++;
    return true;
}

void thread_pool_wait(thread_pool *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->working > 0)
        pthread_cond_wait(&c->left, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

void thread_pool_run(unsigned threads, void (*work)(void *ctx), void *ctx)
{
    thread_pool c;

    thread_pool_init(&c, work, ctx);
    for (unsigned i = 1; i < threads && thread_pool_grow(&c); i++)
        ;
    work(ctx);
    thread_pool_wait(&c);
}

work_list work_list_of(size_t n, const char *unit)
{
    return (work_list){ n, 0, unit, pthread_self() };
}

bool work_list_next(work_list *l, size_t *i)
{
    *i = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
    if (*i < l->n && l->unit && pthread_equal(pthread_self(), l->caller))
        progress_show(*i, l->n, l->unit);
    return *i < l->n;
}
