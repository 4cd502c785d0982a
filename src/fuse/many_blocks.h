/* many_blocks.h - asking a xor filter for one key or for many. The includer says before where the
 * slots of the third block are. */
#ifndef TAMIS_FUSE_MANY_BLOCKS_H
#define TAMIS_FUSE_MANY_BLOCKS_H

#include <string.h>

#include "fuse/blocks.h"

static inline size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

BLOCK_INLINE uint32_t xor_of_slots(const uint8_t *array, const uint32_t *slots, third t,
                                   unsigned width, unsigned plain)
{
    return get(array, slots[0], width, plain) ^ get(array, slots[1], width, plain) ^
           (get(array, t.slot, width, plain) & t.mask);
}

static bool has(const tamis *f, uint64_t key)
{
    const shape s = shape_of(&f->plan);
    uint64_t h = place(key, f->salt), mark = mark_of(&s, h);
    const uint8_t *part = part_with(f, &s, h), *head = part + s.head, *array = head + HEAD_BYTES;
    uint32_t slots[ARITY], x = (uint32_t)mark;

    find_slots(slots, &s, mark, spread_seed(head[HEAD_SEED]));
    third t = find_third(part, &s, slots[2]);
    x ^= packed_is_plain(s.width) ? xor_of_slots(array, slots, t, s.width, s.width)
                                  : xor_of_slots(array, slots, t, s.width, 0);
    return settle(head, mark, (x & packed_mask(s.width)) == 0);
}

static const char *verify(const tamis *f)
{
    const shape s = shape_of(&f->plan);
    uint64_t keys = 0;

    for (uint64_t at = 0; at < f->plan.bytes; at += s.part_bytes) {
        const uint8_t *part = (const uint8_t *)f->payload + at, *head = part + s.head;
        if (head[HEAD_STASHED] > STASH)
            return "a stash of more keys than fit";
        if (!is_third(part, &f->plan))
            return "slots that are not zero are counted wrong";
        keys += le32(head);
    }
    return keys == f->count ? NULL : "the keys of the parts are not the count";
}

/* ---- Many queries ------------------------------------------------------ */

/* Groups of keys go through three steps: their slots are asked for from memory; those of the third
 * block, which may take a look at memory to find, are asked for; all are looked at. While a group
 * waits for memory, another one takes its step. */
enum { GROUP = 32, STEPS = 3 };

typedef struct flight {
    uint64_t h[GROUP];
    uint32_t slots[GROUP][ARITY];
    third thirds[GROUP];
} flight;

BLOCK_INLINE void send(flight *to, const tamis *f, const shape *s, const uint64_t *keys, size_t n,
                       unsigned plain)
{
    const uint8_t *part = f->payload;
    uint64_t seed = spread_seed(part[s->head + HEAD_SEED]), salt = f->salt;

    for (size_t i = 0; i < n; i++) {
        uint64_t h = place(keys[i], salt);
        if (s->part_bits) {
            part = part_with(f, s, h);
            seed = spread_seed(part[s->head + HEAD_SEED]);
        }
        to->h[i] = h;
        find_slots(to->slots[i], s, mark_of(s, h), seed);
        const uint8_t *array = part + s->head + HEAD_BYTES;
        fetch(array, to->slots[i][0], s->width, plain);
        fetch(array, to->slots[i][1], s->width, plain);
        fetch_third(part, s, to->slots[i][2], plain);
    }
}

BLOCK_INLINE void turn(flight *at, const tamis *f, const shape *s, size_t n, unsigned plain)
{
    const uint8_t *part = f->payload;

    for (size_t i = 0; i < n; i++) {
        if (s->part_bits)
            part = part_with(f, s, at->h[i]);
        at->thirds[i] = find_third(part, s, at->slots[i][2]);
        if (PUTS_OFF)
            fetch(part + s->head + HEAD_BYTES, at->thirds[i].slot, s->width, plain);
    }
}

BLOCK_INLINE uint64_t land(const flight *from, const tamis *f, const shape *s, size_t n,
                           unsigned plain)
{
    const uint8_t *head = (const uint8_t *)f->payload + s->head;
    bool settled = !s->part_bits && le32(head) != 0 && !head[HEAD_STASHED];
    uint64_t found = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t mark = mark_of(s, from->h[i]);
        if (s->part_bits)
            head = part_with(f, s, from->h[i]) + s->head;
        uint32_t x =
            xor_of_slots(head + HEAD_BYTES, from->slots[i], from->thirds[i], s->width, plain);
        bool fits = ((x ^ (uint32_t)mark) & packed_mask(s->width)) == 0;
        found |= (uint64_t)(settled ? fits : settle(head, mark, fits)) << i;
    }
    return found;
}

/* Keys of a group, the last of which may be short and those behind it empty. */
static inline size_t in_group(size_t n, size_t group)
{
    return group * GROUP < n ? at_most(n - group * GROUP, GROUP) : 0;
}

BLOCK_INLINE size_t has_many_of(const tamis *f, uint64_t *answers, const uint64_t *keys, size_t n,
                                const shape *s, unsigned plain)
{
    flight flights[STEPS];
    size_t found = 0;

    memset(answers, 0, (n + 63) / 64 * sizeof *answers);
    for (size_t i = 0; i < STEPS - 1; i++)
        send(&flights[i], f, s, keys + i * GROUP, in_group(n, i), plain);
    turn(&flights[0], f, s, in_group(n, 0), plain);
    for (size_t i = 0; i * GROUP < n; i++) {
        send(&flights[(i + 2) % STEPS], f, s, keys + (i + 2) * GROUP, in_group(n, i + 2), plain);
        turn(&flights[(i + 1) % STEPS], f, s, in_group(n, i + 1), plain);
        uint64_t bits = land(&flights[i % STEPS], f, s, in_group(n, i), plain);
        answers[i * GROUP / 64] |= bits << i * GROUP % 64;
        found += (size_t)__builtin_popcountll(bits);
    }
    return found;
}

/* A copy of the code for filters of one part, whose head is read once. */
BLOCK_INLINE size_t has_many_plain(const tamis *f, uint64_t *answers, const uint64_t *keys,
                                   size_t n, unsigned plain)
{
    shape s = shape_of(&f->plan);

    if (plain)
        s.width = plain;
    if (s.part_bits)
        return has_many_of(f, answers, keys, n, &s, plain);
    s.part_bits = 0;
    return has_many_of(f, answers, keys, n, &s, plain);
}

/* And one for each plain width. */
static size_t has_many(const tamis *f, uint64_t *answers, const uint64_t *keys, size_t n)
{
    switch (f->plan.width) {
    case 8:
        return has_many_plain(f, answers, keys, n, 8);
    case 16:
        return has_many_plain(f, answers, keys, n, 16);
    case 32:
        return has_many_plain(f, answers, keys, n, 32);
    default:
        return has_many_plain(f, answers, keys, n, 0);
    }
}

static const tamis_batch *batch(unsigned cpu)
{
    static const tamis_batch BATCH = { .has_many = has_many };

    (void)cpu;
    return &BATCH;
}

#endif
