/* ribbon_avx2.h - eight columns at a time: parity, and put_back() for ribbon_solve.h. */
#ifndef TAMIS_FUSE_RIBBON_AVX2_H
#define TAMIS_FUSE_RIBBON_AVX2_H

#include <immintrin.h>

#include "fuse/ribbon_solve.h"

/* Of eight words, the parity of each in the top bit of 32. Halves are added, then bytes, then the
 * two digits of the last byte are; a table has their parity. */
static inline __m256i parity_bits(__m256i a, __m256i b)
{
    const __m256i odd =
        _mm256_setr_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0, 0,
                         -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0);
    __m256 fa = _mm256_castsi256_ps(a), fb = _mm256_castsi256_ps(b);
    __m256i x = _mm256_castps_si256(
        _mm256_xor_ps(_mm256_shuffle_ps(fa, fb, 0x88), _mm256_shuffle_ps(fa, fb, 0xdd)));

    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 16));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 8));
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 4));
    return _mm256_shuffle_epi8(odd, _mm256_and_si256(x, _mm256_set1_epi8(15)));
}

/* ---- Back substitution ------------------------------------------------- */

/* Eight columns of the 64 slots from here on. */
typedef struct {
    __m256i a, b;
} columns;

static inline columns one_back(columns c, uint64_t its_row, uint64_t its_sum, unsigned column)
{
    const __m256i order = _mm256_setr_epi32(31, 30, 27, 26, 29, 28, 25, 24);
    __m256i row = _mm256_set1_epi64x((long long)its_row);
    __m256i sum = _mm256_set1_epi32((int)(its_sum >> column));
    __m256i a = _mm256_slli_epi64(c.a, 1), b = _mm256_slli_epi64(c.b, 1);
    __m256i x = parity_bits(_mm256_and_si256(a, row), _mm256_and_si256(b, row));
    __m256i bits = _mm256_srli_epi32(_mm256_xor_si256(x, _mm256_sllv_epi32(sum, order)), 31);

    return (columns){ _mm256_or_si256(a, _mm256_unpacklo_epi32(bits, _mm256_setzero_si256())),
                      _mm256_or_si256(b, _mm256_unpackhi_epi32(bits, _mm256_setzero_si256())) };
}

/* What is solved, and the first of up to eight columns to be solved now. */
typedef struct {
    uint8_t *slots;
    const uint64_t *rows, *sums;
    unsigned column, width;
} target;

static inline void store(const target *t, uint64_t slot, columns c)
{
    unsigned n = t->width - t->column;
    uint8_t eight[64];

    _mm256_storeu_si256((__m256i *)eight, c.a);
    _mm256_storeu_si256((__m256i *)(eight + 32), c.b);
    memcpy(t->slots + (slot / 64 * t->width + t->column) * 8, eight, (n < 8 ? n : 8) * 8);
}

/* From slot `to` down to `from`. */
static columns some_back(const target *t, uint64_t from, uint64_t to, columns c)
{
    for (uint64_t i = to; i-- > from;) {
        c = one_back(c, t->rows[i], t->sums[i], t->column);
        if (i % 64 == 0)
            store(t, i, c);
    }
    return c;
}

/* Streams end with slots that are free: each begins with zeros, and all may take turns. */
static void four_back(const target *t, uint64_t buckets, columns zero)
{
    uint64_t start[STREAMS], same = buckets / STREAMS * BUCKET;
    columns c[STREAMS];

    for (unsigned q = 0; q < STREAMS; q++) {
        start[q] = buckets * q / STREAMS * BUCKET;
        c[q] = some_back(t, start[q] + same, buckets * (q + 1) / STREAMS * BUCKET, zero);
    }
    for (uint64_t i = same; i-- > 0;) {
        for (unsigned q = 0; q < STREAMS; q++)
            c[q] = one_back(c[q], t->rows[start[q] + i], t->sums[start[q] + i], t->column);
        for (unsigned q = 0; q < STREAMS && i % 64 == 0; q++)
            store(t, start[q] + i, c[q]);
    }
}

static void put_back(uint8_t *slots, const uint64_t *rows, const uint64_t *sums, const level *l,
                     unsigned width)
{
    const columns zero = { _mm256_setzero_si256(), _mm256_setzero_si256() };

    for (unsigned j = 0; j < width; j += 8) {
        target t = { slots, rows, sums, j, width };
        if (streams_of(l) == STREAMS)
            four_back(&t, l->slots / BUCKET, zero);
        else
            some_back(&t, 0, l->slots, zero);
    }
}

#endif
