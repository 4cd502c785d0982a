/* quotient.h - the table of the quotient filter, and how a run is found in it: what the kind and
 * its kernels share. quotient.c says what it means. */
#ifndef TAMIS_QUOTIENT_QUOTIENT_H
#define TAMIS_QUOTIENT_QUOTIENT_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/packed.h"
#include "filter.h"

void tamis__quotient_use_avx2(tamis_ops *ops);

/* ---- Layout ------------------------------------------------------------ */

/* Where the planes and the remainders lie in a block. */
enum { OCCUPIED = 0, CONTINUED = 8, SHIFTED = 16, REMAINDERS = 24 };

/* Whatever slot a load of eight bytes starts in, it ends in the payload. */
enum { BLOCK_SLOTS = 64, SLACK = 8 };

typedef struct table {
    uint8_t *blocks;
    uint64_t slots, last; /* the number of the last block */
    unsigned width;
    size_t block_bytes;
} table;

static inline table table_of(const tamis *f)
{
    return (table){ f->payload, f->plan.slots, (f->plan.slots - 1) / BLOCK_SLOTS, f->plan.width,
                    REMAINDERS + 8 * (size_t)f->plan.width };
}

static inline uint64_t print_of(const tamis *f, uint64_t key)
{
    return scale64(hash_key(key, f->salt), f->plan.slots << f->plan.width);
}

static inline uint8_t *block_at(const table *t, uint64_t block)
{
    return t->blocks + block * t->block_bytes;
}

static inline uint8_t *block_of(const table *t, uint64_t slot)
{
    return block_at(t, slot / BLOCK_SLOTS);
}

/* Bits of one plane for the slots of a block. */
static inline uint64_t plane(const uint8_t *block, int which)
{
    return le64(block + which);
}

static inline bool bit_of(const table *t, int which, uint64_t slot)
{
    return plane(block_of(t, slot), which) >> slot % BLOCK_SLOTS & 1;
}

static inline uint32_t remainder_at(const table *t, uint64_t slot)
{
    return packed_get(block_of(t, slot) + REMAINDERS, slot % BLOCK_SLOTS, t->width);
}

/* Positions go on after the last slot, up to twice the slots: runs wrap around. */
static inline uint64_t wrap(const table *t, uint64_t position)
{
    return position < t->slots ? position : position - t->slots;
}

static inline uint64_t bits_to(unsigned i)
{
    return UINT64_MAX >> (63 - i);
}

static inline uint64_t bits_from(unsigned i)
{
    return UINT64_MAX << i;
}

/* The last block may have bits that stand for no slot. */
static inline uint64_t bits_of_slots(const table *t, uint64_t block)
{
    return block < t->last ? UINT64_MAX : bits_to((unsigned)((t->slots - 1) % BLOCK_SLOTS));
}

static inline unsigned ones(uint64_t word)
{
    return (unsigned)__builtin_popcountll(word);
}

static inline unsigned lowest(uint64_t word)
{
    return (unsigned)__builtin_ctzll(word);
}

static inline unsigned highest(uint64_t word)
{
    return 63 - (unsigned)__builtin_clzll(word);
}

/* ---- Runs -------------------------------------------------------------- */

/* A run, or where it would be inserted: the one of quotient q is as many runs after that at the
 * start of its cluster as there are occupied quotients from there to q. */

/* The run of a quotient, given that one of its block starts the cluster; false if none does, or if
 * the run is not found in the block. A kernel says how to select() the i-th one of a word, i below
 * 64: 64 if there is none. */
typedef unsigned select_one(uint64_t word, unsigned i);

__attribute__((always_inline)) static inline bool run_is_near(const table *t, uint64_t quotient,
                                                              uint64_t *start, select_one *select)
{
    const uint8_t *block = block_of(t, quotient);
    unsigned i = (unsigned)(quotient % BLOCK_SLOTS);
    uint64_t at_home = ~plane(block, SHIFTED) & bits_to(i);

    if (!at_home)
        return false;
    uint64_t cluster = bits_from(highest(at_home)), occupied = plane(block, OCCUPIED);
    unsigned runs = ones((occupied | UINT64_C(1) << i) & cluster & bits_to(i));
    unsigned head = select(~plane(block, CONTINUED) & cluster, runs - 1);
    *start = quotient - i + head;
    return head < BLOCK_SLOTS && *start < t->slots;
}

/* The same, given that the cluster starts in the block before. */
__attribute__((always_inline)) static inline bool
run_is_next_door(const table *t, uint64_t quotient, uint64_t *start, select_one *select)
{
    unsigned i = (unsigned)(quotient % BLOCK_SLOTS);

    if (quotient < BLOCK_SLOTS)
        return false;
    const uint8_t *block = block_of(t, quotient), *before = block - t->block_bytes;
    uint64_t at_home = ~plane(before, SHIFTED);
    if (!at_home || ~plane(block, SHIFTED) & bits_to(i))
        return false;
    uint64_t cluster = bits_from(highest(at_home));
    unsigned runs = ones(plane(before, OCCUPIED) & cluster) +
                    ones((plane(block, OCCUPIED) | UINT64_C(1) << i) & bits_to(i));
    /* Beyond 64, and so out of reach, if the run lies in the block before. */
    unsigned ahead = runs - ones(~plane(before, CONTINUED) & cluster) - 1;
    unsigned head = ahead < BLOCK_SLOTS ? select(~plane(block, CONTINUED), ahead) : BLOCK_SLOTS;
    *start = quotient - i + head;
    return head < BLOCK_SLOTS && *start < t->slots;
}

/* has(), for a run that does not lie in one block with the start of its cluster. */
bool tamis__quotient_has_far(const table *t, uint64_t print);

#endif
