/* quotient.h - the table of the quotient filter, and how a run is found in it. quotient.c says what
 * it means. */
#ifndef TAMIS_QUOTIENT_QUOTIENT_H
#define TAMIS_QUOTIENT_QUOTIENT_H

#include "base/ahead.h"
#include "base/bits.h"
#include "base/hash.h"
#include "base/lanes.h"
#include "base/packed.h"
#include "base/word.h"
#include "filter.h"

/* ---- Layout ------------------------------------------------------------ */

/* Where the planes, a word of one kind of bit, and the remainders lie in a block. */
enum { OCCUPIED = 0, CONTINUED = 8, SHIFTED = 16, REMAINDERS = 24 };

/* Whatever slot a load of eight bytes starts in, it ends in the payload. */
enum { BLOCK_SLOTS = 64, SLACK = 8 };

/* A filter, taken apart. All but `blocks` comes from the plan and is in f->derived. */
typedef struct quotient_table {
    uint8_t *blocks;
    uint64_t slots, last; /* the number of the last block */
    unsigned block_bytes, width;
    lanes lanes;
    bool is_far; /* as f->is_far */
} quotient_table;

_Static_assert(sizeof(quotient_table) <= TAMIS_DERIVED_SIZE, "");

static inline quotient_table quotient_table_of(const tamis *f)
{
    quotient_table t = *(const quotient_table *)(const void *)f->derived;

    t.blocks = f->payload;
    return t;
}

static inline uint64_t quotient_fingerprint(const tamis *f, uint64_t key)
{
    return scale64(hash_key(key, f->salt), f->plan.slots << f->plan.width);
}

static inline uint8_t *quotient_block(const quotient_table *t, uint64_t block)
{
    return t->blocks + block * t->block_bytes;
}

static inline uint8_t *quotient_block_of(const quotient_table *t, uint64_t slot)
{
    return quotient_block(t, slot / BLOCK_SLOTS);
}

static inline bool quotient_bit(const quotient_table *t, int which, uint64_t slot)
{
    return le64(quotient_block_of(t, slot) + which) >> slot % BLOCK_SLOTS & 1;
}

static inline uint32_t quotient_remainder(const quotient_table *t, uint64_t slot)
{
    return packed_get(quotient_block_of(t, slot) + REMAINDERS, slot % BLOCK_SLOTS, t->width);
}

/* Positions go on after the last slot, up to twice the slots: runs wrap around. */
static inline uint64_t quotient_wrap(const quotient_table *t, uint64_t position)
{
    return position < t->slots ? position : position - t->slots;
}

/* What lies there is of the same run as in the position before. */
static inline bool quotient_continues(const quotient_table *t, uint64_t position)
{
    return position < 2 * t->slots && quotient_bit(t, CONTINUED, quotient_wrap(t, position));
}

/* The last block may have bits that stand for no slot. */
static inline uint64_t quotient_slots_of(const quotient_table *t, uint64_t block)
{
    return block < t->last ? UINT64_MAX : word_up_to((unsigned)((t->slots - 1) % BLOCK_SLOTS));
}

/* What is occupied and nothing else holds the first of its run. */
static inline uint64_t quotient_used_slots(const uint8_t *block)
{
    return le64(block + OCCUPIED) | le64(block + CONTINUED) | le64(block + SHIFTED);
}

/* Inlined by force: gcc takes a function that does nothing but prefetch for one without effect. The
 * planes of a block lie in one line or two. */
__attribute__((always_inline)) static inline void quotient_fetch_planes(const quotient_table *t,
                                                                        uint64_t quotient)
{
    const uint8_t *block = quotient_block_of(t, quotient);

    ahead_read(block, t->is_far);
    ahead_read(block + SHIFTED, t->is_far);
}

__attribute__((always_inline)) static inline void quotient_fetch_remainders(const quotient_table *t,
                                                                            uint64_t slot)
{
    const uint8_t *remainders = quotient_block_of(t, slot) + REMAINDERS;

    ahead_read(remainders + packed_byte(slot % BLOCK_SLOTS, t->width), t->is_far);
}

/* Where a run is if it is at home. */
__attribute__((always_inline)) static inline void quotient_fetch(const quotient_table *t,
                                                                 uint64_t quotient)
{
    quotient_fetch_planes(t, quotient);
    quotient_fetch_remainders(t, quotient);
}

/* ---- Runs -------------------------------------------------------------- */

/* The i-th one of a word, from 0 on; 64 if there is none. Few are skipped: without the instruction,
 * one by one is quickest. */
