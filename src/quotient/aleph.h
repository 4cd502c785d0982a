/* aleph.h - the geometry of aleph filters, and what is done to one fingerprint. aleph.c says what
 * it means. */
#ifndef TAMIS_QUOTIENT_ALEPH_H
#define TAMIS_QUOTIENT_ALEPH_H

#include "base/hash.h"
#include "filter.h"
#include "quotient/lanes.h"
#include "quotient/runs.h"

/* ---- Fingerprints of any length ---------------------------------------- */

/* A slot holds the bits of a fingerprint, a one, and zeros to its end: 1011 in five bits is 10111,
 * 10 is 10100 and one without bits, a void, is 10000. */

static inline uint32_t aleph_void_of(unsigned width)
{
    return UINT32_C(1) << (width - 1);
}

/* Zeros after the one. What is no fingerprint counts as void. */
static inline unsigned aleph_zeros_of(uint32_t x, unsigned width)
{
    return (unsigned)__builtin_ctz(x | aleph_void_of(width));
}

static inline unsigned aleph_bits_of(uint32_t x, unsigned width)
{
    return width - 1 - aleph_zeros_of(x, width);
}

/* Whether the bits of x are the first of those of `fresh`, which has them all. */
static inline bool aleph_covers(uint32_t x, uint32_t fresh)
{
    return ((x ^ fresh) & ~(x ^ (x - 1))) == 0;
}

/* Runs are sorted by this: by the bits, and what covers others comes before them. So the last one
 * that covers a fingerprint is the longest. */
static inline uint64_t aleph_order_of(uint32_t x, unsigned width)
{
    return (uint64_t)(x & (x - 1)) << 6 | aleph_bits_of(x, width);
}

/* In a table of twice the slots the first bit is part of the quotient. */
static inline uint32_t aleph_shortened(uint32_t x, unsigned width, unsigned to_width)
{
    return (uint32_t)((uint64_t)x << (1 + to_width - width)) & packed_mask(to_width);
}

/* ---- Geometry ---------------------------------------------------------- */

/* A filter, taken apart. All but the pointer to the table, and `salt`, come from the plan and are
 * in f->derived. */
typedef struct aleph_filter {
    runs_table t;
    uint64_t salt, fingerprints, room; /* as many slots as `room` may be in use */
    lanes lanes;
} aleph_filter;

_Static_assert(sizeof(aleph_filter) <= TAMIS_DERIVED_SIZE, "");

static inline aleph_filter aleph_of(const tamis *f)
{
    aleph_filter a = *(const aleph_filter *)(const void *)f->derived;

    a.t.at = (uint8_t *)f->payload + RUNS_HEADER;
    a.salt = f->salt;
    return a;
}

/* Where a key goes: its quotient, and its fingerprint as a slot holds it when it is new. */
typedef struct aleph_position {
    uint64_t quotient;
    uint32_t fresh;
} aleph_position;

static inline aleph_position aleph_position_of(const aleph_filter *a, uint64_t hash)
{
    uint64_t fingerprint = scale64(hash, a->fingerprints);

    return (aleph_position){ fingerprint >> (a->t.width - 1),
                             (uint32_t)(fingerprint << 1 | 1) & packed_mask(a->t.width) };
}

void tamis__aleph_use_avx2(tamis_ops *ops);

#endif
