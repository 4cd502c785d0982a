/* window.h - where a binary fuse filter keeps the fingerprints of its keys; for any ARITY, 3 to 5,
 * which the includer defines.
 *
 * A part (base/parts.h) is an array of plan.slots fingerprints of plan.width bits, then a tail. The
 * array is cut into blocks, in most filters of 64 slots: with 8 bits, a line of the cache. A
 * key has two slots (ARITY 5: four) in one block, the near one, and one (ARITY 4: two) in the far
 * one: any of the 2^window_bits before it. The xor of its slots is its fingerprint. So a lookup
 * reads two lines, whatever the ARITY, where slots in as many segments would take ARITY of them.
 *
 *   h = hash_key(key), after the bits that choose the part:
 *
 *   leading 32 bits    near block, in proportion: any but those of the first window
 *   bits 0 .. 5        first slot in the near block
 *   bits 6 .. 10       from there to the second: at least 1, at most half a block, cyclic
 *   bits 11 .. 28      from the near block back to the slot in the far one
 *   bits 27 .. 31      from there to the second, if there is one
 *   bits 32 .. 56      fingerprint, xored with what bits 0 .. 31 are mixed to
 *
 * With ARITY 5, there is a slot in each quarter of the near block:
 *
 *   bits 0 .. 15       where in the quarters, four bits each
 *   bits 16 .. 31      from the near block back to the slot in the far one
 *
 * Of each field, as many low bits count as the geometry needs: of the window, 16 in large filters,
 * so that 32 bits have all places within blocks. A stranger that shares with a key the only slots
 * of the two that are not zero passes if it shares the fingerprint: in a filter of five keys that
 * is not rare. So fingerprints are made of bits that choose no slot. They are mixed with those that
 * do, because in large filters the near block takes some of the former.
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

enum { NEAR_STEP_AT = 6, REACH_AT = ARITY == 5 ? 16 : 11, FAR_STEP_AT = 27 };
enum { LEAST_BLOCK_BITS = 2, MOST_BLOCK_BITS = 6, MOST_WINDOW_BITS = ARITY == 5 ? 10 : 12 };
enum { TAIL_TRIES = 4, TAIL_STASHED = 6, TAIL_BITMAP = 8 };

/* Slots of a key in its near block: they come first. */
enum { IN_NEAR = ARITY == 5 ? 4 : 2, IN_QUARTER_BITS = 4 };

/* plan.hashes is made of two numbers. */
enum { WINDOW_BITS_AT = 4 };

/* The plan's numbers as the code below wants them. */
typedef struct shape {
    uint64_t starts;                                   /* blocks that may be near ones */
    uint64_t room;                                     /* slots of them */
    uint64_t part_bytes;                               /* from one part to the next */
    uint64_t tail;                                     /* in a part */
    uint32_t window;                                   /* slots in it */
    uint32_t block_bits, in_block, in_half, in_window; /* the latter three are masks of slots */
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
    uint32_t window = UINT32_C(1) << (block_bits_of(p) + window_bits_of(p));
    uint64_t size = part_bytes_of(p), room = p->slots - window;

    return (shape){ .starts = room >> block_bits_of(p),
                    .room = room,
                    .part_bytes = size,
                    .tail = size - tail_bytes_of(p->slots),
                    .window = window,
                    .block_bits = block_bits_of(p),
                    .in_block = in_block,
                    .in_half = in_block >> 1,
                    .in_window = window - 1,
                    .stash = (uint32_t)stash_of(p->slots),
                    .bitmap = (uint32_t)bitmap_bytes_of(p->slots),
                    .part_bits = part_bits(p->capacity),
                    .width = p->width };
}

_Static_assert(sizeof(shape) <= TAMIS_DERIVED_SIZE, "");

