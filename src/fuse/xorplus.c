/* xorplus.c - xor filter whose third block is mostly zeros, of which only the others are kept.
 *
 * As in xor.c, a key has a slot in each of three blocks, and the xor of them is its fingerprint.
 * Which of its slots is the key's own is a matter of choice: here, one of the third block is, only
 * if none of another block can be. The first two blocks are almost all used then, and the third has
 * slots that no key owns, which stay zero. A bit for each slot tells whether it is zero; those that
 * are not lie side by side, and ones among the bits before are counted to find them.
 *
 * A slot of the third block that stays zero costs a bit or so instead of plan.width. So the third
 * block is twice as long as each of the others, which are shorter than those of a xor filter: that
 * takes 1.27 slots a key to peel, of which 0.32 are bits.
 *
 * Payload: parts of one size (base/parts.h). A part has
 *
 *   lines    of 64 bytes, for 448 slots of the third block each, the last one cut short
 *   head     as in blocks.h
 *   slots    of the first block, of the second, then those of the third that are not zero
 *
 * A line has seven words of bits behind a word of counts: in its bits 0 .. 31, the ones in the
 * lines before; from bit 32 on, three times nine bits, the ones in the first 2, 4 and 6 words.
 * Zeros are the empty filter; every payload is valid, and a slot that would lie beyond the end is
 * the last.
 *
 * Graf, Lemire: Xor Filters: Faster and Smaller Than Bloom and Cuckoo Filters, 2020. */
#define THIRD 2

#include "fuse/peel_blocks.h"

enum { LINE_BYTES = 64, LINE_WORDS = 7, LINE_BITS = 64 * LINE_WORDS, COUNT_BITS = 9 };

/* ---- Sizing ------------------------------------------------------------ */

static inline uint64_t third_of(const tamis_plan *p)
{
    return p->slots / LENGTHS * THIRD;
}

static inline uint64_t line_bytes_of(const tamis_plan *p)
{
    uint64_t whole = third_of(p) / LINE_BITS, rest = third_of(p) % LINE_BITS;

    return whole * LINE_BYTES + (rest ? 8 + bytes_of_bits(rest) : 0);
}

/* Slots of the third block that are not zero, at most. Keys own 0.311 of all slots there, if there
 * are as many as can be peeled, and one in 2^width of these is zero by chance. What is more than
 * the mean is for bad luck. */
static inline uint64_t kept_of(const tamis_plan *p)
{
    uint64_t owned = p->slots * 318 / 1024;

    return owned - (owned >> p->width) + 2 * (uint64_t)sqrt((double)owned) + 2;
}

static inline uint64_t array_of(const tamis_plan *p)
{
    return 2 * (p->slots / LENGTHS) + kept_of(p);
}

static inline uint64_t part_bytes_of(const tamis_plan *p)
{
    return round_up(line_bytes_of(p) + HEAD_BYTES + packed_bytes(array_of(p), p->width), 64);
}

static uint64_t bytes(const tamis_plan *p)
{
    return is_shape(p) ? bytes_of_parts(p->capacity, part_bytes_of(p)) : 0;
}

/* 1.2715 slots a key are the threshold; the rest was found by trial. */
static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    return plan_by(p, spec, &(sizing){ .threshold = 83328, .luck = 28, .least = 2 });
}

static void enlarge(tamis_plan *p)
{
    enlarge_by_a_bit(p);
    p->bytes = bytes(p);
}

/* ---- Layout ------------------------------------------------------------ */

BLOCK_INLINE shape shape_of(const tamis_plan *p)
{
    unsigned bits = part_bits(p->capacity);

    return (shape){ .length = p->slots / LENGTHS,
                    .part_bytes = part_bytes_of(p),
                    .head = line_bytes_of(p),
                    .last = array_of(p) - 1,
                    .part_bits = bits,
                    .mark_shift = mark_shift_of(bits),
                    .width = p->width };
}

/* The slot in which one of the third block is kept; if it is zero, any slot, and no mask. */
typedef struct third {
    uint32_t slot, mask;
} third;

/* The line of a slot of the third block, and its bit there. */
static inline const uint8_t *line_of(const uint8_t *part, const shape *s, uint32_t slot,
                                     unsigned *bit)
{
    uint32_t i = slot - 2 * (uint32_t)s->length;

    *bit = i % LINE_BITS;
    return part + (uint64_t)(i / LINE_BITS) * LINE_BYTES;
}

BLOCK_INLINE void fetch_third(const uint8_t *part, const shape *s, uint32_t slot, unsigned plain)
{
    unsigned bit;

    (void)plain;
    __builtin_prefetch(line_of(part, s, slot, &bit));
}

/* Ones in two words, without instructions that not every processor has: in pairs of bits, then of
 * two pairs, then of bytes of both words. */
static inline uint64_t ones_of(uint64_t a, uint64_t b)
{
    const uint64_t twos = UINT64_MAX / 3, fours = UINT64_MAX / 5, bytes = UINT64_MAX / 17;

    a -= a >> 1 & twos;
    b -= b >> 1 & twos;
    a = (a & fours) + (a >> 2 & fours) + (b & fours) + (b >> 2 & fours);
    a = (a & bytes) + (a >> 4 & bytes);
    return a * (UINT64_MAX / 255) >> 56;
}

