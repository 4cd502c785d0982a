/* many_blocks.h - asking a xor filter for one key or for many. The includer says before where the
 * slots of the third block are. */
#ifndef TAMIS_FUSE_MANY_BLOCKS_H
#define TAMIS_FUSE_MANY_BLOCKS_H

#include <string.h>

#include "fuse/blocks.h"

BLOCK_INLINE uint32_t xor_of_slots(const uint8_t *array, const uint32_t *slots, third t,
                                   unsigned width, unsigned plain)
{
    return get(array, slots[0], width, plain) ^ get(array, slots[1], width, plain) ^
           (get(array, t.slot, width, plain) & t.mask);
}

_Static_assert(sizeof(shape) <= TAMIS_DERIVED_SIZE, "");

/* Not a copy as a whole: the compiler can leave out what is not used. */
static inline shape kept_shape(const tamis *f)
{
    const shape *s = (const void *)f->derived;

    return (shape){ .length = s->length,
                    .part_bytes = s->part_bytes,
                    .head = s->head,
                    .last = s->last,
                    .part_bits = s->part_bits,
                    .mark_shift = s->mark_shift,
                    .width = s->width };
}

/* Any filter. */
static bool has(const tamis *f, uint64_t key)
{
    const shape s = kept_shape(f);
    uint64_t h = hash_key(key, f->salt), mark = mark_of(&s, h);
    const uint8_t *part = part_with(f, &s, h), *head = part + s.head, *array = head + HEAD_BYTES;
    uint32_t slots[ARITY], x = (uint32_t)mark;

    find_slots(slots, &s, mark, spread_seed(head[HEAD_SEED]));
    third t = find_third(part, &s, slots[2]);
    x ^= packed_is_plain(s.width) ? xor_of_slots(array, slots, t, s.width, s.width)
                                  : xor_of_slots(array, slots, t, s.width, 0);
    return settle(head, mark, (x & packed_mask(s.width)) == 0);
}

/* A filter is usual if it has one part, with keys, of the first seed and with an empty stash, as
 * nearly all have that are not huge: then there is nothing to look at but slots. */
BLOCK_INLINE bool is_usual(const tamis *f, const shape *s)
{
    return !s->part_bits && le64((const uint8_t *)f->payload + s->head) - 1 < UINT32_MAX;
}

BLOCK_INLINE shape usual_shape(shape s, unsigned plain)
{
    s.part_bits = 0;
    s.mark_shift = mark_shift_of(0);
    s.width = plain ? plain : s.width;
    return s;
}

BLOCK_INLINE bool has_usual(const uint8_t *part, const shape *s, uint64_t h, unsigned plain)
{
    uint64_t mark = mark_of(s, h);
    uint32_t slots[ARITY];

    find_slots(slots, s, mark, 0);
    third t = find_third(part, s, slots[2]);
    uint32_t x = xor_of_slots(part + s->head + HEAD_BYTES, slots, t, s->width, plain);
    return (((uint32_t)mark ^ x) & packed_mask(s->width)) == 0;
}

/* Of one part. */
BLOCK_INLINE bool has_plain(const tamis *f, uint64_t key, unsigned plain)
{
    const shape s = usual_shape(kept_shape(f), plain);

    if (!is_usual(f, &s))
        return has(f, key);
    return has_usual(f->payload, &s, hash_key(key, f->salt), plain);
}

static bool has_8(const tamis *f, uint64_t key)
{
    return has_plain(f, key, 8);
}

static bool has_16(const tamis *f, uint64_t key)
{
    return has_plain(f, key, 16);
}

static bool has_32(const tamis *f, uint64_t key)
{
    return has_plain(f, key, 32);
}

static bool has_odd(const tamis *f, uint64_t key)
{
    return has_plain(f, key, 0);
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n);

static inline void prepare(tamis *f)
{
    const shape s = shape_of(&f->plan);

    memcpy(f->derived, &s, sizeof s);
    f->ops.has = s.part_bits     ? has
                 : s.width == 8  ? has_8
                 : s.width == 16 ? has_16
                 : s.width == 32 ? has_32
                                 : has_odd;
    f->ops.has_many = has_many;
}

/* ---- Many queries ------------------------------------------------------ */

/* Groups of keys, a word of answers each, go through three steps: their slots are asked for from
 * memory; those of the third block, which may take a look at memory to find, are asked for; all are
 * looked at. Of each group that is on its way, one key takes its step at a time, since requests in
 * bursts would wait for each other. */
enum { GROUP = 64, FLIGHTS = PUTS_OFF ? 3 : 2 };

typedef struct flight {
    uint64_t h[GROUP];
    uint32_t slots[GROUP][ARITY];
    third thirds[GROUP];
    size_t n;
} flight;

/* What is looked up in; whether it is usual is known when this is compiled. */
typedef struct field {
    shape s;
    const tamis *f;
    unsigned plain;
    bool is_usual;
} field;

BLOCK_INLINE const uint8_t *part_in(const field *in, uint64_t h)
{
    return in->is_usual ? in->f->payload : part_with(in->f, &in->s, h);
}

