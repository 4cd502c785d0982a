/* runs.h - sorted runs of remainders in a circular table, found by rank and select.
 *
 * The table has S slots, a multiple of 64, and as many quotients. The remainders of quotient q, its
 * run, lie one behind the other at q or, where that is taken by runs of lower quotients, right
 * after those; at the end of the table they go around. Before it is a header:
 *
 *   slots in use, 8 bytes | of the kind's own, 56 bytes
 *
 * 64 slots are a block:
 *
 *   occupied    8 bytes   bit j: quotient j of the block has a run
 *   ends        8 bytes   bit j: slot j is the last of a run
 *   offset      1 byte    slots at its start that runs of earlier blocks take; 255 stands for more
 *   slots       8w bytes  64 remainders of w bits, packed; 0 where there is none
 *
 *   quotient    run           slot   0    1    2    3    4    5    6    7    (offset 0)
 *       1       a c       occupied   0    1    1    0    1    0    0    0
 *       2       5             ends   0    0    1    1    1    0    0    0
 *       4       9        remainder        a    c    5    9
 *
 * Runs end in the order of their quotients. So the run of a quotient ends at the n-th end after
 * the slots of the offset, where n is its rank among the occupied quotients of its block.
 *
 * Positions may be one round higher than slots: q .. q + S - 1 are the places where the run of q
 * could lie. Functions that only read bound all that they read, whatever the bytes; the others need
 * a table that is whole and has an empty slot. What they leave depends on what the table holds
 * alone. Tables are passed by value, so that no store to their bytes can seem to change them. */
#ifndef TAMIS_QUOTIENT_RUNS_H
#define TAMIS_QUOTIENT_RUNS_H

#include "base/bits.h"
#include "base/packed.h"
#include "base/word.h"

enum { RUNS_BLOCK = 64, RUNS_ENDS = 8, RUNS_OFFSET = 16, RUNS_SLOTS = 17, RUNS_FAR = 255 };

/* Behind the last block, eight bytes may be read and rewritten. */
enum { RUNS_HEADER = 64, RUNS_SLACK = 8 };

typedef struct runs_table {
    uint8_t *at; /* the first block */
    uint64_t slots, blocks;
    unsigned width, stride;
} runs_table;

/* Bytes of a block. */
static inline unsigned runs_stride(unsigned width)
{
    return RUNS_SLOTS + 8 * width;
}

static inline runs_table runs_table_at(uint8_t *header, uint64_t slots, unsigned width)
{
    return (runs_table){ header + RUNS_HEADER, slots, slots / RUNS_BLOCK, width,
                         runs_stride(width) };
}

/* Of a table with its header, in whole lines of memory. */
static inline uint64_t runs_bytes(uint64_t slots, unsigned width)
{
    return round_up(RUNS_HEADER + slots / RUNS_BLOCK * runs_stride(width) + RUNS_SLACK, 64);
}

static inline uint64_t runs_used(runs_table t)
{
    return le64(t.at - RUNS_HEADER);
}

static inline void runs_put_used(runs_table t, uint64_t used)
{
    put_le64(t.at - RUNS_HEADER, used);
}

static inline uint8_t *runs_block(runs_table t, uint64_t block)
{
    while (block >= t.blocks)
        block -= t.blocks;
    return t.at + block * t.stride;
}

/* The block of a quotient, which is below `slots`. */
static inline uint8_t *runs_home(runs_table t, uint64_t q)
{
    return t.at + q / RUNS_BLOCK * t.stride;
}

static inline uint64_t runs_occupied(const uint8_t *block)
{
    return le64(block);
}

static inline uint64_t runs_ends(const uint8_t *block)
{
    return le64(block + RUNS_ENDS);
}

static inline uint32_t runs_slot(runs_table t, uint64_t i)
{
    return packed_get(runs_block(t, i / RUNS_BLOCK) + RUNS_SLOTS, i % RUNS_BLOCK, t.width);
}

static inline void runs_put_slot(runs_table t, uint64_t i, uint32_t x)
{
    packed_put(runs_block(t, i / RUNS_BLOCK) + RUNS_SLOTS, i % RUNS_BLOCK, t.width, x);
}

/* ---- Where runs are ---------------------------------------------------- */

/* The n-th end, n > 0, at or after slot `from`, counted from the start of the block; if there are
 * fewer, a number beyond the table. */
static inline uint64_t runs_nth_end(runs_table t, uint64_t block, uint64_t from, uint64_t n)
{
    uint64_t k = from / RUNS_BLOCK, last = k + t.blocks;
    uint64_t ends = runs_ends(runs_block(t, block + k)) & ~word_below(from % RUNS_BLOCK);

    for (;;) {
        unsigned here = word_ones(ends);
        if (n <= here)
            return k * RUNS_BLOCK + word_select(ends, (unsigned)n - 1);
        if (++k > last)
            return k * RUNS_BLOCK;
        n -= here;
        ends = runs_ends(runs_block(t, block + k));
    }
}