/* Ones before a bit: of the lines before, of the pairs of words before, of this pair. The word
 * behind the last one of a line counts for nothing, and is within the part. */
static inline uint64_t rank(const uint8_t *line, unsigned bit)
{
    unsigned pair = bit / 128;
    uint64_t counts = le64(line), below = (UINT64_C(1) << bit % 64) - 1;
    uint64_t low = le64(line + 8 + 16 * pair), high = le64(line + 16 + 16 * pair);
    uint64_t in_high = 0 - (uint64_t)(bit / 64 % 2);

    return (counts & UINT32_MAX) + (counts >> 32 << COUNT_BITS >> COUNT_BITS * pair & 511) +
           ones_of(low & (below | in_high), high & below & in_high);
}

BLOCK_INLINE third find_third(const uint8_t *part, const shape *s, uint32_t slot)
{
    unsigned bit;
    const uint8_t *line = line_of(part, s, slot, &bit);
    uint32_t mask = 0 - (uint32_t)(line[8 + bit / 8] >> bit % 8 & 1);
    uint64_t at = 2 * s->length + rank(line, bit);

    at = at < s->last ? at : s->last;
    return (third){ (uint32_t)at & mask, mask };
}

/* The word of counts of a line, after `ones` ones. */
static uint64_t counts_of(const uint8_t *line, unsigned words, uint64_t ones)
{
    uint64_t counts = ones, in_line = 0;

    for (unsigned i = 0; i < words; i++) {
        if (i && i % 2 == 0)
            counts |= in_line << (32 + COUNT_BITS * (i / 2 - 1));
        in_line += ones_of(le64(line + 8 + 8 * i), 0);
    }
    return counts;
}

/* Whether the counts are right, and every one has its slot. */
static bool is_third(const uint8_t *part, const tamis_plan *p)
{
    const uint8_t *end = part + line_bytes_of(p);
    uint64_t ones = 0, left = third_of(p);

    for (const uint8_t *line = part; line < end; line += LINE_BYTES) {
        unsigned bits = left < LINE_BITS ? (unsigned)left : LINE_BITS, words = (bits + 63) / 64;
        if (le64(line) != counts_of(line, words, ones))
            return false;
        if (bits % 64 && le64(line + 8 * words) >> bits % 64)
            return false;
        ones += count_ones(line + 8, 8 * words);
        left -= bits;
    }
    return ones <= kept_of(p);
}

#include "fuse/many_blocks.h"

/* ---- Building ---------------------------------------------------------- */

static uint64_t store_bytes(const tamis_plan *p)
{
    return packed_bytes(p->slots, p->width);
}

/* Slots of the first two blocks: whole bytes, then what is left of one. */
static void store_first(const peeling *q, uint8_t *array)
{
    uint64_t bits = 2 * q->s.length * q->s.width;

    memcpy(array, q->spare, bits / 8);
    if (bits % 8)
        array[bits / 8] = (uint8_t)(q->spare[bits / 8] & ((1u << bits % 8) - 1));
}

static void set_bit(uint8_t *line, unsigned bit)
{
    line[8 + bit / 8] = (uint8_t)(line[8 + bit / 8] | 1u << bit % 8);
}

/* Slots of a line, from `slot` on; returns where in the array the next line goes on. */
static uint64_t store_line(const peeling *q, uint8_t *line, uint8_t *array, uint64_t slot,
                           uint64_t at)
{
    uint64_t ones = at - 2 * q->s.length, left = q->slots - slot;
    unsigned bits = left < LINE_BITS ? (unsigned)left : LINE_BITS;

    for (unsigned bit = 0; bit < bits; bit++) {
        uint32_t x = packed_get(q->spare, slot + bit, q->s.width);
        if (!x)
            continue;
        set_bit(line, bit);
        packed_put(array, at++, q->s.width, x);
    }
    put_le64(line, counts_of(line, (bits + 63) / 64, ones));
    return at;
}

static uint64_t count_kept(const peeling *q)
{
    uint64_t n = 0;

    for (uint64_t i = 2 * q->s.length; i < q->slots; i++)
        n += packed_get(q->spare, i, q->s.width) != 0;
    return n;
}

static bool store(const peeling *q, uint8_t *part)
{
    uint8_t *array = part + q->s.head + HEAD_BYTES;
    uint64_t at = 2 * q->s.length;

    memset(q->spare, 0, packed_bytes(q->slots, q->s.width));
    fill(q, q->spare);
    if (at + count_kept(q) > q->s.last + 1)
        return false;
    store_first(q, array);
    for (uint64_t slot = at; slot < q->slots; slot += LINE_BITS, part += LINE_BYTES)
        at = store_line(q, part, array, slot, at);
    return true;
}

static const tamis_solver SOLVER = { .scratch = scratch, .solve = solve, .enlarge = enlarge };

const tamis_ops tamis__xorplus = {
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .verify = verify,
    .solver = &SOLVER,
    .batch = batch,
};
