/* segments.h - where a binary fuse filter keeps the fingerprints of its keys; for any ARITY, which
 * the includer defines.
 *
 * A part (base/parts.h) is HEAD_BYTES of state and an array of plan.slots fingerprints of
 * plan.width bits, cut into segments of 2^plan.hashes slots. A key h = place(key) picks a segment
 * to start with, by its leading bits, then one slot in that segment and in each of the next ARITY -
 * 1 ones. The xor of its slots is its fingerprint: the low bits of h.
 *
 *   h, leading bits:  part, then start segment, by scale64()
 *   h, low 56 bits:   xored with the seed of the part, multiplied by FUSE_MULTIPLIER to 128 bits,
 *                     the two halves xored: g. Bits 16 j .. 16 j + 15 of g give the slot in the
 *                     j-th segment, as many of them as a segment needs.
 *   h, low bits:      fingerprint
 *
 * A new seed moves a key within its segments, not to others: hashes that were grouped by leading
 * bits stay grouped, whatever the seed.
 *
 * Head of a part: keys (4 bytes), seed (1), stashed (1), 2 zeros; then up to STASH hashes of keys
 * that are in no slot. A part of no keys has no fingerprints to compare with. */
#ifndef TAMIS_FUSE_SEGMENTS_H
#define TAMIS_FUSE_SEGMENTS_H

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "base/packed.h"
#include "base/parts.h"
#include "filter.h"

/* ---- Layout ------------------------------------------------------------ */

enum { HEAD_BYTES = 32, HEAD_SEED = 4, HEAD_STASHED = 5, HEAD_STASH = 8, STASH = 3 };

/* Four times 16 bits place a key. A part of 2^24 keys wants no more. */
enum { SHORTEST_BITS = 2, LONGEST_BITS = 16 };

/* An odd number without structure, from the digits of pi. */
#define FUSE_MULTIPLIER UINT64_C(0x243F6A8885A308D3)

/* Bits of a hash that place a key within its segments and make its fingerprint. */
#define FUSE_LOW_BITS ((UINT64_C(1) << 56) - 1)

/* The plan's numbers as the code below wants them. */
typedef struct shape {
    uint64_t starts;     /* segments that a key may start with */
    uint64_t part_bytes; /* from one part to the next */
    unsigned part_bits, segment_bits, width;
} shape;

static inline uint64_t part_bytes_of(const tamis_plan *p)
{
    return round_up(HEAD_BYTES + packed_bytes(p->slots, p->width), 64);
}

static inline shape shape_of(const tamis_plan *p)
{
    return (shape){ .starts = (p->slots >> p->hashes) - (ARITY - 1),
                    .part_bytes = part_bytes_of(p),
                    .part_bits = part_bits(p->capacity),
                    .segment_bits = p->hashes,
                    .width = p->width };
}

static inline uint64_t start_of(const shape *s, uint64_t h)
{
    return scale64(h << s->part_bits, s->starts);
}

static inline uint64_t spread_seed(uint64_t seed)
{
    return seed * HASH_GOLDEN;
}

/* Where in its segments a key is: 16 bits for each. `low` is the low bits of its hash. */
static inline uint64_t offsets_of(uint64_t low, uint64_t seed)
{
    return mul_fold64(low ^ seed, FUSE_MULTIPLIER);
}

/* Its j-th slot, if it starts in segment `start`. */
static inline uint64_t slot_of(const shape *s, uint64_t start, uint64_t offsets, unsigned j)
{
    uint64_t mask = (UINT64_C(1) << s->segment_bits) - 1;

    return (start << s->segment_bits) + ((uint64_t)j << s->segment_bits) +
           (offsets >> 16 * j & mask);
}

/* A slot; `plain` as below. */
static inline uint32_t get(const uint8_t *slots, uint64_t i, unsigned width, unsigned plain)
{
    return plain ? packed_get(slots, i, plain) : packed_get_odd(slots, i, width);
}

/* ---- Sizing ------------------------------------------------------------ */

/* Beyond this, too few bits of a hash are left to tell keys of a part apart. */
#define MOST_KEYS (UINT64_C(1) << 48)

