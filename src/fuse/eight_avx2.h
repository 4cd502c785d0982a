/* eight_avx2.h - places of eight keys at a time, in two registers of four hashes and one of eight
 * slots. */
#ifndef TAMIS_FUSE_EIGHT_AVX2_H
#define TAMIS_FUSE_EIGHT_AVX2_H

#include <immintrin.h>

#define FUSE_AVX2

#include "fuse/eight.h"

/* ---- Hashes ------------------------------------------------------------ */

static inline __m256i load_avx2(const void *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

static inline void store_avx2(void *to, __m256i x)
{
    _mm256_storeu_si256((__m256i *)to, x);
}

/* a * b modulo 2^64, from three products of halves; the fourth would be shifted out. */
static inline __m256i mul64_avx2(__m256i a, uint64_t b)
{
    __m256i b_low = _mm256_set1_epi64x((long long)b);
    __m256i b_high = _mm256_set1_epi64x((long long)(b >> 32));
    __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b_low),
                                     _mm256_mul_epu32(a, b_high));

    return _mm256_add_epi64(_mm256_mul_epu32(a, b_low), _mm256_slli_epi64(cross, 32));
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

static inline void hash_eight(uint64_t *g, const uint64_t *keys, uint64_t salt)
{
    __m256i salts = _mm256_set1_epi64x((long long)salt);

    for (unsigned i = 0; i < EIGHT; i += 4)
        store_avx2(g + i, mix64_avx2(_mm256_xor_si256(load_avx2(keys + i), salts)));
}

/* ---- Places ------------------------------------------------------------ */

/* The low halves of four numbers, then those of four others; and the high ones. */
static inline __m256i lows_avx2(__m256i a, __m256i b)
{
    __m256 halves =
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0));

    return _mm256_permute4x64_epi64(_mm256_castps_si256(halves), _MM_SHUFFLE(3, 1, 2, 0));
}

static inline __m256i highs_avx2(__m256i a, __m256i b)
{
    __m256 halves =
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(3, 1, 3, 1));

    return _mm256_permute4x64_epi64(_mm256_castps_si256(halves), _MM_SHUFFLE(3, 1, 2, 0));
}

