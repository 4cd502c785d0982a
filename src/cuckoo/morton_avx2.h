/* morton_avx2.h - a slot put into a block or taken out, eight words at a time. No branch depends on
 * where it is. */
#ifndef TAMIS_CUCKOO_MORTON_AVX2_H
#define TAMIS_CUCKOO_MORTON_AVX2_H

#include <stdint.h>

#include "base/target.h"

TARGET_AVX2

/* Four words, from the lowest. */
static inline __m256i morton_words(const uint8_t *b)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)b);
}

static inline void morton_put_words(uint8_t *b, __m256i x)
{
    _mm256_storeu_si256((__m256i *)(void *)b, x);
}

/* The distance of a bit from the start of each of four words, the first of which starts at bit
 * `first`. */
static inline __m256i morton_bits_to(unsigned bit, int first)
{
    __m256i starts = _mm256_setr_epi64x(first, first + 64, first + 128, first + 192);

    return _mm256_sub_epi64(_mm256_set1_epi64x((int)bit), starts);
}

/* Ones from there on. Shifts by 64 and more leave nothing; there are none by less than 0. */
static inline __m256i morton_ones_from(__m256i ways)
{
    __m256i shifts = _mm256_max_epi32(ways, _mm256_setzero_si256());

    return _mm256_sllv_epi64(_mm256_set1_epi64x(-1), shifts);
}

/* A number there. Of shifts up and down, only those from 0 to 63 leave anything. */
static inline __m256i morton_number_at(__m256i ways, uint32_t x)
{
    __m256i all = _mm256_set1_epi64x(x);
    __m256i back = _mm256_sub_epi64(_mm256_setzero_si256(), ways);

    return _mm256_or_si256(_mm256_sllv_epi64(all, ways), _mm256_srlv_epi64(all, back));
}

/* Words shifted by some bits, with those that come from the words beside them. */
static inline __m256i morton_shift_up(__m256i x, __m256i below, unsigned by)
{
    return _mm256_or_si256(_mm256_sll_epi64(x, _mm_cvtsi32_si128((int)by)),
                           _mm256_srl_epi64(below, _mm_cvtsi32_si128(64 - (int)by)));
}

static inline __m256i morton_shift_down(__m256i x, __m256i above, unsigned by)
{
    return _mm256_or_si256(_mm256_srl_epi64(x, _mm_cvtsi32_si128((int)by)),
                           _mm256_sll_epi64(above, _mm_cvtsi32_si128(64 - (int)by)));
}

/* All from `bit` on moves up by `width` bits, into which x goes. */
static inline void morton_push_bits_avx2(uint8_t *b, unsigned bit, unsigned width, uint32_t x)
{
    __m256i low = morton_words(b), high = morton_words(b + 32);
    __m256i to_low = morton_bits_to(bit, 0), to_high = morton_bits_to(bit, 256);
    __m256i from_low = morton_ones_from(to_low), from_high = morton_ones_from(to_high);
    __m256i low_up = _mm256_and_si256(low, from_low), high_up = _mm256_and_si256(high, from_high);
    __m256i below_low =
        _mm256_blend_epi32(_mm256_permute4x64_epi64(low_up, 0x90), _mm256_setzero_si256(), 3);
    __m256i below_high = _mm256_blend_epi32(_mm256_permute4x64_epi64(high_up, 0x90),
                                            _mm256_permute4x64_epi64(low_up, 0xff), 3);

    low_up =
        _mm256_or_si256(morton_shift_up(low_up, below_low, width), morton_number_at(to_low, x));
    high_up =
        _mm256_or_si256(morton_shift_up(high_up, below_high, width), morton_number_at(to_high, x));
    morton_put_words(b, _mm256_or_si256(_mm256_andnot_si256(from_low, low), low_up));
    morton_put_words(b + 32, _mm256_or_si256(_mm256_andnot_si256(from_high, high), high_up));
}

/* The `width` bits from `bit` on are taken out, all that follows moves down, and zeros come in. */
static inline void morton_pull_bits_avx2(uint8_t *b, unsigned bit, unsigned width)
{
    __m256i low = morton_words(b), high = morton_words(b + 32), zero = _mm256_setzero_si256();
    __m256i from_low = morton_ones_from(morton_bits_to(bit, 0)),
            from_high = morton_ones_from(morton_bits_to(bit, 256));
    __m256i above_low = morton_words(b + 8);
    __m256i above_high = _mm256_blend_epi32(_mm256_permute4x64_epi64(high, 0x39), zero, 0xc0);

    morton_put_words(
        b, _mm256_or_si256(_mm256_andnot_si256(from_low, low),
                           _mm256_and_si256(from_low, morton_shift_down(low, above_low, width))));
    morton_put_words(
        b + 32,
        _mm256_or_si256(_mm256_andnot_si256(from_high, high),
                        _mm256_and_si256(from_high, morton_shift_down(high, above_high, width))));
}

TARGET_END

#endif
