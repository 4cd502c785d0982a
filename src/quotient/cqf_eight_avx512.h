/* cqf_eight_avx512.h - many lookups of cqf, eight keys at a time, with no branch that depends on a
 * key.
 *
 * Groups of 64 keys go through these steps, and what is looked at was asked for a group before:
 *
 *   locate, ask for blocks | find runs, compare those | compare those that  | look at odd ones
 *                          | that end in their block  | end in the next one | one by one
 *   group i + 1              group i                    group i - 1           group i - 1
 *
 * At a load of 0.9, one key in thirteen has a run that ends in the block after its own, and none in
 * a million one that ends later. Odd are such runs, those of more slots than there are lanes, and
 * those with counts, unless they begin with the remainder.
 *
 * All is done to eight words at once but for the select, which is one instruction a word: they go
 * there and back through memory. A load of eight words that were stored one by one has to wait for
 * the last; so a whole group is stored before its first eight are loaded. */
#ifndef TAMIS_QUOTIENT_CQF_EIGHT_AVX512_H
#define TAMIS_QUOTIENT_CQF_EIGHT_AVX512_H

#include "base/ahead.h"
#include "base/hash_avx512.h"
#include "base/many.h"
#include "quotient/cqf.h"

TARGET_AVX512

enum { CQF_EIGHT = 8, CQF_EIGHTS = MANY / CQF_EIGHT, CQF_BLOCK_BITS = 6 };

