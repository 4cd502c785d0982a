/* fuse_eight_avx512_template.h - TEMPLATE, compiled once for each ARITY: hashes, slots and
 * fingerprints of eight keys, with their hashes in one register. Included after
 * fuse_eight_avx2_template.h. */
#include "base/hash_avx512.h"

static inline __m512i fuse_all_long(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* The upper halves of eight numbers. */
static inline __m256i fuse_tops(__m512i x)
{
    return _mm512_cvtepi64_epi32(high32_avx512(x));
}

/* See fuse_near(), fuse_fingerprint(). */
static inline void fuse_hash_and_put_eight(fuse_batch *to, uint64_t *g, size_t i,
                                           const fuse_shape *s, const uint64_t *keys, uint64_t salt,
                                           unsigned skip)
{
    __m512i h = mix64_avx512(_mm512_xor_si512(_mm512_loadu_si512(keys), fuse_all_long(salt)));
    __m512i lead = high32_avx512(_mm512_sll_epi64(h, _mm_cvtsi32_si128((int)skip)));
    __m256i at = fuse_tops(_mm512_mul_epu32(lead, fuse_all_long(s->room)));
    __m256i near = _mm256_andnot_si256(fuse_all(s->in_block), at);
    __m512i mixed = _mm512_mul_epu32(h, fuse_all_long(FINGERPRINT_FACTOR));
    __m512i kept = _mm512_and_si512(h, fuse_all_long(LOW_BITS));

    _mm512_storeu_si512(g + i, h);
    fuse_store_places(to, i, s, _mm512_cvtepi64_epi32(h),
                      _mm256_add_epi32(near, fuse_all(s->window)));
    fuse_store(to->fingerprint + i, fuse_tops(_mm512_xor_si512(kept, mixed)));
}
