/* sweep.h - many slots of a table of runs that leave at once, in one pass over its blocks. Slots
 * are bytes: a block is a vector of AVX-512, and no branch depends on where things lie.
 *
 * The depth of quotient i is the number of slots from i on that runs of lower quotients take. A
 * slot that leaves the run of q makes all after q less deep by one, up to the first quotient whose
 * depth is zero: there a slot becomes empty. So, with g(i) slots that leave the run of i, depths
 * are reduced by
 *
 *   cut(i + 1) = min(cut(i) + g(i), depth(i + 1))
 *
 * and slot i is emptied where depth(i + 1) is the smaller one. As sums over g are known, this is a
 * running minimum. What is left of the slots then goes to those that are not empty, in order:
 *
 *   quotient     0    1    2    3    4    5
 *   run          a    b c  d         e f         b and f leave
 *   depth        0    0    1    1    0    1
 *   cut          0    0    1    1    0    1
 *   slot before  a    b    c    d    e    f
 *   slot after   a    c    d         e           slots 3 and 5 are emptied */
#ifndef TAMIS_QUOTIENT_SWEEP_H
#define TAMIS_QUOTIENT_SWEEP_H

#include <immintrin.h>

#include "base/word.h"

/* Bits from i on; i may be 64 or more. */
static inline uint64_t sweep_from(unsigned i)
{
    return ~_bzhi_u64(~UINT64_C(0), i);
}

/* ---- Vectors ----------------------------------------------------------- */

static inline __m512i sweep_places(void)
{
    return _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928,
                            0x2726252423222120, 0x1f1e1d1c1b1a1918, 0x1716151413121110,
                            0x0f0e0d0c0b0a0908, 0x0706050403020100);
}

/* The last lane of each quarter, in all lanes of the next one; below, of the one after that. */
static inline __m512i sweep_next_quarters(__m512i x)
{
    __m512i last = _mm512_shuffle_epi8(x, _mm512_set1_epi8(15));

    return _mm512_maskz_shuffle_i64x2(0xfc, last, last, 0x90);
}

static inline __m512i sweep_later_quarters(__m512i x)
{
    __m512i last = _mm512_shuffle_epi8(x, _mm512_set1_epi8(15));

    return _mm512_maskz_shuffle_i64x2(0xf0, last, last, 0x40);
}

/* In each lane, the highest of all up to it. */
static inline __m512i sweep_highest(__m512i x)
{
    x = _mm512_max_epu8(x, _mm512_bslli_epi128(x, 1));
    x = _mm512_max_epu8(x, _mm512_bslli_epi128(x, 2));
    x = _mm512_max_epu8(x, _mm512_bslli_epi128(x, 4));
    x = _mm512_max_epu8(x, _mm512_bslli_epi128(x, 8));
    x = _mm512_max_epu8(x, sweep_next_quarters(x));
    return _mm512_max_epu8(x, sweep_later_quarters(x));
}

/* ---- Blocks ------------------------------------------------------------ */

/* Words and offset as runs.h has them. What leaves is not in `kept`, and `kept_ends` are the ends
 * of runs without it. */
typedef struct sweep_block {
    uint64_t occupied, ends, kept, kept_ends;
    uint64_t rises; /* slots that hold more than the one before */
    unsigned offset;
    __m512i slots;
} sweep_block;

static inline sweep_block sweep_block_of(uint64_t occupied, uint64_t ends, unsigned offset,
                                         const void *slots)
{
    __m512i x = _mm512_loadu_si512(slots);
    __m512i before =
        _mm512_permutexvar_epi8(_mm512_sub_epi8(sweep_places(), _mm512_set1_epi8(1)), x);

    return (sweep_block){ occupied, ends, ~UINT64_C(0), ends, _mm512_cmpgt_epu8_mask(x, before),
                          offset,   x };
}

/* Where a pass is. `now` and `next` are as they were but for what leaves; what went before is done.
 * Of quotients of `now`: how many slots leave those before each, and which lose all. */
typedef struct sweep {
    sweep_block now, next;
    __m512i sums;
    uint64_t whole;
    unsigned leaving; /* in all */
    unsigned cut;     /* of the depth at the first quotient */
    unsigned taken;   /* slots of `now` that went to blocks before */
} sweep;

/* At most that much is cut, so that depths beyond the next block are of no matter. */
enum { SWEEP_MOST = 60 };

/* The offset, and for each run of `now` the slot after it; 255 where that is not in reach. */
enum { SWEEP_REACH = 128 };

static inline __m512i sweep_reach(const sweep *w, uint8_t reach[SWEEP_REACH])
{
    const __m512i far = _mm512_set1_epi8(-1), places = sweep_places();
    unsigned offset = w->now.offset;
    uint64_t here = w->now.ends & sweep_from(offset);
    uint64_t there = w->next.ends & sweep_from(offset < 64 ? 0 : offset - 64);
    __m512i after = _mm512_add_epi8(places, _mm512_set1_epi8(1));
    __m512i later = _mm512_add_epi8(places, _mm512_set1_epi8(65));
    __m512i ends = _mm512_mask_compress_epi8(far, here, after);

    ends = _mm512_mask_expand_epi8(ends, sweep_from(word_ones(here)),
                                   _mm512_mask_compress_epi8(far, there, later));
    reach[0] = (uint8_t)offset;
    _mm512_storeu_si512(reach + 1, ends);
    return ends;
}

