/* buckets_avx2.h - the buckets and tags of four keys at a time, as spot_of() finds them. */
#ifndef TAMIS_CUCKOO_BUCKETS_AVX2_H
#define TAMIS_CUCKOO_BUCKETS_AVX2_H

#include <immintrin.h>

static inline __m256i all64(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

static inline void store_four(uint64_t *to, __m256i x)
{
    _mm256_storeu_si256((__m256i *)(void *)to, x);
}

/* a * b modulo 2^64, from three products of halves; the fourth would be shifted out. */
static inline __m256i mul64(__m256i a, uint64_t b)
{
    __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), all64(b)),
                                     _mm256_mul_epu32(a, all64(b >> 32)));

    return _mm256_add_epi64(_mm256_mul_epu32(a, all64(b)), _mm256_slli_epi64(cross, 32));
}

static inline __m256i xor_shifted(__m256i x)
{
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 33));
}

/* See mix64(). */
static inline __m256i mix_four(__m256i x)
{
    x = mul64(xor_shifted(x), UINT64_C(0xff51afd7ed558ccd));
    x = mul64(xor_shifted(x), UINT64_C(0xc4ceb9fe1a85ec53));
    return xor_shifted(x);
}

/* See distance_of(). Tags are the low halves, and the high ones are 0. */
static inline __m256i distances(const table *t, __m256i tag)
{
    __m256i x = _mm256_mullo_epi32(tag, all64(UINT32_C(0x9E3779B1)));

    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 15));
    x = _mm256_mullo_epi32(x, all64(UINT32_C(0x85EBCA6B)));
    x = _mm256_srli_epi64(_mm256_mul_epu32(x, all64(t->reach)), 32);
    return _mm256_or_si256(x, all64(1));
}

/* See other_bucket(). */
static inline __m256i other_buckets(const table *t, __m256i i, __m256i tag)
{
    __m256i distance = distances(t, tag), n = all64(t->buckets);
    __m256i is_odd = _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(i, all64(1)));
    __m256i up = _mm256_blendv_epi8(distance, _mm256_sub_epi64(n, distance), is_odd);
    __m256i j = _mm256_add_epi64(i, up);

    return _mm256_sub_epi64(j, _mm256_andnot_si256(_mm256_cmpgt_epi64(n, j), n));
}

/* The high and the low half of each hash times the buckets: the first, with what the second
 * carries, is the bucket and below it half of what is left for the tag. */
static inline void place_four(places *g, size_t i, const table *t, __m256i h)
{
    __m256i low = _mm256_mul_epu32(h, all64(t->buckets));
    __m256i high = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(h, 32), all64(t->buckets)),
                                    _mm256_srli_epi64(low, 32));
    __m256i first = _mm256_srli_epi64(high, 32), tags = all64(t->tags);
    __m256i scaled = _mm256_add_epi64(_mm256_mul_epu32(high, tags),
                                      _mm256_srli_epi64(_mm256_mul_epu32(low, tags), 32));
    __m256i tag = _mm256_add_epi64(_mm256_srli_epi64(scaled, 32), all64(1));
    __m256i second = other_buckets(t, first, tag), halves = all64(t->halves);

    store_four(g->first + i, first);
    store_four(g->second + i, second);
    store_four(g->tag + i, tag);
    store_four(g->first_half + i, _mm256_mul_epu32(first, halves));
    store_four(g->second_half + i, _mm256_mul_epu32(second, halves));
}

/* As many as there are fours of, in tables of fewer than 2^32 buckets. */
static inline size_t place_fours(places *g, const table *t, const uint64_t *keys, size_t n)
{
    __m256i salt = all64(t->salt);
    size_t i = 0;

    if (t->buckets > UINT32_MAX)
        return 0;
    for (; i + 4 <= n; i += 4) {
        __m256i key = _mm256_loadu_si256((const __m256i *)(const void *)(keys + i));
        place_four(g, i, t, mix_four(_mm256_xor_si256(key, salt)));
    }
    return i;
}

/* ---- Lookups ----------------------------------------------------------- */

/* Where a lane of the buckets that start there is zero once the tags are taken off; see
 * equal_lanes(). */
static inline __m256i lanes_equal(const table *t, const uint64_t *halves, __m256i tags)
{
    __m256i half = _mm256_loadu_si256((const __m256i *)(const void *)halves);
    __m256i shift = _mm256_slli_epi64(_mm256_and_si256(half, all64(1)), 2);
    __m256i lanes = _mm256_i64gather_epi64((const long long *)(const void *)t->at,
                                           _mm256_srli_epi64(half, 1), 1);
    __m256i differs = _mm256_xor_si256(_mm256_srlv_epi64(lanes, shift), tags);
    __m256i rest = all64(t->tops - t->ones);
    __m256i sums = _mm256_add_epi64(_mm256_and_si256(differs, rest), rest);

    return _mm256_andnot_si256(_mm256_or_si256(sums, differs), all64(t->tops));
}

/* Which of four keys are in one of their buckets of at most 64 bits. */
static inline unsigned look_at_four(const table *t, const places *g, size_t i)
{
    __m256i tag = _mm256_loadu_si256((const __m256i *)(const void *)(g->tag + i));
    __m128i lane = _mm_cvtsi32_si128((int)t->lane), two = _mm_cvtsi32_si128((int)t->lane * 2);
    __m256i both = _mm256_or_si256(tag, _mm256_sll_epi64(tag, lane));
    __m256i tags = _mm256_or_si256(both, _mm256_sll_epi64(both, two));
    __m256i equal = _mm256_or_si256(lanes_equal(t, g->first_half + i, tags),
                                    lanes_equal(t, g->second_half + i, tags));
    __m256i none = _mm256_cmpeq_epi64(equal, _mm256_setzero_si256());

    return ~(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(none)) & 15;
}

#endif
