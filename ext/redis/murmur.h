/* murmur.h - the hashes of RedisBloom's filters and sketches: MurmurHash64A and MurmurHash2, which
 * Austin Appleby placed in the public domain (2008).
 *
 * Anybody can find items that collide under them; filters of the TAMIS commands have a secret. */
#ifndef TAMIS_REDIS_MURMUR_H
#define TAMIS_REDIS_MURMUR_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

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
    if (rest) {
        uint64_t last = 0;

        for (size_t i = 0; i < rest; i++)
            last |= (uint64_t)p[i] << (8 * i);
        h = (h ^ last) * m;
    }
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
    if (rest) {
        uint32_t last = 0;

        for (size_t i = 0; i < rest; i++)
            last |= (uint32_t)p[i] << (8 * i);
        h = (h ^ last) * m;
    }
    h = (h ^ h >> 13) * m;
    return h ^ h >> 15;
}

#endif
