/* cuckoo_avx2.c - four keys are placed at once, and bits counted by an instruction. */
#include "base/hash_avx2.h"
#include "cuckoo/cuckoo.h"

static inline __m256i four64(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

static inline void store_four(uint64_t *to, __m256i x)
{
    _mm256_storeu_si256((__m256i *)to, x);
}

/* step_of(), of fewer than 2^32 slots. Below fingerprints of 32 bits there is nothing to fold. */
static inline __m256i steps_of(__m256i print, __m256i starts)
{
    __m256i x = _mm256_mullo_epi32(print, _mm256_set1_epi32((int)STEP_FIRST));

    x = _mm256_mullo_epi32(_mm256_xor_si256(x, _mm256_srli_epi32(x, 15)),
                           _mm256_set1_epi32((int)STEP_SECOND));
    return _mm256_add_epi64(high32_avx2(mul32_avx2(x, _mm256_sub_epi64(starts, four64(3)))),
                            four64(2));
}

/* Of the product of h and the starts, the bits from 32 on: the first start, and 32 of the bits that
 * the fingerprint begins with. */
static inline void place_four(group *g, size_t i, const table *t, __m256i h)
{
    __m256i starts = four64(t->starts);
    __m256i product =
        _mm256_add_epi64(mul32_avx2(high32_avx2(h), starts), high32_avx2(mul32_avx2(h, starts)));
    __m256i first = high32_avx2(product), low = _mm256_and_si256(product, four64(UINT32_MAX));
    __m256i print = _mm256_srl_epi64(low, _mm_cvtsi32_si128(32 + TAG_BITS - (int)t->width));
    __m256i second = _mm256_add_epi64(first, steps_of(print, starts));
    __m256i inside = _mm256_cmpgt_epi64(starts, second);

    second = _mm256_sub_epi64(second, _mm256_andnot_si256(inside, starts));
    store_four(g->start[0] + i, first);
    store_four(g->start[1] + i, second);
    store_four(g->bit[0] + i, mul32_avx2(first, four64(t->width)));
    store_four(g->bit[1] + i, mul32_avx2(second, four64(t->width)));
    store_four(g->print + i, print);
}

static inline void place_keys(group *g, const table *t, uint64_t salt, const uint64_t *keys)
{
    size_t whole = t->starts >> 32 || t->width > 32 + TAG_BITS ? 0 : g->n - g->n % 4;

    for (size_t i = 0; i < whole; i += 4) {
        __m256i key = _mm256_loadu_si256((const __m256i *)(keys + i));
        place_four(g, i, t, mix64_avx2(_mm256_xor_si256(key, four64(salt))));
    }
    place_each(g, whole, t, salt, keys);
}

#include "cuckoo/cuckoo_many.h"

void tamis__cuckoo_use_avx2(tamis_ops *ops)
{
    ops->has = has;
    ops->has_many = has_many;
    ops->count_many = count_many;
    ops->add_many = add_many;
    ops->remove_many = remove_many;
}