/* Where an offset is too large to be written, it is counted from the next block before that has one
 * which is not: the runs that start between the two all end after it. */
static inline uint64_t runs_far_offset(runs_table t, uint64_t block)
{
    uint64_t back = 0, runs = 0, offset;

    do {
        back++;
        const uint8_t *b = runs_block(t, block + t.blocks - back);
        runs += word_ones(runs_occupied(b));
        offset = b[RUNS_OFFSET];
    } while (offset == RUNS_FAR && back < t.blocks);
    uint64_t first = block + t.blocks - back;
    uint64_t end = runs ? runs_nth_end(t, first, offset, runs) + 1 : offset;
    uint64_t beyond = end > back * RUNS_BLOCK ? end - back * RUNS_BLOCK : 0;
    return beyond < t.slots ? beyond : t.slots;
}

/* The offset of the block after this one. */
static inline uint64_t runs_offset_after(runs_table t, uint64_t block, uint64_t offset)
{
    unsigned runs = word_ones(runs_occupied(runs_block(t, block)));
    uint64_t end = runs ? runs_nth_end(t, block, offset, runs) + 1 : offset;

    return end > RUNS_BLOCK ? end - RUNS_BLOCK : 0;
}

static inline uint64_t runs_offset(runs_table t, uint64_t block)
{
    unsigned offset = runs_block(t, block)[RUNS_OFFSET];

    if (offset == RUNS_FAR)
        return runs_far_offset(t, block);
    return offset < t.slots ? offset : t.slots;
}

/* Slots start .. end - 1. Of a quotient that has none: where it would start. */
typedef struct runs_run {
    uint64_t start, end;
    bool is_there;
} runs_run;

__attribute__((always_inline)) static inline runs_run runs_find(runs_table t, uint64_t q)
{
    uint64_t block = q / RUNS_BLOCK, first = block * RUNS_BLOCK;
    uint64_t occupied = runs_occupied(runs_block(t, block));
    unsigned j = q % RUNS_BLOCK, earlier = word_ones(occupied & word_below(j));
    uint64_t offset = runs_offset(t, block);
    uint64_t before = earlier ? runs_nth_end(t, block, offset, earlier) + 1 : offset;
    runs_run r = { first + (before > j ? before : j), 0, occupied >> j & 1 };

    if (r.start > q + t.slots)
        r.start = q + t.slots;
    r.end = r.is_there ? first + runs_nth_end(t, block, before, 1) + 1 : r.start;
    if (r.end > q + t.slots)
        r.end = q + t.slots;
    if (r.end < r.start)
        r.end = r.start;
    return r;
}

/* ---- Run by run -------------------------------------------------------- */

/* From the lowest quotient on; starts with zeros but for the table. */
typedef struct runs_walk {
    runs_table t;
    uint64_t after; /* the quotient of the run, and one; 0: not begun */
    uint64_t start, end;
} runs_walk;

/* The first quotient from q on that has a run; `slots` if there is none. */
static inline uint64_t runs_next_occupied(runs_table t, uint64_t q)
{
    uint64_t k = q / RUNS_BLOCK, rest = 0;

    if (k < t.blocks)
        rest = runs_occupied(runs_block(t, k)) & ~word_below(q % RUNS_BLOCK);
    while (!rest && ++k < t.blocks)
        rest = runs_occupied(runs_block(t, k));
    return rest ? k * RUNS_BLOCK + word_lowest(rest) : t.slots;
}

static inline uint64_t runs_next_end(runs_table t, uint64_t i)
{
    uint64_t ends = runs_ends(runs_block(t, i / RUNS_BLOCK)) & ~word_below(i % RUNS_BLOCK);

    return i / RUNS_BLOCK * RUNS_BLOCK +
           (ends ? word_lowest(ends) : runs_nth_end(t, i / RUNS_BLOCK, i % RUNS_BLOCK, 1));
}

/* False: there is no more. Ends whatever the bytes are: quotients only ascend, and slots not beyond
 * the second round. */
static inline bool runs_walk_on(runs_walk *w)
{
    if (w->after == 0)
        w->end = runs_offset(w->t, 0);
    uint64_t q = runs_next_occupied(w->t, w->after);
    if (q >= w->t.slots)
        return false;
    w->after = q + 1;
    w->start = w->end > q ? w->end : q;
    w->end = runs_next_end(w->t, w->start) + 1;
    return w->end <= 2 * w->t.slots;
}

#endif
