/* seal.h - makes every checksum of a damaged image right again, as an attacker would.
 *
 * Without it, a fuzzer spends its life in front of the header checksum. Offsets are those of
 * docs/format.md; nothing is touched when the numbers do not allow it. */
#ifndef TAMIS_TESTS_SEAL_H
#define TAMIS_TESTS_SEAL_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEAL_HEADER_SIZE = 12,
    SEAL_SECTIONS = 100,
    SEAL_TABLE = 104,
    SEAL_ENTRY = 32,
    SEAL_OFFSET = 8,
    SEAL_LENGTH = 16,
    SEAL_DIGEST = 24,
};

static inline uint64_t seal_number(const uint8_t *at, int size)
{
    uint64_t x = 0;

    for (int i = size - 1; i >= 0; i--)
        x = x << 8 | at[i];
    return x;
}

static inline void seal_put(uint8_t *at, int size, uint64_t x)
{
    for (int i = 0; i < size; i++)
        at[i] = (uint8_t)(x >> (8 * i));
}

static inline void seal_section(uint8_t *image, size_t size, uint8_t *entry)
{
    const uint64_t block = UINT64_C(1) << 20;
    uint64_t offset = seal_number(entry + SEAL_OFFSET, 8);
    uint64_t length = seal_number(entry + SEAL_LENGTH, 8);

    if (offset > size || length > size - offset)
        return;
    uint64_t n = (length + block - 1) / block, sums = (offset + length + 7) / 8 * 8;
    if (sums > size || n > (size - sums) / 8)
        return;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t left = length - i * block;
        uint64_t sum = XXH3_64bits(image + offset + i * block, left < block ? left : block);
        seal_put(image + sums + 8 * i, 8, sum);
    }
    seal_put(entry + SEAL_DIGEST, 8, XXH3_64bits(image + sums, 8 * n));
}

static inline void seal(uint8_t *image, size_t size)
{
    if (size < SEAL_TABLE)
        return;
    uint64_t header = seal_number(image + SEAL_HEADER_SIZE, 4);
    uint64_t n = seal_number(image + SEAL_SECTIONS, 4);
    if (header > size || header < SEAL_TABLE + 8)
        return;
    for (uint64_t i = 0; i < n && SEAL_TABLE + SEAL_ENTRY * (i + 1) <= header - 8; i++)
        seal_section(image, size, image + SEAL_TABLE + SEAL_ENTRY * i);
    seal_put(image + header - 8, 8, XXH3_64bits(image, header - 8));
}

/* An input of a fuzzer: the bytes as they are, then once more with all checksums made right, so
 * that what lies behind them is reached as well. */
static inline int use_as_is_and_sealed(const uint8_t *data, size_t size,
                                       void use(const uint8_t *bytes, size_t size),
                                       void seal_all(uint8_t *bytes, size_t size))
{
    void *copy = NULL;

    if (posix_memalign(&copy, 64, size))
        return 0;
    if (size)
        memcpy(copy, data, size);
    use(copy, size);
    seal_all(copy, size);
    use(copy, size);
    free(copy);
    return 0;
}

#endif
