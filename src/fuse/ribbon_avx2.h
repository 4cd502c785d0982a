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

static inline columns one_back(columns c, const pivot *p, unsigned column)
{
    const __m256i order = _mm256_setr_epi32(31, 30, 27, 26, 29, 28, 25, 24);
    __m256i row = _mm256_set1_epi64x((long long)p->row);
    __m256i sum = _mm256_set1_epi32((int)(p->sum >> column));
    __m256i a = _mm256_slli_epi64(c.a, 1), b = _mm256_slli_epi64(c.b, 1);
    __m256i x = parity_bits(_mm256_and_si256(a, row), _mm256_and_si256(b, row));
    __m256i bits = _mm256_srli_epi32(_mm256_xor_si256(x, _mm256_sllv_epi32(sum, order)), 31);

    return (columns){ _mm256_or_si256(a, _mm256_unpacklo_epi32(bits, _mm256_setzero_si256())),
                      _mm256_or_si256(b, _mm256_unpackhi_epi32(bits, _mm256_setzero_si256())) };
}

/* What is solved, and the first of up to eight columns to be solved now. */
typedef struct {
    uint8_t *slots;
    const pivot *pivots;
    uint64_t segment;
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

/* Segments are independent: each begins with zeros, and several may take turns. */
static inline void segments_back(const target *t, unsigned n)
{
    columns c[STREAMS];

    for (unsigned q = 0; q < n; q++)
        c[q] = (columns){ _mm256_setzero_si256(), _mm256_setzero_si256() };
    for (uint64_t i = t->segment; i-- > 0;) {
        for (unsigned q = 0; q < n; q++)
            c[q] = one_back(c[q], &t->pivots[q * t->segment + i], t->column);
        for (unsigned q = 0; q < n && i % 64 == 0; q++)
            store(t, q * t->segment + i, c[q]);
    }
}

static void put_back(uint8_t *slots, const pivot *pivots, uint64_t segment, unsigned segments,
                     unsigned width)
{
    for (unsigned j = 0; j < width; j += 8) {
        target t = { slots, pivots, segment, j, width };
        if (segments == STREAMS)
            segments_back(&t, STREAMS);
        for (unsigned i = 0; i < segments % STREAMS; i++) {
            segments_back(&t, 1);
            t.slots += segment / 8 * width;
            t.pivots += segment;
        }
    }
}

#endif