static inline __m512i cqf_all(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

static inline __m512i cqf_down(__m512i x, unsigned by)
{
    return _mm512_srlv_epi64(x, cqf_all(by));
}

static inline __m512i cqf_load(const uint64_t *from)
{
    return _mm512_load_si512(from);
}

/* For code that reads the words one by one: gcc would take them out of the register instead, with
 * two instructions for a word, on the unit that has the most to do. */
static inline void cqf_store(uint64_t *to, __m512i x)
{
    _mm512_store_si512(to, x);
    __asm__("" : "+m"(*(uint64_t(*)[CQF_EIGHT])to));
}

static inline __mmask8 cqf_some(size_t n)
{
    return (__mmask8)_bzhi_u32(0xff, n < CQF_EIGHT ? (unsigned)n : CQF_EIGHT);
}

/* ---- Positions --------------------------------------------------------- */

/* What a lookup needs of a filter. */
typedef struct cqf_eights {
    const uint8_t *at;                     /* the first block */
    uint64_t salt, slots, blocks, between; /* slots of all shards, blocks of one */
    unsigned bits, width, stride;
    bool is_far;
    lanes lanes;
} cqf_eights;

static inline cqf_eights cqf_eights_of(const tamis *f)
{
    shards s = shards_of(f);

    return (cqf_eights){ .at = s.at + RUNS_HEADER,
                         .salt = s.salt,
                         .slots = f->plan.slots,
                         .blocks = s.slots / RUNS_BLOCK,
                         .between = s.between,
                         .bits = s.bits,
                         .width = s.width,
                         .stride = runs_stride(s.width),
                         .is_far = f->is_far,
                         .lanes = s.lanes };
}

/* Of the keys of a group, those for which something holds: a byte for each eight. `open` runs go on
 * in the next block; the others are as in cqf_seen. */
typedef struct cqf_masks {
    uint8_t last[CQF_EIGHTS], occupied[CQF_EIGHTS], open[CQF_EIGHTS], fits[CQF_EIGHTS],
        equal[CQF_EIGHTS], held[CQF_EIGHTS];
} cqf_masks;

/* Keys on their way. Blocks are in bytes from the first on. slots[] is where the run may be, in
 * bytes too; then its rank, for cqf_select(); then its slots, of which there are lengths[]. */
typedef struct cqf_group {
    _Alignas(64) uint64_t blocks[MANY];
    uint64_t fingerprints[MANY], ends[MANY], offsets[MANY], starts[MANY], ranks[MANY], slots[MANY],
        lengths[MANY];
    cqf_masks masks;
    size_t n;
} cqf_group;

/* Quotients within their blocks. */
static inline __m512i cqf_quotients(const cqf_eights *t, __m512i fingerprints)
{
    return _mm512_and_si512(cqf_down(fingerprints, t->width), cqf_all(RUNS_BLOCK - 1));
}

/* As shards_locate(), for fewer than 2^32 slots: h * slots without its last 32 bits has the
 * quotient in its upper half, and the remainder at the top of the other. */
__attribute__((always_inline)) static inline void
cqf_locate_eight(cqf_group *g, const cqf_eights *t, const uint64_t *keys, size_t i)
{
    __m512i some = _mm512_maskz_loadu_epi64(cqf_some(g->n - i), keys + i);
    __m512i h = mix64_avx512(_mm512_xor_si512(some, cqf_all(t->salt)));
    __m512i slots = cqf_all(t->slots), low = high32_avx512(_mm512_mul_epu32(h, slots));
    __m512i x = _mm512_add_epi64(_mm512_mul_epu32(high32_avx512(h), slots), low);
    __m512i fingerprints = cqf_down(x, 32 - t->width);
    __m512i shard = cqf_down(h, 64 - t->bits), numbers = _mm512_srli_epi64(x, 32 + CQF_BLOCK_BITS);
    __m512i nth = _mm512_sub_epi64(numbers, _mm512_mul_epu32(shard, cqf_all(t->blocks)));
    __m512i blocks = _mm512_add_epi64(_mm512_mul_epu32(numbers, cqf_all(t->stride)),
                                      _mm512_mul_epu32(shard, cqf_all(t->between)));
    __m512i bits = _mm512_mul_epu32(cqf_quotients(t, fingerprints), cqf_all(t->width));
    __m512i bytes = _mm512_srli_epi64(_mm512_add_epi64(bits, cqf_all(8 * RUNS_SLOTS + 32)), 3);

    g->masks.last[i / CQF_EIGHT] = _mm512_cmpeq_epi64_mask(nth, cqf_all(t->blocks - 1));
    cqf_store(g->blocks + i, blocks);
    cqf_store(g->slots + i, _mm512_add_epi64(blocks, bytes));
    _mm512_store_si512(g->fingerprints + i, fingerprints);
}

/* The block of a key, and where its slots may be. The end of a head may be in a line between, but
 * hardly ever. */
__attribute__((always_inline)) static inline void cqf_prefetch_eight(const cqf_eights *t,
                                                                     const cqf_group *g, size_t i)
{
#pragma GCC unroll 8
    for (size_t k = i; k < i + CQF_EIGHT; k++) {
        ahead_read(t->at + g->blocks[k], t->is_far);
        ahead_read(t->at + g->slots[k], t->is_far);
    }
}

/* ---- Where runs start -------------------------------------------------- */

/* What a block has before its slots. */
typedef struct cqf_heads {
    __m512i occupied, ends, offsets;
} cqf_heads;

static inline __m512i cqf_two_heads(const uint8_t *a, const uint8_t *b)
{
    __m256i first = _mm256_loadu_si256((const __m256i *)(const void *)a);

    return _mm512_inserti64x4(_mm512_castsi256_si512(first),
                              _mm256_loadu_si256((const __m256i *)(const void *)b), 1);
}

/* Loads of whole heads, transposed. */
static inline cqf_heads cqf_heads_of(const cqf_eights *t, const uint64_t *at)
{
    const __m512i firsts = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i lasts = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512i x[CQF_EIGHT / 2];

#pragma GCC unroll 4
    for (int i = 0; i < CQF_EIGHT / 2; i++)
        x[i] = cqf_two_heads(t->at + at[i], t->at + at[i + 4]);
    __m512i even = _mm512_unpacklo_epi64(x[0], x[1]), next_even = _mm512_unpacklo_epi64(x[2], x[3]);
    __m512i odd = _mm512_unpackhi_epi64(x[0], x[1]), next_odd = _mm512_unpackhi_epi64(x[2], x[3]);
    __m512i rest = _mm512_permutex2var_epi64(even, lasts, next_even);
    return (cqf_heads){ _mm512_permutex2var_epi64(even, firsts, next_even),
                        _mm512_permutex2var_epi64(odd, firsts, next_odd),
                        _mm512_and_si512(rest, cqf_all(0xff)) };
}

/* A one where each run starts or could: at the first bit, and after each end. */
static inline __m512i cqf_starts(__m512i ends)
{
    return _mm512_or_si512(_mm512_add_epi64(ends, ends), cqf_all(1));
}

/* Leaves of each word the one that has as many ones before it as nth has zeros; or nothing. */
static inline void cqf_select(uint64_t *x, const uint64_t *nth)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < CQF_EIGHT; i++)
        x[i] = _pdep_u64(nth[i], x[i]);
}

/* For cqf_select(): starts[] has a one where a run could start, from the offset on, and slots[] one
 * at the rank of the quotient. ranks[]: if the run is not there, its rank in the next block. */
