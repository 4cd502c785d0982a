/* runs_change.h - a slot more or less for a run: what lies after it moves by one.
 *
 *   slot          0    1    2    3    4    5
 *   before             a    c    5    9         runs of quotients 1, 2 and 4
 *   b joins 1          a    b    c    5    9    what follows moves up to the next gap, slot 5
 *   a leaves 1         c    5         9         what follows moves down, up to the first at home */
#ifndef TAMIS_QUOTIENT_RUNS_CHANGE_H
#define TAMIS_QUOTIENT_RUNS_CHANGE_H

#include "base/slide.h"
#include "quotient/runs.h"

static inline void runs_set_bit(uint8_t *word, unsigned i)
{
    put_le64(word, le64(word) | UINT64_C(1) << i);
}

static inline void runs_clear_bit(uint8_t *word, unsigned i)
{
    put_le64(word, le64(word) & ~(UINT64_C(1) << i));
}

/* ---- Gaps -------------------------------------------------------------- */

/* The slots of a block that no run covers which starts before them: each is empty, or the head of a
 * run at home. */
static inline uint64_t runs_edges(const uint8_t *b)
{
    unsigned offset = b[RUNS_OFFSET];

    if (offset >= RUNS_BLOCK)
        return 0;
    return word_level(runs_occupied(b), runs_ends(b) & ~word_below(offset)) & ~word_below(offset);
}

/* The first edge from slot i on. */
static inline uint64_t runs_find_edge(runs_table t, uint64_t i)
{
    uint64_t k = i / RUNS_BLOCK, rest = runs_edges(runs_block(t, k)) & ~word_below(i % RUNS_BLOCK);

    while (!rest)
        rest = runs_edges(runs_block(t, ++k));
    return k * RUNS_BLOCK + word_lowest(rest);
}

static inline uint64_t runs_gaps(const uint8_t *b)
{
    return runs_edges(b) & ~runs_occupied(b);
}

/* The first empty slot from slot i on. */
static inline uint64_t runs_find_gap(runs_table t, uint64_t i)
{
    uint64_t k = i / RUNS_BLOCK, rest = runs_gaps(runs_block(t, k)) & ~word_below(i % RUNS_BLOCK);

    while (!rest)
        rest = runs_gaps(runs_block(t, ++k));
    return k * RUNS_BLOCK + word_lowest(rest);
}

/* ---- Offsets ----------------------------------------------------------- */

/* Blocks after that of q which start up to slot `last` have one slot more from before. */
static inline void runs_raise_offsets(runs_table t, uint64_t q, uint64_t last)
{
    for (uint64_t k = q / RUNS_BLOCK + 1; k <= last / RUNS_BLOCK; k++) {
        uint8_t *offset = runs_block(t, k) + RUNS_OFFSET;
        *offset = (uint8_t)(*offset + (*offset != RUNS_FAR));
    }
}

/* One slot less. True: the offset is saturated and has to be counted anew. */
static inline bool runs_lower_offset(uint8_t *block)
{
    bool is_far = block[RUNS_OFFSET] == RUNS_FAR;

    block[RUNS_OFFSET] = (uint8_t)(block[RUNS_OFFSET] - !is_far);
    return is_far;
}

/* Offsets that were too large to be written, of the blocks after that of q up to block `last`, are
 * counted anew. Each follows from the one before: all of them take one pass over the ends. */
static inline void runs_recount_offsets(runs_table t, uint64_t q, uint64_t last)
{
    uint64_t offset = runs_offset(t, q / RUNS_BLOCK);

    for (uint64_t k = q / RUNS_BLOCK; k < last; k++) {
        offset = runs_offset_after(t, k, offset);
        runs_block(t, k + 1)[RUNS_OFFSET] = offset < RUNS_FAR ? (uint8_t)offset : RUNS_FAR;
    }
}

/* ---- One slot more ----------------------------------------------------- */

/* Slots i .. gap - 1 move up by one, with the ends of runs; the gap is empty. */
static inline void runs_shift_up(runs_table t, uint64_t i, uint64_t gap)
{
    for (uint64_t k = gap / RUNS_BLOCK;; k--) {
        uint8_t *b = runs_block(t, k);
        bool is_first = k == i / RUNS_BLOCK;
        unsigned lo = is_first ? i % RUNS_BLOCK : 0,
                 hi = k == gap / RUNS_BLOCK ? gap % RUNS_BLOCK : RUNS_BLOCK - 1;
        uint64_t ends = runs_ends(b), moving = word_up_to(hi) & ~word_below(lo);

        slide_up(b + RUNS_SLOTS, lo, hi, t.width);
        ends = (ends & ~moving) | (ends << 1 & moving & ~(UINT64_C(1) << lo));
        if (!is_first) {
            const uint8_t *before = runs_block(t, k + t.blocks - 1);
            packed_put(b + RUNS_SLOTS, 0, t.width,
                       packed_get(before + RUNS_SLOTS, RUNS_BLOCK - 1, t.width));
            ends |= runs_ends(before) >> (RUNS_BLOCK - 1);
        }
        put_le64(b + RUNS_ENDS, ends);
        if (is_first)
            return;
    }
}

