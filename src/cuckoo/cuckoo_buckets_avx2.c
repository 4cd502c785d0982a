/* cuckoo_buckets_avx2.c - four keys are hashed at once, bits counted by an instruction, and both
 * buckets of a key compared in one. */
#include "cuckoo/buckets.h"
#include "cuckoo/cuckoo_group_avx2.h"

/* See buckets_distance(). Tags are the low halves, and the high ones are 0. */
static inline __m256i cuckoo_buckets_distances(const buckets_table *t, __m256i tag)
{
    __m256i x = _mm256_mullo_epi32(tag, cuckoo_group_all(UINT32_C(0x9E3779B1)));

    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 15));
    x = _mm256_mullo_epi32(x, cuckoo_group_all(UINT32_C(0x85EBCA6B)));
    x = high32_avx2(mul32_avx2(x, cuckoo_group_all(t->reach)));
    return _mm256_or_si256(x, cuckoo_group_all(1));
}

/* See buckets_other(). */
static inline __m256i cuckoo_buckets_others(const buckets_table *t, __m256i i, __m256i tag)
{
    __m256i distance = cuckoo_buckets_distances(t, tag), n = cuckoo_group_all(t->buckets);
    __m256i odd = _mm256_and_si256(i, cuckoo_group_all(1));
    __m256i is_odd = _mm256_sub_epi64(_mm256_setzero_si256(), odd);
    __m256i up = _mm256_blendv_epi8(distance, _mm256_sub_epi64(n, distance), is_odd);

    return cuckoo_group_wrap(_mm256_add_epi64(i, up), n);
}

/* The high and the low half of each hash times the buckets: the first, with what the second
 * carries, is the bucket and below it half of what is left for the tag. */
static inline void cuckoo_buckets_hash_four(cuckoo_group *g, size_t i, const buckets_table *t,
                                            __m256i h)
{
    __m256i buckets = cuckoo_group_all(t->buckets), tags = cuckoo_group_all(t->tags);
    __m256i low = mul32_avx2(h, buckets);
    __m256i high = _mm256_add_epi64(mul32_avx2(high32_avx2(h), buckets), high32_avx2(low));
    __m256i first = high32_avx2(high);
    __m256i scaled = _mm256_add_epi64(mul32_avx2(high, tags), high32_avx2(mul32_avx2(low, tags)));
    __m256i tag = _mm256_add_epi64(high32_avx2(scaled), cuckoo_group_all(1));

    cuckoo_group_store(g, i, first, cuckoo_buckets_others(t, first, tag), tag, t->bits);
}

/* As many as there are fours of, in tables of fewer than 2^32 buckets; then one by one. */
CUCKOO_GROUP_INLINE void cuckoo_buckets_hash_group(cuckoo_group *g, const void *table,
                                                   const uint64_t *keys)
{
    const buckets_table *t = table;
    size_t i = 0;

    if (t->buckets <= UINT32_MAX)
        for (; i + 4 <= g->n; i += 4)
            cuckoo_buckets_hash_four(g, i, t, cuckoo_group_hash_keys(keys + i, t->salt));
    buckets_hash_each(g, i, t, keys);
}

/* The first or second buckets of four keys; above them there may be anything. */
CUCKOO_GROUP_INLINE __m256i cuckoo_buckets_words(const buckets_table *t, const cuckoo_group *g,
                                                 unsigned which, size_t i, unsigned how)
{
    __m256i words = cuckoo_group_words(t->at, g->at[which] + i);

    return how == LOOK_BYTES ? words : cuckoo_group_shift_words(words, g->bit[which] + i);
}

/* See buckets_all_ones(); here, lanes become zeros. */
static inline __m256i cuckoo_buckets_zeros(__m256i lanes, __m256i ones)
{
    return _mm256_andnot_si256(lanes, _mm256_sub_epi64(lanes, ones));
}

CUCKOO_GROUP_INLINE uint64_t cuckoo_buckets_hold(const buckets_table *t, const cuckoo_group *g,
                                                 size_t i, size_t end, unsigned how)
{
    if (end - i != CUCKOO_GROUP_STEP || how == LOOK_WIDE)
        return buckets_each_holds(t, g, i, end, how);
    __m256i ones = cuckoo_group_all(t->ones);
    __m256i tags = cuckoo_group_times(cuckoo_group_load_words(g->fingerprint + i), t->ones);
    __m256i first = _mm256_xor_si256(cuckoo_buckets_words(t, g, 0, i, how), tags);
    __m256i second = _mm256_xor_si256(cuckoo_buckets_words(t, g, 1, i, how), tags);
    __m256i zeros =
        _mm256_or_si256(cuckoo_buckets_zeros(first, ones), cuckoo_buckets_zeros(second, ones));

    return cuckoo_group_set_words(_mm256_and_si256(zeros, cuckoo_group_all(t->tops)));
}

static inline __m128i cuckoo_buckets_both(uint64_t x)
{
    return _mm_set1_epi64x((long long)x);
}

static inline long long cuckoo_buckets_eight(const buckets_table *t, uint64_t i)
{
    return cuckoo_group_word(t->at + i * t->bytes);
}

/* See buckets_either_holds(). Not for fewer instructions: processors have registers for general use
 * for three or four lookups at once, and these are others. */
CUCKOO_GROUP_INLINE bool cuckoo_buckets_bytes_hold(const buckets_table *t, const buckets_key *k)
{
    __m128i pair =
        _mm_set_epi64x(cuckoo_buckets_eight(t, k->second), cuckoo_buckets_eight(t, k->first));
    __m128i x = _mm_xor_si128(pair, cuckoo_buckets_both(k->tag * t->ones));
    __m128i zeros = _mm_andnot_si128(x, _mm_sub_epi64(x, cuckoo_buckets_both(t->ones)));

    return !_mm_testz_si128(zeros, cuckoo_buckets_both(t->tops));
}

#include "cuckoo/buckets_template.h"

void tamis__cuckoo_buckets_use_avx2(tamis *f)
{
    buckets_use(f);
}
