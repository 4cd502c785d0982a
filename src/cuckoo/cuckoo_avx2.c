/* cuckoo_avx2.c - four keys are hashed at once, and bits counted by an instruction. */
#include "base/hash_avx2.h"
#include "cuckoo/cuckoo.h"

/* ---- Vectors ----------------------------------------------------------- */

static inline __m256i cuckoo_group_all(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

static inline __m256i cuckoo_group_hash_keys(const uint64_t *keys, uint64_t salt)
{
    __m256i four = _mm256_loadu_si256((const __m256i *)(const void *)keys);

    return mix64_avx2(_mm256_xor_si256(four, cuckoo_group_all(salt)));
}

/* Numbers below 2 n, around the end of a table of n. */
static inline __m256i cuckoo_group_wrap(__m256i x, __m256i n)
{
    return _mm256_sub_epi64(x, _mm256_andnot_si256(_mm256_cmpgt_epi64(n, x), n));
}

static inline void cuckoo_group_store_words(uint64_t *to, __m256i x)
{
    _mm256_storeu_si256((__m256i *)(void *)to, x);
}

static inline __m256i cuckoo_group_load_words(const uint64_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

/* Numbers below 2^32, times one that may be larger. */
static inline __m256i cuckoo_group_times(__m256i x, uint64_t y)
{
    __m256i high = mul32_avx2(x, cuckoo_group_all(y >> 32));

    return _mm256_add_epi64(mul32_avx2(x, cuckoo_group_all(y)), _mm256_slli_epi64(high, 32));
}

/* Eight bytes from each of four places. */
static inline __m256i cuckoo_group_words(const uint8_t *payload, const uint64_t *at)
{
    return _mm256_setr_epi64x((long long)le64(payload + at[0]), (long long)le64(payload + at[1]),
                              (long long)le64(payload + at[2]), (long long)le64(payload + at[3]));
}

/* From bits that do not start their bytes. */
static inline __m256i cuckoo_group_shift_words(__m256i words, const uint64_t *bits)
{
    return _mm256_srlv_epi64(words,
                             _mm256_and_si256(cuckoo_group_load_words(bits), cuckoo_group_all(7)));
}

/* Bit i: word i is not 0. */
static inline uint64_t cuckoo_group_set_words(__m256i words)
{
    __m256i is_zero = _mm256_cmpeq_epi64(words, _mm256_setzero_si256());

    return 15 ^ (uint64_t)_mm256_movemask_pd(_mm256_castsi256_pd(is_zero));
}

/* Keys i to i + 3, whose windows or buckets have that many bits from one to the next. */
static inline void cuckoo_group_store(cuckoo_group *g, size_t i, __m256i first, __m256i second,
                                      __m256i fingerprint, unsigned bits)
{
    __m256i apart = cuckoo_group_all(bits);
    __m256i first_bit = mul32_avx2(first, apart), second_bit = mul32_avx2(second, apart);

    cuckoo_group_store_words(g->start[0] + i, first);
    cuckoo_group_store_words(g->start[1] + i, second);
    cuckoo_group_store_words(g->bit[0] + i, first_bit);
    cuckoo_group_store_words(g->bit[1] + i, second_bit);
    cuckoo_group_store_words(g->at[0] + i, _mm256_srli_epi64(first_bit, 3));
    cuckoo_group_store_words(g->at[1] + i, _mm256_srli_epi64(second_bit, 3));
    cuckoo_group_store_words(g->fingerprint + i, fingerprint);
}

/* ---- Keys -------------------------------------------------------------- */

/* cuckoo_step(), of fewer than 2^32 slots. Below fingerprints of 32 bits there is nothing to fold.
 */
static inline __m256i cuckoo_steps(__m256i fingerprint, __m256i starts)
{
    __m256i x = _mm256_mullo_epi32(fingerprint, _mm256_set1_epi32((int)CUCKOO_STEP_FIRST));
    __m256i distances = _mm256_sub_epi64(starts, cuckoo_group_all(3));

    x = _mm256_mullo_epi32(_mm256_xor_si256(x, _mm256_srli_epi32(x, 15)),
                           _mm256_set1_epi32((int)CUCKOO_STEP_SECOND));
    return _mm256_add_epi64(high32_avx2(mul32_avx2(x, distances)), cuckoo_group_all(2));
}

/* Of the product of h and the starts, the bits from 32 on: the first start, and 32 of the bits that
 * the fingerprint begins with. */
static inline void cuckoo_hash_four(cuckoo_group *g, size_t i, const cuckoo_table *t, __m256i h)
{
    __m256i starts = cuckoo_group_all(t->starts);
    __m256i product =
        _mm256_add_epi64(mul32_avx2(high32_avx2(h), starts), high32_avx2(mul32_avx2(h, starts)));
    __m256i first = high32_avx2(product);
    __m256i low = _mm256_and_si256(product, cuckoo_group_all(UINT32_MAX));
    __m256i fingerprint =
        _mm256_srl_epi64(low, _mm_cvtsi32_si128(32 + CUCKOO_TAG_BITS - (int)t->width));
    __m256i second = _mm256_add_epi64(first, cuckoo_steps(fingerprint, starts));

    cuckoo_group_store(g, i, first, cuckoo_group_wrap(second, starts), fingerprint, t->width);
}

static inline void cuckoo_hash_group(cuckoo_group *g, const void *table, const uint64_t *keys)
{
    const cuckoo_table *t = table;
    size_t i = 0;

    if (t->starts >> 32 == 0 && t->width <= 32 + CUCKOO_TAG_BITS)
        for (; i + 4 <= g->n; i += 4)
            cuckoo_hash_four(g, i, t, cuckoo_group_hash_keys(keys + i, t->salt));
    cuckoo_hash_each(g, i, t, keys);
}

/* The windows of four keys, from their bits on. */
static inline __m256i cuckoo_windows(const cuckoo_table *t, const cuckoo_group *g, unsigned which,
                                     size_t i)
{
    return cuckoo_group_shift_words(cuckoo_group_words(t->slots, g->at[which] + i),
                                    g->bit[which] + i);
}

/* See cuckoo_four() and cuckoo_held(). */
static inline uint64_t cuckoo_hold_four(const cuckoo_table *t, const cuckoo_lanes *l,
                                        const cuckoo_group *g, size_t i)
{
    __m256i first = _mm256_and_si256(cuckoo_windows(t, g, 0, i), cuckoo_group_all(l->window));
    __m256i second =
        _mm256_sll_epi64(cuckoo_windows(t, g, 1, i), _mm_cvtsi32_si128(2 * (int)t->width));
    __m256i fingerprint = cuckoo_group_load_words(g->fingerprint + i);
    __m256i never = _mm256_srli_epi64(_mm256_sub_epi64(fingerprint, cuckoo_group_all(1)), 63);
    __m256i four = _mm256_or_si256(_mm256_or_si256(first, second), never);
    __m256i target =
        _mm256_add_epi64(cuckoo_group_times(fingerprint, l->units), cuckoo_group_all(l->tags));
    __m256i x = _mm256_xor_si256(four, target);
    __m256i zeros = _mm256_andnot_si256(x, _mm256_sub_epi64(x, cuckoo_group_all(l->ones)));

    return cuckoo_group_set_words(_mm256_and_si256(zeros, cuckoo_group_all(l->tops)));
}

#define CUCKOO_HOLDS_FOUR 1
#include "cuckoo/cuckoo_template.h"

void tamis__cuckoo_use_avx2(tamis *f)
{
    cuckoo_use(f);
}
