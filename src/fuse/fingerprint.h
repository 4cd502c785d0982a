/* fingerprint.h - what the filters of this folder share: a part that has keys takes a stranger for
 * one of them if some bits agree, and one that has none takes nobody. */
#ifndef TAMIS_FUSE_FINGERPRINT_H
#define TAMIS_FUSE_FINGERPRINT_H

#include <math.h>

#include "base/packed.h"
#include "base/parts.h"
#include "filter.h"

/* ---- Code for each width ----------------------------------------------- */

/* For functions that get constants, of which there shall be a copy for each. */
#define FUSE_INLINE static inline __attribute__((always_inline))

/* Before a loop over the slots of a key: a copy of its body for each, which takes a fifth of the
 * time off a build. */
#if defined(__clang__)
#define FUSE_EACH_SLOT _Pragma("unroll")
#else
#define FUSE_EACH_SLOT _Pragma("GCC unroll 5")
#endif

/* function(..., plain), where `plain` is the width if that is 8, 16 or 32, else 0: a constant. */
#define FUSE_BY_WIDTH(width, function, ...)      \
    ((width) == 8    ? function(__VA_ARGS__, 8)  \
     : (width) == 16 ? function(__VA_ARGS__, 16) \
     : (width) == 32 ? function(__VA_ARGS__, 32) \
                     : function(__VA_ARGS__, 0))

/* The copy of a function that is for that width: name_8, name_16, name_32 or name_odd, each with
 * the suffix. */
#define FUSE_PICK(width, name, suffix)   \
    ((width) == 8    ? name##_8##suffix  \
     : (width) == 16 ? name##_16##suffix \
     : (width) == 32 ? name##_32##suffix \
                     : name##_odd##suffix)

/* If there are more parts, for_cpu() does not ask all of them for their seed and their stash: a map
 * of billions of keys would be read in as many places before its first lookup. */
enum { FUSE_MOST_PARTS_ASKED = 64 };

/* Slot i of an array. */
FUSE_INLINE uint32_t fingerprint_get(const uint8_t *slots, uint64_t i, unsigned width,
                                     unsigned plain)
{
    return plain ? packed_get(slots, i, plain) : packed_get_odd(slots, i, width);
}

FUSE_INLINE void fingerprint_put(uint8_t *slots, uint64_t i, unsigned width, unsigned plain,
                                 uint32_t x)
{
    if (plain)
        packed_put(slots, i, plain, x);
    else
        packed_put_odd(slots, i, width, x);
}

/* ---- Rates ------------------------------------------------------------- */

/* The fewest bits that agree by chance at most at that rate. */
static inline uint32_t fingerprint_bits(double fpr)
{
    uint32_t bits = 1;

    while (ldexp(1, -(int)bits) > fpr)
        bits++;
    return bits;
}

/* Those that are asked for, or as many as the rate needs. */
static inline uint32_t fingerprint_width(const tamis_spec *spec)
{
    return spec->tag_bits ? spec->tag_bits : fingerprint_bits(spec->fpr);
}

static inline double fingerprint_rate_of(const tamis_plan *p, double n, unsigned bits)
{
    double parts = ldexp(1, (int)part_bits(p->capacity));
    double empty = parts > 1 ? exp(n * log1p(-1 / parts)) : n == 0;

    return ldexp(1 - empty, -(int)bits);
}

/* What the slots of a stranger add up to is as good as random. */
static inline double fingerprint_rate(const tamis_plan *p, double n)
{
    return fingerprint_rate_of(p, n, p->width);
}

#endif