__attribute__((always_inline)) static inline void cqf_find_eight(cqf_group *g, const cqf_eights *t,
                                                                 size_t i)
{
    const __m512i one = cqf_all(1);
    cqf_heads h = cqf_heads_of(t, g->blocks + i);
    __m512i bit = _mm512_sllv_epi64(one, cqf_quotients(t, cqf_load(g->fingerprints + i)));
    __m512i before = _mm512_and_si512(h.occupied, _mm512_sub_epi64(bit, one));
    __m512i ranks = _mm512_popcnt_epi64(before), ends = _mm512_srlv_epi64(h.ends, h.offsets);

    g->masks.occupied[i / CQF_EIGHT] =
        _mm512_mask_test_epi64_mask(cqf_some(g->n - i), h.occupied, bit);
    _mm512_store_si512(g->ends + i, h.ends);
    _mm512_store_si512(g->offsets + i, h.offsets);
    _mm512_store_si512(g->ranks + i, _mm512_sub_epi64(ranks, _mm512_popcnt_epi64(ends)));
    cqf_store(g->starts + i, cqf_starts(ends));
    cqf_store(g->slots + i, _mm512_sllv_epi64(one, ranks));
}

/* ---- Eight runs -------------------------------------------------------- */

/* What a block has of a run: its slots, packed, with whatever is behind them. */
typedef struct cqf_pieces {
    __m512i slots, n;
    __m512i ends; /* ends from there on; 0: the run goes on in the next block */
} cqf_pieces;

/* Of a run that could start at the bit of `before`, 0 if that is not in the block, but not ahead of
 * slot `least`. Reads at most eight bytes behind the block. */
static inline cqf_pieces cqf_pieces_of(const cqf_eights *t, __m512i blocks, __m512i ends,
                                       __m512i before, __m512i least)
{
    const __m512i one = cqf_all(1);
    __m512i lower = _mm512_sub_epi64(before, one), later = _mm512_andnot_si512(lower, ends);
    __m512i starts = _mm512_max_epu32(_mm512_popcnt_epi64(lower), least);
    __m512i up_to = _mm512_xor_si512(later, _mm512_sub_epi64(later, one));
    __m512i bits = _mm512_mul_epu32(starts, cqf_all(t->width));
    __m512i bytes = _mm512_add_epi64(blocks, _mm512_srli_epi64(bits, 3));
    __m512i words = _mm512_i64gather_epi64(bytes, t->at + RUNS_SLOTS, 1);

    return (cqf_pieces){ _mm512_srlv_epi64(words, _mm512_and_si512(bits, cqf_all(7))),
                         _mm512_sub_epi64(_mm512_popcnt_epi64(up_to), starts), later };
}

/* A one in each lane whose slot is not lower than the next: as in cqf_ascends(). */
static inline __m512i cqf_not_less(const lanes *l, __m512i a)
{
    __m512i b = cqf_down(a, l->width), highs = cqf_all(l->highs);
    __m512i low = _mm512_sub_epi64(_mm512_or_si512(a, highs), _mm512_andnot_si512(highs, b));

    /* (a & ~b) | (~(a ^ b) & low) */
    return _mm512_and_si512(_mm512_ternarylogic_epi64(a, b, low, 0xb2), highs);
}

/* Bits of eight: the run has no more slots than lanes; one of these is equal; that is the
 * remainder. Each is a part of the one before. Runs that do not fit, or are equal and not held, are
 * odd. */
typedef struct cqf_seen {
    __mmask8 fits, equal, held;
} cqf_seen;

/* As cqf_look(), of `some`. */
static inline cqf_seen cqf_see(const lanes *l, __mmask8 some, __m512i slots, __m512i n,
                               __m512i fingerprints)
{
    const __m512i all = cqf_all(UINT64_MAX), lows = cqf_all(l->lows), width = cqf_all(l->width);
    __m512i mask = cqf_all(packed_mask(l->width)), bits = _mm512_mul_epu32(n, width);
    __m512i wanted = _mm512_mullo_epi64(_mm512_and_si512(fingerprints, mask), lows);
    __m512i differs = _mm512_xor_si512(slots, wanted);
    __m512i v = _mm512_or_si512(differs, _mm512_sllv_epi64(all, bits));
    __m512i zero = _mm512_andnot_si512(v, _mm512_sub_epi64(v, lows));
    __m512i behind = _mm512_sllv_epi64(all, _mm512_sub_epi64(bits, width));
    __m512i falls = _mm512_andnot_si512(behind, cqf_not_less(l, slots));
    __mmask8 fits =
        _mm512_mask_cmplt_epu64_mask(some, _mm512_sub_epi64(n, cqf_all(1)), cqf_all(l->n));
    __mmask8 equal = _mm512_mask_test_epi64_mask(fits, zero, cqf_all(l->highs));
    __mmask8 is_first = _mm512_mask_testn_epi64_mask(equal, differs, mask);

    return (cqf_seen){ fits, equal,
                       (__mmask8)(is_first | _mm512_mask_testn_epi64_mask(equal, falls, falls)) };
}

