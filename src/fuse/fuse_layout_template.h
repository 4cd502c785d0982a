/* fuse_layout_template.h - TEMPLATE, compiled once for each FUSE_ARITY: where a binary fuse filter
 * keeps the fingerprints of its keys. The includer defines FUSE_ARITY, slots of a key, 3 to 5.
 *
 * A part (base/parts.h) is an array of plan.slots fingerprints of plan.width bits, then a tail. The
 * array is cut into blocks, in most filters of 64 slots: with 8 bits, a line of the cache. A key
 * has two slots (four of five) in one block, the near one, and one (two of four) in the far one:
 * any of the 2^window_bits before it. The xor of its slots is its fingerprint. So a lookup reads
 * two lines, however many slots, where slots in as many segments would take a line each.
 *
 *              |<------- window ------->|
 *   +-----+----+----+----+----+----+----+-------+----+---
 *   |     |    |    | x  |    |    |    | x   x |    |        blocks, and the slots x of a key
 *   +-----+----+----+----+----+----+----+-------+----+---
 *                     far                 near
 *
 *   h = hash_key(key), after the bits that choose the part:
 *
 *   leading 32 bits    near block, in proportion: any but those of the first window
 *   bits 0 .. 5        first slot in the near block
 *   bits 6 .. 10       from there to the second: at least 1, at most half a block, cyclic
 *   bits 11 .. 28      from the near block back to the slot in the far one
 *   bits 27 .. 31      from there to the second, if there is one
 *   bits 32 .. 56      fingerprint, xored with what bits 0 .. 31 are mixed to
 *
 * With five slots, there is one in each quarter of the near block:
 *
 *   bits 0 .. 15       where in the quarters, four bits each
 *   bits 16 .. 31      from the near block back to the slot in the far one
 *
 * Of each field, as many low bits count as the geometry needs: of the window, 16 in large filters.
 * A stranger that shares with a key the only slots of the two that are not zero passes if it shares
 * the fingerprint: in a filter of five keys that is not rare. So fingerprints are made of bits that
 * choose no slot. They are mixed with those that do, because in large filters the near block takes
 * some of the former.
 *
 * Where seed 0, h itself, has bad luck, g = mix64(h ^ seed) is used instead of it, in this part.
 *
 * Tail of a part: keys (4 bytes); seeds tried (1), so that 0 means no keys; a zero; stashed (2);
 * a bitmap of the stash by the low bits of g; the stash, g of keys that are in no slot. */
#ifndef TAMIS_FUSE_FUSE_LAYOUT_TEMPLATE_H
#define TAMIS_FUSE_FUSE_LAYOUT_TEMPLATE_H

#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "fuse/fingerprint.h"

/* ---- Layout ------------------------------------------------------------ */

enum { FUSE_NEAR_STEP_AT = 6, FUSE_REACH_AT = FUSE_ARITY == 5 ? 16 : 11, FUSE_FAR_STEP_AT = 27 };
enum {
    FUSE_LEAST_BLOCK_BITS = 2,
    FUSE_MOST_BLOCK_BITS = 6,
    FUSE_MOST_WINDOW_BITS = FUSE_ARITY == 5 ? 10 : 12
};
enum { FUSE_TAIL_TRIES = 4, FUSE_TAIL_STASHED = 6, FUSE_TAIL_BITMAP = 8 };

/* Slots of a key in its near block: they come first. */
enum { FUSE_IN_NEAR = FUSE_ARITY == 5 ? 4 : 2, FUSE_IN_QUARTER_BITS = 4 };

/* plan.hashes is made of two numbers. */
enum { FUSE_WINDOW_BITS_AT = 4 };

/* f->derived: the plan's numbers as the code below wants them. */
typedef struct fuse_shape {
    uint64_t starts;                                   /* blocks that may be near ones */
    uint64_t room;                                     /* slots of them */
    uint64_t part_bytes;                               /* from one part to the next */
    uint64_t tail;                                     /* in a part */
    uint32_t window;                                   /* slots in it */
    uint32_t block_bits, in_block, in_half, in_window; /* the latter three are masks of slots */
    uint32_t stash, bitmap, in_bitmap;                 /* keys that fit; bytes; a mask for words */
    unsigned part_bits, width;
    uint64_t between, stashed; /* of a single part: see fuse_tails */
} fuse_shape;

_Static_assert(sizeof(fuse_shape) <= TAMIS_DERIVED_SIZE, "");

