/* hash.c - the two hash functions of keys.
 *
 * XXH3 comes from the xxHash library, compiled in: its output is frozen by its authors and by the
 * vectors in tests/unit. SipHash is short and is written here after Aumasson and Bernstein,
 * "SipHash: a fast short-input PRF", 2012. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"
#include "base/le.h"

uint64_t tamis__hash_fast(const void *data, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, size, seed);
}

typedef struct hash_sip {
    uint64_t v0, v1, v2, v3;
} hash_sip;

static inline uint64_t hash_rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline void hash_sip_round(hash_sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = hash_rotate(s->v1, 13) ^ s->v0;
    s->v3 = hash_rotate(s->v3, 16) ^ s->v2;
    s->v0 = hash_rotate(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = hash_rotate(s->v1, 17) ^ s->v2;
    s->v3 = hash_rotate(s->v3, 21) ^ s->v0;
    s->v2 = hash_rotate(s->v2, 32);
}

static inline void hash_sip_word(hash_sip *s, uint64_t word)
{
    s->v3 ^= word;
    hash_sip_round(s);
    hash_sip_round(s);
    s->v0 ^= word;
}

uint64_t tamis__hash_keyed(const void *data, size_t size, const uint8_t secret[16])
{
    const uint8_t *p = data;
    uint64_t k0 = le64(secret), k1 = le64(secret + 8);
    hash_sip s = { k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
                   k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573) };
    /* The last word: what is left of the message below, its length modulo 256 on top. */
    uint64_t last = (uint64_t)size << 56;

    for (size_t i = 0; i + 8 <= size; i += 8)
        hash_sip_word(&s, le64(p + i));
    for (size_t i = 0; i < size % 8; i++)
        last |= (uint64_t)p[size - size % 8 + i] << (8 * i);
    hash_sip_word(&s, last);
    s.v2 ^= 0xff;
    for (int i = 0; i < 4; i++)
        hash_sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
