/* quotient.h - the slots of a quotient filter, and where a fingerprint is. quotient.c says what
 * they mean. */
#ifndef TAMIS_QUOTIENT_QUOTIENT_H
#define TAMIS_QUOTIENT_QUOTIENT_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/packed.h"
#include "filter.h"

/* ---- Layout ------------------------------------------------------------ */

/* Where the words of a block are, one for each kind of bit, and the remainders. */
enum { IS_OCCUPIED = 0, IS_CONTINUATION = 8, IS_SHIFTED = 16, QUOTIENT_REMAINDERS = 24 };
enum { QUOTIENT_BLOCK = 64 };

static inline uint64_t quotient_block_bytes(const tamis_plan *p)
{
    return QUOTIENT_REMAINDERS + 8 * p->width;
}

static inline uint64_t quotient_fingerprint(const tamis *f, uint64_t key)
{
    return scale64(hash_key(key, f->salt), f->plan.slots << f->plan.width);
}

static inline uint8_t *quotient_block_of(const tamis *f, uint64_t slot)
{
    return (uint8_t *)f->payload + slot / QUOTIENT_BLOCK * quotient_block_bytes(&f->plan);
}

static inline bool quotient_bit(const tamis *f, int which, uint64_t slot)
{
    return le64(quotient_block_of(f, slot) + which) >> slot % QUOTIENT_BLOCK & 1;
}

/* A slot with no bit but is_occupied holds the head of its own run. */
static inline bool quotient_is_empty(const tamis *f, uint64_t slot)
{
    return !quotient_bit(f, IS_OCCUPIED, slot) && !quotient_bit(f, IS_CONTINUATION, slot) &&
           !quotient_bit(f, IS_SHIFTED, slot);
}

static inline uint32_t quotient_remainder(const tamis *f, uint64_t slot)
{
    return packed_get(quotient_block_of(f, slot) + QUOTIENT_REMAINDERS, slot % QUOTIENT_BLOCK,
                      f->plan.width);
}

/* Positions go on after the last slot, up to twice the slots: runs wrap around. */
static inline uint64_t quotient_wrap(const tamis *f, uint64_t position)
{
    return position < f->plan.slots ? position : position - f->plan.slots;
}

static inline void quotient_put_bit(tamis *f, int which, uint64_t slot, bool bit)
{
    uint8_t *word = quotient_block_of(f, slot) + which;
    uint64_t mask = UINT64_C(1) << slot % QUOTIENT_BLOCK;

    put_le64(word, bit ? le64(word) | mask : le64(word) & ~mask);
}

/* All of a slot but whether it is occupied, which is not about what lies there. */
static inline void quotient_put(tamis *f, uint64_t position, uint32_t remainder,
                                bool is_continuation, bool is_shifted)
{
    uint64_t slot = quotient_wrap(f, position);
    uint8_t *remainders = quotient_block_of(f, slot) + QUOTIENT_REMAINDERS;

    packed_put(remainders, slot % QUOTIENT_BLOCK, f->plan.width, remainder);
    quotient_put_bit(f, IS_CONTINUATION, slot, is_continuation);
    quotient_put_bit(f, IS_SHIFTED, slot, is_shifted);
}

/* ---- Search ------------------------------------------------------------ */

/* What lies there is of the same run as in the position before. */
static inline bool quotient_continues(const tamis *f, uint64_t position)
{
    return position < 2 * f->plan.slots &&
           quotient_bit(f, IS_CONTINUATION, quotient_wrap(f, position));
}

/* The first slot of the run of a quotient, or where it would be: down to the start of the cluster,
 * then up again, from run to run and from one occupied quotient to the next. plan.slots: the table
 * is damaged. */
static inline uint64_t quotient_run(const tamis *f, uint64_t quotient)
{
    uint64_t home = quotient, slot, steps = 0, slots = f->plan.slots;

    for (; quotient_bit(f, IS_SHIFTED, home); home = (home ? home : slots) - 1)
        if (++steps == slots)
            return slots;
    for (slot = home, steps = 0; home != quotient;) {
        do {
            slot = quotient_wrap(f, slot + 1);
            if (++steps > slots)
                return slots;
        } while (quotient_bit(f, IS_CONTINUATION, slot));
        do
            home = quotient_wrap(f, home + 1);
        while (home != quotient && !quotient_bit(f, IS_OCCUPIED, home));
    }
    return slot;
}

/* The run of a fingerprint's quotient, and the copies of the fingerprint in there. */
typedef struct quotient_found {
    uint64_t quotient, start, length; /* of the run; without one, 0 slots and where it would be */
    uint64_t before, copies;          /* slots of the run that hold less, and the same */
    uint32_t remainder;
} quotient_found;

static inline quotient_found quotient_find(const tamis *f, uint64_t fingerprint)
{
    unsigned width = f->plan.width;
    quotient_found r = { .quotient = fingerprint >> width,
                         .remainder = (uint32_t)fingerprint & packed_mask(width) };

    r.start = quotient_run(f, r.quotient);
    if (r.start == f->plan.slots || !quotient_bit(f, IS_OCCUPIED, r.quotient))
        return r;
    do {
        uint32_t remainder = quotient_remainder(f, quotient_wrap(f, r.start + r.length));
        r.before += remainder < r.remainder;
        r.copies += remainder == r.remainder;
        r.length++;
    } while (r.length < f->plan.slots && quotient_continues(f, r.start + r.length));
    return r;
}

/* Functions of the table, which quotient_explain.c has. */
void tamis__quotient_cells(const tamis *f, tamis_telling *to);
bool tamis__quotient_explain(const tamis *f, uint64_t key, tamis_telling *to);

#endif
