/* cuckoo_group_avx2.h - groups of keys that are hashed four at a time. */
#ifndef TAMIS_CUCKOO_GROUP_AVX2_H
#define TAMIS_CUCKOO_GROUP_AVX2_H

#include "base/hash_avx2.h"
#include "base/le.h"
#include "cuckoo/cuckoo_group.h"

static inline __m256i cuckoo_group_all(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

static inline __m256i cuckoo_group_hash_keys(const uint64_t *keys, uint64_t salt)
{
    __m256i four = _mm256_loadu_si256((const __m256i *)(const void *)keys);

    return mix64_avx2(_mm256_xor_si256(four, cuckoo_group_all(salt)));
}

/* Numbers below 2 n, around the end of a table of n. */
static inline __m256i cuckoo_group_wrap(__m256i x, __m256i n)
{
    return _mm256_sub_epi64(x, _mm256_andnot_si256(_mm256_cmpgt_epi64(n, x), n));
}

static inline void cuckoo_group_store_words(uint64_t *to, __m256i x)
{
    _mm256_storeu_si256((__m256i *)(void *)to, x);
}

static inline __m256i cuckoo_group_load_words(const uint64_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

static inline long long cuckoo_group_word(const uint8_t *at)
{
    return (long long)le64(at);
}

/* Numbers below 2^32, times one that may be larger. */
static inline __m256i cuckoo_group_times(__m256i x, uint64_t y)
{
    __m256i high = mul32_avx2(x, cuckoo_group_all(y >> 32));

    return _mm256_add_epi64(mul32_avx2(x, cuckoo_group_all(y)), _mm256_slli_epi64(high, 32));
}

/* Eight bytes from each of four places. */
static inline __m256i cuckoo_group_words(const uint8_t *payload, const uint64_t *at)
{
    return _mm256_setr_epi64x(
        cuckoo_group_word(payload + at[0]), cuckoo_group_word(payload + at[1]),
        cuckoo_group_word(payload + at[2]), cuckoo_group_word(payload + at[3]));
}

/* From bits that do not start their bytes. */
static inline __m256i cuckoo_group_shift_words(__m256i words, const uint64_t *bits)
{
    return _mm256_srlv_epi64(words,
                             _mm256_and_si256(cuckoo_group_load_words(bits), cuckoo_group_all(7)));
}

/* Bit i: word i is not 0. */
static inline uint64_t cuckoo_group_set_words(__m256i words)
{
    __m256i is_zero = _mm256_cmpeq_epi64(words, _mm256_setzero_si256());

    return 15 ^ (uint64_t)_mm256_movemask_pd(_mm256_castsi256_pd(is_zero));
}

/* Keys i to i + 3, whose windows or buckets have that many bits from one to the next. */
static inline void cuckoo_group_store(cuckoo_group *g, size_t i, __m256i first, __m256i second,
                                      __m256i fingerprint, unsigned bits)
{
    __m256i apart = cuckoo_group_all(bits);
    __m256i first_bit = mul32_avx2(first, apart), second_bit = mul32_avx2(second, apart);

    cuckoo_group_store_words(g->start[0] + i, first);
    cuckoo_group_store_words(g->start[1] + i, second);
    cuckoo_group_store_words(g->bit[0] + i, first_bit);
    cuckoo_group_store_words(g->bit[1] + i, second_bit);
    cuckoo_group_store_words(g->at[0] + i, _mm256_srli_epi64(first_bit, 3));
    cuckoo_group_store_words(g->at[1] + i, _mm256_srli_epi64(second_bit, 3));
    cuckoo_group_store_words(g->fingerprint + i, fingerprint);
}

#endif