/* Slot i, in the run of q or at its end, becomes that run's: what is there moves up. */
static inline void runs_open_slot(runs_table t, uint64_t q, runs_run *r, uint64_t i)
{
    uint64_t gap = runs_find_gap(t, i);

    runs_shift_up(t, i, gap);
    runs_raise_offsets(t, q, gap);
    if (i == r->end)
        runs_set_bit(runs_block(t, i / RUNS_BLOCK) + RUNS_ENDS, i % RUNS_BLOCK);
    if (i == r->end && r->is_there)
        runs_clear_bit(runs_block(t, (i - 1) / RUNS_BLOCK) + RUNS_ENDS, (i - 1) % RUNS_BLOCK);
    if (!r->is_there)
        runs_set_bit(runs_block(t, q / RUNS_BLOCK), q % RUNS_BLOCK);
    r->is_there = true;
    r->end++;
}

/* If the slot of q is empty, x goes there and nothing moves. */
static inline bool runs_add_at_home(runs_table t, uint64_t q, uint32_t x)
{
    uint8_t *b = runs_home(t, q);
    uint64_t occupied = runs_occupied(b), ends = runs_ends(b);
    unsigned j = q % RUNS_BLOCK, offset = b[RUNS_OFFSET];

    if (offset > j || occupied >> j & 1 ||
        word_ones(occupied & word_below(j)) !=
            word_ones(ends & ~word_below(offset) & word_below(j)))
        return false;
    packed_put(b + RUNS_SLOTS, j, t.width, x);
    put_le64(b, occupied | UINT64_C(1) << j);
    put_le64(b + RUNS_ENDS, ends | UINT64_C(1) << j);
    return true;
}

/* ---- One slot less ----------------------------------------------------- */

/* Slots lo + 1 .. top of a block move down by one, with the ends of runs; slot top becomes x, and
 * an end if `end` is 1. */
static inline void runs_close_block(uint8_t *b, unsigned width, unsigned lo, unsigned top,
                                    uint32_t x, uint64_t end)
{
    uint64_t ends = runs_ends(b), moving = word_up_to(top) & ~word_below(lo);

    slide_down(b + RUNS_SLOTS, lo, top, width, x);
    ends = (ends & ~moving) | (ends >> 1 & (moving >> 1 & ~word_below(lo))) | end << top;
    put_le64(b + RUNS_ENDS, ends);
}

/* Slot i goes: what is after it moves down, block by block, as far as it is not at home. Returns
 * the block where that ends; `is_far`: on the way there are offsets to be counted anew. */
static inline uint64_t runs_shift_down(runs_table t, uint64_t i, bool *is_far)
{
    uint64_t k = i / RUNS_BLOCK, rest;
    uint8_t *b = runs_block(t, k), *next;
    unsigned lo = i % RUNS_BLOCK;

    for (rest = runs_edges(b) & ~word_up_to(lo); !rest; lo = 0, b = next, k++) {
        next = runs_block(t, k + 1);
        rest = runs_edges(next);
        if (rest & 1) {
            runs_close_block(b, t.width, lo, RUNS_BLOCK - 1, 0, 0);
            return k;
        }
        runs_close_block(b, t.width, lo, RUNS_BLOCK - 1, packed_get(next + RUNS_SLOTS, 0, t.width),
                         runs_ends(next) & 1);
        *is_far |= runs_lower_offset(next);
    }
    runs_close_block(b, t.width, lo, word_lowest(rest) - 1, 0, 0);
    return k;
}

/* Slot i leaves the run of q. */
static inline void runs_close_slot(runs_table t, uint64_t q, runs_run *r, uint64_t i)
{
    bool is_far = false;

    uint64_t last = runs_shift_down(t, i, &is_far);
    for (uint64_t k = q / RUNS_BLOCK + 1; k <= i / RUNS_BLOCK; k++)
        is_far |= runs_lower_offset(runs_block(t, k));
    r->end--;
    r->is_there = r->end > r->start;
    if (!r->is_there)
        runs_clear_bit(runs_block(t, q / RUNS_BLOCK), q % RUNS_BLOCK);
    else if (i == r->end)
        runs_set_bit(runs_block(t, (i - 1) / RUNS_BLOCK) + RUNS_ENDS, (i - 1) % RUNS_BLOCK);
    if (is_far)
        runs_recount_offsets(t, q, last);
}

#endif
