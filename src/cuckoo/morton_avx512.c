/* morton_avx512.c - many lookups, eight keys at a time, with no branch that depends on a key.
 *
 * Three groups of keys are on their way: positions of one are worked out and its blocks asked for,
 * one is looked for in its first buckets, and of one those that wait are looked for in their
 * others. */
#include "base/ahead.h"
#include "base/hash_avx512.h"
#include "base/many.h"
#include "cuckoo/morton.h"
#include "cuckoo/morton_avx2.h"

TARGET_AVX512

enum { MORTON_EIGHT = 8, MORTON_BUCKET_BITS = 6 };

static inline __m512i morton_all(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

static inline __m512i morton_up(__m512i x, unsigned by)
{
    return _mm512_sll_epi64(x, _mm_cvtsi32_si128((int)by));
}

static inline __m512i morton_down(__m512i x, unsigned by)
{
    return _mm512_srl_epi64(x, _mm_cvtsi32_si128((int)by));
}

/* ---- Positions --------------------------------------------------------- */

/* Blocks start at multiples of 64, and buckets are below 64: a place is the sum of both. */
typedef struct morton_eight {
    __m512i places, fingerprints;
} morton_eight;

/* One eight more than there are keys, since eight are stored even if few of them count. */
typedef struct morton_places {
    uint64_t places[MANY + MORTON_EIGHT], fingerprints[MANY + MORTON_EIGHT];
    size_t n;
} morton_places;

static inline __mmask8 morton_some(size_t n)
{
    return (__mmask8)_bzhi_u32(0xff, n < MORTON_EIGHT ? (unsigned)n : MORTON_EIGHT);
}

/* Behind the last key, whatever was stored there is taken for the first place of all. */
static inline morton_eight morton_eight_at(const morton_places *g, size_t i)
{
    __mmask8 some = morton_some(g->n - i);

    return (morton_eight){ _mm512_maskz_loadu_epi64(some, g->places + i),
                           _mm512_maskz_loadu_epi64(some, g->fingerprints + i) };
}

static inline void morton_put_eight(morton_places *g, size_t i, morton_eight e)
{
    _mm512_storeu_si512(g->places + i, e.places);
    _mm512_storeu_si512(g->fingerprints + i, e.fingerprints);
}

static inline __m512i morton_place_at(const morton_table *t, __m512i homes, __m512i buckets,
                                      __m512i fingerprints)
{
    __m512i lead = _mm512_slli_epi64(morton_down(fingerprints, t->s.width), MORTON_BUCKET_BITS);

    return _mm512_or_si512(
        _mm512_or_si512(morton_up(homes, MORTON_BUCKET_BITS + t->doublings), lead), buckets);
}

/* x * n: what is above 64 bits, and the rest. n is below 2^32. */
typedef struct morton_product {
    __m512i digit, rest;
} morton_product;

static inline morton_product morton_times(__m512i x, uint64_t n)
{
    __m512i low = _mm512_mul_epu32(x, morton_all(n));
    __m512i high = _mm512_mul_epu32(high32_avx512(x), morton_all(n));
    __m512i sum = _mm512_add_epi64(high, high32_avx512(low));

    return (morton_product){ high32_avx512(sum),
                             _mm512_mask_shuffle_epi32(low, 0xaaaa, sum, _MM_PERM_CCAA) };
}

/* As morton_position_of(). */
static inline morton_eight morton_eight_of(const morton_table *t, __m512i hashes)
{
    morton_product home = morton_times(hashes, t->homes);
    morton_product bucket = morton_times(home.rest, t->s.buckets);
    __m512i fingerprints = morton_down(bucket.rest, t->below);

    return (morton_eight){ morton_place_at(t, home.digit, bucket.digit, fingerprints),
                           fingerprints };
}

/* Eight numbers of a circle of n. Those under 0 or over its end are so by less than n. */
static inline __m512i morton_around(__m512i x, __m512i n, __mmask8 *over, __mmask8 *under)
{
    *under = _mm512_movepi64_mask(x);
    *over = _mm512_cmpge_epi64_mask(x, n);
    return _mm512_mask_add_epi64(_mm512_mask_sub_epi64(x, *over, x, n), *under, x, n);
}

/* As morton_other(). */
static inline morton_eight morton_eight_others(const morton_table *t, morton_eight e)
{
    const __m512i zero = _mm512_setzero_si512(), one = morton_all(1);
    __m512i spread = _mm512_mullo_epi32(e.fingerprints, morton_all(t->turn));
    __m512i turns = _mm512_mul_epu32(spread, morton_all(t->reach));
    __m512i homes = _mm512_add_epi64(high32_avx512(turns), morton_all(t->nearest));
    __m512i half = high32_avx512(_mm512_mul_epu32(turns, morton_all(t->s.buckets / 2)));
    __m512i odd = _mm512_add_epi64(_mm512_add_epi64(half, half), one);
    __mmask8 down = _mm512_testn_epi64_mask(e.places, one), over, under;
    __m512i bucket = _mm512_and_si512(e.places, morton_all(MORTON_LINE - 1));
    __m512i home = morton_down(e.places, MORTON_BUCKET_BITS + t->doublings);

    bucket = _mm512_add_epi64(bucket, _mm512_mask_sub_epi64(odd, down, zero, odd));
    home = _mm512_add_epi64(home, _mm512_mask_sub_epi64(homes, down, zero, homes));
    bucket = morton_around(bucket, morton_all(t->s.buckets), &over, &under);
    home = _mm512_mask_add_epi64(home, over, home, one);
    home = _mm512_mask_sub_epi64(home, under, home, one);
    home = morton_around(home, morton_all(t->homes), &over, &under);
    return (morton_eight){ morton_place_at(t, home, bucket, e.fingerprints), e.fingerprints };
}

/* ---- Eight buckets ----------------------------------------------------- */

/* Counters as in morton_counters, and marks with whatever is above them. */
typedef struct morton_heads {
    __m512i low, high, marks;
} morton_heads;

/* The first 32 bytes of two blocks. */
static inline __m512i morton_two_heads(const uint8_t *a, const uint8_t *b)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(morton_words(a)), morton_words(b), 1);
}

