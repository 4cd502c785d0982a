/* xor_blocks.c - sizes of a xor filter, and whether its payload is whole. */
#include "fuse/xor_blocks.h"

/* Slots are numbered in 32 bits. */
uint64_t tamis__xor_bytes(const tamis_plan *p, unsigned third)
{
    if (p->width < 1 || p->width > PACKED_WIDEST || p->hashes != XOR_ARITY ||
        p->slots >= UINT64_C(1) << 31 || p->slots < 2 + third || p->slots % (2 + third) ||
        p->capacity >= XOR_MOST_KEYS || p->flags || p->load)
        return 0;
    return bytes_of_parts(p->capacity, xor_shape_of(p, third).part_bytes);
}

/* ---- Checking ---------------------------------------------------------- */

/* The word of counts of a line, after `ones` ones. */
uint64_t tamis__xor_counts(const uint8_t *line, unsigned words, uint64_t ones)
{
    uint64_t counts = ones, in_line = 0;

    for (unsigned i = 0; i < words; i++) {
        if (i && i % 2 == 0)
            counts |= in_line << (32 + XOR_COUNT_BITS * (i / 2 - 1));
        in_line += xor_count_ones(le64(line + 8 + 8 * i), 0);
    }
    return counts;
}

/* Whether the counts are right, and every one has its slot. */
static bool xor_is_counted(const uint8_t *part, const xor_shape *s)
{
    uint64_t ones = 0, left = s->third;

    for (const uint8_t *line = part; line < part + s->head; line += XOR_LINE_BYTES) {
        unsigned bits = left < XOR_LINE_BITS ? (unsigned)left : XOR_LINE_BITS;
        unsigned words = (bits + 63) / 64;
        if (le64(line) != tamis__xor_counts(line, words, ones))
            return false;
        if (bits % 64 && le64(line + 8 * words) >> bits % 64)
            return false;
        ones += count_ones(line + 8, 8 * words);
        left -= bits;
    }
    return 2 * s->length + ones <= s->last + 1;
}

const char *tamis__xor_verify(const tamis *f)
{
    const xor_shape *s = xor_shape_in(f);
    uint64_t keys = 0;

    for (uint64_t at = 0; at < f->plan.bytes; at += s->part_bytes) {
        const uint8_t *part = (const uint8_t *)f->payload + at, *head = part + s->head;
        if (head[XOR_HEAD_STASHED] > XOR_STASH)
            return "a stash of more keys than fit";
        if (!xor_is_counted(part, s))
            return "slots that are not zero are counted wrong";
        keys += le32(head);
    }
    return keys == f->count ? NULL : "the keys of the parts are not the count";
}
