/* word.h - words of 64 bits: their ones counted and found, and where two words have equal ranks.
 *
 * With BMI2 a select is two instructions; without it, halves are chosen by how many ones they have.
 * What ends in _avx2 gives the same as the function of the name before it. */
#ifndef TAMIS_BASE_WORD_H
#define TAMIS_BASE_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/target.h"

/* False, as what comes of a branch that the processor foresees. The compiler would return the bit
 * by which the branch was decided, and who uses it would wait for that. */
static inline bool word_no(void)
{
    bool no = false;

#ifdef __x86_64__
    __asm__("" : "+r"(no));
#endif
    return no;
}

static inline unsigned word_ones(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

/* Bits before i, 0 .. 63. */
static inline uint64_t word_below(unsigned i)
{
    return (UINT64_C(1) << i) - 1;
}

/* Bits up to and including i. */
static inline uint64_t word_up_to(unsigned i)
{
    return ~UINT64_C(0) >> (63 - i);
}

/* Where a one is; there is one. */
static inline unsigned word_lowest(uint64_t x)
{
    return (unsigned)__builtin_ctzll(x);
}

static inline unsigned word_highest(uint64_t x)
{
    return 63 - (unsigned)__builtin_clzll(x);
}

static inline unsigned word_lowest_or_64(uint64_t x)
{
    return x ? word_lowest(x) : 64;
}

/* The place of the one that has k ones before it; there is one. */
static inline unsigned word_select(uint64_t x, unsigned k)
{
    unsigned at = 0;

    for (unsigned half = 32; half; half /= 2) {
        unsigned n = word_ones(x & word_below(half));
        if (k >= n) {
            k -= n;
            x >>= half;
            at += half;
        }
    }
    return at;
}

/* 64 if there is none. */
static inline unsigned word_select_or_64(uint64_t x, unsigned k)
{
    return k < word_ones(x) ? word_select(x, k) : 64;
}

/* In each byte, the ones of x in the bytes before it. */
static inline uint64_t word_ones_before_bytes(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return x * 0x0101010101010101 << 8;
}

/* A one at the top of each byte that is 0x80. */
static inline uint64_t word_bytes_at_80(uint64_t x)
{
    uint64_t highs = 0x8080808080808080, other = x ^ highs;

    return ~(((other & ~highs) + ~highs) | other) & highs;
}

/* How many more ones of `a` than of `b` lie in the bytes before each, and 0x80. */
static inline uint64_t word_level_start(uint64_t a, uint64_t b)
{
    return (word_ones_before_bytes(a) | 0x8080808080808080) - word_ones_before_bytes(b);
}

/* A one at each bit that as many ones of `a` as of `b` lie before. */
static inline uint64_t word_level(uint64_t a, uint64_t b)
{
    const uint64_t lows = 0x0101010101010101;
    uint64_t sums = word_level_start(a, b), through = 0;

    for (unsigned i = 0; i < 8; i++) {
        sums += (a >> i & lows) - (b >> i & lows);
        through |= word_bytes_at_80(sums) >> (7 - i);
    }
    return through << 1 | 1;
}

/* ---- With AVX2 --------------------------------------------------------- */

#ifdef TARGET_AVX2
TARGET_AVX2

static inline unsigned word_lowest_or_64_avx2(uint64_t x)
{
    return (unsigned)_tzcnt_u64(x);
}

static inline unsigned word_select_avx2(uint64_t x, unsigned k)
{
    return word_lowest(_pdep_u64(UINT64_C(1) << k, x));
}

static inline unsigned word_select_or_64_avx2(uint64_t x, unsigned k)
{
    return word_lowest_or_64_avx2(_pdep_u64(UINT64_C(1) << k, x));
}

/* One where, in the bytes that are spread out, as many of `a` as of `b` lie up to a bit and
 * including it. */
static inline uint32_t word_level_half(uint64_t a, uint64_t b, __m256i spread)
{
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i start = _mm256_set1_epi64x((long long)word_level_start(a, b));
    __m256i ups = _mm256_shuffle_epi8(_mm256_set1_epi64x((long long)a), spread);
    __m256i downs = _mm256_shuffle_epi8(_mm256_set1_epi64x((long long)b), spread);
    __m256i sums = _mm256_sub_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(downs, bit), bit),
                                   _mm256_cmpeq_epi8(_mm256_and_si256(ups, bit), bit));

    sums = _mm256_add_epi8(sums, _mm256_slli_epi64(sums, 8));
    sums = _mm256_add_epi8(sums, _mm256_slli_epi64(sums, 16));
    sums = _mm256_add_epi8(sums, _mm256_slli_epi64(sums, 32));
    sums = _mm256_add_epi8(sums, _mm256_shuffle_epi8(start, spread));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(sums, _mm256_set1_epi8((char)0x80)));
}

static inline uint64_t word_level_avx2(uint64_t a, uint64_t b)
{
    const __m256i low =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i high = _mm256_setr_epi64x(0x0404040404040404, 0x0505050505050505,
                                            0x0606060606060606, 0x0707070707070707);
    uint64_t through = word_level_half(a, b, low) | (uint64_t)word_level_half(a, b, high) << 32;

    return through << 1 | 1;
}

TARGET_END
#endif

/* In a file that is all for AVX2. */
#ifdef __AVX2__
#define word_lowest_or_64 word_lowest_or_64_avx2
#define word_select word_select_avx2
#define word_select_or_64 word_select_or_64_avx2
#define word_level word_level_avx2
#endif

#endif
