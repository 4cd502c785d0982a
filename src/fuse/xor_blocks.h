/* xor_blocks.h - where a xor filter keeps the fingerprints of its keys: for xor.c and xorplus.c.
 *
 * A part (base/parts.h) has plan.slots slots of plan.width bits, cut into three blocks of `length`,
 * `length` and `third` slots. A key h = hash_key(key) has one slot in each of them. The xor of its
 * slots is its fingerprint.
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
 * that are in no slot. A part of no keys has no fingerprints to compare with.
 *
 * If the third block is longer than the others, its slots that are zero are left out: xorplus.c
 * says how the others are found.
 *
 * Prefix: xor_. */
#ifndef TAMIS_FUSE_XOR_BLOCKS_H
#define TAMIS_FUSE_XOR_BLOCKS_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "fuse/fingerprint.h"

enum { XOR_ARITY = 3 };
enum { XOR_HEAD_BYTES = 32, XOR_HEAD_SEED = 4, XOR_HEAD_STASHED = 5, XOR_HEAD_STASH = 8 };
enum { XOR_STASH = 3 };

/* A mark leaves room in a word for how many keys have a slot: see peel.h. */
enum { XOR_MARK_BITS = 58 };

/* Beyond this, too few bits of a hash are left to tell keys of a part apart. */
#define XOR_MOST_KEYS (UINT64_C(1) << 48)

/* An odd number without structure, from the digits of pi. */
#define XOR_MULTIPLIER UINT64_C(0x243F6A8885A308D3)

/* A line of bits, for 448 slots of the third block: see xorplus.c. */
enum { XOR_LINE_BYTES = 64, XOR_LINE_BITS = 64 * 7, XOR_COUNT_BITS = 9 };

/* f->derived: the plan's numbers as the code below wants them. */
typedef struct xor_shape {
    uint64_t length;     /* of the first block and of the second */
    uint64_t third;      /* of the third */
    uint64_t part_bytes; /* from one part to the next */
    uint64_t head;       /* where in a part its head is, behind the lines: the slots follow */
    uint64_t last;       /* slot that is kept */
    unsigned part_bits, mark_shift, width;
    bool omits_zeros; /* of the third block */
} xor_shape;

_Static_assert(sizeof(xor_shape) <= TAMIS_DERIVED_SIZE, "");

static inline const xor_shape *xor_shape_in(const tamis *f)
{
    return (const xor_shape *)(const void *)f->derived;
}

static inline unsigned xor_mark_shift(unsigned part_bits)
{
    return part_bits < 64 - XOR_MARK_BITS ? 64 - XOR_MARK_BITS : part_bits;
}

/* The third block is `third` times longer than each of the others. Slots of it that are not zero
 * have room for the mean and bad luck: keys own 0.311 of all slots there, if there are as many as
 * can be peeled, and one in 2^width of these is zero by chance. */
static inline xor_shape xor_shape_of(const tamis_plan *p, unsigned third)
{
    unsigned bits = part_bits(p->capacity);
    uint64_t length = p->slots / (2 + third), kept = length, lines = 0;

    if (third > 1) {
        uint64_t owned = p->slots * 318 / 1024, rest = third * length % XOR_LINE_BITS;
        kept = owned - (owned >> p->width) + 2 * (uint64_t)sqrt((double)owned) + 2;
        lines = third * length / XOR_LINE_BITS * XOR_LINE_BYTES;
        lines += rest ? 8 + bytes_of_bits(rest) : 0;
    }
    uint64_t array = packed_bytes(2 * length + kept, p->width);
    return (xor_shape){ .length = length,
                        .third = third * length,
                        .part_bytes = round_up(lines + XOR_HEAD_BYTES + array, 64),
                        .head = lines,
                        .last = 2 * length + kept - 1,
                        .part_bits = bits,
                        .mark_shift = xor_mark_shift(bits),
                        .width = p->width,
                        .omits_zeros = third > 1 };
}

/* ---- Slots of a key ---------------------------------------------------- */

/* Equal for keys of a part that no slot can tell apart. */
static inline uint64_t xor_mark(const xor_shape *s, uint64_t h)
{
    return h << s->part_bits >> s->mark_shift;
}

