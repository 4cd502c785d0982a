/* counting_blocked_avx2.c - a line in two registers, its eight words in their lanes. */
#include <immintrin.h>

#include "bloom/counting_blocked.h"
#include "bloom/group_avx2.h"

typedef struct {
    __m256i low, high;
} line;

static inline line load(const block *b)
{
    return (line){ _mm256_load_si256((const __m256i *)b->word),
                   _mm256_load_si256((const __m256i *)(b->word + 4)) };
}

/* Of each word where the counter of x starts: four times a digit of x. */
static inline line shifts_of(uint32_t x)
{
    const __m256i low = _mm256_set_epi64x(12, 8, 4, 0), high = _mm256_set_epi64x(28, 24, 20, 16);
    const __m256i most = _mm256_set1_epi64x(15 * COUNTER_BITS);
    __m256i four_x = _mm256_set1_epi64x((long long)((uint64_t)x * COUNTER_BITS));

    return (line){ _mm256_and_si256(_mm256_srlv_epi64(four_x, low), most),
                   _mm256_and_si256(_mm256_srlv_epi64(four_x, high), most) };
}

static inline line shifted(long long number, line by)
{
    const __m256i all = _mm256_set1_epi64x(number);

    return (line){ _mm256_sllv_epi64(all, by.low), _mm256_sllv_epi64(all, by.high) };
}

static inline line both(line a, line b)
{
    return (line){ _mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high) };
}

/* All bits of the words that are equal. */
static inline line equal(line a, line b)
{
    return (line){ _mm256_cmpeq_epi64(a.low, b.low), _mm256_cmpeq_epi64(a.high, b.high) };
}

static inline bool is_all_zeros(line a)
{
    __m256i any = _mm256_or_si256(a.low, a.high);

    return _mm256_testz_si256(any, any);
}

static inline bool is_all_ones(line a)
{
    return _mm256_testc_si256(_mm256_and_si256(a.low, a.high), _mm256_set1_epi64x(-1));
}

/* In each word the counter of x, in its place, and what it would be at the maximum. */
typedef struct {
    line shifts, counters, maxima;
} view;

static inline view view_of(line words, uint32_t x)
{
    line shifts = shifts_of(x), maxima = shifted((1 << COUNTER_BITS) - 1, shifts);

    return (view){ shifts, both(words, maxima), maxima };
}

static inline bool is_without_zero(const view *v)
{
    const line zero = { _mm256_setzero_si256(), _mm256_setzero_si256() };

    return is_all_zeros(equal(v->counters, zero));
}

static inline bool block_has(const block *b, uint32_t x)
{
    view v = view_of(load(b), x);

    return is_without_zero(&v);
}

/* One in each counter that has not stopped. */
static inline line steps(const view *v, line stopped)
{
    line ones = shifted(1, v->shifts);

    return (line){ _mm256_andnot_si256(stopped.low, ones.low),
                   _mm256_andnot_si256(stopped.high, ones.high) };
}

static inline void store(block *b, __m256i low, __m256i high)
{
    _mm256_store_si256((__m256i *)b->word, low);
    _mm256_store_si256((__m256i *)(b->word + 4), high);
}

static inline bool block_add(block *b, uint32_t x)
{
    line words = load(b);
    view v = view_of(words, x);
    line stopped = equal(v.counters, v.maxima), more = steps(&v, stopped);

    store(b, _mm256_add_epi64(words.low, more.low), _mm256_add_epi64(words.high, more.high));
    return !is_all_ones(stopped);
}

static inline removal block_remove(block *b, uint32_t x)
{
    line words = load(b);
    view v = view_of(words, x);
    line stopped = equal(v.counters, v.maxima), less = steps(&v, stopped);

    if (!is_without_zero(&v))
        return ABSENT;
    store(b, _mm256_sub_epi64(words.low, less.low), _mm256_sub_epi64(words.high, less.high));
    return is_all_ones(stopped) ? STUCK : FORGOTTEN;
}

#include "bloom/counting_blocked_many.h"

void tamis__counting_blocked_use_avx2(tamis_ops *ops)
{
    ops->has = has;
    ops->has_many = has_many;
    ops->add_many = add_many;
    ops->remove_many = remove_many;
}
