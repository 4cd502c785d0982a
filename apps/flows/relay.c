#include "relay.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "files/thread_pool.h"
#include "term/array.h"

enum { RING = 8 };

struct relay {
    relay_chunk ring[RING];
    relay_duty duties[RELAY_DUTIES_MAX];
    size_t n;
    thread_pool pool;
    /* Guarded by the lock: */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t sent;                   /* chunks */
    uint64_t done[RELAY_DUTIES_MAX]; /* of these, by each duty */
    bool is_busy[RELAY_DUTIES_MAX];  /* a thread is at it */
    bool has_ended;
};

/* ---- With the lock held ------------------------------------------------ */

static uint64_t done_by_all(const relay *r)
{
    uint64_t least = r->sent;

    for (size_t i = 0; i < r->n; i++)
        least = r->done[i] < least ? r->done[i] : least;
    return least;
}

/* The duty that is most behind and that nobody is at; n: there is none. */
static size_t next_duty(const relay *r)
{
    size_t next = r->n;

    for (size_t i = 0; i < r->n; i++)
        if (!r->is_busy[i] && r->done[i] < r->sent && (next == r->n || r->done[i] < r->done[next]))
            next = i;
    return next;
}

/* Takes one chunk by one duty, or waits until something has changed. */
static void work_or_wait(relay *r)
{
    size_t i = next_duty(r);

    if (i == r->n) {
        pthread_cond_wait(&r->changed, &r->lock);
        return;
    }
    const relay_chunk *chunk = &r->ring[r->done[i] % RING];
    r->is_busy[i] = true;
    pthread_mutex_unlock(&r->lock);
    r->duties[i].take(r->duties[i].ctx, chunk);
    pthread_mutex_lock(&r->lock);
    r->is_busy[i] = false;
    r->done[i]++;
    pthread_cond_broadcast(&r->changed);
}

/* ---- Threads ----------------------------------------------------------- */

static void work(void *ctx)
{
    relay *r = ctx;

    pthread_mutex_lock(&r->lock);
    while (!r->has_ended || done_by_all(r) < r->sent)
        work_or_wait(r);
    pthread_mutex_unlock(&r->lock);
}

/* Signals are for the thread that reads: it is the one that may have to wait. */
static void grow(relay *r, unsigned threads)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (r->pool.started + 1 < threads && r->pool.started < r->n && thread_pool_grow(&r->pool))
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

relay *relay_new(const relay_duty *duties, size_t n, unsigned threads)
{
    relay *r = array_new(1, sizeof *r, "packets");

    memcpy(r->duties, duties, n * sizeof *duties);
    r->n = n;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    thread_pool_init(&r->pool, work, r);
    grow(r, threads);
    return r;
}

relay_chunk *relay_room(relay *r)
{
    pthread_mutex_lock(&r->lock);
    while (r->sent - done_by_all(r) == RING)
        work_or_wait(r);
    relay_chunk *room = &r->ring[r->sent % RING];
    pthread_mutex_unlock(&r->lock);
    return room;
}

void relay_send(relay *r)
{
    pthread_mutex_lock(&r->lock);
    r->sent++;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

void relay_end(relay *r)
{
    pthread_mutex_lock(&r->lock);
    r->has_ended = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    work(r);
    thread_pool_wait(&r->pool);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
