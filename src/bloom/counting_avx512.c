/* counting_avx512.c - counting filters of four bits a counter: lookups of many keys, as in
 * scattered_avx512.c, and changes, in which the counters of a key are the lanes of a vector. These
 * take fewer instructions, so that more lone adds wait for their lines side by side: a third of the
 * time. */
#include "bloom/counting.h"
#include "bloom/probes_avx512.h"

/* ---- One key ----------------------------------------------------------- */

enum { COUNTING_LANES = 8 };

/* Counters of a key: their words in the payload, and where in these. */
typedef struct counting_lanes {
    __m512i word, shift;
    __mmask8 which;
} counting_lanes;

/* Whether two lanes are equal: each is compared with the four behind it. */
static inline bool counting_repeats(__m512i v)
{
    const __m512i lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    unsigned same = 0;

#pragma GCC unroll 4
    for (int by = 1; by <= COUNTING_LANES / 2; by++)
        same |= _mm512_cmpeq_epi64_mask(
            v, _mm512_permutexvar_epi64(_mm512_add_epi64(lanes, _mm512_set1_epi64(by)), v));
    return same != 0;
}

/* The hashes of a walk: each needs the one before. */
static inline __m512i counting_walk(uint64_t h)
{
    uint64_t x[COUNTING_LANES] = { h };

#pragma GCC unroll 7
    for (int i = 1; i < COUNTING_LANES; i++)
        x[i] = probes_next(x[i - 1]);
    return _mm512_set_epi64((long long)x[7], (long long)x[6], (long long)x[5], (long long)x[4],
                            (long long)x[3], (long long)x[2], (long long)x[1], (long long)x[0]);
}

/* False: two counters are in one word, or are one. */
static inline bool counting_find_lanes(counting_lanes *l, const tamis *f, uint64_t key)
{
    const __m512i none = _mm512_set_epi64(-8, -7, -6, -5, -4, -3, -2, -1);
    const probes_shape *s = probes_derived(f);
    __m512i pos = scale64_avx512(counting_walk(hash_key(key, f->salt)),
                                 _mm512_set1_epi64((long long)s->range));

    l->which = probes_lanes_avx512(s->hashes);
    l->word = _mm512_mask_srli_epi64(none, l->which, pos, 4);
    l->shift = _mm512_slli_epi64(pos, 2);
    return !counting_repeats(l->word);
}

static inline __m512i counting_at(const counting_lanes *l, long long bits)
{
    return _mm512_rolv_epi64(_mm512_set1_epi64(bits), l->shift);
}

static inline __m512i counting_read(const counting_lanes *l, const tamis *f)
{
    return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), l->which, l->word, f->payload, 8);
}

/* Those that are below the maximum, from where no counter comes back. */
static inline __mmask8 counting_can_change(const counting_lanes *l, __m512i held)
{
    __m512i clear = _mm512_andnot_si512(held, counting_at(l, 15));

    return _mm512_mask_test_epi64_mask(l->which, clear, clear);
}

static inline void counting_write(const counting_lanes *l, const tamis *f, __m512i words)
{
    _mm512_mask_i64scatter_epi64(f->payload, l->which, l->word, words, 8);
}

/* As counters_raise() and counters_lower() for one copy. */
static inline bool counting_raise_lanes(const counting_lanes *l, tamis *f, uint64_t *counted)
{
    __m512i held = counting_read(l, f);
    __mmask8 can = counting_can_change(l, held);

    counting_write(l, f, _mm512_mask_add_epi64(held, can, held, counting_at(l, 1)));
    *counted += can != 0;
    return true;
}

static inline bool counting_lower_lanes(const counting_lanes *l, tamis *f, uint64_t *counted)
{
    __m512i held = counting_read(l, f);
    __mmask8 can = counting_can_change(l, held);

    if (_mm512_mask_test_epi64_mask(l->which, held, counting_at(l, 15)) != l->which)
        return false;
    counting_write(l, f, _mm512_mask_sub_epi64(held, can, held, counting_at(l, 1)));
    *counted += can != 0;
    return true;
}

__attribute__((noinline)) static tamis_status counting_add_with_care(tamis *f, uint64_t key,
                                                                     uint64_t times)
{
    return counting_raise(f, COUNTING_USUAL, key, times);
}

static tamis_status counting_add_avx512(tamis *f, uint64_t key, uint64_t times)
{
    counting_lanes l;

    if (times != 1 || !counting_find_lanes(&l, f, key))
        return counting_add_with_care(f, key, times);
    counting_raise_lanes(&l, f, &f->count);
    return TAMIS_OK;
}

__attribute__((noinline)) static tamis_status counting_remove_with_care(tamis *f, uint64_t key,
                                                                        uint64_t times)
{
    return counting_lower(f, COUNTING_USUAL, key, times);
}

static tamis_status counting_remove_avx512(tamis *f, uint64_t key, uint64_t times)
{
    counting_lanes l;
    uint64_t counted = 0;

    if (times != 1 || !counting_find_lanes(&l, f, key))
        return counting_remove_with_care(f, key, times);
    bool there = counting_lower_lanes(&l, f, &counted);
    counters_forget(f, counted);
    return there ? TAMIS_OK : TAMIS_ABSENT;
}

/* ---- Many keys --------------------------------------------------------- */

static size_t counting_has_many_avx512(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                       size_t n)
{
    return probes_has_many_avx512(f, counting_shape(f, COUNTING_USUAL), hits, keys, n);
}

static tamis_status counting_add_many_avx512(tamis *f, size_t *added, const uint64_t *keys,
                                             size_t n)
{
    for (size_t i = 0; i < n; i++)
        counting_add_avx512(f, keys[i], 1);
    *added = n;
    return TAMIS_OK;
}

static size_t counting_remove_many_avx512(tamis *f, const uint64_t *keys, size_t n)
{
    size_t removed = 0;

    for (size_t i = 0; i < n; i++)
        removed += counting_remove_avx512(f, keys[i], 1) == TAMIS_OK;
    return removed;
}

void tamis__counting_use_avx512(tamis *f)
{
    const probes_shape *s = probes_derived(f);

    if (probes_fit_avx512(f))
        f->ops.has_many = counting_has_many_avx512;
    if (s->hashes > COUNTING_LANES || s->range >> 32)
        return;
    f->ops.add = counting_add_avx512;
    f->ops.remove = counting_remove_avx512;
    f->ops.add_many = counting_add_many_avx512;
    f->ops.remove_many = counting_remove_many_avx512;
}
