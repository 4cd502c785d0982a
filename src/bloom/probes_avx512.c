/* probes_avx512.c - batches of lookups in kinds that scatter their slots: the walk of probes.h for
 * eight keys at a time, with the same positions and answers.
 *
 * For ranges below 2^32, as scale64_avx512() wants them, and bits or counters of four bits. In a
 * payload that is near, present keys take a third to two thirds of the time, absent ones 0.7 to 1.
 * In one that is far the memory decides, and lines are asked for ahead, as in probes.h. */
#include "base/hash_avx512.h"
#include "bloom/probes.h"

TARGET_AVX512

/* Eight walks, each at a slot. */
typedef struct probes_eight {
    __m512i x, pos;
} probes_eight;

/* The first n lanes, of n or more. */
static inline __mmask8 probes_lanes_avx512(size_t n)
{
    return (__mmask8)(n < 8 ? (1U << n) - 1 : 0xff);
}

static inline probes_eight probes_start_avx512(const tamis *f, probes_shape s, const uint64_t *keys,
                                               __mmask8 which)
{
    __m512i key = _mm512_maskz_loadu_epi64(which, keys);
    __m512i h = mix64_avx512(_mm512_xor_si512(key, _mm512_set1_epi64((long long)f->salt)));

    return (probes_eight){ h, scale64_avx512(h, _mm512_set1_epi64((long long)s.range)) };
}

/* To the next slots, of a row that starts at `base`. */
static inline probes_eight probes_step_avx512(__m512i x, probes_shape s, uint64_t base)
{
    const __m512i factor = _mm512_set1_epi64((long long)PROBES_FACTOR);
    __m512i next = _mm512_mullo_epi64(_mm512_xor_si512(x, high32_avx512(x)), factor);
    __m512i at = scale64_avx512(next, _mm512_set1_epi64((long long)s.range));

    return (probes_eight){ next, _mm512_add_epi64(at, _mm512_set1_epi64((long long)base)) };
}

/* Which of them are at slots that are set. Lanes that are left out read nothing. Beside writers:
 * see ONE_BLOCK_READS in one_block_template.h. */
__attribute__((no_sanitize_thread, always_inline)) static inline __mmask8
probes_are_set_avx512(const void *slots, probes_shape s, __mmask8 which, __m512i pos)
{
    unsigned log = s.of_counters ? 2 : 0;
    __m512i slot = _mm512_set1_epi64(s.of_counters ? 15 : 1);
    __m512i mask = _mm512_rolv_epi64(slot, _mm512_slli_epi64(pos, log));
    __m512i word = _mm512_srli_epi64(pos, 6 - log);

    return _mm512_mask_test_epi64_mask(
        which, _mm512_mask_i64gather_epi64(slot, which, word, slots, 8), mask);
}

/* ---- Many keys --------------------------------------------------------- */

/* Up to 64 keys, round by round: those that find a clear slot read no more. For payloads that are
 * near. Gathers of different keys do not wait for each other: there, to ask for lines ahead takes
 * longer than to read them. */
__attribute__((always_inline)) static inline uint64_t
probes_has_64_avx512(const tamis *f, probes_shape s, const uint64_t *keys, size_t here)
{
    probes_eight e[8];
    uint64_t alive[8], base = 0, word = 0; /* bytes would be packed, and wait for each other */
    size_t n = (here + 7) / 8;

    for (size_t i = 0; i < n; i++) {
        alive[i] = probes_lanes_avx512(here - 8 * i);
        e[i] = probes_start_avx512(f, s, keys + 8 * i, (__mmask8)alive[i]);
    }
    for (uint32_t round = 1; round < s.hashes; round++) {
        base += s.step;
        for (size_t i = 0; i < n; i++) {
            alive[i] = probes_are_set_avx512(f->payload, s, (__mmask8)alive[i], e[i].pos);
            e[i] = probes_step_avx512(e[i].x, s, base);
        }
    }
    for (size_t i = 0; i < n; i++) {
        alive[i] = probes_are_set_avx512(f->payload, s, (__mmask8)alive[i], e[i].pos);
        word |= alive[i] << 8 * i;
    }
    return word;
}

__attribute__((always_inline)) static inline size_t
probes_has_many_avx512(const tamis *f, probes_shape s, uint64_t *hits, const uint64_t *keys,
                       size_t n)
{
    size_t found = 0;

    for (size_t from = 0; from < n; from += 64) {
        hits[from / 64] = probes_has_64_avx512(f, s, keys + from, n - from < 64 ? n - from : 64);
        found += (size_t)__builtin_popcountll(hits[from / 64]);
    }
    return found;
}

static size_t probes_has_bits_avx512(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return probes_has_many_avx512(f, *probes_derived(f), hits, keys, n);
}

static size_t probes_has_counters_avx512(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                         size_t n)
{
    return probes_has_many_avx512(f, probes_of_counters(f, PROBES_USUAL_BITS), hits, keys, n);
}

void tamis__probes_use_avx512(tamis *f, bool of_counters)
{
    if (!f->is_far && probes_derived(f)->range >> 32 == 0)
        f->ops.has_many = of_counters ? probes_has_counters_avx512 : probes_has_bits_avx512;
}

TARGET_END