/* The first seed that scatters; that a seed does is told by its highest bit, which no mark has. */
enum { XOR_SCATTERED = 8 };

static inline uint64_t xor_spread_seed(uint64_t seed)
{
    return (seed * HASH_GOLDEN) >> 1 | (uint64_t)(seed >= XOR_SCATTERED) << 63;
}

typedef struct xor_slots {
    uint32_t at[XOR_ARITY];
} xor_slots;

/* One slot in each block of the part. */
static inline xor_slots xor_slots_of(const xor_shape *s, uint64_t mark, uint64_t seed)
{
    uint64_t g = mul_fold64(mark ^ seed, XOR_MULTIPLIER), length = s->length;
    uint64_t first = seed >> 63 ? g * HASH_GOLDEN : mark << s->mark_shift;

    return (xor_slots){ { (uint32_t)scale64(first, length),
                          (uint32_t)(length + ((g >> 32) * length >> 32)),
                          (uint32_t)(2 * length + ((g & UINT32_MAX) * s->third >> 32)) } };
}

/* ---- Slots of the third block ------------------------------------------ */

/* The line of a slot, and its bit there. */
static inline const uint8_t *xor_line_of(const uint8_t *part, const xor_shape *s, uint32_t slot,
                                         unsigned *bit)
{
    uint32_t i = slot - 2 * (uint32_t)s->length;

    *bit = i % XOR_LINE_BITS;
    return part + (uint64_t)(i / XOR_LINE_BITS) * XOR_LINE_BYTES;
}

/* Ones in the pairs of words before one, of the counts of a line. */
static inline uint64_t xor_pair_count(uint64_t counts, unsigned pair)
{
    return counts >> 32 << XOR_COUNT_BITS >> XOR_COUNT_BITS * pair & 511;
}

/* Ones in two words, counted in pairs of bits, then of two pairs, then of bytes of both words:
 * where no instruction counts them, that is faster than two calls. */
static inline uint64_t xor_count_ones(uint64_t a, uint64_t b)
{
    const uint64_t twos = UINT64_MAX / 3, fours = UINT64_MAX / 5, bytes = UINT64_MAX / 17;

    a -= a >> 1 & twos;
    b -= b >> 1 & twos;
    a = (a & fours) + (a >> 2 & fours) + (b & fours) + (b >> 2 & fours);
    a = (a & bytes) + (a >> 4 & bytes);
    return a * (UINT64_MAX / 255) >> 56;
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

/* The slot in which one of the third block is kept; if it is left out, any slot, and no mask. */
typedef struct xor_third_slot {
    uint32_t slot, mask;
} xor_third_slot;

static inline xor_third_slot xor_find_third(const uint8_t *part, const xor_shape *s, uint32_t slot)
{
    unsigned bit;

    if (!s->omits_zeros)
        return (xor_third_slot){ slot, UINT32_MAX };
    const uint8_t *line = xor_line_of(part, s, slot, &bit);
    uint64_t word = le64(line + 8 + 8 * (bit / 64)), at = 2 * s->length + xor_rank(line, bit, word);
    uint32_t mask = 0 - (uint32_t)(word >> bit % 64 & 1);
    return (xor_third_slot){ (uint32_t)(at < s->last ? at : s->last) & mask, mask };
}

/* ---- Both kinds -------------------------------------------------------- */

uint64_t tamis__xor_bytes(const tamis_plan *p, unsigned third);
bool tamis__xor_has(const tamis *f, uint64_t key);
size_t tamis__xor_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n);
uint64_t tamis__xor_counts(const uint8_t *line, unsigned words, uint64_t ones);
const char *tamis__xor_verify(const tamis *f);
tamis_status tamis__xor_solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                              size_t *n, void *scratch, const tamis_team *team);
uint64_t tamis__xor_scratch(const tamis_plan *p, unsigned third);
void tamis__xor_cells(const tamis *f, tamis_telling *t);
bool tamis__xor_explain(const tamis *f, uint64_t key, tamis_telling *t);

#endif
