/* cuckoo_avx2.c - four keys are placed at once, and bits counted by an instruction. */
#include <immintrin.h>

#include "cuckoo/cuckoo.h"

/* Products of the low halves of each 64-bit lane. */
static inline __m256i mul32(__m256i a, __m256i b)
{
    return _mm256_mul_epu32(a, b);
}

static inline __m256i high32(__m256i a)
{
    return _mm256_srli_epi64(a, 32);
}

static inline __m256i four64(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

static inline void store_four(uint64_t *to, __m256i x)
{
    _mm256_storeu_si256((__m256i *)to, x);
}

/* a * b modulo 2^64, from three products of halves; the fourth would be shifted out. */
static inline __m256i mul64(__m256i a, uint64_t b)
{
    __m256i cross = _mm256_add_epi64(mul32(high32(a), four64(b)), mul32(a, four64(b >> 32)));

    return _mm256_add_epi64(mul32(a, four64(b)), _mm256_slli_epi64(cross, 32));
}

static inline __m256i xor_shifted(__m256i x)
{
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 33));
}

static inline __m256i mix64_of_four(__m256i x)
{
    x = mul64(xor_shifted(x), UINT64_C(0xff51afd7ed558ccd));
    x = mul64(xor_shifted(x), UINT64_C(0xc4ceb9fe1a85ec53));
    return xor_shifted(x);
}

/* step_of(), of fewer than 2^32 slots. Below fingerprints of 32 bits there is nothing to fold. */
static inline __m256i steps_of(__m256i print, __m256i starts)
{
    __m256i x = _mm256_mullo_epi32(print, _mm256_set1_epi32((int)STEP_FIRST));

    x = _mm256_mullo_epi32(_mm256_xor_si256(x, _mm256_srli_epi32(x, 15)),
                           _mm256_set1_epi32((int)STEP_SECOND));
    return _mm256_add_epi64(high32(mul32(x, _mm256_sub_epi64(starts, four64(3)))), four64(2));
}

/* Of the product of h and the starts, the bits from 32 on: the first start, and 32 of the bits that
 * the fingerprint begins with. */
static inline void place_four(group *g, size_t i, const table *t, __m256i h)
{
    __m256i starts = four64(t->starts);
    __m256i product = _mm256_add_epi64(mul32(high32(h), starts), high32(mul32(h, starts)));
    __m256i first = high32(product), low = _mm256_and_si256(product, four64(UINT32_MAX));
    __m256i print = _mm256_srl_epi64(low, _mm_cvtsi32_si128(32 + TAG_BITS - (int)t->width));
    __m256i second = _mm256_add_epi64(first, steps_of(print, starts));
    __m256i inside = _mm256_cmpgt_epi64(starts, second);

    second = _mm256_sub_epi64(second, _mm256_andnot_si256(inside, starts));
    store_four(g->start[0] + i, first);
    store_four(g->start[1] + i, second);
    store_four(g->bit[0] + i, mul32(first, four64(t->width)));
    store_four(g->bit[1] + i, mul32(second, four64(t->width)));
    store_four(g->print + i, print);
}

static inline void place_keys(group *g, const table *t, uint64_t salt, const uint64_t *keys)
{
    size_t whole = t->starts >> 32 || t->width > 32 + TAG_BITS ? 0 : g->n - g->n % 4;

    for (size_t i = 0; i < whole; i += 4) {
        __m256i key = _mm256_loadu_si256((const __m256i *)(keys + i));
        place_four(g, i, t, mix64_of_four(_mm256_xor_si256(key, four64(salt))));
    }
    place_each(g, whole, t, salt, keys);
}

#include "cuckoo/cuckoo_many.h"

const tamis_batch tamis__cuckoo_avx2 = CUCKOO_KERNELS;
