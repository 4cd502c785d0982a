/* buckets_avx2.h - the buckets and tags of four keys at a time, as spot_of() finds them. */
#ifndef TAMIS_CUCKOO_BUCKETS_AVX2_H
#define TAMIS_CUCKOO_BUCKETS_AVX2_H

#include "base/hash_avx2.h"

static inline __m256i all64(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

static inline void store_four(uint64_t *to, __m256i x)
{
    _mm256_storeu_si256((__m256i *)(void *)to, x);
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
        place_four(g, i, t, mix64_avx2(_mm256_xor_si256(key, salt)));
    }
    return i;
}

#endif
