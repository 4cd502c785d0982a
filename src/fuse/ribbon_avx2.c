/* ribbon_avx2.c - eight columns at a time. */
#include "fuse/ribbon_avx2.h"

static inline __m256i load_four(const uint8_t *words)
{
    return _mm256_loadu_si256((const __m256i *)words);
}

/* A window that lies across two groups, and the row shifted to match: fewer steps than to shift
 * the window. Where it does not, both groups are the first, and the second row is zero. */
typedef struct {
    const uint8_t *low, *high;
    __m256i low_row, high_row;
} window;

/* Up to three words behind the last column are read, too: they belong to the next group or, since
 * the last level follows, to something that has more bytes. */
static inline __m256i pick_four(const window *w, unsigned column)
{
    __m256i low = load_four(w->low + 8 * column), high = load_four(w->high + 8 * column);

    return _mm256_xor_si256(_mm256_and_si256(low, w->low_row), _mm256_and_si256(high, w->high_row));
}

static inline unsigned parities(__m256i a, __m256i b)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(parity_bits(a, b)));
}

/* Words 0 to 7 come out of the above as 0, 1, 4, 5, 2, 3, 6, 7. */
static inline unsigned in_that_order(unsigned byte)
{
    return (byte & 0xc3) | (byte & 0x0c) << 2 | (byte & 0x30) >> 2;
}

/* Of the first n columns, which are eight at most. */
static inline unsigned wrong_of_eight(const window *w, unsigned column, unsigned n,
                                      uint32_t fingerprint)
{
    __m256i b = n > 4 ? pick_four(w, column + 4) : _mm256_setzero_si256();
    unsigned wanted = n < 8 ? (1u << n) - 1 : 0xff;

    return (parities(pick_four(w, column), b) ^ in_that_order(fingerprint >> column & 0xff)) &
           in_that_order(wanted);
}

static inline bool holds(const uint8_t *slots, const equation *e, unsigned width)
{
    unsigned by = e->start % 64;
    const uint8_t *words = slots + e->start / 64 * 8 * width;
    window w = { words, words + (by ? 8 * width : 0), _mm256_set1_epi64x((long long)(e->row << by)),
                 _mm256_set1_epi64x((long long)(e->row >> 1 >> (63 - by))) };
    unsigned wrong = 0;

    for (unsigned j = 0; j < width; j += 8)
        wrong |= wrong_of_eight(&w, j, width - j, e->fingerprint);
    return wrong == 0;
}

#include "fuse/ribbon_many.h"

/* ---- Building ---------------------------------------------------------- */

static tamis_status solve_part(const tamis *f, enum tamis_stage stage, void *part, void *items,
                               size_t *n, void *room)
{
    shape s = shape_of(&f->plan);

    (void)stage;
    return solve(&s, part, items, n, room);
}

void tamis__ribbon_use_avx2(tamis_ops *ops)
{
    ops->has = has;
    ops->has_many = has_many;
    ops->solve = solve_part;
}