/* Slots are numbered in 32 bits while a part is solved. */
static inline bool is_shape(const tamis_plan *p)
{
    return p->width >= 1 && p->width <= PACKED_WIDEST && p->hashes >= SHORTEST_BITS &&
           p->hashes <= LONGEST_BITS && p->slots < UINT64_C(1) << 31 &&
           p->slots % (UINT64_C(1) << p->hashes) == 0 && p->slots >> p->hashes >= ARITY &&
           p->capacity < MOST_KEYS;
}

static uint64_t bytes(const tamis_plan *p)
{
    uint64_t total;

    if (!is_shape(p))
        return 0;
    if (mul_overflows(part_bytes_of(p), UINT64_C(1) << part_bits(p->capacity), &total))
        return 0;
    return total;
}

/* The xor of a stranger's slots is as good as random, and so is its fingerprint. */
static double rate(const tamis_plan *p, double n)
{
    return n > 0 ? ldexp(1, -(int)p->width) : 0;
}

/* Bits of a fingerprint that is met by chance at most at that rate; more than 32 if none is. */
static inline uint32_t width_for(double fpr)
{
    uint32_t width = 1;

    while (width <= PACKED_WIDEST && ldexp(1, -(int)width) > fpr)
        width++;
    return width;
}

/* Parts of up to `keys` keys get segments of 2^bits slots, and keys start in `starts` / 1024 slots
 * a key: the fewest with which nine sets in ten were peeled at the first attempt, found by trial.
 * The last row has no upper end. */
typedef struct sizing {
    uint64_t keys;
    uint32_t bits, starts;
} sizing;

static inline uint64_t slots_in_row(const sizing *row, uint64_t n)
{
    uint64_t length = UINT64_C(1) << row->bits;
    uint64_t starts = (n * row->starts / 1024 + length - 1) / length;

    return ((starts ? starts : 1) + ARITY - 1) * length;
}

/* More keys never get fewer slots: a row begins where the one before it ends. */
static inline tamis_status plan_by(tamis_plan *p, const tamis_spec *spec, const sizing *row)
{
    uint64_t n = part_room(spec->keys), least = 0;

    p->width = width_for(spec->fpr);
    if (p->width > PACKED_WIDEST || spec->keys >= MOST_KEYS)
        return TAMIS_RANGE;
    for (; row->keys < n; row++)
        least = slots_in_row(row, row->keys);
    p->hashes = row->bits;
    p->slots = slots_in_row(row, n);
    if (p->slots < least)
        p->slots = round_up(least, UINT64_C(1) << row->bits);
    return TAMIS_OK;
}

/* One segment in sixteen more. */
static void enlarge(tamis_plan *p)
{
    uint64_t segments = p->slots >> p->hashes;

    p->slots = (segments + segments / 16 + 1) << p->hashes;
    p->bytes = bytes(p);
}

/* ---- Queries ----------------------------------------------------------- */

static inline bool in_stash(const uint8_t *part, uint64_t h)
{
    unsigned n = part[HEAD_STASHED] < STASH ? part[HEAD_STASHED] : STASH;

    for (unsigned i = 0; i < n; i++)
        if (le64(part + HEAD_STASH + 8 * i) == h)
            return true;
    return false;
}

/* The seed, the keys and the stash of a part are read before its slots. */
static inline const uint8_t *part_with(const tamis *f, const shape *s, uint64_t h)
{
    return (const uint8_t *)f->payload + part_of(h, s->part_bits) * s->part_bytes;
}

static inline bool settle(const uint8_t *part, uint64_t h, bool fits)
{
    if (part[HEAD_STASHED])
        fits |= in_stash(part, h);
    return fits && le32(part) != 0;
}

static bool has(const tamis *f, uint64_t key)
{
    const shape s = shape_of(&f->plan);
    uint64_t h = place(key, f->salt), start = start_of(&s, h);
    const uint8_t *part = part_with(f, &s, h);
    uint64_t offsets = offsets_of(h & FUSE_LOW_BITS, spread_seed(part[HEAD_SEED]));
    uint32_t x = (uint32_t)h;

    for (unsigned j = 0; j < ARITY; j++)
        x ^= packed_get(part + HEAD_BYTES, slot_of(&s, start, offsets, j), s.width);
    return settle(part, h, (x & packed_mask(s.width)) == 0);
}

