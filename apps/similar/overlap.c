/* overlap.c - bits that are set in two rows.
 *
 * AVX2 has no instruction that counts bits: sixteen counts in a register, looked up for each half
 * of a byte, stand in for it (Mula, Kurz, Lemire: Faster Population Counts Using AVX2 Instructions,
 * 2018). A byte of sums takes 31 rounds of at most 8 before it could overflow. AVX-512 with
 * VPOPCNTDQ counts eight words at once. The row itself stays in the first cache. */
#include "overlap.h"

void overlap_portable(uint32_t *both, const uint64_t *row, const uint64_t *rows, size_t n,
                      size_t words)
{
    for (size_t i = 0; i < n; i++, rows += words) {
        uint64_t sum = 0;

        for (size_t w = 0; w < words; w++)
            sum += (uint64_t)__builtin_popcountll(row[w] & rows[w]);
        both[i] = (uint32_t)sum;
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

#define FOR_AVX2 __attribute__((target("avx2")))
#define FOR_AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))

enum { ROUNDS = 31 };

FOR_AVX2 static __m256i count_bytes(__m256i bits)
{
    const __m256i ones = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                          2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i half = _mm256_set1_epi8(15);
    __m256i low = _mm256_shuffle_epi8(ones, _mm256_and_si256(bits, half));
    __m256i high = _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16(bits, 4), half));

    return _mm256_add_epi8(low, high);
}

/* Bits in both, of at most ROUNDS times 32 bytes, as four sums. */
FOR_AVX2 static __m256i count_some(const uint64_t *row, const uint64_t *other, size_t words)
{
    __m256i bytes = _mm256_setzero_si256();

    for (size_t w = 0; w < words; w += 4) {
        __m256i a = _mm256_loadu_si256((const void *)(row + w));
        __m256i b = _mm256_loadu_si256((const void *)(other + w));

        bytes = _mm256_add_epi8(bytes, count_bytes(_mm256_and_si256(a, b)));
    }
    return _mm256_sad_epu8(bytes, _mm256_setzero_si256());
}

FOR_AVX2 static void overlap_avx2(uint32_t *both, const uint64_t *row, const uint64_t *rows,
                                  size_t n, size_t words)
{
    for (size_t i = 0; i < n; i++, rows += words) {
        __m256i sums = _mm256_setzero_si256();

        for (size_t w = 0; w < words; w += 4 * ROUNDS) {
            size_t some = words - w < 4 * ROUNDS ? words - w : 4 * ROUNDS;
            sums = _mm256_add_epi64(sums, count_some(row + w, rows + w, some));
        }
        both[i] = (uint32_t)(_mm256_extract_epi64(sums, 0) + _mm256_extract_epi64(sums, 1) +
                             _mm256_extract_epi64(sums, 2) + _mm256_extract_epi64(sums, 3));
    }
}

FOR_AVX512 static void overlap_avx512(uint32_t *both, const uint64_t *row, const uint64_t *rows,
                                      size_t n, size_t words)
{
    for (size_t i = 0; i < n; i++, rows += words) {
        __m512i sums = _mm512_setzero_si512();

        for (size_t w = 0; w < words; w += 8) {
            __m512i a = _mm512_loadu_si512(row + w), b = _mm512_loadu_si512(rows + w);
            sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(_mm512_and_si512(a, b)));
        }
        both[i] = (uint32_t)_mm512_reduce_add_epi64(sums);
    }
}

overlap_kernel *overlap_choose(void)
{
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512f"))
        return overlap_avx512;
    return __builtin_cpu_supports("avx2") ? overlap_avx2 : overlap_portable;
}

#else

overlap_kernel *overlap_choose(void)
{
    return overlap_portable;
}

#endif