static inline unsigned quotient_select(uint64_t word, unsigned i)
{
#ifdef __BMI2__
    return word_select_or_64(word, i);
#else
    for (; i && word; i--)
        word &= word - 1;
    return word ? word_lowest(word) : BLOCK_SLOTS;
#endif
}

/* The run of quotient q, or where it would be inserted, is as many runs after that at the start of
 * its cluster as there are occupied quotients from there to q. */

/* Given that a run of its block starts the cluster; false if none does, or if the run is not found
 * in the block. */
__attribute__((always_inline)) static inline bool
quotient_run_is_near(const quotient_table *t, uint64_t quotient, uint64_t *start)
{
    const uint8_t *block = quotient_block_of(t, quotient);
    unsigned i = (unsigned)(quotient % BLOCK_SLOTS);
    uint64_t at_home = ~le64(block + SHIFTED) & word_up_to(i);

    if (!at_home)
        return false;
    uint64_t cluster = ~word_below(word_highest(at_home));
    uint64_t occupied = le64(block + OCCUPIED) | UINT64_C(1) << i;
    unsigned runs = word_ones(occupied & cluster & word_up_to(i));
    unsigned head = quotient_select(~le64(block + CONTINUED) & cluster, runs - 1);
    *start = quotient - i + head;
    return head < BLOCK_SLOTS && *start < t->slots;
}

/* Given that the cluster starts in the block before. */
__attribute__((always_inline)) static inline bool
quotient_run_is_next_door(const quotient_table *t, uint64_t quotient, uint64_t *start)
{
    unsigned i = (unsigned)(quotient % BLOCK_SLOTS);

    if (quotient < BLOCK_SLOTS)
        return false;
    const uint8_t *block = quotient_block_of(t, quotient), *before = block - t->block_bytes;
    uint64_t at_home = ~le64(before + SHIFTED);
    if (!at_home || ~le64(block + SHIFTED) & word_up_to(i))
        return false;
    uint64_t cluster = ~word_below(word_highest(at_home));
    uint64_t occupied = le64(block + OCCUPIED) | UINT64_C(1) << i;
    unsigned runs =
        word_ones(le64(before + OCCUPIED) & cluster) + word_ones(occupied & word_up_to(i));
    /* Beyond 64, and so out of reach, if the run lies in the block before. */
    unsigned ahead = runs - word_ones(~le64(before + CONTINUED) & cluster) - 1;
    unsigned head = ahead < BLOCK_SLOTS ? quotient_select(~le64(block + CONTINUED), ahead) : 64;
    *start = quotient - i + head;
    return head < BLOCK_SLOTS && *start < t->slots;
}

/* ---- Changes ----------------------------------------------------------- */

/* The run of a fingerprint's quotient, and the copies of the fingerprint in there. */
typedef struct quotient_found {
    uint64_t quotient, start, length; /* of the run; without one, 0 slots and where it would be */
    uint64_t before, copies;          /* slots of the run that hold less, and the same */
    uint32_t remainder;
} quotient_found;

quotient_found tamis__quotient_find(const quotient_table *t, uint64_t fingerprint);

/* The first slot of the run of a quotient, or where it would be; `slots` in a damaged table. */
uint64_t tamis__quotient_run(const quotient_table *t, uint64_t quotient);

/* The first occupied quotient from `from` on; `slots` if there is none. */
uint64_t tamis__quotient_next_occupied(const quotient_table *t, uint64_t from);

/* There is room: fewer slots than all but one are in use afterwards. */
void tamis__quotient_insert(tamis *f, uint64_t fingerprint, uint64_t times);

/* TAMIS_ABSENT: there are not so many. */
tamis_status tamis__quotient_take_out(tamis *f, uint64_t fingerprint, uint64_t times);

/* Functions of the table, which quotient_order.c, quotient_avx2.c, quotient_avx512.c and
 * quotient_explain.c have. */
bool tamis__quotient_next(tamis_cursor *c);
tamis_status tamis__quotient_append(tamis_writer *w, uint64_t fingerprint, uint64_t count);
tamis_status tamis__quotient_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n);
size_t tamis__quotient_remove_many(tamis *f, const uint64_t *keys, size_t n);
void tamis__quotient_use_avx2(tamis_ops *ops);
void tamis__quotient_use_avx512(tamis_ops *ops, const tamis_plan *p);
void tamis__quotient_cells(const tamis *f, tamis_telling *t);
bool tamis__quotient_explain(const tamis *f, uint64_t key, tamis_telling *t);

#endif
