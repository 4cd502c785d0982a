/* cuckoo_group_avx2.h - groups of keys that are hashed four at a time. */
#ifndef TAMIS_CUCKOO_GROUP_AVX2_H
#define TAMIS_CUCKOO_GROUP_AVX2_H

#include "base/hash_avx2.h"
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

/* Keys i to i + 3, whose windows or buckets have that many bits from one to the next. */
static inline void cuckoo_group_store(cuckoo_group *g, size_t i, __m256i first, __m256i second,
                                      __m256i fingerprint, unsigned bits)
{
    __m256i apart = cuckoo_group_all(bits);

    cuckoo_group_store_words(g->start[0] + i, first);
    cuckoo_group_store_words(g->start[1] + i, second);
    cuckoo_group_store_words(g->bit[0] + i, mul32_avx2(first, apart));
    cuckoo_group_store_words(g->bit[1] + i, mul32_avx2(second, apart));
    cuckoo_group_store_words(g->fingerprint + i, fingerprint);
}

#endif