/* Eight bytes of two heads, from that one on. */
static inline long long morton_bytes_from(unsigned first)
{
    return (long long)(first * UINT64_C(0x0101010101010101) + UINT64_C(0x0706050403020100));
}

/* What of two heads morton_counters_of() and morton_is_marked() read. */
static inline __m512i morton_bytes_read(const morton_table *t)
{
    long long high = morton_bytes_from(t->highs_at), marks = morton_bytes_from(t->marks_at);
    long long next_high = morton_bytes_from(32u + t->highs_at);
    long long next_marks = morton_bytes_from(32u + t->marks_at);

    return _mm512_setr_epi64(morton_bytes_from(0), high, marks, 0, morton_bytes_from(32), next_high,
                             next_marks, 0);
}

/* Loads of whole heads, transposed: gathers of each word would take a tenth longer. */
static inline morton_heads morton_heads_of(const morton_table *t, __m512i blocks)
{
    const __m512i read = morton_bytes_read(t);
    const __m512i firsts = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i lasts = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    uint64_t at[MORTON_EIGHT];
    __m512i x[MORTON_EIGHT / 2];

    _mm512_storeu_si512(at, blocks);
#pragma GCC unroll 4
    for (int i = 0; i < MORTON_EIGHT / 2; i++)
        x[i] = _mm512_permutexvar_epi8(read, morton_two_heads(t->at + at[i], t->at + at[i + 4]));
    __m512i even = _mm512_unpacklo_epi64(x[0], x[1]), next_even = _mm512_unpacklo_epi64(x[2], x[3]);
    __m512i odd = _mm512_unpackhi_epi64(x[0], x[1]), next_odd = _mm512_unpackhi_epi64(x[2], x[3]);
    return (morton_heads){
        _mm512_permutex2var_epi64(even, firsts, next_even),
        morton_down(_mm512_permutex2var_epi64(odd, firsts, next_odd), t->highs_over),
        morton_down(_mm512_permutex2var_epi64(even, lasts, next_even), t->marks_over),
    };
}

