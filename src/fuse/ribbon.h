/* ribbon.h - layout of a ribbon, and what a key looks for in it: shared by the kernels of the
 * ribbon filter and by the kinds that are made of ribbons with values (retrieval.h).
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

#include <string.h>

#include "base/ahead.h"
#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "fuse/fingerprint.h"

enum {
    RIBBON_WINDOW = 64,      /* slots that a key looks at */
    RIBBON_BUCKET = 128,     /* slots that share a threshold */
    RIBBON_LAST_KEYS = 4096, /* up to here, a plain ribbon takes fewer slots than two levels */
    RIBBON_LAST_STATE = 8,   /* bytes: one is the seed, and windows are read in whole words */
    RIBBON_MOST_WIDTH = 32,  /* of fingerprints and of values */
    RIBBON_MOST_COLUMNS = 64,
    RIBBON_MOST_LAST = RIBBON_LAST_KEYS + RIBBON_LAST_KEYS / 40 + 8, /* slots of the last level */
    RIBBON_MOST_SEGMENT = 1 << 18,                                   /* slots of a segment */
};

/* What a part is made for. Columns beyond the bits of values are a fingerprint's. */
typedef struct ribbon_shape {
    uint64_t room; /* keys */
    unsigned part_bits, width, value_bits;
    unsigned first_hash; /* of level 0: see ribbon_rehash() */
} ribbon_shape;

/* One field of a plan is two numbers: one of the kind's own and, above it, the first hash. */
enum {
    RIBBON_FIRST_HASH_AT = 8,
    RIBBON_MOST_FIRST_HASH = 255,
    RIBBON_BELOW_FIRST_HASH = (1 << RIBBON_FIRST_HASH_AT) - 1
};

/* Another size, after a part had no room for its keys. Keys that somebody chose may start where
 * they like, but not with each of several hashes: so the next hash is taken first, and only then
 * more room, too. Changes the field and the room. */
static inline tamis_status ribbon_step(uint32_t *field, uint64_t *room)
{
    uint64_t more = *field >> RIBBON_FIRST_HASH_AT ? *room / 16 + 8 : 0;

    if (*field >> RIBBON_FIRST_HASH_AT >= RIBBON_MOST_FIRST_HASH)
        return TAMIS_RANGE;
    *field += 1 << RIBBON_FIRST_HASH_AT;
    *room += more;
    return TAMIS_OK;
}

/* Of a bucket, the keys that start below RIBBON_CUT[threshold] are bumped. A bucket of zeros bumps
 * all: zeros are the empty filter. */
enum { RIBBON_BUMP_ALL, RIBBON_BUMP_MANY, RIBBON_BUMP_FEW, RIBBON_BUMP_NONE, RIBBON_THRESHOLDS };

static const uint8_t RIBBON_CUT[RIBBON_THRESHOLDS] = { RIBBON_BUCKET, 44, 16, 0 };

/* ---- Levels ------------------------------------------------------------ */

typedef struct ribbon_level {
    uint64_t keys;  /* that it has room for, with those that it bumps */
    uint64_t slots; /* a multiple of RIBBON_BUCKET; of 8 in the last level */
    uint64_t at;    /* in the part: its thresholds */
    uint64_t slots_at, end;
    uint64_t segment; /* slots: a key keeps to the segment that its leading bits tell */
    uint64_t starts;  /* of windows in a segment */
    unsigned segment_bits, number;
    bool is_last;
} ribbon_level;

/* The last level: up to a word, a square system will do: with one seed in three it has a solution.
 * Beyond, one in forty more slots than keys make it as likely: those near the ends are out of reach
 * of most.
 *
 * The others have 247 slots for 256 keys: with more keys than slots nearly every slot is used.
 * Fewer slots would save little more, and send more keys to the next level. Segments are the fewest
 * of less than 2^18 slots: while one is solved, its rows stay in the cache. */
static inline ribbon_level ribbon_level_for(uint64_t keys, uint64_t at, unsigned number,
                                            unsigned width)
{
    ribbon_level l = {
        .keys = keys, .at = at, .number = number, .is_last = keys <= RIBBON_LAST_KEYS
    };
    uint64_t slots = keys * 247 / 256;

    if (l.is_last) {
        l.segment = l.slots = round_up(keys + (keys > RIBBON_WINDOW ? keys / 40 : keys == 0), 8);
        l.slots_at = at;
        l.end = at + width * l.slots / 8 + RIBBON_LAST_STATE;
    } else {
        l.segment_bits = slots < RIBBON_MOST_SEGMENT ? 0 : 46 - (unsigned)__builtin_clzll(slots);
        l.segment = (slots >> l.segment_bits) / RIBBON_BUCKET * RIBBON_BUCKET;
        l.slots = l.segment << l.segment_bits;
        l.slots_at = at + round_up((l.slots / RIBBON_BUCKET + 3) / 4, at ? 8 : 64);
        l.end = l.slots_at + width * l.slots / 8;
    }
    l.starts = l.segment > RIBBON_WINDOW ? l.segment - RIBBON_WINDOW + 1 : 1;
    return l;
}

