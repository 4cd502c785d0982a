/* threads.h - the same work in several threads that start together. */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

/* Rounds: a thread that ends within a millisecond tells more of the scheduler than of its work. */
enum { BENCH_MAX_THREADS = 8, BENCH_ROUNDS = 8 };

/* work(ctx, i) in thread i of `threads`: nanoseconds from the first start to the last end. */
double bench_threads(unsigned threads, void (*work)(void *ctx, unsigned i), void *ctx);

#endif
