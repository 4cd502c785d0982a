/* counting_blocked_avx2.c - the counting filter of blocks with a line in two registers, its eight
 * words in their lanes. */
#include <immintrin.h>

#include "bloom/counting_blocked.h"

typedef struct counting_blocked_words {
    __m256i low, high;
} counting_blocked_words;

/* The number in each word, shifted. */
static inline counting_blocked_words counting_blocked_shifted(long long number,
                                                              counting_blocked_words by)
{
    const __m256i all = _mm256_set1_epi64x(number);

    return (counting_blocked_words){ _mm256_sllv_epi64(all, by.low),
                                     _mm256_sllv_epi64(all, by.high) };
}

/* All bits of the words that are equal. */
static inline counting_blocked_words counting_blocked_equal(counting_blocked_words a,
                                                            counting_blocked_words b)
{
    return (counting_blocked_words){ _mm256_cmpeq_epi64(a.low, b.low),
                                     _mm256_cmpeq_epi64(a.high, b.high) };
}

/* What x means for a line: in each word the bit where its counter starts, the counter in its place,
 * and what that would be at the maximum. */
typedef struct counting_blocked_view {
    counting_blocked_words words, shifts, counters, maxima;
} counting_blocked_view;

static inline counting_blocked_view counting_blocked_look(const counting_blocked_line *l,
                                                          uint32_t x)
{
    const __m256i low = _mm256_set_epi64x(12, 8, 4, 0), high = _mm256_set_epi64x(28, 24, 20, 16);
    const __m256i most = _mm256_set1_epi64x(15 * COUNTING_BITS);
    __m256i four_x = _mm256_set1_epi64x((long long)((uint64_t)x * COUNTING_BITS));
    counting_blocked_view v;

    v.words.low = _mm256_load_si256((const __m256i *)l->word);
    v.words.high = _mm256_load_si256((const __m256i *)(l->word + 4));
    v.shifts.low = _mm256_and_si256(_mm256_srlv_epi64(four_x, low), most);
    v.shifts.high = _mm256_and_si256(_mm256_srlv_epi64(four_x, high), most);
    v.maxima = counting_blocked_shifted((1 << COUNTING_BITS) - 1, v.shifts);
    v.counters.low = _mm256_and_si256(v.words.low, v.maxima.low);
    v.counters.high = _mm256_and_si256(v.words.high, v.maxima.high);
    return v;
}

static inline bool counting_blocked_has_no_zero(const counting_blocked_view *v)
{
    const counting_blocked_words zero = { _mm256_setzero_si256(), _mm256_setzero_si256() };
    counting_blocked_words zeros = counting_blocked_equal(v->counters, zero);
    __m256i any = _mm256_or_si256(zeros.low, zeros.high);

    return _mm256_testz_si256(any, any);
}

/* One in each counter that has not stopped. Returns whether there is any. */
static inline bool counting_blocked_steps(counting_blocked_words *steps,
                                          const counting_blocked_view *v)
{
    counting_blocked_words ones = counting_blocked_shifted(1, v->shifts);
    counting_blocked_words stopped = counting_blocked_equal(v->counters, v->maxima);

    steps->low = _mm256_andnot_si256(stopped.low, ones.low);
    steps->high = _mm256_andnot_si256(stopped.high, ones.high);
    return !_mm256_testc_si256(_mm256_and_si256(stopped.low, stopped.high), _mm256_set1_epi64x(-1));
}

static inline bool counting_blocked_has_avx2(const counting_blocked_line *l, uint32_t x)
{
    counting_blocked_view v = counting_blocked_look(l, x);

    return counting_blocked_has_no_zero(&v);
}

static inline bool counting_blocked_add_avx2(counting_blocked_line *l, uint32_t x)
{
    counting_blocked_view v = counting_blocked_look(l, x);
    counting_blocked_words more;
    bool counts = counting_blocked_steps(&more, &v);

    _mm256_store_si256((__m256i *)l->word, _mm256_add_epi64(v.words.low, more.low));
    _mm256_store_si256((__m256i *)(l->word + 4), _mm256_add_epi64(v.words.high, more.high));
    return counts;
}

static inline bool counting_blocked_remove_avx2(counting_blocked_line *l, uint32_t x,
                                                size_t *counted)
{
    counting_blocked_view v = counting_blocked_look(l, x);
    counting_blocked_words less;
    bool counts = counting_blocked_steps(&less, &v);

    if (!counting_blocked_has_no_zero(&v))
        return false;
    _mm256_store_si256((__m256i *)l->word, _mm256_sub_epi64(v.words.low, less.low));
    _mm256_store_si256((__m256i *)(l->word + 4), _mm256_sub_epi64(v.words.high, less.high));
    *counted += counts;
    return true;
}

#define ONE_BLOCK counting_blocked_line
#define ONE_BLOCK_HAS counting_blocked_has_avx2
#define ONE_BLOCK_ADD counting_blocked_add_avx2
#define ONE_BLOCK_REMOVE counting_blocked_remove_avx2
#include "bloom/one_block_template.h"

void tamis__counting_blocked_use_avx2(tamis_ops *ops)
{
    ops->has = one_block_has;
    ops->has_many = one_block_has_many;
    ops->add_many = one_block_add_many;
    ops->remove_many = one_block_remove_many;
}
