/* xor_eight_avx512_template.h - TEMPLATE, compiled once for each THIRD: steps of
 * xor_lookup_template.h, which includes this, for eight keys at a time. */
#include "base/hash_avx512.h"

static inline __m512i xor_all(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* See mul_fold64(), from products of halves. */
static inline __m512i xor_mul_fold_eight(__m512i a, uint64_t b)
{
    const __m512i low = xor_all(b & UINT32_MAX), high = xor_all(b >> 32);
    __m512i a_high = high32_avx512(a), first = _mm512_mul_epu32(a, low);
    __m512i mid = _mm512_add_epi64(_mm512_mul_epu32(a_high, low), high32_avx512(first));
    __m512i other =
        _mm512_add_epi64(_mm512_mul_epu32(a, high), _mm512_and_si512(mid, xor_all(UINT32_MAX)));
    __m512i top = _mm512_add_epi64(_mm512_mul_epu32(a_high, high), high32_avx512(mid));

    return _mm512_xor_si512(_mm512_add_epi64(top, high32_avx512(other)),
                            _mm512_mullo_epi64(a, xor_all(b)));
}

static inline void xor_store_eight(uint32_t *to, __m512i x)
{
    _mm256_store_si256((__m256i *)to, _mm512_cvtepi64_epi32(x));
}

/* Keys of a filter that is usual: all eights of them, as many as it returns. See xor_find_slots().
 */
static inline size_t xor_start_eights(xor_group *to, const xor_query *q, const uint64_t *keys,
                                      size_t n)
{
    const __m512i salt = xor_all(q->f->salt), length = xor_all(q->s.length);
    const __m512i third = xor_all(THIRD * q->s.length), third_at = xor_all(2 * q->s.length);
    const unsigned part_bits = q->s.part_bits, mark_shift = q->s.mark_shift;
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m512i h = mix64_avx512(_mm512_xor_si512(_mm512_loadu_si512(keys + i), salt));
        __m512i mark = _mm512_srli_epi64(_mm512_slli_epi64(h, part_bits), mark_shift);
        __m512i g = xor_mul_fold_eight(mark, MULTIPLIER);
        __m512i second = high32_avx512(_mm512_mul_epu32(high32_avx512(g), length));
        xor_store_eight(to->slots[0] + i,
                        scale64_avx512(_mm512_slli_epi64(mark, mark_shift), length));
        xor_store_eight(to->slots[1] + i, _mm512_add_epi64(second, length));
        xor_store_eight(to->slots[2] + i,
                        _mm512_add_epi64(high32_avx512(_mm512_mul_epu32(g, third)), third_at));
        xor_store_eight(to->fingerprints + i, mark);
        if (!q->is_single)
            _mm512_store_si512(to->h + i, h);
    }
    return i;
}

/* What is behind the last key of the group is left out. */
static inline uint64_t xor_fits_group(const xor_group *g, const uint32_t *x, uint32_t mask)
{
    const __m512i bits = _mm512_set1_epi32((int)mask);
    uint64_t word = 0;

    for (unsigned i = 0; i < GROUP; i += 16) {
        __m512i differing =
            _mm512_xor_si512(_mm512_load_si512(x + i), _mm512_load_si512(g->fingerprints + i));
        word |= (uint64_t)_mm512_testn_epi32_mask(differing, bits) << i;
    }
    return g->n < GROUP ? word & ((UINT64_C(1) << g->n) - 1) : word;
}
