/* hash.c - the two hash functions of keys.
 *
 * XXH3 comes from the xxHash library, compiled in: its output is frozen by its authors and by the
 * vectors in tests/unit. SipHash is short and is written here after Aumasson and Bernstein,
 * "SipHash: a fast short-input PRF", 2012. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"

uint64_t tamis__hash_fast(const void *data, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, size, seed);
}

typedef struct {
    uint64_t v0, v1, v2, v3;
} sip;

static inline void sip_round(sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotl64(s->v1, 13) ^ s->v0;
    s->v3 = rotl64(s->v3, 16) ^ s->v2;
    s->v0 = rotl64(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotl64(s->v1, 17) ^ s->v2;
    s->v3 = rotl64(s->v3, 21) ^ s->v0;
    s->v2 = rotl64(s->v2, 32);
}

static inline void sip_word(sip *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    sip_round(s);
    s->v0 ^= word;
}

/* The last word: what is left of the message below, its length modulo 256 on top. */
static inline uint64_t sip_last(const uint8_t *rest, size_t size)
{
    uint64_t word = (uint64_t)size << 56;

    for (size_t i = 0; i < size % 8; i++)
        word |= (uint64_t)rest[i] << (8 * i);
    return word;
}

uint64_t tamis__hash_keyed(const void *data, size_t size, const uint8_t secret[16])
{
    const uint8_t *p = data;
    uint64_t k0 = le64(secret), k1 = le64(secret + 8);
    sip s = { k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
              k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573) };
    size_t whole = size - size % 8;

    for (size_t i = 0; i < whole; i += 8)
        sip_word(&s, le64(p + i));
    sip_word(&s, sip_last(whole < size ? p + whole : NULL, size));
    s.v2 ^= 0xff;
    for (int i = 0; i < 4; i++)
        sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
