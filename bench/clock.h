/* clock.h - a piece of work, timed by two clocks. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <time.h>

/* Nanoseconds. CPU time of this thread does not include other programs; wall time is for work that
 * waits or has several threads. */
typedef struct bench_time {
    double cpu, wall;
} bench_time;

static inline double bench_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline bench_time bench_start(void)
{
    return (bench_time){ bench_clock(CLOCK_THREAD_CPUTIME_ID), bench_clock(CLOCK_MONOTONIC) };
}

/* Since `start`, per item. */
static inline bench_time bench_stop(bench_time start, size_t items)
{
    bench_time now = bench_start();

    return (bench_time){ (now.cpu - start.cpu) / (double)items,
                         (now.wall - start.wall) / (double)items };
}

#endif
