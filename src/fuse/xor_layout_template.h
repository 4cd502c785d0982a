/* xor_layout_template.h - TEMPLATE, compiled once for each THIRD: where a xor filter keeps the
 * fingerprints of its keys. The includer defines THIRD, how many times longer the third block is
 * than the other two: 1 in xor.c; 2 in xorplus.c, where slots of the third block that are zero are
 * left out.
 *
 * A part (base/parts.h) has plan.slots slots of plan.width bits, cut into three blocks of `length`,
 * `length` and THIRD * `length` slots. A key h = hash_key(key) has one slot in each of them. The
 * xor of its slots is its fingerprint.
 *
 *   h, without the bits that name the part, and at most 58 of those that are left: the mark u
 *   u, leading bits:  slot of the first block, by scale64()
 *   u:                xored with the seed of the part, multiplied by MULTIPLIER to 128 bits, the
 *                     two halves xored: g. Its high half gives the slot of the second block, its
 *                     low half that of the third.
 *   u, low bits:      fingerprint
 *
 * Hashes that come in groups of equal leading bits have neighbouring slots in the first block,
 * whatever the seed. So have hashes that somebody chose to be alike: from seed SCATTERED on, it is
 * the leading bits of g * HASH_GOLDEN that give the slot of the first block.
 *
 * Head of a part: keys (4 bytes), seed (1), stashed (1), 2 zeros; then up to STASH marks of keys
 * that are in no slot. A part of no keys has no fingerprints to compare with. */
#ifndef TAMIS_FUSE_XOR_LAYOUT_TEMPLATE_H
#define TAMIS_FUSE_XOR_LAYOUT_TEMPLATE_H

#include "base/ahead.h"
#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "fuse/fingerprint.h"

enum { ARITY = 3, LENGTHS = 2 + THIRD };
enum { HEAD_BYTES = 32, HEAD_SEED = 4, HEAD_STASHED = 5, HEAD_STASH = 8, STASH = 3 };

/* Whether slots of the third block that are zero are left out. */
enum { OMITS_ZEROS = THIRD > 1 };

/* A mark leaves room in a word for how many keys have a slot: see peel.h. */
enum { MARK_BITS = 58 };

/* An odd number without structure, from the digits of pi. */
#define MULTIPLIER UINT64_C(0x243F6A8885A308D3)

/* f->derived: the plan's numbers as the code below wants them. */
typedef struct xor_shape {
    uint64_t length;     /* of the first block and of the second */
    uint64_t part_bytes; /* from one part to the next */
    uint64_t head;       /* where in a part its head is: the slots follow */
    uint64_t last;       /* slot there, if some of the third block are left out */
    unsigned part_bits, mark_shift, width;
} xor_shape;

_Static_assert(sizeof(xor_shape) <= TAMIS_DERIVED_SIZE, "");

static inline const xor_shape *xor_shape_in(const tamis *f)
{
    return (const xor_shape *)(const void *)f->derived;
}

/* ---- Slots of a key ---------------------------------------------------- */

static inline unsigned xor_mark_shift(unsigned part_bits)
{
    return part_bits < 64 - MARK_BITS ? 64 - MARK_BITS : part_bits;
}

/* Equal for keys of a part that no slot can tell apart. */
static inline uint64_t xor_mark(const xor_shape *s, uint64_t h)
{
    return h << s->part_bits >> s->mark_shift;
}

/* The first seed that scatters; that a seed does is told by its highest bit, which no mark has. */
enum { SCATTERED = 8 };

static inline uint64_t xor_spread_seed(uint64_t seed)
{
    return (seed * HASH_GOLDEN) >> 1 | (uint64_t)(seed >= SCATTERED) << 63;
}

/* One slot in each block of the part. */
static inline void xor_find_slots(uint32_t *slots, const xor_shape *s, uint64_t mark, uint64_t seed)
{
    uint64_t g = mul_fold64(mark ^ seed, MULTIPLIER), length = s->length;

    slots[0] = (uint32_t)scale64(seed >> 63 ? g * HASH_GOLDEN : mark << s->mark_shift, length);
    slots[1] = (uint32_t)(length + ((g >> 32) * length >> 32));
    slots[2] = (uint32_t)(2 * length + ((g & UINT32_MAX) * (THIRD * length) >> 32));
}

/* What is not plain may reach into the next line. */
FUSE_INLINE void xor_fetch(const uint8_t *array, uint64_t i, unsigned width, unsigned plain,
                           bool is_far)
{
    const uint8_t *at = array + packed_byte(i, plain ? plain : width);

    ahead_read(at, is_far);
    if (!plain)
        ahead_read(at + 3, is_far);
}

/* ---- Slots of the third block ------------------------------------------ */

/* The slot in which one of the third block is kept; if it is left out, any slot, and no mask. */
typedef struct xor_third_slot {
    uint32_t slot, mask;
} xor_third_slot;

#if THIRD == 1

