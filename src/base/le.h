/* le.h - little-endian numbers in memory, on any machine and at any alignment.
 *
 * Payloads and images are little-endian everywhere. On a little-endian host these are plain loads
 * and stores. */
#ifndef TAMIS_BASE_LE_H
#define TAMIS_BASE_LE_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LE_SWAP16(x) (x)
#define LE_SWAP32(x) (x)
#define LE_SWAP64(x) (x)
#else
#define LE_SWAP16(x) __builtin_bswap16(x)
#define LE_SWAP32(x) __builtin_bswap32(x)
#define LE_SWAP64(x) __builtin_bswap64(x)
#endif

static inline uint16_t le16(const void *p)
{
    uint16_t x;

    memcpy(&x, p, sizeof x);
    return LE_SWAP16(x);
}

static inline uint32_t le32(const void *p)
{
    uint32_t x;

    memcpy(&x, p, sizeof x);
    return LE_SWAP32(x);
}

static inline uint64_t le64(const void *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return LE_SWAP64(x);
}

static inline void put_le16(void *p, uint16_t x)
{
    x = LE_SWAP16(x);
    memcpy(p, &x, sizeof x);
}

static inline void put_le32(void *p, uint32_t x)
{
    x = LE_SWAP32(x);
    memcpy(p, &x, sizeof x);
}

static inline void put_le64(void *p, uint64_t x)
{
    x = LE_SWAP64(x);
    memcpy(p, &x, sizeof x);
}

#endif
