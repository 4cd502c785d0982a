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

/* Of a known width: compilers make one load of it. */
static inline uint64_t bytes_get64(const unsigned char *p)
{
    return bytes_get(p, 8);
}

static inline uint32_t bytes_get32(const unsigned char *p)
{
    return (uint32_t)bytes_get(p, 4);
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