static inline unsigned fuse_block_bits(const tamis_plan *p)
{
    return p->hashes & ((1u << FUSE_WINDOW_BITS_AT) - 1);
}

/* Of keys that have the same slots, one goes to the stash: some seven pairs among 2^24 keys, and
 * twice as many in blocks of 32 slots. A filter of a few thousand keys is better off with another
 * seed. */
static inline fuse_shape fuse_shape_of(const tamis_plan *p)
{
    uint32_t block_bits = fuse_block_bits(p), in_block = (UINT32_C(1) << block_bits) - 1;
    uint32_t window = UINT32_C(1) << (block_bits + (p->hashes >> FUSE_WINDOW_BITS_AT));
    uint64_t stash = 3 + (p->slots >> 16), bitmap = p->slots >> 16 ? 128 : 8;
    uint64_t tail_bytes = FUSE_TAIL_BITMAP + bitmap + 8 * stash;
    uint64_t size = round_up(packed_bytes(p->slots, p->width) + tail_bytes, 64);

    return (fuse_shape){ .starts = (p->slots - window) >> block_bits,
                         .room = p->slots - window,
                         .part_bytes = size,
                         .tail = size - tail_bytes,
                         .window = window,
                         .block_bits = block_bits,
                         .in_block = in_block,
                         .in_half = in_block >> 1,
                         .in_window = window - 1,
                         .stash = (uint32_t)stash,
                         .bitmap = (uint32_t)bitmap,
                         .in_bitmap = (uint32_t)bitmap - 8,
                         .part_bits = part_bits(p->capacity),
                         .width = p->width };
}

static inline const fuse_shape *fuse_shape_in(const tamis *f)
{
    return (const fuse_shape *)(const void *)f->derived;
}

/* g of a key is mix64(mix64(key ^ salt) ^ seed). The shift that ends the first mix and that which
 * begins the second leave of both what is in `between`: so g takes half of a mix more than h. */
#define FUSE_FACTOR UINT64_C(0xff51afd7ed558ccd)
#define FUSE_OTHER_FACTOR UINT64_C(0xc4ceb9fe1a85ec53)

static inline uint64_t fuse_between(unsigned seed)
{
    return seed * HASH_GOLDEN ^ seed * HASH_GOLDEN >> 33;
}

static inline uint64_t fuse_rehash(uint64_t key, uint64_t salt, uint64_t between)
{
    uint64_t x = key ^ salt;

    x = (x ^ x >> 33) * FUSE_FACTOR;
    x = (x ^ x >> 33) * FUSE_OTHER_FACTOR;
    x = (x ^ between) * FUSE_FACTOR;
    x = (x ^ x >> 33) * FUSE_OTHER_FACTOR;
    return x ^ x >> 33;
}

/* What the tails of all parts say. If these are more than `most`, it would take too long to ask
 * them, and the worst is assumed. */
typedef struct fuse_tails {
    bool are_mixed;   /* there are keys with another seed than others, or parts without keys */
    uint64_t between; /* seed of all keys, as fuse_rehash() wants it; 0 for seed 0 */
    uint64_t stashed; /* the words of all bitmaps of stashes, put together */
} fuse_tails;

static inline fuse_tails fuse_ask_tails(const tamis *f, const fuse_shape *s, size_t most)
{
    size_t parts = (size_t)1 << s->part_bits;
    fuse_tails all = { .are_mixed = parts > most };

    for (size_t i = 0; i < parts && !all.are_mixed; i++) {
        const uint8_t *tail = (const uint8_t *)f->payload + i * s->part_bytes + s->tail;
        unsigned tries = tail[FUSE_TAIL_TRIES];
        all.are_mixed = tries == 0 || (tries > 1 && parts > 1);
        all.between = fuse_between(all.are_mixed ? 0 : tries - 1);
        for (unsigned j = 0; le16(tail + FUSE_TAIL_STASHED) && j < s->bitmap; j += 8)
            all.stashed |= le64(tail + FUSE_TAIL_BITMAP + j);
    }
    return all;
}

/* ---- Slots of a key ---------------------------------------------------- */

typedef struct fuse_slots {
    uint32_t at[FUSE_ARITY];
} fuse_slots;

/* What gives a key its slots: seed 0 is the hash itself. */
static inline uint64_t fuse_seeded(uint64_t h, unsigned seed)
{
    return seed ? mix64(h ^ seed * HASH_GOLDEN) : h;
}

