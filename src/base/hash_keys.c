#include "base/hash_keys.h"

#include "base/cpu.h"
#include "base/hash.h"

void tamis__hash_keys(uint64_t *hashes, const uint64_t *keys, size_t n, uint64_t salt, unsigned cpu)
{
    size_t done = 0;

#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX512)
        done = tamis__hash_keys_avx512(hashes, keys, n, salt);
    else if (cpu & TAMIS_CPU_AVX2)
        done = tamis__hash_keys_avx2(hashes, keys, n, salt);
#endif
    (void)cpu;
    for (size_t i = done; i < n; i++)
        hashes[i] = hash_key(keys[i], salt);
}