BLOCK_INLINE void place_group(flight *to, const field *in, const uint64_t *keys, size_t n)
{
    const uint64_t salt = in->f->salt;

    to->n = n;
    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash_key(keys[i], salt);
        uint64_t seed = in->is_usual ? 0 : spread_seed(part_in(in, h)[in->s.head + HEAD_SEED]);
        to->h[i] = h;
        find_slots(to->slots[i], &in->s, mark_of(&in->s, h), seed);
    }
}

BLOCK_INLINE void fetch_key(const flight *of, const field *in, size_t i)
{
    const uint8_t *part = part_in(in, of->h[i]), *array = part + in->s.head + HEAD_BYTES;

    fetch(array, of->slots[i][0], in->s.width, in->plain);
    fetch(array, of->slots[i][1], in->s.width, in->plain);
    fetch_third(part, &in->s, of->slots[i][2], in->plain);
}

BLOCK_INLINE void turn_key(flight *of, const field *in, size_t i)
{
    const uint8_t *part = part_in(in, of->h[i]);

    of->thirds[i] = find_third(part, &in->s, of->slots[i][2]);
    fetch(part + in->s.head + HEAD_BYTES, of->thirds[i].slot, in->s.width, in->plain);
}

BLOCK_INLINE bool look_at_key(const flight *of, const field *in, size_t i)
{
    const uint8_t *part = part_in(in, of->h[i]), *head = part + in->s.head;
    const third t = PUTS_OFF ? of->thirds[i] : find_third(part, &in->s, of->slots[i][2]);
    uint64_t mark = mark_of(&in->s, of->h[i]);
    uint32_t x = xor_of_slots(head + HEAD_BYTES, of->slots[i], t, in->s.width, in->plain);
    bool fits = ((x ^ (uint32_t)mark) & packed_mask(in->s.width)) == 0;

    return in->is_usual ? fits : settle(head, mark, fits);
}

/* The keys of `next` take their first step, those of `turning` their second, those of `now` the
 * last. No group has more keys than the one before it. */
BLOCK_INLINE uint64_t step(const flight *now, flight *turning, const flight *next, const field *in)
{
    uint64_t word = 0;

    for (size_t i = 0; i < now->n; i++) {
        if (i < next->n)
            fetch_key(next, in, i);
        if (PUTS_OFF && i < turning->n)
            turn_key(turning, in, i);
        word |= (uint64_t)look_at_key(now, in, i) << i;
    }
    return word;
}

/* Keys of a group, the last of which may be short and those behind it empty. */
static inline size_t in_group(size_t n, size_t group)
{
    size_t from = group * GROUP;

    return from >= n ? 0 : n - from < GROUP ? n - from : GROUP;
}

BLOCK_INLINE size_t has_many_in(const field *in, uint64_t *hits, const uint64_t *keys, size_t n)
{
    flight flights[FLIGHTS];
    size_t found = 0;

    for (size_t i = 0; i < FLIGHTS - 1; i++) {
        place_group(&flights[i], in, keys + i * GROUP, in_group(n, i));
        for (size_t j = 0; j < flights[i].n; j++)
            fetch_key(&flights[i], in, j);
    }
    for (size_t j = 0; PUTS_OFF && j < flights[0].n; j++)
        turn_key(&flights[0], in, j);
    for (size_t i = 0; i * GROUP < n; i++) {
        size_t last = i + FLIGHTS - 1;
        flight *next = &flights[last % FLIGHTS];
        place_group(next, in, keys + last * GROUP, in_group(n, last));
        hits[i] = step(&flights[i % FLIGHTS], &flights[(i + 1) % FLIGHTS], next, in);
        found += (size_t)__builtin_popcountll(hits[i]);
    }
    return found;
}

/* Up to that many bytes are in the cache, where there is nothing to wait for. */
enum { IN_CACHE = PUTS_OFF ? 1 << 19 : 1 << 20 };

BLOCK_INLINE size_t has_each(const field *in, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const uint8_t *part = in->f->payload;
    const uint64_t salt = in->f->salt;
    size_t found = 0;

    for (size_t i = 0; i * GROUP < n; i++) {
        uint64_t word = 0;
        for (size_t j = 0; j < in_group(n, i); j++)
            word |=
                (uint64_t)has_usual(part, &in->s, hash_key(keys[i * GROUP + j], salt), in->plain)
                << j;
        hits[i] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

BLOCK_INLINE size_t has_many_plain(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n,
                                   unsigned plain)
{
    field in = { .s = kept_shape(f), .f = f, .plain = plain };

    if (plain)
        in.s.width = plain;
    if (!is_usual(f, &in.s))
        return has_many_in(&in, hits, keys, n);
    in.is_usual = true;
    in.s = usual_shape(in.s, plain);
    if (f->plan.bytes <= IN_CACHE)
        return has_each(&in, hits, keys, n);
    return has_many_in(&in, hits, keys, n);
}

/* There is a copy of the code for each plain width. */
static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    switch (f->plan.width) {
    case 8:
        return has_many_plain(f, hits, keys, n, 8);
    case 16:
        return has_many_plain(f, hits, keys, n, 16);
    case 32:
        return has_many_plain(f, hits, keys, n, 32);
    default:
        return has_many_plain(f, hits, keys, n, 0);
    }
}

#endif
