/* packed.h - arrays of w-bit integers, w from 1 to 32, one behind the other in little-endian bits.
 *
 * Widths of 8, 16 and 32 bits are plain bytes, halves and words. Any other number lies within eight
 * bytes from the byte that it starts in, since 7 + 32 bits are fewer than 64: one load reads it.
 * The last of them may reach beyond the array's own bytes; packed_bytes() has room for that. */
#ifndef TAMIS_BASE_PACKED_H
#define TAMIS_BASE_PACKED_H

#include <stdbool.h>

#include "base/le.h"

enum { PACKED_WIDEST = 32 };

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

static inline uint32_t packed_get(const uint8_t *array, uint64_t i, unsigned width)
{
    const uint8_t *at = array + packed_byte(i, width);

    if (width == 8)
        return *at;
    if (width == 16)
        return le16(at);
    if (width == 32)
        return le32(at);
    return (uint32_t)(le64(at) >> i * width % 8) & packed_mask(width);
}

static inline void packed_put(uint8_t *array, uint64_t i, unsigned width, uint32_t x)
{
    uint8_t *at = array + packed_byte(i, width);
    unsigned shift = (unsigned)(i * width % 8);

    if (width == 8)
        *at = (uint8_t)x;
    else if (width == 16)
        put_le16(at, (uint16_t)x);
    else if (width == 32)
        put_le32(at, x);
    else
        put_le64(at, (le64(at) & ~((uint64_t)packed_mask(width) << shift)) |
                         (uint64_t)(x & packed_mask(width)) << shift);
}

#endif
