/* split_portable.h - the eight words of a block, one by one. */
#ifndef TAMIS_BLOOM_SPLIT_PORTABLE_H
#define TAMIS_BLOOM_SPLIT_PORTABLE_H

#include "base/le.h"
#include "bloom/blocked.h"

/* As it stands in memory. */
static inline uint32_t bit_of(uint32_t x, int word)
{
    return LE_SWAP32(UINT32_C(1) << (x * SALT[word] >> 27));
}

static inline bool block_has(const block *b, uint32_t x)
{
    uint32_t missing = 0;

    for (int i = 0; i < WORDS; i++)
        missing |= bit_of(x, i) & ~__atomic_load_n(&b->word[i], __ATOMIC_RELAXED);
    return missing == 0;
}

static inline bool block_add(block *b, uint32_t x)
{
    for (int i = 0; i < WORDS; i++)
        b->word[i] |= bit_of(x, i);
    return true;
}

#endif
