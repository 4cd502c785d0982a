/* blocks.h - where a xor filter keeps the fingerprints of its keys; THIRD, which the includer
 * defines, is how many times longer its third block is than the other two.
 *
 * A part (base/parts.h) has plan.slots slots of plan.width bits, cut into three blocks of `length`,
 * `length` and THIRD * `length` slots. A key h = hash_key(key) has one slot in each of them. The
 * xor of its slots is its fingerprint.
 *
 *   h, without the bits that name the part, and at most 58 of those that are left: the mark u
 *   u, leading bits:  slot of the first block, by scale64()
 *   u:                xored with the seed of the part, multiplied by BLOCK_MULTIPLIER to 128 bits,
 *                     the two halves xored: g. Its high half gives the slot of the second block,
 *                     its low half that of the third.
 *   u, low bits:      fingerprint
 *
 * Hashes that come in groups of equal leading bits have neighbouring slots in the first block,
 * whatever the seed. So have hashes that somebody chose to be alike: from seed SCATTERED on, it is
 * the leading bits of g * HASH_GOLDEN that give the slot of the first block.
 *
 * Head of a part: keys (4 bytes), seed (1), stashed (1), 2 zeros; then up to STASH marks of keys
 * that are in no slot. A part of no keys has no fingerprints to compare with. */
#ifndef TAMIS_FUSE_BLOCKS_H
#define TAMIS_FUSE_BLOCKS_H

#include <math.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "base/packed.h"
#include "base/parts.h"
#include "filter.h"
#include "fuse/fingerprint.h"

/* ---- Layout ------------------------------------------------------------ */

enum { ARITY = 3, LENGTHS = 2 + THIRD };

/* Whether slots of the third block are put off when keys are peeled, and left out when zero. */
enum { PUTS_OFF = THIRD > 1 };

enum { HEAD_BYTES = 32, HEAD_SEED = 4, HEAD_STASHED = 5, HEAD_STASH = 8, STASH = 3 };

/* A mark leaves room in a word for how many keys have a slot: see peel_blocks.h. */
enum { MARK_BITS = 58 };

/* An odd number without structure, from the digits of pi. */
#define BLOCK_MULTIPLIER UINT64_C(0x243F6A8885A308D3)

/* For loops of which there is a copy for every plain width: `plain` is the width if it is one, else
 * 0, and known when they are compiled. */
#define BLOCK_INLINE static inline __attribute__((always_inline))

/* The plan's numbers as the code below wants them. */
typedef struct shape {
    uint64_t length;     /* of the first block and of the second */
    uint64_t part_bytes; /* from one part to the next */
    uint64_t head;       /* where in a part its head is: the slots follow */
    uint64_t last;       /* slot there, if some of the third block are left out */
    unsigned part_bits, mark_shift, width;
} shape;

static inline unsigned mark_shift_of(unsigned part_bits)
{
    return part_bits < 64 - MARK_BITS ? 64 - MARK_BITS : part_bits;
}

/* Equal for keys of a part that no slot can tell apart. */
static inline uint64_t mark_of(const shape *s, uint64_t h)
{
    return h << s->part_bits >> s->mark_shift;
}

/* The first seed that scatters; that a seed does is told by its highest bit, which no mark has. */
enum { SCATTERED = 8 };

static inline uint64_t spread_seed(uint64_t seed)
{
    return (seed * HASH_GOLDEN) >> 1 | (uint64_t)(seed >= SCATTERED) << 63;
}

/* One slot in each block of the part. */
static inline void find_slots(uint32_t *slots, const shape *s, uint64_t mark, uint64_t seed)
{
    uint64_t g = mul_fold64(mark ^ seed, BLOCK_MULTIPLIER), length = s->length;

    slots[0] = (uint32_t)scale64(seed >> 63 ? g * HASH_GOLDEN : mark << s->mark_shift, length);
    slots[1] = (uint32_t)(length + ((g >> 32) * length >> 32));
    slots[2] = (uint32_t)(2 * length + ((g & UINT32_MAX) * (THIRD * length) >> 32));
}

BLOCK_INLINE uint32_t get(const uint8_t *array, uint64_t i, unsigned width, unsigned plain)
{
    return plain ? packed_get(array, i, plain) : packed_get_odd(array, i, width);
}

BLOCK_INLINE void put(uint8_t *array, uint64_t i, unsigned width, unsigned plain, uint32_t x)
{
    if (plain)
        packed_put(array, i, plain, x);
    else
        packed_put_odd(array, i, width, x);
}

/* What is not plain may reach into the next line. */
BLOCK_INLINE void fetch(const uint8_t *array, uint64_t i, unsigned width, unsigned plain)
{
    const uint8_t *at = array + packed_byte(i, plain ? plain : width);

    __builtin_prefetch(at);
    if (!plain)
        __builtin_prefetch(at + 3);
}

/* ---- Sizing ------------------------------------------------------------ */

/* Beyond this, too few bits of a hash are left to tell keys of a part apart. */
#define MOST_KEYS (UINT64_C(1) << 48)

/* Slots are numbered in 32 bits. */
static inline bool is_shape(const tamis_plan *p)
{
    return p->width >= 1 && p->width <= PACKED_WIDEST && p->hashes == ARITY &&
           p->slots < UINT64_C(1) << 31 && p->slots >= LENGTHS && p->slots % LENGTHS == 0 &&
           p->capacity < MOST_KEYS && p->flags == 0 && p->load == 0;
}

/* The xor of a stranger's slots is as good as random, and so is its fingerprint. */
static inline double rate(const tamis_plan *p, double n)
{
    return fingerprint_rate(p, n, p->width);
}

/* With fewer slots a key than the threshold, a large set cannot be peeled; with more, it can. The
 * smaller the set, the more luck it has, good or bad: in proportion to the root of its size. */
typedef struct sizing {
    uint64_t threshold; /* slots for 2^16 keys */
    uint64_t luck;      /* slots for each 16 of the root of the number of keys */
    uint64_t least;     /* slots on top */
} sizing;

static inline tamis_status plan_by(tamis_plan *p, const tamis_spec *spec, const sizing *by)
{
    uint64_t n = part_room(spec->keys), slots;

    p->width = fingerprint_bits(spec->fpr);
    p->hashes = ARITY;
    if (p->width > PACKED_WIDEST || spec->keys >= MOST_KEYS)
        return TAMIS_RANGE;
    slots = (n * by->threshold >> 16) + ((uint64_t)sqrt((double)n) * by->luck >> 4) + by->least;
    p->slots = (slots + LENGTHS - 1) / LENGTHS * LENGTHS;
    return TAMIS_OK;
}

/* ---- Queries ----------------------------------------------------------- */

BLOCK_INLINE const uint8_t *part_with(const tamis *f, const shape *s, uint64_t h)
{
    const uint8_t *first = f->payload;

    return s->part_bits ? first + part_of(h, s->part_bits) * s->part_bytes : first;
}

static inline bool in_stash(const uint8_t *head, uint64_t mark)
{
    unsigned n = head[HEAD_STASHED] < STASH ? head[HEAD_STASHED] : STASH;

    for (unsigned i = 0; i < n; i++)
        if (le64(head + HEAD_STASH + 8 * i) == mark)
            return true;
    return false;
}

static inline bool settle(const uint8_t *head, uint64_t mark, bool fits)
{
    if (head[HEAD_STASHED])
        fits |= in_stash(head, mark);
    return fits && le32(head) != 0;
}

#endif
