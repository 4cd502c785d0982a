/* split_avx2.h - the eight words of a block in one register. */
#ifndef TAMIS_BLOOM_SPLIT_AVX2_H
#define TAMIS_BLOOM_SPLIT_AVX2_H

#include <immintrin.h>

#include "bloom/blocked.h"

static inline __m256i mask_of(uint32_t x)
{
    const __m256i salts = _mm256_loadu_si256((const __m256i *)SALT);
    __m256i bit = _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_set1_epi32((int)x), salts), 27);

    return _mm256_sllv_epi32(_mm256_set1_epi32(1), bit);
}

#define KERNEL_READS __attribute__((no_sanitize_thread))

KERNEL_READS static inline bool block_has(const block *b, uint32_t x)
{
    return _mm256_testc_si256(_mm256_load_si256((const __m256i *)b), mask_of(x));
}

static inline bool block_add(block *b, uint32_t x)
{
    __m256i *p = (__m256i *)b;
    _mm256_store_si256(p, _mm256_or_si256(_mm256_load_si256(p), mask_of(x)));
    return true;
}

#endif
