/* md.c - MD4 and MD5. They differ in how they mix, in which order they take words, in what they add
 * and by how much they rotate, and MD5 has a fourth round. */
#include "md.h"

#include <string.h>

#include "byte_order.h"

/* The whole part of |sin(i + 1)| * 2^32. */
static const uint32_t MD5_ADDED[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static const uint32_t MD4_ADDED[3] = { 0, 0x5a827999, 0x6ed9eba1 };

/* By round, and by step of four. */
static const uint8_t MD5_ROTATIONS[4][4] = {
    { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 }
};
static const uint8_t MD4_ROTATIONS[3][4] = { { 3, 7, 11, 19 }, { 3, 5, 9, 13 }, { 3, 9, 11, 15 } };

/* Which word of the block a step takes: in MD5 the first of its round, and then each of these. */
static const uint8_t MD5_FIRST[4] = { 0, 1, 5, 0 }, MD5_EACH[4] = { 1, 5, 3, 7 };
static const uint8_t MD4_ORDER[3][16] = {
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
    { 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15 },
    { 0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15 },
};

static inline uint32_t rotated(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static inline uint32_t mixed(bool is_md5, int round, uint32_t b, uint32_t c, uint32_t d)
{
    if (round == 0)
        return (b & c) | (~b & d);
    if (round == 1)
        return is_md5 ? (b & d) | (c & ~d) : (b & c) | (b & d) | (c & d);
    return round == 2 ? b ^ c ^ d : c ^ (b | ~d);
}

__attribute__((always_inline)) static inline void sixteen_steps(bool is_md5, int round,
                                                                uint32_t v[4], const uint32_t m[16])
{
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
        int a = (16 - i) % 4, word = (MD5_EACH[round] * i + MD5_FIRST[round]) % 16;
        uint32_t b = v[(a + 1) % 4], c = v[(a + 2) % 4], d = v[(a + 3) % 4];
        uint32_t sum = v[a] + mixed(is_md5, round, b, c, d);

        if (is_md5)
            v[a] =
                b + rotated(sum + m[word] + MD5_ADDED[16 * round + i], MD5_ROTATIONS[round][i % 4]);
        else
            v[a] = rotated(sum + m[MD4_ORDER[round][i]] + MD4_ADDED[round],
                           MD4_ROTATIONS[round][i % 4]);
    }
}

static void compress(bool is_md5, uint32_t state[4], const uint8_t *block)
{
    uint32_t v[4], m[16];

    memcpy(v, state, sizeof v);
    for (int i = 0; i < 16; i++)
        m[i] = le32(block + 4 * i);
#pragma GCC unroll 3
    for (int round = 0; round < 3 && !is_md5; round++)
        sixteen_steps(false, round, v, m);
#pragma GCC unroll 4
    for (int round = 0; round < 4 && is_md5; round++)
        sixteen_steps(true, round, v, m);
    for (int i = 0; i < 4; i++)
        state[i] += v[i];
}

md md_begin(bool is_md5)
{
    return (md){ .is_md5 = is_md5, .state = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 } };
}

void md_take(md *m, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    while (size > 0) {
        size_t used = m->size % MD_BLOCK, n = MD_BLOCK - used < size ? MD_BLOCK - used : size;

        memcpy(m->block + used, at, n);
        if (used + n == MD_BLOCK)
            compress(m->is_md5, m->state, m->block);
        m->size += n;
        at += n;
        size -= n;
    }
}

void md_end(md *m, uint8_t out[MD5_SIZE])
{
    static const uint8_t PADDING[MD_BLOCK] = { 0x80 };
    size_t used = m->size % MD_BLOCK;
    uint8_t length[8];

    put_le64(length, m->size * 8);
    md_take(m, PADDING, (used < 56 ? 56 : 120) - used);
    md_take(m, length, sizeof length);
    for (int i = 0; i < 4; i++)
        put_le32(out + 4 * i, m->state[i]);
}
