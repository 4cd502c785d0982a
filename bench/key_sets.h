/* key_sets.h - members and absent keys, computed and all different. */
#ifndef BENCH_KEY_SETS_H
#define BENCH_KEY_SETS_H

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

/* The i-th of the numbers below n, shuffled: follows a permutation of more numbers until one is
 * below n. Different i give different numbers. */
static inline uint64_t bench_shuffle_below(uint64_t i, uint64_t n)
{
    unsigned bits = n < 2 ? 1 : 64 - (unsigned)__builtin_clzll(n - 1);
    uint64_t x = i % n;

    do
        x = bench_shuffle(x, bits);
    while (x >= n);
    return x;
}

/* Members are made of even numbers, absent keys of odd ones, by a permutation. */
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