static inline __m256i all_avx2(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

static inline __m256i step_avx2(const shape *s, __m256i slot, __m256i steps)
{
    __m256i on = _mm256_add_epi32(_mm256_and_si256(steps, all_avx2(s->in_half)), all_avx2(1));

    return _mm256_and_si256(_mm256_add_epi32(slot, on), all_avx2(s->in_block));
}

static inline __m256i reach_avx2(const shape *s, __m256i low)
{
    return _mm256_and_si256(_mm256_srli_epi32(low, REACH_AT), all_avx2(s->in_window));
}

/* See put_near(). */
static inline void put_near_avx2(places *to, size_t i, const shape *s, __m256i low, __m256i near)
{
#if ARITY == 5
    for (uint32_t j = 0, quarter = (s->in_block >> 2) + 1; j < IN_NEAR; j++) {
        __m256i at = _mm256_and_si256(_mm256_srli_epi32(low, (int)j * IN_QUARTER_BITS),
                                      all_avx2(quarter - 1));
        store_avx2(to->at[j] + i,
                   _mm256_add_epi32(_mm256_add_epi32(near, all_avx2(j * quarter)), at));
    }
#else
    __m256i steps = _mm256_srli_epi32(low, NEAR_STEP_AT);

    store_avx2(to->at[0] + i, _mm256_add_epi32(near, _mm256_and_si256(low, all_avx2(s->in_block))));
    store_avx2(to->at[1] + i, _mm256_add_epi32(near, step_avx2(s, low, steps)));
#endif
}

/* See spots_of(). */
static inline void put_avx2(places *to, size_t i, const shape *s, __m256i low, __m256i near,
                            __m256i print)
{
    __m256i far = _mm256_sub_epi32(_mm256_sub_epi32(near, all_avx2(1)), reach_avx2(s, low));

    put_near_avx2(to, i, s, low, near);
    store_avx2(to->at[IN_NEAR] + i, far);
#if ARITY == 4
    store_avx2(to->at[3] + i,
               _mm256_add_epi32(_mm256_andnot_si256(all_avx2(s->in_block), far),
                                step_avx2(s, far, _mm256_srli_epi32(low, FAR_STEP_AT))));
#endif
    store_avx2(to->print + i, print);
}

/* See print_of(): the upper half of the result. */
static inline __m256i print_avx2(__m256i g)
{
    __m256i mixed = _mm256_mul_epu32(g, _mm256_set1_epi64x((long long)PRINT_FACTOR));

    return _mm256_xor_si256(_mm256_and_si256(g, _mm256_set1_epi64x((long long)PRINT_MASK)), mixed);
}

static inline __m256i prints_avx2(__m256i a, __m256i b)
{
    return highs_avx2(print_avx2(a), print_avx2(b));
}

static inline __m256i starts_avx2(const shape *s, __m256i g, unsigned skip)
{
    __m256i lead = _mm256_srli_epi64(_mm256_sll_epi64(g, _mm_cvtsi32_si128((int)skip)), 32);

    return _mm256_mul_epu32(lead, _mm256_set1_epi64x((long long)s->starts));
}

static inline void place_eight(places *to, size_t i, const shape *s, const uint64_t *g,
                               unsigned skip)
{
    __m256i a = load_avx2(g), b = load_avx2(g + 4), low = lows_avx2(a, b);
    __m256i start = highs_avx2(starts_avx2(s, a, skip), starts_avx2(s, b, skip));
    __m256i near = _mm256_sll_epi32(start, _mm_cvtsi32_si128((int)s->block_bits));

    put_avx2(to, i, s, low, _mm256_add_epi32(near, all_avx2(s->window)), prints_avx2(a, b));
}

/* Parts begin at multiples of 64 bytes: of these, numbers fit in 32 bits. */
static inline void part_eight(uint64_t *to, const shape *s, const uint64_t *g)
{
    __m256i size = _mm256_set1_epi64x((long long)(s->part_bytes / 64));
    __m128i shift = _mm_cvtsi32_si128((int)(64 - s->part_bits));

    for (unsigned i = 0; i < EIGHT; i += 4) {
        __m256i part = _mm256_srl_epi64(load_avx2(g + i), shift);
        store_avx2(to + i, _mm256_slli_epi64(_mm256_mul_epu32(part, size), 6));
    }
}

/* See near_left(). */
static inline void trace_eight(places *to, size_t i, const shape *s, const uint32_t *slots,
                               const uint64_t *states)
{
    __m256i a = load_avx2(states), b = load_avx2(states + 4), low = lows_avx2(a, b);
    __m256i high = highs_avx2(a, b), in_block = all_avx2(s->in_block);
    __m256i is_far = _mm256_srai_epi32(_mm256_slli_epi32(high, 63 - FAR_AT), 31);
    __m256i blocks = _mm256_add_epi32(_mm256_or_si256(reach_avx2(s, low), in_block), all_avx2(1));
    __m256i near = _mm256_andnot_si256(in_block, load_avx2(slots));

    put_avx2(to, i, s, low, _mm256_add_epi32(near, _mm256_and_si256(blocks, is_far)),
             prints_avx2(a, b));
}

/* Slots are numbered in 31 bits. */
static inline bool are_before(const places *p, size_t i, uint32_t stop)
{
    __m256i before = _mm256_cmpgt_epi32(all_avx2(stop), load_avx2(p->at[0] + i));

    return _mm256_movemask_epi8(before) == -1;
}

/* ---- Answers ----------------------------------------------------------- */

static inline unsigned fits_eight(const places *p, size_t i, const uint32_t *x, uint32_t mask)
{
    __m256i wrong =
        _mm256_and_si256(_mm256_xor_si256(load_avx2(x), load_avx2(p->print + i)), all_avx2(mask));
    __m256i fits = _mm256_cmpeq_epi32(wrong, _mm256_setzero_si256());

    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(fits));
}

