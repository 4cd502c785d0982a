#include "base/hash_avx2.h"
#include "base/hash_keys.h"

size_t tamis__hash_keys_avx2(uint64_t *hashes, const uint64_t *keys, size_t n, uint64_t salt)
{
    const __m256i salts = _mm256_set1_epi64x((long long)salt);
    size_t i = 0;

    for (; n - i >= 4; i += 4) {
        __m256i four = _mm256_loadu_si256((const __m256i *)(const void *)(keys + i));
        _mm256_storeu_si256((__m256i *)(void *)(hashes + i),
                            mix64_avx2(_mm256_xor_si256(four, salts)));
    }
    return i;
}
