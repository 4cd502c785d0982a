/* keys.h - members and strangers that never meet, made on the spot. */
#ifndef BENCH_KEYS_H
#define BENCH_KEYS_H

#include "base/hash.h"
#include "bench.h"

/* A permutation of the numbers of that many bits. */
static inline uint64_t bench_shuffle(uint64_t x, unsigned bits)
{
    uint64_t mask = (UINT64_C(1) << bits) - 1;

    for (int round = 0; round < 2; round++) {
        x ^= x >> (bits + 1) / 2;
        x = x * HASH_GOLDEN & mask;
    }
    return x ^ x >> (bits + 1) / 2;
}

/* The i-th of the numbers below n, shuffled: steps through a permutation of more numbers until one
 * is small enough, which keeps distinct ones apart. */
static inline uint64_t bench_shuffle_below(uint64_t i, uint64_t n)
{
    unsigned bits = n < 2 ? 1 : 64 - (unsigned)__builtin_clzll(n - 1);
    uint64_t x = i % n;

    do
        x = bench_shuffle(x, bits);
    while (x >= n);
    return x;
}

/* Of even numbers members are made and strangers of odd ones: distinct numbers stay apart. */
static inline uint64_t bench_key(const bench_subject *s, const bench_case *c, uint64_t i, int odd)
{
    if (s->indexed)
        return 2 * bench_shuffle_below(i, BENCH_UNIVERSE / 2 * c->keys) + (uint64_t)odd;
    return mix64(2 * i + (uint64_t)odd);
}

static inline uint64_t bench_member(const bench_subject *s, const bench_case *c, uint64_t i)
{
    return bench_key(s, c, i, 0);
}

static inline uint64_t bench_stranger(const bench_subject *s, const bench_case *c, uint64_t i)
{
    return bench_key(s, c, i, 1);
}

#endif