/* Keys of a part: no number of slots or bytes overflows. */
enum { RIBBON_MOST_ROOM = 1 << 30 };

static inline ribbon_level ribbon_first_level(const ribbon_shape *s)
{
    return ribbon_level_for(s->room, 0, s->first_hash, s->width);
}

/* Bumped are the keys in excess of the slots, and one more for each slot that stays empty: about
 * 27 at the ends of a segment and one in 740 between them, with a standard deviation of
 * sqrt(slots) / 6 and some. Room is made for six of those. */
static inline ribbon_level ribbon_next_level(const ribbon_level *l, unsigned width)
{
    uint64_t empty = l->slots / 740 + (UINT64_C(27) << l->segment_bits);

    empty += (uint64_t)sqrt((double)l->slots) + 37;
    return ribbon_level_for(l->keys - l->slots + empty, l->end, l->number + 1, width);
}

static inline ribbon_level ribbon_last_level(const ribbon_shape *s)
{
    ribbon_level l = ribbon_first_level(s);

    while (!l.is_last)
        l = ribbon_next_level(&l, s->width);
    return l;
}

/* ---- Keys -------------------------------------------------------------- */

/* What a key asks of a level: that the slots from `start` on, of which `row` picks some, add up to
 * its value and `sum`: above the value its fingerprint. */
typedef struct ribbon_equation {
    uint64_t start, row, sum;
} ribbon_equation;

/* A hash for each level, and for each seed of the last one. That of level 0 is number first_hash,
 * 0 in all filters but those whose keys did not fit at first. */
static inline uint64_t ribbon_rehash(uint64_t h, unsigned n)
{
    return n ? mix64(h + n * HASH_GOLDEN) : h;
}

/* Odd factors without structure: from splitmix64 and from the digits of pi. The first coefficient
 * is one, so that a row begins where it starts. */
static inline uint64_t ribbon_row(uint64_t y)
{
    return y * UINT64_C(0xBF58476D1CE4E5B9) | 1;
}

static inline uint32_t ribbon_fingerprint(uint64_t y, unsigned width)
{
    return (uint32_t)(y * UINT64_C(0x243F6A8885A308D3) >> (64 - width));
}

/* A bit that is in no fingerprint. Values without one are hidden behind it: else those of a few
 * keys, if they are all the same, would be the answer to all strangers. */
static inline uint64_t ribbon_noise(uint64_t y)
{
    return y * UINT64_C(0x243F6A8885A308D3) >> 31 & 1;
}

static inline uint64_t ribbon_sum(uint64_t value, uint64_t y, const ribbon_shape *s)
{
    unsigned bits = s->width - s->value_bits;

    return value ^
           (bits ? (uint64_t)ribbon_fingerprint(y, bits) << s->value_bits : ribbon_noise(y));
}

/* Of hash 0 the leading bits, which tell the part, are the same for all. */
static inline uint64_t ribbon_lead(const ribbon_level *l, uint64_t y, unsigned part_bits)
{
    return l->number ? y : y << part_bits;
}

static inline uint64_t ribbon_segment_of(const ribbon_level *l, uint64_t y, unsigned part_bits)
{
    return ribbon_lead(l, y, part_bits) >> 1 >> (63 - l->segment_bits);
}

static inline uint64_t ribbon_start(const ribbon_level *l, uint64_t y, unsigned part_bits)
{
    uint64_t rest = ribbon_lead(l, y, part_bits) << l->segment_bits;

    return ribbon_segment_of(l, y, part_bits) * l->segment + scale64(rest, l->starts);
}

/* A level with fewer slots than a window has them all in it. */
static inline uint64_t ribbon_row_in(const ribbon_level *l, uint64_t y)
{
    return l->slots < RIBBON_WINDOW ? ribbon_row(y) & ((UINT64_C(1) << l->slots) - 1)
                                    : ribbon_row(y);
}

static inline ribbon_equation ribbon_equation_of(const ribbon_shape *s, const ribbon_level *l,
                                                 uint64_t y)
{
    return (ribbon_equation){ ribbon_start(l, y, s->part_bits), ribbon_row_in(l, y),
                              ribbon_sum(0, y, s) };
}

static inline unsigned ribbon_threshold(const uint8_t *thresholds, uint64_t bucket)
{
    return thresholds[bucket / 4] >> bucket % 4 * 2 & 3;
}

