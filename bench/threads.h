/* threads.h - the same work in several threads that start together. */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

#include <stddef.h>

#include "clock.h"

enum { BENCH_MAX_THREADS = 8 };

/* How often a thread does its share of so many keys. If it ended within a millisecond, the
 * scheduler would count more than the work. */
static inline int bench_rounds(size_t each)
{
    return each < 1 << 18 ? 8 : 2;
}

/* That this program may use. */
unsigned bench_processors(void);

/* work(ctx, i) in thread i of `threads`: nanoseconds of all together by their own clocks, and from
 * the first start to the last end. */
bench_time bench_threads(unsigned threads, void (*work)(void *ctx, unsigned i), void *ctx);

#endif
