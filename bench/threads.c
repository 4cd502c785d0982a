#include "threads.h"

#include <pthread.h>

#include "bench.h"
#include "clock.h"

typedef struct {
    pthread_barrier_t *ready;
    void (*work)(void *ctx, unsigned i);
    void *ctx;
    unsigned i;
    double start, end;
} worker;

static void *run(void *arg)
{
    worker *w = arg;

    pthread_barrier_wait(w->ready);
    w->start = bench_clock(CLOCK_MONOTONIC);
    w->work(w->ctx, w->i);
    w->end = bench_clock(CLOCK_MONOTONIC);
    return NULL;
}

/* The threads read the clock themselves: who started them may be the last to be woken. */
static double from_first_to_last(const worker *workers, unsigned threads)
{
    double first = workers[0].start, last = workers[0].end;

    for (unsigned i = 1; i < threads; i++) {
        first = workers[i].start < first ? workers[i].start : first;
        last = workers[i].end > last ? workers[i].end : last;
    }
    return last - first;
}

double bench_threads(unsigned threads, void (*work)(void *ctx, unsigned i), void *ctx)
{
    pthread_t ids[BENCH_MAX_THREADS];
    worker workers[BENCH_MAX_THREADS];
    pthread_barrier_t ready;

    pthread_barrier_init(&ready, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (worker){ .ready = &ready, .work = work, .ctx = ctx, .i = i };
        if (pthread_create(&ids[i], NULL, run, &workers[i]))
            bench_die("threads", "cannot be started");
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&ready);
    return from_first_to_last(workers, threads);
}
