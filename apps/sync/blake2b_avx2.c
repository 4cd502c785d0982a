/* blake2b_avx2.c - BLAKE2b of four messages: word i of each is a lane of vector i. */
#include "blake2b.h"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

typedef uint64_t blake2b_lanes __attribute__((vector_size(32)));

static inline blake2b_lanes blake2b_rotated(blake2b_lanes x, int n)
{
    const __m256i by_24 = _mm256_setr_epi8(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10, 3,
                                           4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10);
    const __m256i by_16 = _mm256_setr_epi8(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9, 2,
                                           3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9);

    if (n == 32)
        return (blake2b_lanes)_mm256_shuffle_epi32((__m256i)x, 0xB1);
    if (n == 24)
        return (blake2b_lanes)_mm256_shuffle_epi8((__m256i)x, by_24);
    if (n == 16)
        return (blake2b_lanes)_mm256_shuffle_epi8((__m256i)x, by_16);
    return x >> 63 | (x + x);
}

static inline blake2b_lanes blake2b_all(uint64_t n)
{
    return (blake2b_lanes){ n, n, n, n };
}

#define BLAKE2B_WORD blake2b_lanes
#define BLAKE2B_ROTATED(x, n) blake2b_rotated(x, n)
#define BLAKE2B_ALL(n) blake2b_all(n)
/* gcc 12 would change the order of sums, and keeps fewer words in registers if rounds are unrolled:
 * 2.8 GB/s would be 2.05. */
#define BLAKE2B_FIRST(x) __asm__("" : "+x"(x))
#define BLAKE2B_UNROLLED 1
#include "blake2b_template.h"

/* Four words of each of four messages become four vectors. */
static inline void blake2b_turn(blake2b_lanes out[4], const __m256i rows[4])
{
    __m256i low = _mm256_unpacklo_epi64(rows[0], rows[1]);
    __m256i high = _mm256_unpackhi_epi64(rows[0], rows[1]);
    __m256i low2 = _mm256_unpacklo_epi64(rows[2], rows[3]);
    __m256i high2 = _mm256_unpackhi_epi64(rows[2], rows[3]);

    out[0] = (blake2b_lanes)_mm256_permute2x128_si256(low, low2, 0x20);
    out[1] = (blake2b_lanes)_mm256_permute2x128_si256(high, high2, 0x20);
    out[2] = (blake2b_lanes)_mm256_permute2x128_si256(low, low2, 0x31);
    out[3] = (blake2b_lanes)_mm256_permute2x128_si256(high, high2, 0x31);
}

static inline void blake2b_load(blake2b_lanes m[16], const uint8_t *const pieces[4])
{
    for (int i = 0; i < 4; i++) {
        __m256i rows[4];
        for (int k = 0; k < 4; k++)
            rows[k] = _mm256_loadu_si256((const __m256i *)(const void *)(pieces[k] + 32 * i));
        blake2b_turn(m + 4 * i, rows);
    }
}

void blake2b_four_avx2(uint8_t out[4][BLAKE2B_SIZE], const uint8_t *const bytes[4], size_t size)
{
    blake2b_lanes h[8], m[16], rows[4];
    uint8_t padded[4][BLAKE2B_BLOCK];
    const uint8_t *pieces[4];
    size_t at = 0;
    bool is_last;

    blake2b_start(h);
    do {
        for (int i = 0; i < 4; i++)
            pieces[i] = blake2b_piece(padded[i], bytes[i], at, size);
        blake2b_load(m, pieces);
        is_last = size - at <= BLAKE2B_BLOCK;
        at = is_last ? size : at + BLAKE2B_BLOCK;
        blake2b_compress(h, m, at, is_last);
    } while (!is_last);
    blake2b_turn(rows, (const __m256i *)(const void *)h);
    for (int i = 0; i < 4; i++)
        _mm256_storeu_si256((__m256i *)(void *)out[i], (__m256i)rows[i]);
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
