/* ribbon_avx2.c - eight columns at a time. */
#define RIBBON_AVX2

#include "base/many.h"
#include "base/target.h"
#include "fuse/ribbon.h"

TARGET_AVX2

#include "fuse/ribbon_solve_template.h"

static inline __m256i ribbon_load(const uint8_t *words)
{
    return _mm256_loadu_si256((const __m256i *)words);
}

/* A window that lies across two groups, and the row shifted to match: fewer steps than to shift
 * the window. Where it does not, both groups are the first, and the second row is zero. */
typedef struct ribbon_across {
    const uint8_t *low, *high;
    __m256i low_row, high_row;
} ribbon_across;

/* Up to three words behind the last column are read, too: they belong to the next group or, since
 * the last level follows, to something that has more bytes. */
static inline __m256i ribbon_pick_four(const ribbon_across *w, unsigned column)
{
    __m256i low = ribbon_load(w->low + 8 * column), high = ribbon_load(w->high + 8 * column);

    return _mm256_xor_si256(_mm256_and_si256(low, w->low_row), _mm256_and_si256(high, w->high_row));
}

/* Of the first n columns, which are eight at most. Words 0 to 7 come out of ribbon_parities() as
 * 0, 1, 4, 5, 2, 3, 6, 7. */
static inline unsigned ribbon_wrong_of_eight(const ribbon_across *w, unsigned column, unsigned n,
                                             uint64_t fingerprint)
{
    __m256i b = n > 4 ? ribbon_pick_four(w, column + 4) : _mm256_setzero_si256();
    __m256i parities = ribbon_parities(ribbon_pick_four(w, column), b);
    __m256i in_order = _mm256_permute4x64_epi64(parities, _MM_SHUFFLE(3, 1, 2, 0));
    unsigned bits = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(in_order));

    return (bits ^ (unsigned)(fingerprint >> column)) & (n < 8 ? (1u << n) - 1 : 0xff);
}

FUSE_INLINE bool ribbon_holds(const uint8_t *slots, const ribbon_equation *e, unsigned width)
{
    unsigned by = e->start % 64;
    const uint8_t *words = slots + e->start / 64 * 8 * width;
    ribbon_across w = { words, words + (by ? 8 * width : 0),
                        _mm256_set1_epi64x((long long)(e->row << by)),
                        _mm256_set1_epi64x((long long)(e->row >> 1 >> (63 - by))) };
    unsigned wrong = 0;

    for (unsigned j = 0; j < width; j += 8)
        wrong |= ribbon_wrong_of_eight(&w, j, width - j, e->sum);
    return wrong == 0;
}

#include "fuse/ribbon_lookup_template.h"

void tamis__ribbon_use_avx2(tamis *f)
{
    ribbon_use(f);
    f->ops.solve = ribbon_solve;
}

TARGET_END
