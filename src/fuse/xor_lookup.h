/* xor_lookup.h - asking a xor filter for one key or for many. What is `third`, `is_usual` or
 * `plain` is known when this is compiled.
 *
 * Prefix: xor_. */
#ifndef TAMIS_FUSE_XOR_LOOKUP_H
#define TAMIS_FUSE_XOR_LOOKUP_H

#include "base/ahead.h"
#include "base/many.h"
#include "fuse/xor_blocks.h"

/* ---- Lookups ----------------------------------------------------------- */

/* What lookups read for each key. */
typedef struct xor_query {
    xor_shape s;
    const uint8_t *payload;
    uint64_t salt;
    bool is_far, is_usual;
} xor_query;

/* What is to be known of a key before its slots are read. */
typedef struct xor_key {
    const uint8_t *part;
    uint64_t mark;
    xor_slots slots;
} xor_key;

/* A filter is usual if it has one part, with keys, the first seed and an empty stash: then there is
 * nothing to look at but slots. */
static inline bool xor_is_usual(const tamis *f)
{
    const xor_shape *s = xor_shape_in(f);

    return s->part_bits == 0 && le64((const uint8_t *)f->payload + s->head) - 1 < UINT32_MAX;
}

FUSE_INLINE xor_query xor_query_of(const tamis *f, unsigned third, bool is_usual, unsigned plain)
{
    xor_query q = { *xor_shape_in(f), f->payload, f->salt, f->is_far, is_usual };

    q.s.omits_zeros = third > 1;
    q.s.third = third * q.s.length;
    q.s.head = third > 1 ? q.s.head : 0;
    q.s.width = plain ? plain : q.s.width;
    if (is_usual) {
        q.s.part_bits = 0;
        q.s.mark_shift = xor_mark_shift(0);
    }
    return q;
}

FUSE_INLINE xor_key xor_key_of(const xor_query *q, uint64_t key)
{
    uint64_t h = hash_key(key, q->salt), mark = xor_mark(&q->s, h);
    const uint8_t *part = q->payload + part_of(h, q->s.part_bits) * q->s.part_bytes;
    uint64_t seed = q->is_usual ? 0 : xor_spread_seed(part[q->s.head + XOR_HEAD_SEED]);

    return (xor_key){ part, mark, xor_slots_of(&q->s, mark, seed) };
}

static inline bool xor_is_stashed(const uint8_t *head, uint64_t mark)
{
    unsigned n = head[XOR_HEAD_STASHED] < XOR_STASH ? head[XOR_HEAD_STASHED] : XOR_STASH;
    bool found = false;

    for (unsigned i = 0; i < n; i++)
        found |= le64(head + XOR_HEAD_STASH + 8 * i) == mark;
    return found;
}

FUSE_INLINE bool xor_holds(const xor_query *q, const xor_key *k)
{
    const uint8_t *head = k->part + q->s.head, *array = head + XOR_HEAD_BYTES;
    const xor_third_slot third = xor_find_third(k->part, &q->s, k->slots.at[2]);
    uint32_t x = (uint32_t)k->mark;

    x ^= packed_get(array, k->slots.at[0], q->s.width);
    x ^= packed_get(array, k->slots.at[1], q->s.width);
    x ^= packed_get(array, third.slot, q->s.width) & third.mask;
    bool fits = (x & packed_mask(q->s.width)) == 0;
    return q->is_usual ? fits : (fits || xor_is_stashed(head, k->mark)) && le32(head) != 0;
}

FUSE_INLINE bool xor_has_plain(const tamis *f, uint64_t key, unsigned third, bool is_usual,
                               unsigned plain)
{
    const xor_query q = xor_query_of(f, third, is_usual, plain);
    const xor_key k = xor_key_of(&q, key);

    return xor_holds(&q, &k);
}

MANY_INLINE void xor_prepare(const void *self, void *group, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((xor_key *)group)[i] = xor_key_of(self, keys[i]);
}

/* Of a third block that omits zeros, the line is asked for that tells where a slot is kept. */
MANY_INLINE void xor_fetch(const void *self, const void *group, size_t i)
{
    const xor_query *q = self;
    const xor_key *k = (const xor_key *)group + i;
    const uint8_t *array = k->part + q->s.head + XOR_HEAD_BYTES;
    unsigned bit;

    ahead_read(array + packed_byte(k->slots.at[0], q->s.width), q->is_far);
    ahead_read(array + packed_byte(k->slots.at[1], q->s.width), q->is_far);
    ahead_read(q->s.omits_zeros ? xor_line_of(k->part, &q->s, k->slots.at[2], &bit)
                                : array + packed_byte(k->slots.at[2], q->s.width),
               q->is_far);
}

MANY_INLINE uint64_t xor_look(void *self, void *group, size_t i)
{
    return xor_holds(self, (const xor_key *)group + i);
}

FUSE_INLINE size_t xor_has_many_plain(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                      size_t n, unsigned third, bool is_usual, unsigned plain)
{
    const xor_query q = xor_query_of(f, third, is_usual, plain);
    xor_key groups[2][MANY];

    return many_lookups(&q, hits, keys, n, groups[0], groups[1], xor_prepare, xor_fetch, xor_look,
                        NULL);
}

#endif
