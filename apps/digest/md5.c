/* md5.c - MD5. */
#include "md5.h"

#include <string.h>

/* The whole part of |sin(i + 1)| * 2^32. */
static const uint32_t ADDED[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

/* By round, and by step of four. */
static const uint8_t ROTATIONS[4][4] = {
    { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 }
};

static uint32_t rotated(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static inline uint32_t mixed(int round, uint32_t b, uint32_t c, uint32_t d)
{
    if (round == 0)
        return (b & c) | (~b & d);
    if (round == 1)
        return (b & d) | (c & ~d);
    return round == 2 ? b ^ c ^ d : c ^ (b | ~d);
}

/* Which word of the block step i takes. */
static inline int word_of(int i)
{
    static const uint8_t FACTOR[4] = { 1, 5, 3, 7 }, FIRST[4] = { 0, 1, 5, 0 };

    return (FACTOR[i / 16] * i + FIRST[i / 16]) % 16;
}

static uint32_t read_le32(const uint8_t *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void write_le32(uint8_t *b, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        b[i] = (uint8_t)(x >> 8 * i);
}

static void compress(uint32_t state[4], const uint8_t *block)
{
    uint32_t v[4], m[16];

    memcpy(v, state, sizeof v);
    for (int i = 0; i < 16; i++)
        m[i] = read_le32(block + 4 * i);
#pragma GCC unroll 64
    for (int i = 0; i < 64; i++) {
        int round = i / 16, a = (64 - i) % 4;
        uint32_t b = v[(a + 1) % 4], c = v[(a + 2) % 4], d = v[(a + 3) % 4];

        v[a] = b + rotated(v[a] + mixed(round, b, c, d) + m[word_of(i)] + ADDED[i],
                           ROTATIONS[round][i % 4]);
    }
    for (int i = 0; i < 4; i++)
        state[i] += v[i];
}

void md5_begin(md5 *m)
{
    *m = (md5){ .state = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 } };
}

void md5_take(md5 *m, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    while (size > 0) {
        size_t used = m->size % MD5_BLOCK, n = MD5_BLOCK - used < size ? MD5_BLOCK - used : size;

        memcpy(m->block + used, at, n);
        if (used + n == MD5_BLOCK)
            compress(m->state, m->block);
        m->size += n;
        at += n;
        size -= n;
    }
}

void md5_end(md5 *m, uint8_t out[MD5_SIZE])
{
    static const uint8_t PADDING[MD5_BLOCK] = { 0x80 };
    uint64_t bits = m->size * 8;
    size_t used = m->size % MD5_BLOCK;
    uint8_t length[8];

    md5_take(m, PADDING, (used < 56 ? 56 : 120) - used);
    write_le32(length, (uint32_t)bits);
    write_le32(length + 4, (uint32_t)(bits >> 32));
    md5_take(m, length, sizeof length);
    for (int i = 0; i < 4; i++)
        write_le32(out + 4 * i, m->state[i]);
}
