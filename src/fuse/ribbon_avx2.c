/* ribbon_avx2.c - eight columns at a time. */
#include <immintrin.h>

#include "fuse/ribbon.h"

/* The first n of four words; what lies behind them is not read. */
static inline __m256i load_some(const uint8_t *words, unsigned n)
{
    const __m256i order = _mm256_set_epi64x(3, 2, 1, 0);
    __m256i wanted = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), order);

    return _mm256_maskload_epi64((const long long *)words, wanted);
}

static inline __m256i load_four(const uint8_t *words, unsigned n)
{
    if (__builtin_expect(n >= 4, 1))
        return _mm256_loadu_si256((const __m256i *)words);
    return load_some(words, n);
}

/* A window that lies across two groups, and the row shifted to match: fewer steps than to shift
 * the window. Where it does not, both groups are the first, and the second row is zero. */
typedef struct {
    const uint8_t *low, *high;
    __m256i low_row, high_row;
} window;

static inline __m256i pick_four(const window *w, unsigned column, unsigned n)
{
    __m256i low = load_four(w->low + 8 * column, n), high = load_four(w->high + 8 * column, n);

    return _mm256_xor_si256(_mm256_and_si256(low, w->low_row), _mm256_and_si256(high, w->high_row));
}

/* Of eight words, a bit for the parity of each. Halves are added, then bytes, then the two digits
 * of the last byte are; a table has their parity. */
static inline unsigned parities(__m256i a, __m256i b)
{
    const __m256i odd = _mm256_setr_epi8(
        0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0, 0, -128, -128, 0,
        -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0);
    __m256 fa = _mm256_castsi256_ps(a), fb = _mm256_castsi256_ps(b);
    __m256i x = _mm256_castps_si256(
        _mm256_xor_ps(_mm256_shuffle_ps(fa, fb, 0x88), _mm256_shuffle_ps(fa, fb, 0xdd)));

    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 16));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 8));
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 4));
    x = _mm256_shuffle_epi8(odd, _mm256_and_si256(x, _mm256_set1_epi8(15)));
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(x));
}

/* Words 0 to 7 come out of the above as 0, 1, 4, 5, 2, 3, 6, 7. */
static inline unsigned in_that_order(unsigned byte)
{
    return (byte & 0xc3) | (byte & 0x0c) << 2 | (byte & 0x30) >> 2;
}

static inline bool eight_hold(const window *w, unsigned column, unsigned n, uint32_t fingerprint)
{
    __m256i b = n > 4 ? pick_four(w, column + 4, n - 4) : _mm256_setzero_si256();

    return parities(pick_four(w, column, n), b) == in_that_order(fingerprint >> column & 0xff);
}

static inline bool holds(const uint8_t *slots, const equation *e, unsigned width)
{
    unsigned by = e->start % 64;
    const uint8_t *words = slots + e->start / 64 * 8 * width;
    window w = { words, words + (by ? 8 * width : 0),
                 _mm256_set1_epi64x((long long)(e->row << by)),
                 _mm256_set1_epi64x((long long)(e->row >> 1 >> (63 - by))) };
    bool all = true;

    for (unsigned j = 0; j < width; j += 8)
        all &= eight_hold(&w, j, width - j, e->fingerprint);
    return all;
}

#include "fuse/ribbon_many.h"

const tamis_batch tamis__ribbon_avx2 = { has, has_many, NULL };
