/* window.h - where a binary fuse filter keeps the fingerprints of its keys; for any ARITY, 3 or 4,
 * which the includer defines.
 *
 * A part (base/parts.h) is an array of plan.slots fingerprints of plan.width bits, then a tail. The
 * array is cut into blocks, in most filters of 64 slots: with 8 bits, a line of the cache. A
 * key has two slots in one block, the near one, and one (ARITY 4: two) in the far one: any of
 * the 2^window_bits before it. The xor of its slots is its fingerprint. So a lookup reads two
 * lines, whatever the ARITY, where slots in as many segments would take ARITY of them.
 *
 *   h = place(key), after the bits that choose the part:
 *
 *   leading 32 bits    near block, in proportion: any but those of the first window
 *   bits 0 .. 5        first slot in the near block
 *   bits 6 .. 10       from there to the second: at least 1, at most half a block, cyclic
 *   bits 11 .. 16      first slot in the far block
 *   bits 17 .. 21      from there to the second, if there is one
 *   bits 22 .. 33      far block: how far before the one next to the near block
 *   bits 25 .. 56      fingerprint
 *
 * Of each field, as many low bits count as the geometry needs. Fingerprints that are so wide that
 * they share bits with places are no less rare: for strangers, it is the slots that are random. All
 * 64 bits are in use, so that no two keys have both the same slots and the same 32 bits.
 *
 * Where seed 0, h itself, has bad luck, g = mix64(h ^ seed) is used instead of it, in this part.
 *
 * Tail of a part: keys (4 bytes); seeds tried (1), so that 0 means no keys; a zero; stashed (2);
 * a bitmap of the stash by the low bits of g; the stash, g of keys that are in no slot. */
#ifndef TAMIS_FUSE_WINDOW_H
#define TAMIS_FUSE_WINDOW_H

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "base/packed.h"
#include "base/parts.h"
#include "filter.h"
#include "fuse/fingerprint.h"

#define FUSE_INLINE static inline __attribute__((always_inline))

/* ---- Layout ------------------------------------------------------------ */

enum {
    NEAR_AT = 0,
    NEAR_STEP_AT = 6,
    FAR_AT = 11,
    FAR_STEP_AT = 17,
    WINDOW_AT = 22,
    PRINT_AT = 25
};
enum { LEAST_BLOCK_BITS = 2, MOST_BLOCK_BITS = 6, MOST_WINDOW_BITS = 12 };
enum { TAIL_TRIES = 4, TAIL_STASHED = 6, TAIL_BITMAP = 8 };

/* plan.hashes is made of two numbers. */
enum { WINDOW_BITS_AT = 4 };

/* The plan's numbers as the code below wants them. */
typedef struct shape {
    uint64_t starts;                                   /* blocks that may be near ones */
    uint64_t part_bytes;                               /* from one part to the next */
    uint64_t tail;                                     /* in a part */
    uint32_t block_bits, in_block, in_half, in_window; /* the latter three are masks */
    uint32_t stash, bitmap;                            /* keys that fit in; bytes */
    unsigned part_bits, width;
} shape;

static inline unsigned block_bits_of(const tamis_plan *p)
{
    return p->hashes & ((1u << WINDOW_BITS_AT) - 1);
}

static inline unsigned window_bits_of(const tamis_plan *p)
{
    return p->hashes >> WINDOW_BITS_AT;
}

/* Of keys that have the same slots, one goes to the stash: some seven pairs among 2^24 keys, and
 * twice as many in blocks of 32 slots. A filter of a few thousand keys is better off with another
 * seed. */
static inline uint64_t stash_of(uint64_t slots)
{
    return 3 + (slots >> 16);
}

static inline uint64_t bitmap_bytes_of(uint64_t slots)
{
    return slots >> 16 ? 128 : 8;
}

static inline uint64_t tail_bytes_of(uint64_t slots)
{
    return TAIL_BITMAP + bitmap_bytes_of(slots) + 8 * stash_of(slots);
}

static inline uint64_t part_bytes_of(const tamis_plan *p)
{
    return round_up(packed_bytes(p->slots, p->width) + tail_bytes_of(p->slots), 64);
}

static inline shape shape_of(const tamis_plan *p)
{
    uint32_t in_block = (UINT32_C(1) << block_bits_of(p)) - 1;
    uint64_t size = part_bytes_of(p);

    return (shape){ .starts = (p->slots >> block_bits_of(p)) - (UINT64_C(1) << window_bits_of(p)),
                    .part_bytes = size,
                    .tail = size - tail_bytes_of(p->slots),
                    .block_bits = block_bits_of(p),
                    .in_block = in_block,
                    .in_half = in_block >> 1,
                    .in_window = (UINT32_C(1) << window_bits_of(p)) - 1,
                    .stash = (uint32_t)stash_of(p->slots),
                    .bitmap = (uint32_t)bitmap_bytes_of(p->slots),
                    .part_bits = part_bits(p->capacity),
                    .width = p->width };
}

