/* murmur.h - the hashes of RedisBloom's filters and sketches: MurmurHash64A and MurmurHash2, which
 * Austin Appleby placed in the public domain (2008).
 *
 * Anybody can find items that collide under them; filters of the TAMIS commands have a secret. */
#ifndef TAMIS_REDIS_MURMUR_H
#define TAMIS_REDIS_MURMUR_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

/* The last 1 to 7 bytes as a number. Loads overlap, so that there is no loop. */
static inline uint64_t murmur_rest(const unsigned char *p, size_t n)
{
    if (n >= 4)
        return bytes_get32(p) | (uint64_t)bytes_get32(p + n - 4) << (8 * (n - 4));
    return p[0] | (uint64_t)p[n / 2] << (8 * (n / 2)) | (uint64_t)p[n - 1] << (8 * (n - 1));
}

static inline uint64_t murmur64(const void *data, size_t size, uint64_t seed)
{
    const uint64_t m = UINT64_C(0xc6a4a7935bd1e995);
    const unsigned char *p = data;
    uint64_t h = seed ^ (size * m);
    size_t rest = size % 8;

    for (const unsigned char *end = p + (size - rest); p < end; p += 8) {
        uint64_t k = bytes_get64(p) * m;

        h = (h ^ (k ^ k >> 47) * m) * m;
    }
    if (rest)
        h = (h ^ murmur_rest(p, rest)) * m;
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

static inline uint32_t murmur32(const void *data, size_t size, uint32_t seed)
{
    const uint32_t m = 0x5bd1e995;
    const unsigned char *p = data;
    uint32_t h = seed ^ (uint32_t)size;
    size_t rest = size % 4;

    for (const unsigned char *end = p + (size - rest); p < end; p += 4) {
        uint32_t k = bytes_get32(p) * m;

        h = h * m ^ (k ^ k >> 24) * m;
    }
    if (rest)
        h = (h ^ (uint32_t)murmur_rest(p, rest)) * m;
    h = (h ^ h >> 13) * m;
    return h ^ h >> 15;
}

#endif
