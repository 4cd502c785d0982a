/* slide.h - packed slots of a block that move by one. A block has 64 slots of `width` bits. */
#ifndef TAMIS_BASE_SLIDE_H
#define TAMIS_BASE_SLIDE_H

#include "base/packed.h"
#include "base/word.h"

/* Bits first .. last - 1 of word i become those of x. */
static inline void slide_put(uint8_t *slots, unsigned i, unsigned first, unsigned last, uint64_t x)
{
    uint64_t from = i == first / 64 ? ~word_below(first % 64) : ~UINT64_C(0);
    uint64_t mask = from & (i == (last - 1) / 64 ? word_up_to((last - 1) % 64) : ~UINT64_C(0));

    put_le64(slots + 8 * i, (le64(slots + 8 * i) & ~mask) | (x & mask));
}

/* Slots lo .. hi - 1 move up by one; what slot lo holds then is of no matter. */
static inline void slide_up(uint8_t *slots, unsigned lo, unsigned hi, unsigned width)
{
    unsigned first = lo * width, last = (hi + 1) * width;

    if (packed_is_plain(width)) {
        memmove(slots + first / 8 + width / 8, slots + first / 8, (hi - lo) * width / 8);
        return;
    }
    for (unsigned i = (last - 1) / 64 + 1; i-- > first / 64;) {
        uint64_t from = i ? le64(slots + 8 * (i - 1)) >> (64 - width) : 0;
        slide_put(slots, i, first, last, le64(slots + 8 * i) << width | from);
    }
}

/* Slots lo + 1 .. top move down by one, and slot top becomes x. */
static inline void slide_down(uint8_t *slots, unsigned lo, unsigned top, unsigned width, uint32_t x)
{
    unsigned first = lo * width, last = (top + 1) * width;

    if (packed_is_plain(width))
        memmove(slots + first / 8, slots + first / 8 + width / 8, (top - lo) * width / 8);
    else
        for (unsigned i = first / 64; i <= (last - 1) / 64; i++) {
            uint64_t from = i + 1 < width ? le64(slots + 8 * (i + 1)) << (64 - width) : 0;
            slide_put(slots, i, first, last, le64(slots + 8 * i) >> width | from);
        }
    packed_put(slots, top, width, x);
}

#ifdef TARGET_AVX2
TARGET_AVX2

/* As slide_down(), in half of a block of bytes: stored at once, and without a branch. */
static inline void slide_half_down(uint8_t *slots, unsigned lo, unsigned top, uint32_t x, int half)
{
    const __m256i places =
        _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                         21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    __m256i *at = (__m256i *)(void *)(slots + 32 * half);
    __m256i last = _mm256_set1_epi8((char)(top - 32 * (unsigned)half));
    __m256i before = _mm256_set1_epi8((char)(lo - 32 * (unsigned)half - 1));
    __m256i stay = _mm256_loadu_si256(at);
    __m256i come = _mm256_loadu_si256((const __m256i *)(const void *)(slots + 32 * half + 1));
    __m256i is_moving =
        _mm256_andnot_si256(_mm256_cmpgt_epi8(places, last), _mm256_cmpgt_epi8(places, before));

    come = _mm256_blendv_epi8(come, _mm256_set1_epi8((char)x), _mm256_cmpeq_epi8(places, last));
    _mm256_storeu_si256(at, _mm256_blendv_epi8(stay, come, is_moving));
}

static inline void slide_down_avx2(uint8_t *slots, unsigned lo, unsigned top, unsigned width,
                                   uint32_t x)
{
    if (width != 8) {
        slide_down(slots, lo, top, width, x);
        return;
    }
    slide_half_down(slots, lo, top, x, 0);
    slide_half_down(slots, lo, top, x, 1);
}

TARGET_END
#endif

/* In a file that is all for AVX2. */
#ifdef __AVX2__
#define slide_down slide_down_avx2
#endif

#endif