/* ---- Places ------------------------------------------------------------ */

/* What a key is placed by: seed 0 is the hash itself. */
static inline uint64_t seeded(uint64_t h, unsigned seed)
{
    return seed ? mix64(h ^ seed * HASH_GOLDEN) : h;
}

/* The hash that became g. */
static inline uint64_t unseeded(uint64_t g, unsigned seed)
{
    return seed ? unmix64(g) ^ seed * HASH_GOLDEN : g;
}

/* The first `skip` bits of g are the same for all keys of the part. */
static inline uint32_t near_of(const shape *s, uint64_t g, unsigned skip)
{
    return s->in_window + 1 + (uint32_t)((g << skip >> 32) * s->starts >> 32);
}

/* From the near block to the far one. */
static inline uint32_t reach_of(const shape *s, uint64_t g)
{
    return 1 + ((uint32_t)(g >> WINDOW_AT) & s->in_window);
}

/* The slots of a key. */
typedef struct spots {
    uint32_t at[ARITY];
} spots;

static inline spots spots_of(const shape *s, uint64_t g, uint32_t near)
{
    uint32_t first = near << s->block_bits, far = (near - reach_of(s, g)) << s->block_bits;
    uint32_t low = (uint32_t)g, step = low >> NEAR_STEP_AT & s->in_half;
    spots to;

    to.at[0] = first + (low & s->in_block);
    to.at[1] = first + ((low + step + 1) & s->in_block);
    low >>= FAR_AT;
    to.at[2] = far + (low & s->in_block);
#if ARITY == 4
    step = low >> (FAR_STEP_AT - FAR_AT) & s->in_half;
    to.at[3] = far + ((low + step + 1) & s->in_block);
#endif
    return to;
}

static inline uint32_t print_of(uint64_t g)
{
    return (uint32_t)(g >> PRINT_AT);
}

/* A slot; `plain` is the width if that is 8, 16 or 32, else 0, and known when this is compiled. */
static inline uint32_t get(const uint8_t *slots, uint64_t i, unsigned width, unsigned plain)
{
    return plain ? packed_get(slots, i, plain) : packed_get_odd(slots, i, width);
}

/* ---- Sizing ------------------------------------------------------------ */

/* Beyond this, places would share too many bits: those of the part, 21 of the block, 34 others. */
#define MOST_KEYS (UINT64_C(1) << 40)

/* Slots are numbered in 32 bits. */
static inline bool is_shape(const tamis_plan *p)
{
    unsigned block = block_bits_of(p), window = window_bits_of(p);

    return p->width >= 1 && p->width <= PACKED_WIDEST && block >= LEAST_BLOCK_BITS &&
           block <= MOST_BLOCK_BITS && window <= MOST_WINDOW_BITS && p->slots < UINT64_C(1) << 31 &&
           p->slots % (UINT64_C(1) << block) == 0 && p->slots >> block > UINT64_C(1) << window &&
           p->capacity < MOST_KEYS;
}

static uint64_t bytes(const tamis_plan *p)
{
    return is_shape(p) ? bytes_of_parts(p->capacity, part_bytes_of(p)) : 0;
}

/* The xor of a stranger's slots is as good as random. */
static double rate(const tamis_plan *p, double n)
{
    return fingerprint_rate(p, n, p->width);
}

/* Parts of up to `keys` keys get blocks of 2^block slots and a window of 2^window blocks, and near
 * blocks of `starts` / 1024 slots a key. Rows began as the fewest slots with which nine in ten of
 * 300 simulated sets (40 above 100,000 keys, a few above a million) were peeled at the first
 * attempt, and were then evened out by hand. A row that is too tight costs time, for another seed,
 * and no key. The last row has no upper end. */
typedef struct sizing {
    uint64_t keys;
    uint32_t block, window, starts;
} sizing;

/* From this many keys on, the filter is larger than the cache next to the processor, and lines
 * count more than a little room. */
enum { MANY_KEYS = 100001 };

static inline sizing row_for(const sizing *row, uint64_t n, unsigned width)
{
    sizing fit;
    unsigned halvings = width <= 8 ? 0 : WIDE_HALVINGS;

    while (row->keys < n)
        row++;
    fit = *row;
    if (n >= MANY_KEYS) {
        fit.block -= halvings;
        fit.window += halvings;
        fit.starts += halvings * STARTS_A_HALVING;
    }
    return fit;
}

