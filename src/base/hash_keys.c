#include "base/hash_keys.h"

#include "base/cpu.h"
#include "base/hash.h"

/* Of the first keys, as many as go into whole registers; they return how many. */
#ifdef __x86_64__
#include "base/hash_avx2.h"
#include "base/hash_avx512.h"

TARGET_AVX2
static size_t hash_keys_avx2(uint64_t *hashes, const uint64_t *keys, size_t n, uint64_t salt)
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
TARGET_END

TARGET_AVX512
static size_t hash_keys_avx512(uint64_t *hashes, const uint64_t *keys, size_t n, uint64_t salt)
{
    const __m512i salts = _mm512_set1_epi64((long long)salt);
    size_t i = 0;

    for (; n - i >= 8; i += 8) {
        __m512i eight = _mm512_loadu_si512(keys + i);
        _mm512_storeu_si512(hashes + i, mix64_avx512(_mm512_xor_si512(eight, salts)));
    }
    return i;
}
TARGET_END
#endif

void tamis__hash_keys(uint64_t *hashes, const uint64_t *keys, size_t n, uint64_t salt, unsigned cpu)
{
    size_t done = 0;

#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX512)
        done = hash_keys_avx512(hashes, keys, n, salt);
    else if (cpu & TAMIS_CPU_AVX2)
        done = hash_keys_avx2(hashes, keys, n, salt);
#endif
    (void)cpu;
    for (size_t i = done; i < n; i++)
        hashes[i] = hash_key(keys[i], salt);
}
