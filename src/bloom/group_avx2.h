/* group_avx2.h - the places of four keys at a time. */
#ifndef TAMIS_BLOOM_GROUP_AVX2_H
#define TAMIS_BLOOM_GROUP_AVX2_H

#include <immintrin.h>

#include "bloom/group.h"

/* Products of the low halves of each 64-bit lane. */
static inline __m256i mul32(__m256i a, __m256i b)
{
    return _mm256_mul_epu32(a, b);
}

static inline __m256i high32(__m256i a)
{
    return _mm256_srli_epi64(a, 32);
}

/* a * b modulo 2^64, from three products of halves; the fourth would be shifted out. */
static inline __m256i mul64(__m256i a, uint64_t b)
{
    __m256i b_low = _mm256_set1_epi64x((long long)b);
    __m256i b_high = _mm256_set1_epi64x((long long)(b >> 32));
    __m256i cross = _mm256_add_epi64(mul32(high32(a), b_low), mul32(a, b_high));

    return _mm256_add_epi64(mul32(a, b_low), _mm256_slli_epi64(cross, 32));
}

static inline __m256i xor_shifted(__m256i x)
{
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 33));
}

static inline __m256i mix64_of_four(__m256i x)
{
    x = mul64(xor_shifted(x), UINT64_C(0xff51afd7ed558ccd));
    x = mul64(xor_shifted(x), UINT64_C(0xc4ceb9fe1a85ec53));
    return xor_shifted(x);
}

/* scale64() for fewer than 2^32 slots. */
static inline __m256i scale64_of_four(__m256i h, __m256i slots)
{
    __m256i low = high32(mul32(h, slots));

    return high32(_mm256_add_epi64(mul32(high32(h), slots), low));
}

static inline void place_four(group *g, size_t i, const uint64_t *keys, __m256i slots, __m256i salt)
{
    const __m256i evens = _mm256_set_epi32(0, 0, 0, 0, 6, 4, 2, 0);
    __m256i key = _mm256_loadu_si256((const __m256i *)(keys + i));
    __m256i h = mix64_of_four(_mm256_xor_si256(key, salt));

    _mm256_storeu_si256((__m256i *)(g->block + i), scale64_of_four(h, slots));
    _mm_storeu_si128((__m128i *)(g->x + i),
                     _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(h, evens)));
}

static inline void place_group(group *g, const uint64_t *keys, uint64_t slots, uint64_t salt)
{
    __m256i four_slots = _mm256_set1_epi64x((long long)slots);
    __m256i four_salts = _mm256_set1_epi64x((long long)salt);
    size_t whole = slots >> 32 ? 0 : g->n - g->n % 4;

    for (size_t i = 0; i < whole; i += 4)
        place_four(g, i, keys, four_slots, four_salts);
    place_each(g, whole, keys, slots, salt);
}

#endif
