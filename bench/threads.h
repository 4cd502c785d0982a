/* threads.h - the same work in several threads that start together. */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

#include "clock.h"

/* Rounds: in a thread that ends within a millisecond, the scheduler would count more than the work.
 */
enum { BENCH_MAX_THREADS = 8, BENCH_ROUNDS = 8 };

/* work(ctx, i) in thread i of `threads`: nanoseconds of all together by their own clocks, and from
 * the first start to the last end. */
bench_time bench_threads(unsigned threads, void (*work)(void *ctx, unsigned i), void *ctx);

#endif
