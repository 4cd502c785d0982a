/* blake2b_template.h - TEMPLATE, compiled once for one message and once for four side by side.
 *
 * The includer defines BLAKE2B_WORD, a 64-bit number or a vector of them, BLAKE2B_ROTATED(x, n),
 * to the right by 32, 24, 16 or 63, BLAKE2B_ALL(n), a word with that number everywhere,
 * BLAKE2B_FIRST(x), which has x worked out before what follows, and BLAKE2B_UNROLLED, how many of
 * the 12 rounds are written out one after the other. */
#include <stdint.h>

static const uint64_t BLAKE2B_START[8] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b), UINT64_C(0x3c6ef372fe94f82b),
    UINT64_C(0xa54ff53a5f1d36f1), UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};

/* The order in which each round takes the words of the message. */
static const uint8_t BLAKE2B_ORDER[12][16] = {
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
    { 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
    { 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
    { 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
    { 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
    { 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
    { 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
    { 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
    { 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
    { 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
    { 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
};

/* v[b] is known last, and waited for: the word of the message is added before it. */
__attribute__((always_inline)) static inline BLAKE2B_WORD
blake2b_sum(BLAKE2B_WORD a, BLAKE2B_WORD x, BLAKE2B_WORD b)
{
    a = a + x;
    BLAKE2B_FIRST(a);
    return a + b;
}

__attribute__((always_inline)) static inline void
blake2b_mix(BLAKE2B_WORD v[16], int a, int b, int c, int d, BLAKE2B_WORD x, BLAKE2B_WORD y)
{
    v[a] = blake2b_sum(v[a], x, v[b]);
    v[d] = BLAKE2B_ROTATED(v[d] ^ v[a], 32);
    v[c] = v[c] + v[d];
    v[b] = BLAKE2B_ROTATED(v[b] ^ v[c], 24);
    v[a] = blake2b_sum(v[a], y, v[b]);
    v[d] = BLAKE2B_ROTATED(v[d] ^ v[a], 16);
    v[c] = v[c] + v[d];
    v[b] = BLAKE2B_ROTATED(v[b] ^ v[c], 63);
}

/* Columns, then diagonals. */
__attribute__((always_inline)) static inline void
blake2b_round(BLAKE2B_WORD v[16], const BLAKE2B_WORD m[16], const uint8_t order[16])
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        blake2b_mix(v, i, 4 + i, 8 + i, 12 + i, m[order[2 * i]], m[order[2 * i + 1]]);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        blake2b_mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[order[2 * i + 8]],
                    m[order[2 * i + 9]]);
}

/* One block of 16 words; `end` is how many bytes there are up to its end. */
static inline void blake2b_compress(BLAKE2B_WORD h[8], const BLAKE2B_WORD m[16], uint64_t end,
                                    bool is_last)
{
    BLAKE2B_WORD v[16];

#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        v[i] = h[i];
        v[8 + i] = BLAKE2B_ALL(BLAKE2B_START[i]);
    }
    v[12] = v[12] ^ BLAKE2B_ALL(end);
    v[14] = v[14] ^ BLAKE2B_ALL(is_last ? UINT64_MAX : 0);
    for (int i = 0; i < 12; i += BLAKE2B_UNROLLED)
#pragma GCC unroll 12
        for (int k = 0; k < BLAKE2B_UNROLLED; k++)
            blake2b_round(v, m, BLAKE2B_ORDER[i + k]);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        h[i] = h[i] ^ v[i] ^ v[8 + i];
}

/* Of a hash of 32 bytes, without a key. */
static inline void blake2b_start(BLAKE2B_WORD h[8])
{
    for (int i = 0; i < 8; i++)
        h[i] = BLAKE2B_ALL(BLAKE2B_START[i] ^ (i == 0 ? 0x01010020 : 0));
}
