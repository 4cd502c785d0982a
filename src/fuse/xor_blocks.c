/* xor_blocks.c - sizes of a xor filter, lookups, and whether its payload is whole. */
#include "fuse/xor_blocks.h"

#include "base/ahead.h"
#include "base/many.h"

/* Slots are numbered in 32 bits. */
uint64_t tamis__xor_bytes(const tamis_plan *p, unsigned third)
{
    if (p->width < 1 || p->width > PACKED_WIDEST || p->hashes != XOR_ARITY ||
        p->slots >= UINT64_C(1) << 31 || p->slots < 2 + third || p->slots % (2 + third) ||
        p->capacity >= XOR_MOST_KEYS || p->flags || p->load)
        return 0;
    return bytes_of_parts(p->capacity, xor_shape_of(p, third).part_bytes);
}

/* ---- Lookups ----------------------------------------------------------- */

/* Where to look for a key. */
typedef struct xor_key {
    const uint8_t *part, *head, *array;
    uint64_t mark;
    xor_slots slots;
} xor_key;

static inline xor_key xor_key_of(const tamis *f, uint64_t key)
{
    const xor_shape *s = xor_shape_in(f);
    uint64_t h = hash_key(key, f->salt), mark = xor_mark(s, h);
    const uint8_t *part = (const uint8_t *)f->payload + part_of(h, s->part_bits) * s->part_bytes;
    const uint8_t *head = part + s->head;

    return (xor_key){ part, head, head + XOR_HEAD_BYTES, mark,
                      xor_slots_of(s, mark, xor_spread_seed(head[XOR_HEAD_SEED])) };
}

static bool xor_is_stashed(const xor_key *k)
{
    for (unsigned i = 0; i < k->head[XOR_HEAD_STASHED] && i < XOR_STASH; i++)
        if (le64(k->head + XOR_HEAD_STASH + 8 * i) == k->mark)
            return true;
    return false;
}

MANY_INLINE bool xor_holds(const xor_shape *s, const xor_key *k)
{
    const xor_third_slot third = xor_find_third(k->part, s, k->slots.at[2]);
    uint32_t sum = packed_get(k->array, k->slots.at[0], s->width) ^
                   packed_get(k->array, k->slots.at[1], s->width) ^
                   (packed_get(k->array, third.slot, s->width) & third.mask);
    bool fits = sum == ((uint32_t)k->mark & packed_mask(s->width));

    return le32(k->head) != 0 && (fits || xor_is_stashed(k));
}

bool tamis__xor_has(const tamis *f, uint64_t key)
{
    const xor_key k = xor_key_of(f, key);

    return xor_holds(xor_shape_in(f), &k);
}

MANY_INLINE void xor_prepare(const void *f, void *group, const uint64_t *keys, size_t n)
{
    xor_key *k = group;

    for (size_t i = 0; i < n; i++)
        k[i] = xor_key_of(f, keys[i]);
}

/* Of a third block that omits zeros, the line is asked for that tells where a slot is kept. */
MANY_INLINE void xor_fetch(const void *self, const void *group, size_t i)
{
    const tamis *f = self;
    const xor_shape *s = xor_shape_in(f);
    const xor_key *k = (const xor_key *)group + i;
    unsigned bit;

    for (unsigned j = 0; j < (s->omits_zeros ? 2 : XOR_ARITY); j++)
        ahead_read(k->array + packed_byte(k->slots.at[j], s->width), f->is_far);
    if (s->omits_zeros)
        ahead_read(xor_line_of(k->part, s, k->slots.at[2], &bit), f->is_far);
}

MANY_INLINE uint64_t xor_look(void *self, void *group, size_t i)
{
    const tamis *f = self;

    return xor_holds(xor_shape_in(f), (const xor_key *)group + i);
}

size_t tamis__xor_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    xor_key groups[2][MANY];

    return many_lookups(f, hits, keys, n, groups[0], groups[1], xor_prepare, xor_fetch, xor_look,
                        NULL);
}

/* ---- Checking ---------------------------------------------------------- */

/* The word of counts of a line, after `ones` ones. */
uint64_t tamis__xor_counts(const uint8_t *line, unsigned words, uint64_t ones)
{
    uint64_t counts = ones, in_line = 0;

    for (unsigned i = 0; i < words; i++) {
        if (i && i % 2 == 0)
            counts |= in_line << (32 + XOR_COUNT_BITS * (i / 2 - 1));
        in_line += (uint64_t)__builtin_popcountll(le64(line + 8 + 8 * i));
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
