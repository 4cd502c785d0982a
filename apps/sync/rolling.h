/* rolling.h - hashes of a window that can be moved by one byte.
 *
 *   sum     s1 = sum of (byte + 31), s2 = sum of all s1 so far, both modulo 2^16; s2 is the high
 * half rabin   h = h M + byte for each byte, modulo 2^32, from h = 1 on
 *
 * As librsync has them. */
#ifndef TAMIS_APPS_SYNC_ROLLING_H
#define TAMIS_APPS_SYNC_ROLLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROLLING_SUM_OFFSET = 31 };
#define ROLLING_RABIN UINT32_C(0x08104225)
#define ROLLING_RABIN_INVERSE UINT32_C(0x98f009ad) /* modulo 2^32 */

/* What a byte that leaves a window of that size is multiplied with. */
static inline uint32_t rolling_leaving(bool is_rabin, uint64_t window)
{
    uint32_t power = 1, square = ROLLING_RABIN;

    if (!is_rabin)
        return (uint32_t)window;
    for (; window; window >>= 1, square *= square)
        power *= window & 1 ? square : 1;
    return power;
}

/* Of all these bytes. */
uint32_t rolling_of(bool is_rabin, const uint8_t *bytes, size_t n);
uint32_t rolling_rabin_avx2(const uint8_t *bytes, size_t n);

/* One byte leaves at the front and one comes in at the back. */
__attribute__((always_inline)) static inline uint32_t
rolling_moved(bool is_rabin, uint32_t hash, uint32_t leaving, uint8_t out, uint8_t in)
{
    if (is_rabin)
        return hash * ROLLING_RABIN + (in - leaving * (out + (ROLLING_RABIN - 1)));
    uint32_t s1 = hash + in - out;
    uint32_t s2 = (hash >> 16) + s1 - leaving * (out + ROLLING_SUM_OFFSET);
    return s2 << 16 | (s1 & 0xffff);
}

/* One byte leaves and none comes in: a window of n bytes becomes one of n - 1. `leaving` is
 * rolling_leaving() for n - 1. */
static inline uint32_t rolling_shrunk(bool is_rabin, uint32_t hash, uint32_t leaving, uint8_t out)
{
    if (is_rabin)
        return hash - leaving * (out + (ROLLING_RABIN - 1));
    uint32_t s1 = hash - out - ROLLING_SUM_OFFSET;
    uint32_t s2 = (hash >> 16) - (leaving + 1) * (out + ROLLING_SUM_OFFSET);
    return s2 << 16 | (s1 & 0xffff);
}

/* From rolling_leaving() for n to that for n - 1. */
static inline uint32_t rolling_leaving_less(bool is_rabin, uint32_t leaving)
{
    return is_rabin ? leaving * ROLLING_RABIN_INVERSE : leaving - 1;
}

#endif
