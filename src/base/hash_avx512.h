/* hash_avx512.h - what base/hash.h and scale64() do, for eight keys at a time. */
#ifndef TAMIS_BASE_HASH_AVX512_H
#define TAMIS_BASE_HASH_AVX512_H

#include <stdint.h>

#include "base/target.h"

TARGET_AVX512

static inline __m512i high32_avx512(__m512i a)
{
    return _mm512_srli_epi64(a, 32);
}

static inline __m512i xor_shifted_avx512(__m512i x)
{
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 33));
}

/* scale64() for fewer than 2^32 slots. */
static inline __m512i scale64_avx512(__m512i h, __m512i slots)
{
    __m512i low = high32_avx512(_mm512_mul_epu32(h, slots));

    return high32_avx512(_mm512_add_epi64(_mm512_mul_epu32(high32_avx512(h), slots), low));
}

/* See mix64(). */
static inline __m512i mix64_avx512(__m512i x)
{
    const __m512i first = _mm512_set1_epi64((long long)UINT64_C(0xff51afd7ed558ccd));
    const __m512i second = _mm512_set1_epi64((long long)UINT64_C(0xc4ceb9fe1a85ec53));

    x = _mm512_mullo_epi64(xor_shifted_avx512(x), first);
    x = _mm512_mullo_epi64(xor_shifted_avx512(x), second);
    return xor_shifted_avx512(x);
}

TARGET_END

#endif
