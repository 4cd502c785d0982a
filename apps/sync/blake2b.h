/* blake2b.h - BLAKE2b with 32 bytes of output and no key: RFC 7693. */
#ifndef TAMIS_APPS_SYNC_BLAKE2B_H
#define TAMIS_APPS_SYNC_BLAKE2B_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLAKE2B_SIZE = 32, BLAKE2B_BLOCK = 128 };

void blake2b(uint8_t out[BLAKE2B_SIZE], const void *bytes, size_t size);
/* Four messages of one size, side by side where the processor can. */
void blake2b_four(uint8_t out[4][BLAKE2B_SIZE], const uint8_t *const bytes[4], size_t size);

/* For a processor with AVX2. */
void blake2b_four_avx2(uint8_t out[4][BLAKE2B_SIZE], const uint8_t *const bytes[4], size_t size);

/* The piece of a message that is compressed next, and whether it is the last. Padded with zeros in
 * `padded` if it is short. */
static inline const uint8_t *blake2b_piece(uint8_t padded[BLAKE2B_BLOCK], const uint8_t *bytes,
                                           size_t at, size_t size)
{
    size_t left = size - at;

    if (left >= BLAKE2B_BLOCK)
        return bytes + at;
    for (size_t i = 0; i < BLAKE2B_BLOCK; i++)
        padded[i] = i < left ? bytes[at + i] : 0;
    return padded;
}

#endif
