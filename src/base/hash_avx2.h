/* hash_avx2.h - what base/hash.h and scale64() do, for four keys at a time. */
#ifndef TAMIS_BASE_HASH_AVX2_H
#define TAMIS_BASE_HASH_AVX2_H

#include <stdint.h>

#include "base/target.h"

TARGET_AVX2

/* Products of the low halves of each 64-bit lane. */
static inline __m256i mul32_avx2(__m256i a, __m256i b)
{
    return _mm256_mul_epu32(a, b);
}

static inline __m256i high32_avx2(__m256i a)
{
    return _mm256_srli_epi64(a, 32);
}

/* a * b modulo 2^64, from three products of halves; the fourth would be shifted out. */
static inline __m256i mul64_avx2(__m256i a, uint64_t b)
{
    __m256i b_low = _mm256_set1_epi64x((long long)b);
    __m256i b_high = _mm256_set1_epi64x((long long)(b >> 32));
    __m256i cross = _mm256_add_epi64(mul32_avx2(high32_avx2(a), b_low), mul32_avx2(a, b_high));

    return _mm256_add_epi64(mul32_avx2(a, b_low), _mm256_slli_epi64(cross, 32));
}

static inline __m256i xor_shifted_avx2(__m256i x)
{
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 33));
}

/* See mix64(). */
static inline __m256i mix64_avx2(__m256i x)
{
    x = mul64_avx2(xor_shifted_avx2(x), UINT64_C(0xff51afd7ed558ccd));
    x = mul64_avx2(xor_shifted_avx2(x), UINT64_C(0xc4ceb9fe1a85ec53));
    return xor_shifted_avx2(x);
}

/* scale64() for fewer than 2^32 slots. */
static inline __m256i scale64_avx2(__m256i h, __m256i slots)
{
    __m256i low = high32_avx2(mul32_avx2(h, slots));

    return high32_avx2(_mm256_add_epi64(mul32_avx2(high32_avx2(h), slots), low));
}

TARGET_END

#endif
