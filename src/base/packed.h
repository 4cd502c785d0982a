/* packed.h - arrays of w-bit integers, w from 1 to 32, one behind the other in little-endian bits.
 *
 * Widths of 8, 16 and 32 bits are plain bytes, halves and words. Any other number lies within eight
 * bytes from the byte that it starts in, since 7 + 32 bits are fewer than 64: one load reads it.
 * The last of them may reach beyond the array's own bytes; packed_bytes() has room for that. */
#ifndef TAMIS_BASE_PACKED_H
#define TAMIS_BASE_PACKED_H

#include <stdbool.h>

#include "base/le.h"

/* Up to 7 + 25 bits, four bytes do: they reach into the next line of the cache less often. */
enum { PACKED_WIDEST = 32, PACKED_NARROW = 25 };

static inline bool packed_is_plain(unsigned width)
{
    return width == 8 || width == 16 || width == 32;
}

/* Bytes that get and put may touch in an array of n numbers, n below 2^56. */
static inline uint64_t packed_bytes(uint64_t n, unsigned width)
{
    return (n * width + 7) / 8 + (packed_is_plain(width) ? 0 : 7);
}

static inline uint32_t packed_mask(unsigned width)
{
    return UINT32_MAX >> (32 - width);
}

/* Where the number starts. */
static inline uint64_t packed_byte(uint64_t i, unsigned width)
{
    return i * width / 8;
}

/* As packed_get() and packed_put(), for a width that is known not to be plain. */
static inline uint32_t packed_get_odd(const uint8_t *array, uint64_t i, unsigned width)
{
    const uint8_t *at = array + packed_byte(i, width);
    unsigned shift = (unsigned)(i * width % 8);

    if (width <= PACKED_NARROW)
        return le32(at) >> shift & packed_mask(width);
    return (uint32_t)(le64(at) >> shift) & packed_mask(width);
}

static inline void packed_put_odd(uint8_t *array, uint64_t i, unsigned width, uint32_t x)
{
    uint8_t *at = array + packed_byte(i, width);
    unsigned shift = (unsigned)(i * width % 8);
    uint64_t rest = le64(at) & ~((uint64_t)packed_mask(width) << shift);

    put_le64(at, rest | (uint64_t)(x & packed_mask(width)) << shift);
}

static inline uint32_t packed_get(const uint8_t *array, uint64_t i, unsigned width)
{
    if (width == 8)
        return array[i];
    if (width == 16)
        return le16(array + 2 * i);
    if (width == 32)
        return le32(array + 4 * i);
    return packed_get_odd(array, i, width);
}

static inline void packed_put(uint8_t *array, uint64_t i, unsigned width, uint32_t x)
{
    if (width == 8)
        array[i] = (uint8_t)x;
    else if (width == 16)
        put_le16(array + 2 * i, (uint16_t)x);
    else if (width == 32)
        put_le32(array + 4 * i, x);
    else
        packed_put_odd(array, i, width, x);
}

#endif