static inline xor_shape xor_shape_of(const tamis_plan *p)
{
    unsigned bits = part_bits(p->capacity);

    return (xor_shape){ .length = p->slots / LENGTHS,
                        .part_bytes = round_up(HEAD_BYTES + packed_bytes(p->slots, p->width), 64),
                        .part_bits = bits,
                        .mark_shift = xor_mark_shift(bits),
                        .width = p->width };
}

FUSE_INLINE void xor_fetch_third(const uint8_t *part, const xor_shape *s, uint32_t slot,
                                 unsigned plain, bool is_far)
{
    xor_fetch(part + HEAD_BYTES, slot, s->width, plain, is_far);
}

FUSE_INLINE xor_third_slot xor_find_third(const uint8_t *part, const xor_shape *s, uint32_t slot)
{
    (void)part, (void)s;
    return (xor_third_slot){ slot, UINT32_MAX };
}

#else

/* A line has seven words of bits behind one of counts: see xorplus.c. */
enum { LINE_BYTES = 64, LINE_WORDS = 7, LINE_BITS = 64 * LINE_WORDS, COUNT_BITS = 9 };

/* Slots of the third block that are not zero have room in the array for the mean and bad luck: keys
 * own 0.311 of all slots there, if there are as many as can be peeled, and one in 2^width of these
 * is zero by chance. */
static inline xor_shape xor_shape_of(const tamis_plan *p)
{
    uint64_t length = p->slots / LENGTHS, owned = p->slots * 318 / 1024;
    uint64_t kept = owned - (owned >> p->width) + 2 * (uint64_t)sqrt((double)owned) + 2;
    uint64_t whole = THIRD * length / LINE_BITS, rest = THIRD * length % LINE_BITS;
    uint64_t lines = whole * LINE_BYTES + (rest ? 8 + bytes_of_bits(rest) : 0);
    uint64_t array = packed_bytes(2 * length + kept, p->width);
    unsigned bits = part_bits(p->capacity);

    return (xor_shape){ .length = length,
                        .part_bytes = round_up(lines + HEAD_BYTES + array, 64),
                        .head = lines,
                        .last = 2 * length + kept - 1,
                        .part_bits = bits,
                        .mark_shift = xor_mark_shift(bits),
                        .width = p->width };
}

/* The line of a slot of the third block, and its bit there. */
static inline const uint8_t *xor_line_of(const uint8_t *part, const xor_shape *s, uint32_t slot,
                                         unsigned *bit)
{
    uint32_t i = slot - 2 * (uint32_t)s->length;

    *bit = i % LINE_BITS;
    return part + (uint64_t)(i / LINE_BITS) * LINE_BYTES;
}

FUSE_INLINE void xor_fetch_third(const uint8_t *part, const xor_shape *s, uint32_t slot,
                                 unsigned plain, bool is_far)
{
    unsigned bit;

    (void)plain;
    ahead_read(xor_line_of(part, s, slot, &bit), is_far);
}

/* Ones in two words. Where there is no instruction for that: in pairs of bits, then of two pairs,
 * then of bytes of both words. */
static inline uint64_t xor_count_ones(uint64_t a, uint64_t b)
{
#ifdef __POPCNT__
    return (uint64_t)(__builtin_popcountll(a) + __builtin_popcountll(b));
#else
    const uint64_t twos = UINT64_MAX / 3, fours = UINT64_MAX / 5, bytes = UINT64_MAX / 17;

    a -= a >> 1 & twos;
    b -= b >> 1 & twos;
    a = (a & fours) + (a >> 2 & fours) + (b & fours) + (b >> 2 & fours);
    a = (a & bytes) + (a >> 4 & bytes);
    return a * (UINT64_MAX / 255) >> 56;
#endif
}

/* Ones in the pairs of words before one, of the counts of a line. */
static inline uint64_t xor_pair_count(uint64_t counts, unsigned pair)
{
    return counts >> 32 << COUNT_BITS >> COUNT_BITS * pair & 511;
}

/* Ones before a bit: of the lines before, of the pairs of words before, of the first word of the
 * pair if the bit is in the second, of its own word. */
static inline uint64_t xor_rank(const uint8_t *line, unsigned bit, uint64_t word)
{
    unsigned pair = bit / 128;
    uint64_t counts = le64(line), first = le64(line + 8 + 16 * pair);
    uint64_t below = (UINT64_C(1) << bit % 64) - 1, in_second = 0 - (uint64_t)(bit / 64 % 2);

    return (counts & UINT32_MAX) + xor_pair_count(counts, pair) +
           xor_count_ones(first & in_second, word & below);
}

FUSE_INLINE xor_third_slot xor_find_third(const uint8_t *part, const xor_shape *s, uint32_t slot)
{
    unsigned bit;
    const uint8_t *line = xor_line_of(part, s, slot, &bit);
    uint64_t word = le64(line + 8 + 8 * (bit / 64)), at = 2 * s->length + xor_rank(line, bit, word);
    uint32_t mask = 0 - (uint32_t)(word >> bit % 64 & 1);

    at = at < s->last ? at : s->last;
    return (xor_third_slot){ (uint32_t)at & mask, mask };
}

#endif

#endif
