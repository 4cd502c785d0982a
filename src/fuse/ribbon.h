/* ribbon.h - layout of the ribbon filter and what a key looks for in it, shared by its kernels.
 *
 * A part is a chain of levels, each with room for the keys that the one before it bumps:
 *
 *   level 0                        level 1                  ...    last level
 *   +------------+-----------------+------------+------------------+---------+-------+-------+
 *   | thresholds | groups of slots | thresholds | groups ...       | columns | state | zeros |
 *   +------------+-----------------+------------+------------------+---------+-------+-------+
 *
 * Where a level lies follows from the number of keys that its part has room for (plan.slots), in
 * whole numbers only. */
#ifndef TAMIS_FUSE_RIBBON_H
#define TAMIS_FUSE_RIBBON_H

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "base/parts.h"
#include "filter.h"

enum {
    WINDOW = 64,      /* slots that a key looks at */
    BUCKET = 128,     /* slots that share a threshold */
    LAST_KEYS = 4096, /* up to here, a plain ribbon takes fewer slots than two levels */
    LAST_STATE = 8,   /* bytes: one is the seed, and windows are read in whole words */
    MOST_WIDTH = 32,
};

/* Of a bucket, the keys that start below CUT[threshold] are bumped. A bucket of zeros bumps all:
 * zeros are the empty filter. */
enum { BUMP_ALL, BUMP_MANY, BUMP_FEW, BUMP_NONE, THRESHOLDS };

static const uint8_t CUT[THRESHOLDS] = { BUCKET, 44, 16, 0 };

/* ---- Levels ------------------------------------------------------------ */

typedef struct {
    uint64_t keys;  /* that it has room for, with those that it bumps */
    uint64_t slots; /* a multiple of BUCKET; of 8 in the last level */
    uint64_t at;    /* in the part: its thresholds */
    uint64_t slots_at, end;
    unsigned number;
    bool is_last;
} level;

/* 247 / 256: with more keys than slots nearly every slot is used. Fewer slots would save little
 * more, and send more keys to the next level. */
static inline uint64_t slots_for(uint64_t keys)
{
    return keys * 247 / 256 / BUCKET * BUCKET;
}

/* Up to a word, a square system will do: with one seed in three it has a solution. Beyond, one in
 * forty more slots than keys make it as likely: those near the ends are out of reach of most. */
static inline uint64_t last_slots_for(uint64_t keys)
{
    return round_up(keys + (keys > WINDOW ? keys / 40 : keys == 0), 8);
}

static inline level level_for(uint64_t keys, uint64_t at, unsigned number, unsigned width)
{
    level l = { .keys = keys, .at = at, .number = number, .is_last = keys <= LAST_KEYS };

    if (l.is_last) {
        l.slots = last_slots_for(keys);
        l.slots_at = at;
        l.end = at + width * l.slots / 8 + LAST_STATE;
    } else {
        l.slots = slots_for(keys);
        l.slots_at = at + round_up((l.slots / BUCKET + 3) / 4, number ? 8 : 64);
        l.end = l.slots_at + width * l.slots / 8;
    }
    return l;
}

static inline level first_level(const tamis_plan *p)
{
    return level_for(p->slots, 0, 0, p->width);
}

/* Ranges of buckets that are solved apart: see ribbon.c. */
static inline unsigned streams_of(const level *l)
{
    return l->slots < 1 << 18 ? 1 : 4;
}

/* Bumped are the keys in excess of the slots, and one more for each slot that stays empty: about
 * twenty at the ends and one in 740 between them, with a standard deviation of sqrt(slots) / 6 and
 * some, and less than a bucket between streams. Room is made for six of those. */
static inline level next_level(const level *l, unsigned width)
{
    uint64_t empty = l->slots / 700 + (uint64_t)sqrt((double)l->slots) + 64;

    empty += (streams_of(l) - 1) * BUCKET;
    return level_for(l->keys - l->slots + empty, l->end, l->number + 1, width);
}

static inline uint64_t starts_of(const level *l)
{
    return l->slots > WINDOW ? l->slots - WINDOW + 1 : 1;
}

/* ---- Keys -------------------------------------------------------------- */

/* What a key asks of a level: that the slots from `start` on, of which `row` picks some, add up to
 * its fingerprint. */
typedef struct {
    uint64_t start, row;
    uint32_t fingerprint;
} equation;

/* A hash for each level, and for each seed of the last one. */
static inline uint64_t draw(uint64_t h, unsigned n)
{
    return n ? mix64(h + n * HASH_GOLDEN) : h;
}

/* Odd, without structure: from splitmix64 and from the digits of pi. The first coefficient is one,
 * so that a row begins where it starts. */
static inline uint64_t row_of(uint64_t y)
{
    return y * UINT64_C(0xBF58476D1CE4E5B9) | 1;
}

static inline uint32_t fingerprint_of(uint64_t y, unsigned width)
{
    return (uint32_t)(y * UINT64_C(0x243F6A8885A308D3) >> (64 - width));
}

/* In level 0 the leading bits, which tell the part, are the same for all. */
static inline uint64_t start_of(const level *l, uint64_t y, unsigned part_bits)
{
    return scale64(l->number ? y : y << part_bits, starts_of(l));
}

static inline equation equation_of(const level *l, uint64_t y, unsigned part_bits, unsigned width)
{
    equation e = { start_of(l, y, part_bits), row_of(y), fingerprint_of(y, width) };

    if (l->slots < WINDOW)
        e.row &= (UINT64_C(1) << l->slots) - 1;
    return e;
}

static inline bool is_bumped(const uint8_t *thresholds, uint64_t start)
{
    uint64_t bucket = start / BUCKET;
    unsigned threshold = thresholds[bucket / 4] >> bucket % 4 * 2 & 3;

    return start % BUCKET < CUT[threshold];
}

static inline unsigned parity(uint64_t x)
{
    return (unsigned)__builtin_parityll(x);
}

/* ---- Kernels ----------------------------------------------------------- */

extern const tamis_batch tamis__ribbon_avx2;

tamis_status tamis__ribbon_solve_avx2(const tamis_plan *p, void *part, uint64_t *hashes, size_t *n,
                                      void *room);

#endif