/* As morton_three(). Such shifts are by the last six bits of a number. */
static inline __m512i morton_three_eight(const morton_table *t, __m512i blocks, __m512i bits,
                                         __m512i fingerprints)
{
    __m512i bytes = _mm512_min_epu32(_mm512_srli_epi64(bits, 3), morton_all(MORTON_LINE - 8));
    __m512i over = _mm512_sub_epi64(bits, _mm512_slli_epi64(bytes, 3));
    __m512i stored = _mm512_and_si512(fingerprints, morton_all(UINT32_MAX >> (32 - t->s.width)));
    __m512i words = _mm512_i64gather_epi64(_mm512_add_epi64(blocks, bytes), t->at, 1);

    return _mm512_xor_si512(_mm512_shrdv_epi64(words, _mm512_setzero_si512(), over),
                            _mm512_mullo_epi64(stored, morton_all(t->firsts)));
}

/* Last bits of as many slots as a bucket has, by the low and the high bit of its counter. */
static inline __m512i morton_lasts_of(const morton_table *t, __mmask8 low, __mmask8 high)
{
    const __m512i one = morton_all(morton_lowest(t->lasts, t->s.width));
    const __m512i two = morton_all(morton_lowest(t->lasts, 2 * t->s.width));
    const __m512i three = morton_all(t->lasts);
    __m512i few = _mm512_maskz_mov_epi64(low, one), many = _mm512_mask_mov_epi64(two, low, three);

    return _mm512_mask_mov_epi64(few, high, many);
}

/* Bit i: that bucket has the fingerprint; it is marked. */
typedef struct morton_seen {
    __mmask8 held, marked;
} morton_seen;

/* As morton_holds() and morton_is_marked(). */
__attribute__((always_inline)) static inline morton_seen morton_see_eight(const morton_table *t,
                                                                          morton_eight e)
{
    const __m512i one = morton_all(1), in_line = morton_all(MORTON_LINE - 1);
    __m512i buckets = _mm512_and_si512(e.places, in_line);
    __m512i blocks = _mm512_andnot_si512(in_line, e.places);
    morton_heads h = morton_heads_of(t, blocks);
    __m512i bit = _mm512_sllv_epi64(one, buckets), before = _mm512_sub_epi64(bit, one);
    __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(h.low, before));
    __m512i twos = _mm512_popcnt_epi64(_mm512_and_si512(h.high, before));
    __m512i start = _mm512_add_epi64(ones, _mm512_add_epi64(twos, twos));
    __m512i bits =
        _mm512_add_epi64(_mm512_mul_epu32(start, morton_all(t->s.width)), morton_all(t->s.first));
    __m512i y = morton_three_eight(t, blocks, bits, e.fingerprints);
    __m512i lasts =
        morton_lasts_of(t, _mm512_test_epi64_mask(h.low, bit), _mm512_test_epi64_mask(h.high, bit));
    __m512i less = _mm512_andnot_si512(y, _mm512_sub_epi64(y, morton_all(t->firsts)));
    __m512i mark = _mm512_srli_epi64(_mm512_mul_epu32(buckets, morton_all(t->step)), 16);

    return (morton_seen){ _mm512_test_epi64_mask(less, lasts),
                          _mm512_test_epi64_mask(h.marks, _mm512_sllv_epi64(one, mark)) };
}

/* ---- Groups ------------------------------------------------------------ */

__attribute__((always_inline)) static inline void
morton_prefetch_eight(const morton_table *t, const morton_places *g, size_t i)
{
#pragma GCC unroll 8
    for (size_t k = 0; k < MORTON_EIGHT; k++)
        ahead_read(t->at + g->places[i + k], t->is_far);
}

