/* md4.c - MD4. */
#include "md4.h"

#include <string.h>

#include "byte_order.h"

enum { MD4_BLOCK = 64 };

static inline uint32_t md4_rotated(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

/* The three rounds differ in how they mix, in which order they take the words, in what they add and
 * by how much they rotate. */
static inline uint32_t md4_mixed(int round, uint32_t b, uint32_t c, uint32_t d)
{
    if (round == 0)
        return (b & c) | (~b & d);
    if (round == 1)
        return (b & c) | (b & d) | (c & d);
    return b ^ c ^ d;
}

static const uint8_t MD4_ORDER[3][16] = {
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
    { 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15 },
    { 0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15 },
};
static const uint8_t MD4_ROTATIONS[3][4] = { { 3, 7, 11, 19 }, { 3, 5, 9, 13 }, { 3, 9, 11, 15 } };
static const uint32_t MD4_ADDED[3] = { 0, 0x5a827999, 0x6ed9eba1 };

static void md4_compress(uint32_t h[4], const uint8_t *block)
{
    uint32_t v[4], m[16];

    memcpy(v, h, sizeof v);
    for (int i = 0; i < 16; i++)
        m[i] = le32(block + 4 * i);
#pragma GCC unroll 48
    for (int i = 0; i < 48; i++) {
        int round = i / 16, a = (48 - i) % 4;
        uint32_t *to = &v[a], b = v[(a + 1) % 4], c = v[(a + 2) % 4], d = v[(a + 3) % 4];
        uint32_t word = m[MD4_ORDER[round][i % 16]];
        *to = md4_rotated(*to + md4_mixed(round, b, c, d) + word + MD4_ADDED[round],
                          MD4_ROTATIONS[round][i % 4]);
    }
    for (int i = 0; i < 4; i++)
        h[i] += v[i];
}

void md4(uint8_t out[MD4_SIZE], const void *bytes, size_t size)
{
    uint32_t h[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
    uint8_t end[2 * MD4_BLOCK] = { 0 };
    size_t whole = size / MD4_BLOCK * MD4_BLOCK, rest = size - whole;
    size_t padded = rest + 9 <= MD4_BLOCK ? MD4_BLOCK : 2 * MD4_BLOCK;

    for (size_t at = 0; at < whole; at += MD4_BLOCK)
        md4_compress(h, (const uint8_t *)bytes + at);
    if (rest > 0)
        memcpy(end, (const uint8_t *)bytes + whole, rest);
    end[rest] = 0x80;
    put_le64(end + padded - 8, (uint64_t)size * 8);
    for (size_t at = 0; at < padded; at += MD4_BLOCK)
        md4_compress(h, end + at);
    for (int i = 0; i < 4; i++)
        put_le32(out + 4 * i, h[i]);
}
