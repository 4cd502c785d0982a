/* counting_blocked_avx2.c - the counting filter of blocks with a line in two registers, its eight
 * words in their lanes. */
#include "bloom/counting_blocked.h"
#include "bloom/one_block.h"

TARGET_AVX2

/* Half of a line: four words, and what they say of the counters of x. */
typedef struct counting_blocked_half {
    __m256i words;
    __m256i zero, stopped; /* all bits of a word whose counter is 0, or has stopped */
    __m256i step;          /* one, in its place, for each counter that has not stopped */
} counting_blocked_half;

/* Word i has its counter at four times digit i of x. */
static inline counting_blocked_half counting_blocked_half_of(const counting_blocked_line *l,
                                                             uint32_t x, int half)
{
    const __m256i digits =
        half ? _mm256_set_epi64x(28, 24, 20, 16) : _mm256_set_epi64x(12, 8, 4, 0);
    const __m256i most = _mm256_set1_epi64x(15 * COUNTING_BLOCKED_BITS);
    __m256i four_x = _mm256_set1_epi64x((long long)((uint64_t)x * COUNTING_BLOCKED_BITS));
    __m256i shifts = _mm256_and_si256(_mm256_srlv_epi64(four_x, digits), most);
    __m256i maxima =
        _mm256_sllv_epi64(_mm256_set1_epi64x((1 << COUNTING_BLOCKED_BITS) - 1), shifts);
    counting_blocked_half h = { .words = _mm256_load_si256((const __m256i *)l->word + half) };
    __m256i counters = _mm256_and_si256(h.words, maxima);

    h.zero = _mm256_cmpeq_epi64(counters, _mm256_setzero_si256());
    h.stopped = _mm256_cmpeq_epi64(counters, maxima);
    h.step = _mm256_andnot_si256(h.stopped, _mm256_sllv_epi64(_mm256_set1_epi64x(1), shifts));
    return h;
}

static inline bool counting_blocked_no_zero(counting_blocked_half a, counting_blocked_half b)
{
    __m256i any = _mm256_or_si256(a.zero, b.zero);

    return _mm256_testz_si256(any, any);
}

/* Whether some counter has not stopped. */
static inline bool counting_blocked_counts(counting_blocked_half a, counting_blocked_half b)
{
    return !_mm256_testc_si256(_mm256_and_si256(a.stopped, b.stopped), _mm256_set1_epi64x(-1));
}

static inline bool counting_blocked_has_avx2(const counting_blocked_line *l, uint32_t x)
{
    return counting_blocked_no_zero(counting_blocked_half_of(l, x, 0),
                                    counting_blocked_half_of(l, x, 1));
}

static inline bool counting_blocked_add_avx2(counting_blocked_line *l, uint32_t x,
                                             uint64_t *counted)
{
    counting_blocked_half a = counting_blocked_half_of(l, x, 0),
                          b = counting_blocked_half_of(l, x, 1);
    __m256i *to = (__m256i *)l->word;

    _mm256_store_si256(to, _mm256_add_epi64(a.words, a.step));
    _mm256_store_si256(to + 1, _mm256_add_epi64(b.words, b.step));
    *counted += counting_blocked_counts(a, b);
    return true;
}

static inline bool counting_blocked_remove_avx2(counting_blocked_line *l, uint32_t x,
                                                uint64_t *counted)
{
    counting_blocked_half a = counting_blocked_half_of(l, x, 0),
                          b = counting_blocked_half_of(l, x, 1);
    __m256i *to = (__m256i *)l->word;

    if (!counting_blocked_no_zero(a, b))
        return false;
    _mm256_store_si256(to, _mm256_sub_epi64(a.words, a.step));
    _mm256_store_si256(to + 1, _mm256_sub_epi64(b.words, b.step));
    *counted += counting_blocked_counts(a, b);
    return true;
}

#define one_block_name(function) counting_blocked_avx2_##function
#define ONE_BLOCK counting_blocked_line
#define ONE_BLOCK_HAS counting_blocked_has_avx2
#define ONE_BLOCK_ADD counting_blocked_add_avx2
#define ONE_BLOCK_PREPARE one_block_prepare_avx2
#define ONE_BLOCK_REMOVE counting_blocked_remove_avx2
#include "bloom/one_block_template.h"

/* Any number of copies but one: by the table of the kind. */
static tamis_status counting_blocked_add_one(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt);

    if (times != 1)
        return tamis__ops(f->plan.kind)->add(f, key, times);
    counting_blocked_add_avx2(counting_blocked_avx2_block_of(f, h), (uint32_t)h, &f->count);
    return TAMIS_OK;
}

static tamis_status counting_blocked_remove_one(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt), counted = 0;

    if (times != 1)
        return tamis__ops(f->plan.kind)->remove(f, key, times);
    if (!counting_blocked_remove_avx2(counting_blocked_avx2_block_of(f, h), (uint32_t)h, &counted))
        return TAMIS_ABSENT;
    counters_forget(f, counted);
    return TAMIS_OK;
}

void tamis__counting_blocked_use_avx2(tamis_ops *ops)
{
    counting_blocked_avx2_use(ops);
    ops->add = counting_blocked_add_one;
    ops->remove = counting_blocked_remove_one;
}

TARGET_END
