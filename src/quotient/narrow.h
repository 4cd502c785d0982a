/* narrow.h - sorts 32-bit numbers, as many as the first level of the cache holds. */
#ifndef TAMIS_QUOTIENT_NARROW_H
#define TAMIS_QUOTIENT_NARROW_H

#include <stddef.h>
#include <stdint.h>

enum { DIGIT = 11 };

static inline unsigned digit_of(uint32_t x, unsigned shift)
{
    return x >> shift & ((1 << DIGIT) - 1);
}

/* One pass of a radix sort. */
static inline void sort_digit(uint32_t *to, const uint32_t *from, size_t n, unsigned shift)
{
    uint32_t ends[1 << DIGIT] = { 0 }, at = 0;

    for (size_t i = 0; i < n; i++)
        ends[digit_of(from[i], shift)]++;
    for (unsigned d = 0; d < 1 << DIGIT; d++) {
        uint32_t here = ends[d];
        ends[d] = at;
        at += here;
    }
    for (size_t i = 0; i < n; i++)
        to[ends[digit_of(from[i], shift)]++] = from[i];
}

/* All are below `range`, at most 2^32. Returns where they are: at x or at y. */
static inline uint32_t *sort_narrow(uint32_t *x, uint32_t *y, size_t n, uint64_t range)
{
    for (unsigned shift = 0; (range - 1) >> shift; shift += DIGIT) {
        sort_digit(y, x, n, shift);
        uint32_t *swap = x;
        x = y;
        y = swap;
    }
    return x;
}

#endif
