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
#include "fuse/fingerprint.h"

enum {
    WINDOW = 64,      /* slots that a key looks at */
    BUCKET = 128,     /* slots that share a threshold */
    LAST_KEYS = 4096, /* up to here, a plain ribbon takes fewer slots than two levels */
    LAST_STATE = 8,   /* bytes: one is the seed, and windows are read in whole words */
    MOST_WIDTH = 32,  /* of fingerprints and of values */
    MOST_COLUMNS = 64,
    MOST_LAST = LAST_KEYS + LAST_KEYS / 40 + 8, /* slots of the last level */
    MOST_SEGMENT = 1 << 18,                     /* slots of a segment */
    STREAMS = 4, /* segments that are solved side by side: see ribbon_solve.h */
};

/* What a part is made for. Columns beyond the bits of values are a fingerprint's. */
typedef struct {
    uint64_t room; /* keys */
    unsigned part_bits, width, value_bits;
} shape;

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
    uint64_t segment; /* slots: a key keeps to the segment that its leading bits tell */
    uint64_t starts;  /* of windows in a segment */
    unsigned segment_bits, number;
    bool is_last;
} level;

/* 247 / 256: with more keys than slots nearly every slot is used. Fewer slots would save little
 * more, and send more keys to the next level. */
static inline uint64_t slots_for(uint64_t keys)
{
    return keys * 247 / 256;
}

/* The fewest that leave segments of less than 2^18 slots: while one is solved, its rows stay in the
 * cache. */
static inline unsigned segment_bits_for(uint64_t slots)
{
    return slots < MOST_SEGMENT ? 0 : 46 - (unsigned)__builtin_clzll(slots);
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
        l.segment = l.slots = last_slots_for(keys);
        l.slots_at = at;
        l.end = at + width * l.slots / 8 + LAST_STATE;
    } else {
        l.segment_bits = segment_bits_for(slots_for(keys));
        l.segment = (slots_for(keys) >> l.segment_bits) / BUCKET * BUCKET;
        l.slots = l.segment << l.segment_bits;
        l.slots_at = at + round_up((l.slots / BUCKET + 3) / 4, number ? 8 : 64);
        l.end = l.slots_at + width * l.slots / 8;
    }
    l.starts = l.segment > WINDOW ? l.segment - WINDOW + 1 : 1;
    return l;
}

/* Keys of a part: no number of slots or bytes overflows. */
enum { MOST_ROOM = 1 << 30 };

static inline level first_level(const shape *s)
{
    return level_for(s->room, 0, 0, s->width);
}

/* Bumped are the keys in excess of the slots, and one more for each slot that stays empty: about
 * 27 at the ends of a segment and one in 740 between them, with a standard deviation of
 * sqrt(slots) / 6 and some. Room is made for six of those. */
static inline level next_level(const level *l, unsigned width)
{
    uint64_t empty = l->slots / 740 + (UINT64_C(27) << l->segment_bits);

    empty += (uint64_t)sqrt((double)l->slots) + 37;
    return level_for(l->keys - l->slots + empty, l->end, l->number + 1, width);
}

static inline level last_level(const shape *s)
{
    level l = first_level(s);

    while (!l.is_last)
        l = next_level(&l, s->width);
    return l;
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

/* The value comes first. */
static inline uint64_t with_fingerprint(uint64_t value, uint64_t y, const shape *s)
{
    unsigned bits = s->width - s->value_bits;

    return bits ? value | (uint64_t)fingerprint_of(y, bits) << s->value_bits : value;
}

/* In level 0 the leading bits, which tell the part, are the same for all. */
static inline uint64_t lead_of(const level *l, uint64_t y, unsigned part_bits)
{
    return l->number ? y : y << part_bits;
}

static inline uint64_t segment_of(const level *l, uint64_t y, unsigned part_bits)
{
    return lead_of(l, y, part_bits) >> 1 >> (63 - l->segment_bits);
}

static inline uint64_t start_of(const level *l, uint64_t y, unsigned part_bits)
{
    uint64_t rest = lead_of(l, y, part_bits) << l->segment_bits;

    return segment_of(l, y, part_bits) * l->segment + scale64(rest, l->starts);
}

/* A level with fewer slots than a window has them all in it. */
static inline uint64_t row_in(const level *l, uint64_t y)
{
    return l->slots < WINDOW ? row_of(y) & ((UINT64_C(1) << l->slots) - 1) : row_of(y);
}

static inline equation equation_of(const level *l, uint64_t y, unsigned part_bits, unsigned width)
{
    return (equation){ start_of(l, y, part_bits), row_in(l, y), fingerprint_of(y, width) };
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

/* Columns of the last level have any number of bytes, one after the other. */
static inline uint64_t last_window(const uint8_t *column, uint64_t start)
{
    const uint8_t *word = column + start / 8;
    unsigned by = start % 8;

    return by ? le64(word) >> by | (uint64_t)word[8] << (64 - by) : le64(word);
}

/* ---- Parts ------------------------------------------------------------- */

static inline uint64_t part_size(const tamis *f)
{
    return f->plan.bytes >> part_bits(f->plan.capacity);
}

static inline const uint8_t *part_at(const tamis *f, uint64_t h, unsigned bits)
{
    return (const uint8_t *)f->payload + part_of(h, bits) * (f->plan.bytes >> bits);
}

static inline bool parts_have_zeros(const tamis *f, uint64_t from, uint64_t to)
{
    const uint8_t *payload = f->payload;

    for (uint64_t part = 0; part < f->plan.bytes; part += part_size(f))
        for (uint64_t i = from; i < to; i++)
            if (payload[part + i])
                return false;
    return true;
}

/* ---- The filter -------------------------------------------------------- */

static inline shape shape_of(const tamis_plan *p)
{
    return (shape){ p->slots, part_bits(p->capacity), p->width, 0 };
}

static inline level first_level_of(const tamis_plan *p)
{
    return level_for(p->slots, 0, 0, p->width);
}

void tamis__ribbon_use_avx2(tamis_ops *ops);

#endif
