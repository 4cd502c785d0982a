/* select.h - ranks and selects in words of 64 bits.
 *
 * With BMI2 a select is two instructions; without it, halves are chosen by how many ones they have.
 * Both give the same. */
#ifndef TAMIS_QUOTIENT_SELECT_H
#define TAMIS_QUOTIENT_SELECT_H

#include <stdint.h>

#ifdef __BMI2__
#include <immintrin.h>
#endif

static inline unsigned ones(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

/* Bits before i, 0 .. 63. */
static inline uint64_t below(unsigned i)
{
    return (UINT64_C(1) << i) - 1;
}

/* Bits up to and including i. */
static inline uint64_t up_to(unsigned i)
{
    return ~UINT64_C(0) >> (63 - i);
}

/* The place of the one that has k ones before it; there is one. */
static inline unsigned select_one(uint64_t x, unsigned k)
{
#ifdef __BMI2__
    return (unsigned)__builtin_ctzll(_pdep_u64(UINT64_C(1) << k, x));
#else
    unsigned at = 0;

    for (unsigned half = 32; half; half /= 2) {
        unsigned n = ones(x & below(half));
        if (k >= n) {
            k -= n;
            x >>= half;
            at += half;
        }
    }
    return at;
#endif
}

/* 64 if there is none. */
static inline unsigned select_or_64(uint64_t x, unsigned k)
{
#ifdef __BMI2__
    uint64_t one = _pdep_u64(UINT64_C(1) << k, x);

    return one ? (unsigned)__builtin_ctzll(one) : 64;
#else
    return k < ones(x) ? select_one(x, k) : 64;
#endif
}

#endif
