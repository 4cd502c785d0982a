/* split_block.h - the block of blocked, scalable and window: eight words, one bit of a key in each.
 *
 *   a hash:  high bits -> which block      low 32 bits -> x
 *   word i of the block has bit (x * SPLIT_SALT[i]) >> 27 */
#ifndef TAMIS_BLOOM_SPLIT_BLOCK_H
#define TAMIS_BLOOM_SPLIT_BLOCK_H

#include <math.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "base/target.h"
#include "bloom/rates.h"

enum { SPLIT_WORDS = RATES_WORDS, SPLIT_BITS = 32 * SPLIT_WORDS };

typedef union split_block {
    uint32_t word[SPLIT_WORDS]; /* little-endian */
    uint64_t pair[SPLIT_WORDS / 2];
} split_block;

/* Odd, so that each multiplication permutes x before its top five bits are kept. These eight are
 * those of the split-block filter of Apache Parquet. */
static const uint32_t SPLIT_SALT[SPLIT_WORDS] = { 0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                                  0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31 };

/* Two keys of one block whose 32-bit x agree cannot be told apart. */
static const rates_block SPLIT_RATES = { .word = 32, .floor = 0x1p-32 };

/* The number of the bit of x in a word. */
static inline uint32_t split_block_place(uint32_t x, int word)
{
    return x * SPLIT_SALT[word] >> 27;
}

/* Its number in the block, as an array of bits. */
static inline uint32_t split_block_index(uint32_t x, int word)
{
    return 32 * (uint32_t)word + split_block_place(x, word);
}

/* The bit as it stands in memory. */
static inline uint32_t split_block_bit(uint32_t x, int word)
{
    return LE_SWAP32(UINT32_C(1) << split_block_place(x, word));
}

static inline bool split_block_has(const split_block *b, uint32_t x)
{
    uint32_t missing = 0;

    for (int i = 0; i < SPLIT_WORDS; i++)
        missing |= split_block_bit(x, i) & ~__atomic_load_n(&b->word[i], __ATOMIC_RELAXED);
    return missing == 0;
}

/* An add always counts. */
static inline bool split_block_add(split_block *b, uint32_t x, uint64_t *counted)
{
    for (int i = 0; i < SPLIT_WORDS; i++)
        b->word[i] |= split_block_bit(x, i);
    ++*counted;
    return true;
}

#ifdef TARGET_AVX2
TARGET_AVX2

/* The eight words in one register. */
static inline __m256i split_block_mask_avx2(uint32_t x)
{
    const __m256i salts = _mm256_loadu_si256((const __m256i *)SPLIT_SALT);
    __m256i bit = _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_set1_epi32((int)x), salts), 27);

    return _mm256_sllv_epi32(_mm256_set1_epi32(1), bit);
}

/* Beside writers: see ONE_BLOCK_READS in one_block_template.h. */
__attribute__((no_sanitize_thread)) static inline bool split_block_has_avx2(const split_block *b,
                                                                            uint32_t x)
{
    return _mm256_testc_si256(_mm256_load_si256((const __m256i *)b), split_block_mask_avx2(x));
}

static inline bool split_block_add_avx2(split_block *b, uint32_t x, uint64_t *counted)
{
    __m256i *p = (__m256i *)b;

    _mm256_store_si256(p, _mm256_or_si256(_mm256_load_si256(p), split_block_mask_avx2(x)));
    ++*counted;
    return true;
}

TARGET_END
#endif

/* Kinds that give a key several blocks: the hash for the block of probe i. */
static inline uint64_t split_block_probe(uint64_t h, unsigned i)
{
    return i ? mix64(h + i) : h;
}

/* Kernels of these kinds. */
void tamis__blocked_use_neon(tamis_ops *ops);
void tamis__blocked_use_simd128(tamis_ops *ops);

/* ---- What blocks tell of their keys ------------------------------------ */

typedef struct split_block_sums {
    double blocks, ones, rates;
} split_block_sums;

static inline void split_block_sum(split_block_sums *s, const split_block *blocks, uint64_t n)
{
    for (const split_block *b = blocks; b < blocks + n; b++) {
        double rate = 1;
        for (int i = 0; i < SPLIT_WORDS; i++)
            rate *= __builtin_popcount(b->word[i]) / SPLIT_RATES.word;
        s->rates += rate;
    }
    s->ones += (double)count_ones(blocks, n * sizeof *blocks);
    s->blocks += (double)n;
}

static inline double split_block_fill(const split_block_sums *s)
{
    return s->ones / (8 * sizeof(split_block) * s->blocks);
}

/* Adds made to the blocks. Each set a given bit with probability 1 / (32 blocks). */
static inline double split_block_adds(const split_block_sums *s)
{
    double bits = 8 * sizeof(split_block) * s->blocks;

    return tamis__rates_keys(1 - s->ones / bits, bits, SPLIT_WORDS / bits);
}

/* Of strangers with one probe. */
static inline double split_block_rate(const split_block_sums *s)
{
    return fmin(1, (s->rates + split_block_adds(s) * SPLIT_RATES.floor) / s->blocks);
}

#endif