static inline unsigned marked_eight(const uint8_t *bitmap, uint32_t size, const uint64_t *g)
{
    __m256i low = lows_avx2(load_avx2(g), load_avx2(g + 4));
    __m256i at = _mm256_and_si256(_mm256_srli_epi32(low, 5), all_avx2(size / 4 - 1));
    __m256i word = _mm256_i32gather_epi32((const int *)(const void *)bitmap, at, 4);
    __m256i bit = _mm256_srlv_epi32(word, _mm256_and_si256(low, all_avx2(31)));

    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(bit, 31)));
}

static inline unsigned marked_in_parts(const uint8_t *bitmap, uint32_t size, const uint64_t *g,
                                       const uint64_t *parts)
{
    __m256i in_bitmap = _mm256_set1_epi64x((long long)(size - 8));
    __m256i last_bit = _mm256_set1_epi64x(63);
    unsigned marked = 0;

    for (unsigned i = 0; i < EIGHT; i += 4) {
        __m256i low = load_avx2(g + i);
        __m256i at = _mm256_and_si256(_mm256_srli_epi64(low, 3), in_bitmap);
        __m256i word = _mm256_i64gather_epi64((const long long *)(const void *)bitmap,
                                              _mm256_add_epi64(at, load_avx2(parts + i)), 1);
        __m256i bit = _mm256_sllv_epi64(word, _mm256_andnot_si256(low, last_bit));
        marked |= (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(bit)) << i;
    }
    return marked;
}

static inline __m256i odd_avx2(const uint8_t *slots, __m256i at, unsigned width)
{
    __m256i bit = _mm256_mullo_epi32(at, all_avx2(width));
    __m256i word =
        _mm256_i32gather_epi32((const int *)(const void *)slots, _mm256_srli_epi32(bit, 3), 1);

    return _mm256_srlv_epi32(word, _mm256_and_si256(bit, all_avx2(7)));
}

static inline void odd_eight(uint32_t *x, const places *p, size_t i, const uint8_t *slots,
                             unsigned width)
{
    __m256i sum = odd_avx2(slots, load_avx2(p->at[0] + i), width);

    for (unsigned j = 1; j < ARITY; j++)
        sum = _mm256_xor_si256(sum, odd_avx2(slots, load_avx2(p->at[j] + i), width));
    store_avx2(x, sum);
}

/* Four slots, each in its own part, from 32-bit numbers of bytes. */
static inline __m128i four_in_parts_avx2(const uint8_t *slots, __m128i bytes, const uint64_t *parts)
{
    __m256i at = _mm256_add_epi64(_mm256_cvtepu32_epi64(bytes), load_avx2(parts));

    return _mm256_i64gather_epi32((const int *)(const void *)slots, at, 1);
}

static inline __m256i odd_in_parts_avx2(const uint8_t *slots, __m256i at, const uint64_t *parts,
                                        unsigned width)
{
    __m256i bit = _mm256_mullo_epi32(at, all_avx2(width)), bytes = _mm256_srli_epi32(bit, 3);
    __m128i a = four_in_parts_avx2(slots, _mm256_castsi256_si128(bytes), parts);
    __m128i b = four_in_parts_avx2(slots, _mm256_extracti128_si256(bytes, 1), parts + 4);

    return _mm256_srlv_epi32(_mm256_set_m128i(b, a), _mm256_and_si256(bit, all_avx2(7)));
}

static inline void odd_in_parts(uint32_t *x, const places *p, size_t i, const uint8_t *slots,
                                const uint64_t *parts, unsigned width)
{
    __m256i sum = odd_in_parts_avx2(slots, load_avx2(p->at[0] + i), parts, width);

    for (unsigned j = 1; j < ARITY; j++)
        sum =
            _mm256_xor_si256(sum, odd_in_parts_avx2(slots, load_avx2(p->at[j] + i), parts, width));
    store_avx2(x, sum);
}

#endif
