/* split_block_avx2.h - the eight words of a split block in one register. */
#ifndef TAMIS_BLOOM_SPLIT_BLOCK_AVX2_H
#define TAMIS_BLOOM_SPLIT_BLOCK_AVX2_H

#include <immintrin.h>

#include "bloom/split_block.h"

static inline __m256i split_block_mask_avx2(uint32_t x)
{
    const __m256i salts = _mm256_loadu_si256((const __m256i *)SPLIT_SALT);
    __m256i bit = _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_set1_epi32((int)x), salts), 27);

    return _mm256_sllv_epi32(_mm256_set1_epi32(1), bit);
}

/* Beside writers: see ONE_BLOCK_READS in one_block_template.h. */
__attribute__((no_sanitize_thread)) static inline bool split_block_has_avx2(const split_block *b,
                                                                            uint32_t x)
{
    return _mm256_testc_si256(_mm256_load_si256((const __m256i *)b), split_block_mask_avx2(x));
}

static inline bool split_block_add_avx2(split_block *b, uint32_t x)
{
    __m256i *p = (__m256i *)b;

    _mm256_store_si256(p, _mm256_or_si256(_mm256_load_si256(p), split_block_mask_avx2(x)));
    return true;
}

#endif
