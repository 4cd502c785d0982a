/* rolling_avx2.c - the rolling hash of a whole block, eight bytes at a time in four places: lane k
 * sums up bytes k, k + 8, ... and at the end is multiplied with M^(7 - k). */
#include "rolling.h"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

enum { LANES = 8, PLACES = 4 };

static inline __m256i rolling_all(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

static inline __m256i rolling_load(const uint8_t *bytes)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)bytes));
}

uint32_t rolling_rabin_avx2(const uint8_t *bytes, size_t n)
{
    size_t piece = n / (LANES * PLACES) * LANES, at = 0;
    __m256i by_lanes = rolling_all(rolling_leaving(true, LANES)), sums[PLACES] = { 0 };
    uint32_t lanes[LANES], by_piece = rolling_leaving(true, piece), hash = 1;

    for (; at < piece; at += LANES)
#pragma GCC unroll 4
        for (int i = 0; i < PLACES; i++)
            sums[i] = _mm256_add_epi32(_mm256_mullo_epi32(sums[i], by_lanes),
                                       rolling_load(bytes + (size_t)i * piece + at));
    for (int i = 0; i < PLACES; i++) {
        uint32_t sum = 0;
        _mm256_storeu_si256((__m256i *)(void *)lanes, sums[i]);
        for (int k = 0; k < LANES; k++)
            sum = sum * ROLLING_RABIN + lanes[k];
        hash = hash * by_piece + sum;
    }
    for (at = PLACES * piece; at < n; at++)
        hash = hash * ROLLING_RABIN + bytes[at];
    return hash;
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
