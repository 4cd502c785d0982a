/* blake2b.c - BLAKE2b, one message after the other. */
#include "blake2b.h"

#include "text/byte_order.h"

#define BLAKE2B_WORD uint64_t
#define BLAKE2B_ROTATED(x, n) ((x) >> (n) | (x) << (64 - (n)))
#define BLAKE2B_ALL(n) (n)
#define BLAKE2B_FIRST(x) (void)(x)
#define BLAKE2B_UNROLLED 12
#include "blake2b_template.h"

void blake2b(uint8_t out[BLAKE2B_SIZE], const void *bytes, size_t size)
{
    uint64_t h[8], m[16];
    uint8_t padded[BLAKE2B_BLOCK];
    size_t at = 0;
    bool is_last;

    blake2b_start(h);
    do {
        const uint8_t *piece = blake2b_piece(padded, bytes, at, size);
        for (int i = 0; i < 16; i++)
            m[i] = le64(piece + 8 * i);
        is_last = size - at <= BLAKE2B_BLOCK;
        at = is_last ? size : at + BLAKE2B_BLOCK;
        blake2b_compress(h, m, at, is_last);
    } while (!is_last);
    for (int i = 0; i < BLAKE2B_SIZE / 8; i++)
        put_le64(out + 8 * i, h[i]);
}

void blake2b_four(uint8_t out[4][BLAKE2B_SIZE], const uint8_t *const bytes[4], size_t size)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        blake2b_four_avx2(out, bytes, size);
        return;
    }
#endif
    for (int i = 0; i < 4; i++)
        blake2b(out[i], bytes[i], size);
}