/* The hash that became g. */
static inline uint64_t fuse_unseeded(uint64_t g, unsigned seed)
{
    return seed ? unmix64(g) ^ seed * HASH_GOLDEN : g;
}

/* The first slot of the near block. The first `skip` bits of g are the same for all keys of the
 * part. */
static inline uint32_t fuse_near(const fuse_shape *s, uint64_t g, unsigned skip)
{
    return s->window + ((uint32_t)((g << skip >> 32) * s->room >> 32) & ~s->in_block);
}

/* From there back to the slot in the far block, less 1. */
static inline uint32_t fuse_reach(const fuse_shape *s, uint32_t low)
{
    return low >> FUSE_REACH_AT & s->in_window;
}

/* Low bits of g are all that is needed of it. */
static inline fuse_slots fuse_slots_of(const fuse_shape *s, uint32_t low, uint32_t near)
{
    fuse_slots to;

#if FUSE_ARITY == 5
    FUSE_EACH_SLOT
    for (uint32_t j = 0, quarter = (s->in_block >> 2) + 1; j < FUSE_IN_NEAR; j++)
        to.at[j] = near + j * quarter + (low >> j * FUSE_IN_QUARTER_BITS & (quarter - 1));
#else
    to.at[0] = near + (low & s->in_block);
    to.at[1] = near + ((low + 1 + (low >> FUSE_NEAR_STEP_AT & s->in_half)) & s->in_block);
#endif
    to.at[FUSE_IN_NEAR] = near - 1 - fuse_reach(s, low);
#if FUSE_ARITY == 4
    uint32_t far = to.at[2], step = 1 + (low >> FUSE_FAR_STEP_AT & s->in_half);
    to.at[3] = (far & ~s->in_block) + ((far + step) & s->in_block);
#endif
    return to;
}

/* While a filter is built, bit 57 tells of a key in a slot that it is in its far block: so the slot
 * and the bits below tell where the near one is. */
enum { FUSE_FAR_AT = 57 };

static inline uint32_t fuse_near_of_state(const fuse_shape *s, uint32_t slot, uint64_t state)
{
    uint32_t is_far = 0 - (uint32_t)(state >> FUSE_FAR_AT & 1);
    uint32_t back = (fuse_reach(s, (uint32_t)state) | s->in_block) + 1;

    return (slot & ~s->in_block) + (back & is_far);
}

/* The factor is a prime next to 2^32 over the golden ratio. */
#define FUSE_FINGERPRINT_FACTOR UINT64_C(0x9E3779B1)
#define FUSE_LOW_BITS ((UINT64_C(1) << FUSE_FAR_AT) - 1)

/* Of a hash as of a state: bits that only one of the two has do not count. */
static inline uint32_t fuse_fingerprint(uint64_t g)
{
    return (uint32_t)(((g & FUSE_LOW_BITS) ^ (uint32_t)g * FUSE_FINGERPRINT_FACTOR) >> 32);
}

/* The same, if no more than its first PACKED_NARROW bits are looked at, which both have. */
static inline uint32_t fuse_narrow_fingerprint(uint64_t g)
{
    return (uint32_t)((g ^ (uint32_t)g * FUSE_FINGERPRINT_FACTOR) >> 32);
}

_Static_assert(FUSE_FAR_AT - 32 == PACKED_NARROW, "");

/* ---- The stash --------------------------------------------------------- */

/* Where in the tail the byte of the bitmap is that has the key's bit, number g modulo 8. */
static inline uint64_t fuse_stash_byte(const fuse_shape *s, uint64_t g)
{
    return FUSE_TAIL_BITMAP + ((uint32_t)g >> 3 & (s->bitmap - 1));
}

static inline bool fuse_may_be_stashed(const fuse_shape *s, const uint8_t *part, uint64_t g)
{
    uint64_t at = s->tail + ((uint32_t)g >> 3 & s->in_bitmap);

    return le64(part + at + FUSE_TAIL_BITMAP) >> g % 64 & 1;
}

static inline bool fuse_is_stashed(const fuse_shape *s, const uint8_t *tail, uint64_t g)
{
    const uint8_t *stash = tail + FUSE_TAIL_BITMAP + s->bitmap;
    unsigned n = le16(tail + FUSE_TAIL_STASHED);

    for (unsigned i = 0; i < n && i < s->stash; i++)
        if (le64(stash + 8 * i) == g)
            return true;
    return false;
}

#endif
