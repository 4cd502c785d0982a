/* bytes.h - little-endian numbers in dumps, on any machine and at any alignment. */
#ifndef TAMIS_REDIS_BYTES_H
#define TAMIS_REDIS_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint64_t bytes_get(const unsigned char *p, int n)
{
    uint64_t x = 0;

    for (int i = 0; i < n; i++)
        x |= (uint64_t)p[i] << (8 * i);
    return x;
}

static inline void bytes_put(unsigned char *p, uint64_t x, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = (unsigned char)(x >> (8 * i));
}

/* Of a known width, in one load: hashes read so. */
static inline uint64_t bytes_get64(const unsigned char *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? x : __builtin_bswap64(x);
}

static inline uint32_t bytes_get32(const unsigned char *p)
{
    uint32_t x;

    memcpy(&x, p, sizeof x);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? x : __builtin_bswap32(x);
}

static inline double bytes_get_double(const unsigned char *p)
{
    uint64_t x = bytes_get64(p);
    double d;

    memcpy(&d, &x, sizeof d);
    return d;
}

static inline void bytes_put_double(unsigned char *p, double d)
{
    uint64_t x;

    memcpy(&x, &d, sizeof x);
    bytes_put(p, x, 8);
}

#endif
