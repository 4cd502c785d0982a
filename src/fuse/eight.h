/* eight.h - places of eight keys at a time: the portable steps, of which eight_avx2.h has faster
 * ones. A kernel includes one of the two, then peel.h and window_many.h. */
#ifndef TAMIS_FUSE_EIGHT_H
#define TAMIS_FUSE_EIGHT_H

#include "fuse/window.h"

enum { EIGHT = 8, PLACES = 64 };

/* Slots and fingerprints of some keys. */
typedef struct places {
    _Alignas(32) uint32_t at[ARITY][PLACES];
    uint32_t print[PLACES];
} places;

static inline void put_key(places *to, size_t i, const shape *s, uint64_t g, uint32_t near)
{
    spots spot = spots_of(s, (uint32_t)g, near);

    for (unsigned j = 0; j < ARITY; j++)
        to->at[j][i] = spot.at[j];
    to->print[i] = print_of(g);
}

#ifndef FUSE_AVX2

static inline void hash_eight(uint64_t *g, const uint64_t *keys, uint64_t salt)
{
    for (unsigned i = 0; i < EIGHT; i++)
        g[i] = hash_key(keys[i], salt);
}

/* Of keys number i to i + 7. */
static inline void place_eight(places *to, size_t i, const shape *s, const uint64_t *g,
                               unsigned skip)
{
    for (unsigned k = 0; k < EIGHT; k++)
        put_key(to, i + k, s, g[k], near_of(s, g[k], skip));
}

/* Where the parts of eight keys begin. */
static inline void part_eight(uint64_t *to, const shape *s, const uint64_t *g)
{
    for (unsigned k = 0; k < EIGHT; k++)
        to[k] = part_of(g[k], s->part_bits) * s->part_bytes;
}

/* Places from what is left in slots that have one key each. */
static inline void trace_eight(places *to, size_t i, const shape *s, const uint32_t *slots,
                               const uint64_t *states)
{
    for (unsigned k = 0; k < EIGHT; k++)
        put_key(to, i + k, s, states[k], near_left(s, slots[k], states[k]));
}

/* Whether all have their near slots before `stop`. */
static inline bool are_before(const places *p, size_t i, uint32_t stop)
{
    bool before = true;

    for (unsigned k = 0; k < EIGHT; k++)
        before &= p->at[0][i + k] < stop;
    return before;
}

/* Bit k tells whether, of the bits of the mask, x[k] has those of the fingerprint. */
static inline unsigned fits_eight(const places *p, size_t i, const uint32_t *x, uint32_t mask)
{
    unsigned fits = 0;

    for (unsigned k = 0; k < EIGHT; k++)
        fits |= (unsigned)(((x[k] ^ p->print[i + k]) & mask) == 0) << k;
    return fits;
}

/* Bit k tells whether the bitmap of a stash, of `size` bytes, has the bit of g[k]. */
static inline unsigned marked_eight(const uint8_t *bitmap, uint32_t size, const uint64_t *g)
{
    unsigned marked = 0;

    for (unsigned k = 0; k < EIGHT; k++)
        marked |= (unsigned)(bitmap[g[k] >> 3 & (size - 1)] >> g[k] % 8 & 1) << k;
    return marked;
}

/* The same, of the bitmap in the part of each key. */
static inline unsigned marked_in_parts(const uint8_t *bitmap, uint32_t size, const uint64_t *g,
                                       const uint64_t *parts)
{
    unsigned marked = 0;

    for (unsigned k = 0; k < EIGHT; k++)
        marked |= (unsigned)(bitmap[parts[k] + (g[k] >> 3 & (size - 1))] >> g[k] % 8 & 1) << k;
    return marked;
}

/* What the slots of each key are together, at a width that is not plain. */
static inline void odd_eight(uint32_t *x, const places *p, size_t i, const uint8_t *slots,
                             unsigned width)
{
    for (unsigned k = 0; k < EIGHT; k++) {
        x[k] = 0;
        for (unsigned j = 0; j < ARITY; j++)
            x[k] ^= packed_get_odd(slots, p->at[j][i + k], width);
    }
}

static inline void odd_in_parts(uint32_t *x, const places *p, size_t i, const uint8_t *slots,
                                const uint64_t *parts, unsigned width)
{
    for (unsigned k = 0; k < EIGHT; k++) {
        x[k] = 0;
        for (unsigned j = 0; j < ARITY; j++)
            x[k] ^= packed_get_odd(slots + parts[k], p->at[j][i + k], width);
    }
}

#endif

#endif