static const char *verify(const tamis *f)
{
    uint64_t size = part_bytes_of(&f->plan), keys = 0;

    for (uint64_t at = 0; at < f->plan.bytes; at += size) {
        const uint8_t *part = (const uint8_t *)f->payload + at;
        if (part[HEAD_STASHED] > STASH)
            return "a stash of more keys than fit";
        keys += le32(part);
    }
    return keys == f->count ? NULL : "the keys of the parts are not the count";
}

/* ---- Many queries ------------------------------------------------------ */

/* Slots of a group of keys are on their way from memory while those of the group before are looked
 * at. `plain` is the width if that is 8, 16 or 32, else 0, and known when this is compiled: there
 * is one copy of the code for each, and one more for filters of one part. */
enum { GROUP = 32 };

#define FUSE_INLINE static inline __attribute__((always_inline))

typedef struct flight {
    uint64_t h[GROUP];
    uint32_t slots[GROUP][ARITY];
} flight;

/* What is not plain may reach into the next line. */
FUSE_INLINE void fetch(const uint8_t *slots, uint64_t i, unsigned width, unsigned plain)
{
    const uint8_t *at = slots + packed_byte(i, width);

    __builtin_prefetch(at);
    if (!plain)
        __builtin_prefetch(at + 3);
}

FUSE_INLINE void send(flight *to, const tamis *f, const shape *s, const uint64_t *keys, size_t n,
                      unsigned plain)
{
    const uint8_t *part = f->payload;
    uint64_t seed = spread_seed(part[HEAD_SEED]), salt = f->salt;

    for (size_t i = 0; i < n; i++) {
        uint64_t h = place(keys[i], salt), start = start_of(s, h);
        if (s->part_bits) {
            part = part_with(f, s, h);
            seed = spread_seed(part[HEAD_SEED]);
        }
        uint64_t offsets = offsets_of(h & FUSE_LOW_BITS, seed);
        to->h[i] = h;
        for (unsigned j = 0; j < ARITY; j++) {
            uint64_t slot = slot_of(s, start, offsets, j);
            to->slots[i][j] = (uint32_t)slot;
            fetch(part + HEAD_BYTES, slot, s->width, plain);
        }
    }
}

FUSE_INLINE uint64_t land(const flight *from, const tamis *f, const shape *s, size_t n,
                          unsigned plain)
{
    const uint8_t *part = f->payload;
    bool settled = !s->part_bits && le32(part) != 0 && !part[HEAD_STASHED];
    uint64_t found = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t x = (uint32_t)from->h[i];
        if (s->part_bits)
            part = part_with(f, s, from->h[i]);
        for (unsigned j = 0; j < ARITY; j++)
            x ^= get(part + HEAD_BYTES, from->slots[i][j], s->width, plain);
        bool fits = (x & packed_mask(s->width)) == 0;
        found |= (uint64_t)(settled ? fits : settle(part, from->h[i], fits)) << i;
    }
    return found;
}

static inline size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

FUSE_INLINE size_t has_many_of(const tamis *f, uint64_t *answers, const uint64_t *keys, size_t n,
                               const shape *s, unsigned plain)
{
    flight flights[2];
    size_t found = 0;

    memset(answers, 0, (n + 63) / 64 * sizeof *answers);
    send(&flights[0], f, s, keys, at_most(n, GROUP), plain);
    for (size_t i = 0; i < n; i += GROUP) {
        flight *now = &flights[i / GROUP % 2], *next = &flights[1 - i / GROUP % 2];
        if (n - i > GROUP)
            send(next, f, s, keys + i + GROUP, at_most(n - i - GROUP, GROUP), plain);
        uint64_t bits = land(now, f, s, at_most(n - i, GROUP), plain);
        answers[i / 64] |= bits << i % 64;
        found += (size_t)__builtin_popcountll(bits);
    }
    return found;
}

FUSE_INLINE size_t has_many_plain(const tamis *f, uint64_t *answers, const uint64_t *keys, size_t n,
                                  unsigned plain)
{
    shape s = shape_of(&f->plan);

    if (plain)
        s.width = plain;
    if (s.part_bits)
        return has_many_of(f, answers, keys, n, &s, plain);
    s.part_bits = 0;
    return has_many_of(f, answers, keys, n, &s, plain);
}

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