static inline uint64_t slots_in_row(const sizing *row, uint64_t n)
{
    uint64_t length = UINT64_C(1) << row->block;
    uint64_t starts = (n * row->starts / 1024 + length - 1) / length;

    return ((starts ? starts : 1) + (UINT64_C(1) << row->window)) * length;
}

/* More keys never get fewer slots: a row begins where the one before it ends. */
static inline tamis_status plan_by(tamis_plan *p, const tamis_spec *spec, const sizing *rows)
{
    uint64_t n = part_room(spec->keys), least = 0;

    p->width = fingerprint_bits(spec->fpr);
    if (p->width > PACKED_WIDEST || spec->keys >= MOST_KEYS)
        return TAMIS_RANGE;
    sizing fit = row_for(rows, n, p->width);
    for (; rows->keys < n; rows++) {
        sizing before = row_for(rows, rows->keys, p->width);
        least = slots_in_row(&before, rows->keys);
    }
    p->hashes = fit.block | fit.window << WINDOW_BITS_AT;
    p->slots = slots_in_row(&fit, n);
    if (p->slots < least)
        p->slots = round_up(least, UINT64_C(1) << fit.block);
    return TAMIS_OK;
}

/* One block in sixteen more. */
static void enlarge(tamis_plan *p)
{
    uint64_t blocks = p->slots >> block_bits_of(p);

    p->slots = (blocks + blocks / 16 + 1) << block_bits_of(p);
    p->bytes = bytes(p);
}

/* ---- The stash --------------------------------------------------------- */

/* Where in the tail the word of the bitmap is that has the key's bit, number g modulo 64. */
static inline uint64_t stash_word(const shape *s, uint64_t g)
{
    return TAIL_BITMAP + (g >> 3 & (s->bitmap - 1) & ~UINT64_C(7));
}

static inline bool may_be_stashed(const shape *s, const uint8_t *tail, uint64_t g)
{
    return le64(tail + stash_word(s, g)) >> g % 64 & 1;
}

static inline bool is_stashed(const shape *s, const uint8_t *tail, uint64_t g)
{
    const uint8_t *stash = tail + TAIL_BITMAP + s->bitmap;
    unsigned n = le16(tail + TAIL_STASHED);

    for (unsigned i = 0; i < n && i < s->stash; i++)
        if (le64(stash + 8 * i) == g)
            return true;
    return false;
}

/* ---- Queries ----------------------------------------------------------- */

static inline const uint8_t *part_with(const tamis *f, const shape *s, uint64_t h)
{
    return (const uint8_t *)f->payload + part_of(h, s->part_bits) * s->part_bytes;
}

static bool has(const tamis *f, uint64_t key)
{
    const shape s = shape_of(&f->plan);
    uint64_t h = place(key, f->salt);
    const uint8_t *part = part_with(f, &s, h), *tail = part + s.tail;
    unsigned tries = tail[TAIL_TRIES];

    if (tries == 0)
        return false;
    uint64_t g = seeded(h, tries - 1);
    spots to = spots_of(&s, g, near_of(&s, g, tries == 1 ? s.part_bits : 0));
    uint32_t x = print_of(g);
    for (unsigned j = 0; j < ARITY; j++)
        x ^= packed_get(part, to.at[j], s.width);
    return (x & packed_mask(s.width)) == 0 ||
           (may_be_stashed(&s, tail, g) && is_stashed(&s, tail, g));
}

static const char *verify_part(const shape *s, const uint8_t *tail)
{
    if (le16(tail + TAIL_STASHED) > s->stash)
        return "a stash of more keys than fit";
    if ((tail[TAIL_TRIES] == 0) != (le32(tail) == 0))
        return "keys and no seed, or a seed and no keys";
    return NULL;
}

static const char *verify(const tamis *f)
{
    const shape s = shape_of(&f->plan);
    uint64_t keys = 0;

    for (uint64_t at = 0; at < f->plan.bytes; at += s.part_bytes) {
        const uint8_t *tail = (const uint8_t *)f->payload + at + s.tail;
        const char *fault = verify_part(&s, tail);
        if (fault)
            return fault;
        keys += le32(tail);
    }
    return keys == f->count ? NULL : "the keys of the parts are not the count";
}

/* ---- Many queries ------------------------------------------------------ */

/* Slots of a group of keys are on their way from memory while those of the group before are looked
 * at. What is `plain` or `single` is known when this is compiled: there is one copy of the code for
 * each width that is plain, and of each one more for filters of a single part with seed 0. */
enum { GROUP = 64 };

