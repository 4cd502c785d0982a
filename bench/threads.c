#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "bench.h"
#include "clock.h"

typedef struct {
    atomic_uint *missing; /* threads that are not ready yet */
    void (*work)(void *ctx, unsigned i);
    void *ctx;
    unsigned i;
    double start, end, cpu;
} worker;

unsigned bench_processors(void)
{
    cpu_set_t allowed;

    return sched_getaffinity(0, sizeof allowed, &allowed) ? 1 : (unsigned)CPU_COUNT(&allowed);
}

/* Otherwise the system would let short threads share a processor. */
static void stay_on_processor(unsigned i)
{
    cpu_set_t allowed, own;
    unsigned seen = 0;

    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return;
    i %= (unsigned)CPU_COUNT(&allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && seen++ == i) {
            CPU_ZERO(&own);
            CPU_SET(cpu, &own);
            (void)sched_setaffinity(0, sizeof own, &own);
        }
}

/* Does not sleep: a sleeping thread would start late. */
static void wait_for_others(atomic_uint *missing)
{
    atomic_fetch_sub(missing, 1);
    while (atomic_load(missing))
        sched_yield();
}

static void *run(void *arg)
{
    worker *w = arg;

    stay_on_processor(w->i);
    wait_for_others(w->missing);
    w->start = bench_clock(CLOCK_MONOTONIC);
    w->work(w->ctx, w->i);
    w->end = bench_clock(CLOCK_MONOTONIC);
    w->cpu = bench_clock(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

/* The threads read the clock themselves: the main thread may be the last to run again. */
static bench_time total(const worker *workers, unsigned threads)
{
    double first = workers[0].start, last = workers[0].end, cpu = workers[0].cpu;

    for (unsigned i = 1; i < threads; i++) {
        first = workers[i].start < first ? workers[i].start : first;
        last = workers[i].end > last ? workers[i].end : last;
        cpu += workers[i].cpu;
    }
    return (bench_time){ cpu, last - first };
}

bench_time bench_threads(unsigned threads, void (*work)(void *ctx, unsigned i), void *ctx)
{
    pthread_t ids[BENCH_MAX_THREADS];
    worker workers[BENCH_MAX_THREADS] = { 0 };
    atomic_uint missing = threads;

    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (worker){ .missing = &missing, .work = work, .ctx = ctx, .i = i };
        if (pthread_create(&ids[i], NULL, run, &workers[i]))
            bench_die("threads", "cannot be started");
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return total(workers, threads);
}
