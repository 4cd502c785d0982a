/* thread_pool.c - threads that work beside the caller.
 *
 * They are detached: if the program ends early, at a bad key or the first match, nobody has to join
 * them. */
#include "thread_pool.h"

void crew_init(crew *c, void (*work)(void *ctx), void *ctx)
{
    *c = (crew){ .work = work,
                 .ctx = ctx,
                 .lock = PTHREAD_MUTEX_INITIALIZER,
                 .left = PTHREAD_COND_INITIALIZER };
}

static void count(crew *c, int change)
{
    pthread_mutex_lock(&c->lock);
    c->working += (unsigned)change;
    if (c->working == 0)
        pthread_cond_signal(&c->left);
    pthread_mutex_unlock(&c->lock);
}

static void *serve(void *ctx)
{
    crew *c = ctx;

    c->work(c->ctx);
    count(c, -1);
    return NULL;
}

bool crew_grow(crew *c)
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

void crew_wait(crew *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->working > 0)
        pthread_cond_wait(&c->left, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

void crew_run(unsigned threads, void (*work)(void *ctx), void *ctx)
{
    crew c;

    crew_init(&c, work, ctx);
    for (unsigned i = 1; i < threads && crew_grow(&c); i++)
        ;
    work(ctx);
    crew_wait(&c);
}
