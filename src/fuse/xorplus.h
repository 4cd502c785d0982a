/* xorplus.h - where a xor filter that leaves out zeros keeps its slots, and how it finds them: see
 * xorplus.c for what it is. */
#ifndef TAMIS_FUSE_XORPLUS_H
#define TAMIS_FUSE_XORPLUS_H

#define THIRD 2

#include "fuse/blocks.h"

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

/* Ones in two words. Where there is no instruction for that: in pairs of bits, then of two pairs,
 * then of bytes of both words. */
static inline uint64_t ones_of(uint64_t a, uint64_t b)
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

/* Ones before a bit: of the lines before, of the pairs of words before, of the first word of the
 * pair if the bit is in the second, of its own word. */
static inline uint64_t rank(const uint8_t *line, unsigned bit, uint64_t word)
{
    unsigned pair = bit / 128;
    uint64_t counts = le64(line), first = le64(line + 8 + 16 * pair);
    uint64_t below = (UINT64_C(1) << bit % 64) - 1, in_second = 0 - (uint64_t)(bit / 64 % 2);

    return (counts & UINT32_MAX) + (counts >> 32 << COUNT_BITS >> COUNT_BITS * pair & 511) +
           ones_of(first & in_second, word & below);
}

BLOCK_INLINE third find_third(const uint8_t *part, const shape *s, uint32_t slot)
{
    unsigned bit;
    const uint8_t *line = line_of(part, s, slot, &bit);
    uint64_t word = le64(line + 8 + 8 * (bit / 64)), at = 2 * s->length + rank(line, bit, word);
    uint32_t mask = 0 - (uint32_t)(word >> bit % 64 & 1);

    at = at < s->last ? at : s->last;
    return (third){ (uint32_t)at & mask, mask };
}

#include "fuse/many_blocks.h"

/* ---- Kernels ----------------------------------------------------------- */

void tamis__xorplus_use_avx2(tamis *f);

#endif
