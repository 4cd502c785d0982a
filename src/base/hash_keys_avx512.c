#include "base/hash_avx512.h"
#include "base/hash_keys.h"

size_t tamis__hash_keys_avx512(uint64_t *hashes, const uint64_t *keys, size_t n, uint64_t salt)
{
    const __m512i salts = _mm512_set1_epi64((long long)salt);
    size_t i = 0;

    for (; n - i >= 8; i += 8) {
        __m512i eight = _mm512_loadu_si512(keys + i);
        _mm512_storeu_si512(hashes + i, mix64_avx512(_mm512_xor_si512(eight, salts)));
    }
    return i;
}
