/* ribbon_back_avx2_template.h - TEMPLATE, compiled once for keys and once for keys with values:
 * parity and back substitution, eight columns at a time. ribbon_solve_template.h includes it. */
/* Of eight words, the parity of each in the top bit of 32. Halves are added, then bytes, then the
 * two digits of the last byte are; a table has their parity. */
static inline __m256i ribbon_parities(__m256i a, __m256i b)
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
typedef struct ribbon_columns {
    __m256i a, b;
} ribbon_columns;

static inline ribbon_columns ribbon_one_back(ribbon_columns c, const ribbon_pivot *p,
                                             unsigned column)
{
    const __m256i order = _mm256_setr_epi32(31, 30, 27, 26, 29, 28, 25, 24);
    __m256i row = _mm256_set1_epi64x((long long)p->row);
    __m256i sum = _mm256_set1_epi32((int)(p->sum >> column));
    __m256i a = _mm256_slli_epi64(c.a, 1), b = _mm256_slli_epi64(c.b, 1);
    __m256i x = ribbon_parities(_mm256_and_si256(a, row), _mm256_and_si256(b, row));
    __m256i bits = _mm256_srli_epi32(_mm256_xor_si256(x, _mm256_sllv_epi32(sum, order)), 31);
    const __m256i zero = _mm256_setzero_si256();

    c.a = _mm256_or_si256(a, _mm256_unpacklo_epi32(bits, zero));
    c.b = _mm256_or_si256(b, _mm256_unpackhi_epi32(bits, zero));
    return c;
}

/* What is solved, and the first of up to eight columns to be solved now. */
typedef struct ribbon_target {
    uint8_t *slots;
    const ribbon_pivot *pivots;
    uint64_t segment;
    unsigned column, width;
} ribbon_target;

static inline void ribbon_store(const ribbon_target *t, uint64_t slot, ribbon_columns c)
{
    unsigned n = t->width - t->column;
    uint8_t eight[64];

    _mm256_storeu_si256((__m256i *)eight, c.a);
    _mm256_storeu_si256((__m256i *)(eight + 32), c.b);
    memcpy(t->slots + (slot / 64 * t->width + t->column) * 8, eight, (n < 8 ? n : 8) * 8);
}

/* Segments are independent: each begins with zeros, and several may take turns. */
static inline void ribbon_segments_back(const ribbon_target *t, unsigned n)
{
    ribbon_columns c[RIBBON_SIDE_BY_SIDE];

    for (unsigned q = 0; q < n; q++)
        c[q] = (ribbon_columns){ _mm256_setzero_si256(), _mm256_setzero_si256() };
    for (uint64_t i = t->segment; i-- > 0;) {
        for (unsigned q = 0; q < n; q++)
            c[q] = ribbon_one_back(c[q], &t->pivots[q * t->segment + i], t->column);
        for (unsigned q = 0; q < n && i % 64 == 0; q++)
            ribbon_store(t, q * t->segment + i, c[q]);
    }
}

static void ribbon_put_back(uint8_t *slots, const ribbon_pivot *pivots, uint64_t segment,
                            unsigned segments, unsigned width)
{
    for (unsigned j = 0; j < width; j += 8) {
        ribbon_target t = { slots, pivots, segment, j, width };
        if (segments == RIBBON_SIDE_BY_SIDE)
            ribbon_segments_back(&t, RIBBON_SIDE_BY_SIDE);
        for (unsigned i = 0; i < segments % RIBBON_SIDE_BY_SIDE; i++) {
            ribbon_segments_back(&t, 1);
            t.slots += segment / 8 * width;
            t.pivots += segment;
        }
    }
}