typedef struct flight {
    size_t n;
    uint64_t absent; /* keys of parts without keys */
    uint64_t g[GROUP];
    uint32_t at[ARITY][GROUP];
    const uint8_t *part[GROUP];
} flight;

/* The part of a key, and what it is placed by there. Few parts have another seed than 0. */
FUSE_INLINE uint64_t place_in_part(flight *to, size_t i, const tamis *f, const shape *s,
                                   unsigned *skip)
{
    uint64_t h = to->g[i];
    unsigned tries;

    to->part[i] = part_with(f, s, h);
    tries = to->part[i][s->tail + TAIL_TRIES];
    if (__builtin_expect(tries == 1, 1))
        return h;
    to->absent |= (uint64_t)(tries == 0) << i;
    *skip = 0;
    return to->g[i] = seeded(h, tries - 1);
}

FUSE_INLINE void place_group(flight *to, const tamis *f, const shape *s, const uint64_t *keys,
                             size_t n, bool single)
{
    uint64_t salt = f->salt;

    to->n = n;
    to->absent = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t g = to->g[i] = place(keys[i], salt);
        unsigned skip = s->part_bits;
        if (!single)
            g = place_in_part(to, i, f, s, &skip);
        spots spot = spots_of(s, g, near_of(s, g, single ? 0 : skip));
        for (unsigned j = 0; j < ARITY; j++)
            to->at[j][i] = spot.at[j];
    }
}

/* A plain block is one line. What is not plain may reach into the next. */
FUSE_INLINE void fetch(const uint8_t *slots, const flight *to, size_t i, unsigned width,
                       unsigned plain)
{
    for (unsigned j = 0; j < ARITY; j += plain == 8 ? 2 : 1) {
        const uint8_t *at = slots + packed_byte(to->at[j][i], width);
        __builtin_prefetch(at);
        if (!plain)
            __builtin_prefetch(at + 3);
    }
}

FUSE_INLINE bool look(const uint8_t *slots, const flight *from, size_t i, const shape *s,
                      unsigned plain, bool stash)
{
    uint64_t g = from->g[i];
    const uint8_t *tail = slots + s->tail;
    uint32_t x = print_of(g);

    for (unsigned j = 0; j < ARITY; j++)
        x ^= get(slots, from->at[j][i], s->width, plain);
    bool fits = (x & packed_mask(s->width)) == 0;
    if (stash && __builtin_expect(may_be_stashed(s, tail, g), 0))
        fits |= is_stashed(s, tail, g);
    return fits;
}

FUSE_INLINE uint64_t look_at_group(const flight *now, const flight *next, const uint8_t *slots,
                                   const shape *s, unsigned plain, bool single, bool stash)
{
    uint64_t found = 0;

    for (size_t i = 0; i < now->n; i++) {
        if (i < next->n)
            fetch(single ? slots : next->part[i], next, i, s->width, plain);
        found |= (uint64_t)look(single ? slots : now->part[i], now, i, s, plain, stash) << i;
    }
    return found & ~now->absent;
}

FUSE_INLINE size_t has_many_of(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n,
                               const shape *s, unsigned plain, bool single, bool stash)
{
    flight flights[2];
    size_t found = 0;

    place_group(&flights[0], f, s, keys, n < GROUP ? n : GROUP, single);
    for (size_t i = 0; i < flights[0].n; i++)
        fetch(single ? f->payload : flights[0].part[i], &flights[0], i, s->width, plain);
    for (size_t i = 0; i < n; i += GROUP) {
        flight *now = &flights[i / GROUP % 2], *next = &flights[1 - i / GROUP % 2];
        size_t rest = n - i < GROUP ? 0 : n - i - GROUP;
        place_group(next, f, s, keys + (n - rest), rest < GROUP ? rest : GROUP, single);
        hits[i / GROUP] = look_at_group(now, next, f->payload, s, plain, single, stash);
        found += (size_t)__builtin_popcountll(hits[i / GROUP]);
    }
    return found;
}

FUSE_INLINE size_t has_many_plain(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n,
                                  unsigned plain)
{
    shape s = shape_of(&f->plan);
    const uint8_t *tail = (const uint8_t *)f->payload + s.tail;

    if (plain)
        s.width = plain;
    if (s.part_bits || tail[TAIL_TRIES] != 1)
        return has_many_of(f, hits, keys, n, &s, plain, false, true);
    if (le16(tail + TAIL_STASHED))
        return has_many_of(f, hits, keys, n, &s, plain, true, true);
    return has_many_of(f, hits, keys, n, &s, plain, true, false);
}

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

static const tamis_batch *batch(unsigned cpu)
{
    static const tamis_batch BATCH = { .has_many = has_many };

    (void)cpu;
    return &BATCH;
}

#endif
