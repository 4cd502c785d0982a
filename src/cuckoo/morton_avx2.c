/* morton_avx2.c - the kernels with instructions that count bits, and look at all bytes of a block
 * at once where fingerprints are bytes. */
#include <immintrin.h>

#include "cuckoo/morton.h"

#define MORTON_KERNELS tamis__morton_avx2
#define MORTON_BYTES

/* A bit for each byte of the block that is x. */
static inline uint64_t equal_bytes(const uint8_t *b, uint32_t x)
{
    __m256i all = _mm256_set1_epi8((char)x);
    __m256i low = _mm256_load_si256((const __m256i *)(const void *)b);
    __m256i high = _mm256_load_si256((const __m256i *)(const void *)(b + 32));
    uint32_t lows = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, all));
    uint32_t highs = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, all));

    return (uint64_t)highs << 32 | lows;
}

static inline unsigned bytes_in(const table *t, const uint8_t *b, unsigned bucket, uint32_t x)
{
    run r = run_of(t, b, bucket);
    uint64_t equal = equal_bytes(b, x) >> (LINE - t->s.slots);

    return (unsigned)__builtin_popcountll(_bzhi_u64(equal, r.end) & ~_bzhi_u64(equal, r.start));
}

#include "cuckoo/morton_many.h"
