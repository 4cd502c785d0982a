/* lanes.h - several remainders in one word, compared at once.
 *
 *   width 12    ................|  lane 3   |  lane 2   |  lane 1   |  lane 0   |
 *   lows                                   1           1           1           1
 *   highs                        1           1           1           1
 *
 * Eight bytes, from the byte on in which a remainder starts, have 57 bits or more from its first
 * bit on: there are as many lanes as fit in 57 bits. */
#ifndef TAMIS_BASE_LANES_H
#define TAMIS_BASE_LANES_H

#include <stdint.h>

typedef struct lanes {
    unsigned n, width;
    uint64_t lows, highs;
} lanes;

static inline lanes lanes_of(unsigned width)
{
    unsigned n = 57 / width;
    /* 1 + 2^width + ... */
    uint64_t lows = ((UINT64_C(1) << n * width) - 1) / ((UINT64_C(1) << width) - 1);

    return (lanes){ n, width, lows, lows << (width - 1) };
}

/* A one at the top of the lowest lane of v that is zero, and maybe of others above it. */
static inline uint64_t lanes_zero(const lanes *l, uint64_t v)
{
    return (v - l->lows) & ~v & l->highs;
}

#endif