__attribute__((always_inline)) static inline void cqf_look_eight(cqf_group *g, const cqf_eights *t,
                                                                 size_t i)
{
    __m512i fingerprints = cqf_load(g->fingerprints + i), offsets = cqf_load(g->offsets + i);
    __m512i before = _mm512_sllv_epi64(cqf_load(g->starts + i), offsets);
    cqf_pieces p = cqf_pieces_of(t, cqf_load(g->blocks + i), cqf_load(g->ends + i), before,
                                 cqf_quotients(t, fingerprints));
    __mmask8 near = _mm512_mask_cmplt_epu64_mask(g->masks.occupied[i / CQF_EIGHT], offsets,
                                                 cqf_all(RUNS_BLOCK));
    __mmask8 ends = _mm512_mask_test_epi64_mask(near, p.ends, p.ends);
    cqf_seen seen = cqf_see(&t->lanes, ends, p.slots, p.n, fingerprints);

    g->masks.open[i / CQF_EIGHT] = near ^ ends;
    g->masks.fits[i / CQF_EIGHT] = seen.fits;
    g->masks.equal[i / CQF_EIGHT] = seen.equal;
    g->masks.held[i / CQF_EIGHT] = seen.held;
    _mm512_store_si512(g->slots + i, p.slots);
    _mm512_store_si512(g->lengths + i, p.n);
}

/* ---- Runs that go on --------------------------------------------------- */

/* The numbers of the ones, then zeros. Returns how many. */
static inline size_t cqf_list(uint8_t list[MANY], uint64_t ones)
{
    const __m512i numbers = _mm512_set_epi64(
        0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
        0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);

    _mm512_storeu_si512(list, _mm512_maskz_compress_epi8(ones, numbers));
    return word_ones(ones);
}

static inline __m512i cqf_eight_of(const uint8_t *list)
{
    return _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)list));
}

static inline __m512i cqf_of(const uint64_t *words, __m512i which)
{
    return _mm512_i64gather_epi64(which, words, 8);
}

static inline __m512i cqf_next_blocks(const cqf_eights *t, const cqf_group *g, __m512i which)
{
    __m512i bit = _mm512_sllv_epi64(cqf_all(1), which);
    __mmask8 last = _mm512_test_epi64_mask(bit, cqf_all(le64(g->masks.last)));
    __m512i blocks = _mm512_add_epi64(cqf_of(g->blocks, which), cqf_all(t->stride));

    return _mm512_mask_sub_epi64(blocks, last, blocks, cqf_all(t->blocks * t->stride));
}

/* Both parts of a run make one. */
__attribute__((always_inline)) static inline cqf_seen
cqf_look_on(const cqf_eights *t, const cqf_group *g, __m512i which, __mmask8 some)
{
    __m512i blocks = cqf_next_blocks(t, g, which), n = cqf_of(g->lengths, which);
    __m512i bits = _mm512_mul_epu32(n, cqf_all(t->width));
    __m512i ends = _mm512_i64gather_epi64(blocks, t->at + RUNS_ENDS, 1);
    _Alignas(64) uint64_t starts[CQF_EIGHT];
    _Alignas(64) uint64_t nth[CQF_EIGHT];

    cqf_store(starts, cqf_starts(ends));
    cqf_store(nth, _mm512_sllv_epi64(cqf_all(1), cqf_of(g->ranks, which)));
    cqf_select(starts, nth);
    cqf_pieces p = cqf_pieces_of(t, blocks, ends, cqf_load(starts), _mm512_setzero_si512());
    __m512i slots =
        _mm512_andnot_si512(_mm512_sllv_epi64(cqf_all(UINT64_MAX), bits), cqf_of(g->slots, which));

    return cqf_see(&t->lanes, _mm512_mask_test_epi64_mask(some, p.ends, p.ends),
                   _mm512_or_si512(slots, _mm512_sllv_epi64(p.slots, bits)),
                   _mm512_add_epi64(n, p.n), cqf_of(g->fingerprints, which));
}

TARGET_END

#endif