/* Positions of eight keys or, at the end, of fewer: what follows them is a position too. */
__attribute__((always_inline)) static inline void
morton_begin_eight(morton_places *g, const morton_table *t, const uint64_t *keys, size_t i)
{
    __m512i some = _mm512_maskz_loadu_epi64(morton_some(g->n - i), keys + i);
    __m512i hashes = mix64_avx512(_mm512_xor_si512(some, morton_all(t->salt)));

    morton_put_eight(g, i, morton_eight_of(t, hashes));
    morton_prefetch_eight(t, g, i);
}

/* Keys that wait for their other bucket, without gaps, and which of the group they are. */
typedef struct morton_later {
    morton_places others;
    uint64_t which;
} morton_later;

__attribute__((always_inline)) static inline uint64_t
morton_look_eight(morton_later *w, const morton_table *t, const morton_places *g, size_t i)
{
    morton_eight e = morton_eight_at(g, i);
    morton_seen seen = morton_see_eight(t, e);
    __mmask8 all = morton_some(g->n - i);
    __mmask8 later = (__mmask8)(seen.marked & ~seen.held & all);

    morton_put_eight(&w->others, w->others.n,
                     (morton_eight){ _mm512_maskz_compress_epi64(later, e.places),
                                     _mm512_maskz_compress_epi64(later, e.fingerprints) });
    w->others.n += (unsigned)__builtin_popcount(later);
    w->which |= (uint64_t)later << i;
    return (uint64_t)(seen.held & all) << i;
}

/* Looks at one group and begins the next. */
__attribute__((noinline)) static uint64_t
morton_look_and_begin(morton_later *w, const morton_table *t, const morton_places *g,
                      morton_places *next, const uint64_t *keys)
{
    const morton_table own = *t;
    uint64_t word = 0;

    w->others.n = w->which = 0;
    for (size_t i = 0; i < MANY; i += MORTON_EIGHT) {
        if (i < next->n)
            morton_begin_eight(next, &own, keys, i);
        if (i < g->n)
            word |= morton_look_eight(w, &own, g, i);
    }
    return word;
}

__attribute__((noinline)) static void morton_prefetch_others(morton_later *w, const morton_table *t)
{
    const morton_table own = *t;

    for (size_t i = 0; i < w->others.n; i += MORTON_EIGHT) {
        morton_put_eight(&w->others, i, morton_eight_others(&own, morton_eight_at(&w->others, i)));
        morton_prefetch_eight(&own, &w->others, i);
    }
}

__attribute__((noinline)) static uint64_t morton_look_at_others(const morton_later *w,
                                                                const morton_table *t)
{
    const morton_table own = *t;
    uint64_t held = 0;

    for (size_t i = 0; i < w->others.n; i += MORTON_EIGHT)
        held |= (uint64_t)morton_see_eight(&own, morton_eight_at(&w->others, i)).held << i;
    return _pdep_u64(held, w->which);
}

/* Of fewer than eight keys, the processor has all under way by itself. */
static size_t morton_has_eights(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    if (n < MORTON_EIGHT)
        return tamis__batch_has_few(f, hits, keys, n);
    const morton_table t = morton_of(f);
    morton_places groups[2];
    morton_later waits[2];
    size_t words = (n + MANY - 1) / MANY, found = 0;

    groups[1].n = 0;
    for (size_t k = 0; k < words + 2; k++) {
        morton_places *next = &groups[k % 2];
        morton_later *w = &waits[k % 2];
        next->n = many_group(k * MANY, n);
        uint64_t word = morton_look_and_begin(w, &t, &groups[(k + 1) % 2], next, keys + k * MANY);
        morton_prefetch_others(w, &t);
        if (k > 1) {
            hits[k - 2] |= morton_look_at_others(&waits[(k + 1) % 2], &t);
            found += (size_t)__builtin_popcountll(hits[k - 2]);
        }
        if (k > 0 && k <= words)
            hits[k - 1] = word;
    }
    return found;
}

TARGET_END

/* Others go the way of morton_avx2.c: three wide fingerprints may not be in eight bytes. */
void tamis__morton_use_avx512(tamis *f)
{
    if (f->plan.width < MORTON_WIDE && f->plan.slots <= UINT32_MAX)
        f->ops.has_many = morton_has_eights;
}