static inline bool ribbon_is_bumped(const uint8_t *thresholds, uint64_t start)
{
    return start % RIBBON_BUCKET < RIBBON_CUT[ribbon_threshold(thresholds, start / RIBBON_BUCKET)];
}

/* ---- Reading slots ----------------------------------------------------- */

static inline unsigned ribbon_parity(uint64_t x)
{
    return (unsigned)__builtin_parityll(x);
}

/* The slots from `start` on in one column, of which neighbours are `stride` words apart. */
static inline uint64_t ribbon_window(const uint8_t *column, uint64_t start, uint64_t stride)
{
    const uint8_t *word = column + start / 64 * stride * 8;
    unsigned by = start % 64;

    return by ? le64(word) >> by | le64(word + stride * 8) << (64 - by) : le64(word);
}

/* Columns of the last level have any number of bytes, one after the other. */
static inline uint64_t ribbon_last_window(const uint8_t *column, uint64_t start)
{
    const uint8_t *word = column + start / 8;
    unsigned by = start % 8;

    return by ? le64(word) >> by | (uint64_t)word[8] << (64 - by) : le64(word);
}

/* Columns are read from the fingerprint, at which strangers fail, down to the value. Takes what one
 * has beyond e->sum into *sum; false if it is another's. */
static inline bool ribbon_take_bit(uint64_t *sum, const ribbon_equation *e, const ribbon_shape *s,
                                   unsigned column, uint64_t window)
{
    uint64_t bit = ribbon_parity(window & e->row) ^ (e->sum >> column & 1);

    *sum = *sum << 1 | bit;
    return column < s->value_bits || bit == 0;
}

/* What the slots of a key in the last level add up to beyond what it is told by; false if that is
 * another's. */
static inline bool ribbon_get_last(uint64_t *sum, const ribbon_shape *s, const ribbon_level *l,
                                   const uint8_t *part, uint64_t h)
{
    unsigned seed = part[l->end - RIBBON_LAST_STATE];

    if (seed == 0)
        return false;
    ribbon_equation e = ribbon_equation_of(s, l, ribbon_rehash(h, l->number + seed - 1));
    for (unsigned j = s->width; j-- > 0;) {
        const uint8_t *column = part + l->slots_at + j * l->slots / 8;
        if (!ribbon_take_bit(sum, &e, s, j, ribbon_last_window(column, e.start)))
            return false;
    }
    return true;
}

/* Asks for the slots that a key reads in a level other than the last. */
static inline void ribbon_fetch_slots(const uint8_t *part, const ribbon_level *l, uint64_t start,
                                      unsigned width, bool is_far)
{
    const uint8_t *words = part + l->slots_at + start / 64 * 8 * width;

    for (unsigned i = 0; i < 16 * width; i += 64)
        ahead_read(words + i, is_far);
    if (width % 8)
        ahead_read(words + 16 * width - 1, is_far);
}

/* And for its threshold. */
static inline void ribbon_fetch(const uint8_t *part, const ribbon_level *l, uint64_t start,
                                unsigned width, bool is_far)
{
    ahead_read(part + l->at + start / RIBBON_BUCKET / 4, is_far);
    ribbon_fetch_slots(part, l, start, width, is_far);
}

/* ---- Parts ------------------------------------------------------------- */

static inline const uint8_t *ribbon_part_at(const tamis *f, uint64_t h, unsigned bits)
{
    return (const uint8_t *)f->payload + part_of(h, bits) * (f->plan.bytes >> bits);
}

/* Whether, in all parts, zeros follow the levels that begin at `at`, up to `end`. */
static inline bool ribbon_ends_in_zeros(const tamis *f, const ribbon_shape *s, uint64_t at,
                                        uint64_t end)
{
    uint64_t used = at + ribbon_last_level(s).end - RIBBON_LAST_STATE + 1;
    const uint8_t *payload = f->payload;

    for (uint64_t part = 0; part < f->plan.bytes; part += f->plan.bytes >> s->part_bits)
        if (!bytes_are_zero(payload + part + used, payload + part + end))
            return false;
    return true;
}

/* ---- The filter -------------------------------------------------------- */

/* Its f->derived. */
typedef struct ribbon_derived {
    ribbon_shape shape;
    ribbon_level first;
} ribbon_derived;

_Static_assert(sizeof(ribbon_derived) <= TAMIS_DERIVED_SIZE, "");

static inline ribbon_shape ribbon_shape_of(const tamis_plan *p)
{
    return (ribbon_shape){ p->slots, part_bits(p->capacity), p->width, 0,
                           p->hashes >> RIBBON_FIRST_HASH_AT };
}

static inline const ribbon_derived *ribbon_derived_in(const tamis *f)
{
    return (const ribbon_derived *)(const void *)f->derived;
}

void tamis__ribbon_use_avx2(tamis *f);

#endif