/* ---- What leaves ------------------------------------------------------- */

typedef enum sweep_answer { SWEEP_ABSENT, SWEEP_TAKEN, SWEEP_ODD } sweep_answer;

/* A slot that holds x, of n from `start` on in one block. */
static inline sweep_answer sweep_take_from(sweep *w, sweep_block *b, unsigned j, unsigned start,
                                           unsigned n, uint8_t x)
{
    uint64_t run = _bzhi_u64(~UINT64_C(0), n) << start, home = UINT64_C(1) << j;
    uint64_t found = _mm512_cmpeq_epi8_mask(b->slots, _mm512_set1_epi8((char)x)) & run & b->kept;

    if (~b->rises & run & (run - 1))
        return SWEEP_ODD;
    if (!found)
        return SWEEP_ABSENT;
    b->kept &= ~(found & -found);
    uint64_t left = run & b->kept, last = UINT64_C(1) << word_highest(left | 1);
    uint64_t is_whole = left == 0;
    b->kept_ends = (b->kept_ends & ~run) | (last & (is_whole - 1));
    w->sums = _mm512_mask_sub_epi8(w->sums, -home << 1, w->sums, _mm512_set1_epi8(-1));
    w->whole |= is_whole << j;
    w->leaving++;
    return SWEEP_TAKEN;
}

/* One x leaves the run of quotient j of the block. SWEEP_ODD: it has to be done later, the ordinary
 * way, as in runs with counts, whose slots do not all rise. */
__attribute__((always_inline)) static inline sweep_answer
sweep_take(sweep *w, const uint8_t reach[SWEEP_REACH], unsigned j, uint8_t x)
{
    unsigned i = word_ones(_bzhi_u64(w->now.occupied, j)), before = reach[i], end = reach[i + 1];
    unsigned start = before > j ? before : j;

    if (!(w->now.occupied >> j & 1))
        return SWEEP_ABSENT;
    if (end <= 64)
        return sweep_take_from(w, &w->now, j, start, end - start, x);
    if (start < 64 || end > 128)
        return SWEEP_ODD;
    return sweep_take_from(w, &w->next, j, start - 64, end - start, x);
}

/* ---- What becomes of a block ------------------------------------------- */

/* Slots that are emptied, but for the last one, which depends on the next block; `level` are those
 * where the depth is 0 then. Depths are right up to 127. A running minimum of depths less sums
 * becomes a maximum of what they are below 128. */
static inline uint64_t sweep_emptied(const sweep *w, __m512i ends, uint64_t *level)
{
    const __m512i one = _mm512_set1_epi8(1), places = sweep_places();
    __m512i reach = _mm512_maskz_expand_epi8(w->now.occupied << 1, ends);
    reach = sweep_highest(_mm512_mask_mov_epi8(reach, 1, _mm512_set1_epi8((char)w->now.offset)));
    __m512i depths = _mm512_min_epu8(_mm512_subs_epu8(reach, places), _mm512_set1_epi8(127));
    __m512i above = _mm512_sub_epi8(_mm512_add_epi8(_mm512_set1_epi8((char)0x80), w->sums), depths);
    __m512i before = _mm512_permutexvar_epi8(_mm512_sub_epi8(places, one), sweep_highest(above));
    before = _mm512_max_epu8(before, _mm512_set1_epi8((char)(0x80 - w->cut)));
    *level = (_mm512_cmpge_epu8_mask(above, before) & ~UINT64_C(1)) | (w->cut == w->now.offset);
    return _mm512_cmpgt_epu8_mask(above, before) >> 1;
}

typedef struct sweep_result {
    uint64_t occupied, ends, level;
    __m512i slots;
} sweep_result;

/* What is kept goes to the slots that are not emptied. Then the next block is the one of now. */
static inline sweep_result sweep_on(sweep *w, __m512i reach)
{
    const sweep_block *now = &w->now, *next = &w->next;
    sweep_result out = { .occupied = now->occupied & ~w->whole };
    uint64_t emptied = sweep_emptied(w, reach, &out.level);
    unsigned cut = w->cut + w->leaving - word_ones(emptied);
    bool is_last = cut > next->offset;
    uint64_t full = ~(emptied | (uint64_t)is_last << 63), here = now->kept & sweep_from(w->taken);
    unsigned n = word_ones(here), more = word_ones(full) - n;
    uint64_t ends = _pext_u64(next->kept_ends, next->kept);

    ends = _pext_u64(now->kept_ends, here) | (ends << n % 64 & -(uint64_t)(n < 64));
    out.ends = _pdep_u64(ends, full);
    out.slots = _mm512_mask_expand_epi8(_mm512_maskz_compress_epi8(here, now->slots), sweep_from(n),
                                        _mm512_maskz_compress_epi8(next->kept, next->slots));
    out.slots = _mm512_maskz_expand_epi8(full, out.slots);
    w->cut = cut - is_last;
    w->taken = (word_select_or_64(next->kept, (more - 1) % 64) + 1) * (more > 0);
    w->sums = _mm512_setzero_si512();
    w->whole = w->leaving = 0;
    w->now = *next;
    return out;
}

#endif