static inline const shape *kept_shape(const tamis *f)
{
    return (const shape *)(const void *)f->derived;
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

/* The first slot of the near block. The first `skip` bits of g are the same for all keys of the
 * part. */
static inline uint32_t near_of(const shape *s, uint64_t g, unsigned skip)
{
    return s->window + ((uint32_t)((g << skip >> 32) * s->room >> 32) & ~s->in_block);
}

/* From there back to the slot in the far block, less 1. */
static inline uint32_t reach_of(const shape *s, uint32_t low)
{
    return low >> REACH_AT & s->in_window;
}

/* The slot of the same block that is so many steps on. */
static inline uint32_t step_from(const shape *s, uint32_t slot, uint32_t steps)
{
    return (slot & ~s->in_block) + ((slot + 1 + (steps & s->in_half)) & s->in_block);
}

/* The slots of a key. */
typedef struct spots {
    uint32_t at[ARITY];
} spots;

static inline void put_near(spots *to, const shape *s, uint32_t low, uint32_t near)
{
#if ARITY == 5
    for (uint32_t j = 0, quarter = (s->in_block >> 2) + 1; j < IN_NEAR; j++)
        to->at[j] = near + j * quarter + (low >> j * IN_QUARTER_BITS & (quarter - 1));
#else
    to->at[0] = near + (low & s->in_block);
    to->at[1] = near + ((low + 1 + (low >> NEAR_STEP_AT & s->in_half)) & s->in_block);
#endif
}

/* Low bits of g are all that is needed of it. */
static inline spots spots_of(const shape *s, uint32_t low, uint32_t near)
{
    spots to;

    put_near(&to, s, low, near);
    to.at[IN_NEAR] = near - 1 - reach_of(s, low);
#if ARITY == 4
    to.at[3] = step_from(s, to.at[2], low >> FAR_STEP_AT);
#endif
    return to;
}

/* While a filter is built, bit 57 tells of a key in a slot that it is in its far block: so the slot
 * and the bits below tell where the near one is. */
enum { FAR_AT = 57 };

static inline uint32_t near_left(const shape *s, uint32_t slot, uint64_t state)
{
    uint32_t is_far = 0 - (uint32_t)(state >> FAR_AT & 1);

    uint32_t blocks = (reach_of(s, (uint32_t)state) | s->in_block) + 1;

    return (slot & ~s->in_block) + (blocks & is_far);
}

/* The factor is a prime next to 2^32 over the golden ratio. */
#define PRINT_FACTOR UINT64_C(0x9E3779B1)
#define PRINT_MASK ((UINT64_C(1) << FAR_AT) - 1)

/* Of a hash as of a state: bits that only one of the two has do not count. */
static inline uint32_t print_of(uint64_t g)
{
    return (uint32_t)(((g & PRINT_MASK) ^ (uint32_t)g * PRINT_FACTOR) >> 32);
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
           p->capacity < MOST_KEYS && p->flags == 0 && p->load == 0;
}

static inline uint64_t bytes(const tamis_plan *p)
{
    return is_shape(p) ? bytes_of_parts(p->capacity, part_bytes_of(p)) : 0;
}

/* The xor of a stranger's slots is as good as random. */
static inline double rate(const tamis_plan *p, double n)
{
    return fingerprint_rate(p, n, p->width);
}

/* One block in sixteen more. */
static inline tamis_status resize(tamis_plan *p, uint64_t keys)
{
    uint64_t blocks = p->slots >> block_bits_of(p);

    (void)keys;
    p->slots = (blocks + blocks / 16 + 1) << block_bits_of(p);
    return TAMIS_OK;
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

static inline const char *verify_part(const shape *s, const uint8_t *tail)
{
    if (le16(tail + TAIL_STASHED) > s->stash)
        return "a stash of more keys than fit";
    if ((tail[TAIL_TRIES] == 0) != (le32(tail) == 0))
        return "keys and no seed, or a seed and no keys";
    return NULL;
}

static inline const char *verify(const tamis *f)
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

#endif
