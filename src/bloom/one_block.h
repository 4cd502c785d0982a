/* one_block.h - batches of keys in kinds of one block per key, whatever is in a block: hashed by
 * groups, by vectors where there are some, then asked for and looked at one by one. */
#ifndef TAMIS_BLOOM_ONE_BLOCK_H
#define TAMIS_BLOOM_ONE_BLOCK_H

#include "base/ahead.h"
#include "base/bits.h"
#include "base/hash.h"
#include "base/many.h"
#include "filter.h"

#ifdef __x86_64__
#include "base/hash_avx2.h"
#include "base/hash_avx512.h"
#endif

/* ---- A group of keys --------------------------------------------------- */

typedef struct one_block_group {
    _Alignas(64) uint64_t block[MANY];
    _Alignas(64) uint32_t x[MANY]; /* which bits or counters of it */
} one_block_group;

/* ---- A batch ----------------------------------------------------------- */

/* What all keys of a batch need. */
typedef struct one_block_batch {
    const tamis *f;
    uint8_t *blocks;
    size_t size; /* of a block: known to the compiler */
    bool is_far;
    uint64_t counted; /* changes that f->count is to learn of */
    size_t done;      /* keys that were changed */
} one_block_batch;

MANY_INLINE one_block_batch one_block_begin(const tamis *f, size_t size)
{
    return (one_block_batch){ .f = f, .blocks = f->payload, .size = size, .is_far = f->is_far };
}

/* The block of key i of the group. */
MANY_INLINE void *one_block_at(const one_block_batch *b, const one_block_group *g, size_t i)
{
    return b->blocks + g->block[i] * b->size;
}

/* From key number `from` on. */
static inline void one_block_hash(const one_block_batch *b, one_block_group *g,
                                  const uint64_t *keys, size_t from, size_t n)
{
    for (size_t i = from; i < n; i++) {
        uint64_t h = hash_key(keys[i], b->f->salt);
        g->block[i] = scale64(h, b->f->plan.slots);
        g->x[i] = (uint32_t)h;
    }
}

MANY_INLINE void one_block_prepare(const void *self, void *group, const uint64_t *keys, size_t n)
{
    one_block_hash(self, group, keys, 0, n);
}

/* By vectors, as far as these go: scale64_avx2() and scale64_avx512() have a limit. */
#ifdef TARGET_AVX2
TARGET_AVX2

MANY_INLINE void one_block_prepare_avx2(const void *self, void *group, const uint64_t *keys,
                                        size_t n)
{
    const one_block_batch *b = self;
    one_block_group *g = group;
    const __m256i evens = _mm256_set_epi32(0, 0, 0, 0, 6, 4, 2, 0);
    __m256i slots = _mm256_set1_epi64x((long long)b->f->plan.slots);
    __m256i salt = _mm256_set1_epi64x((long long)b->f->salt);
    size_t most = b->f->plan.slots >> 32 ? 0 : n - n % 4;

    for (size_t i = 0; i < most; i += 4) {
        __m256i key = _mm256_loadu_si256((const __m256i *)(keys + i));
        __m256i h = mix64_avx2(_mm256_xor_si256(key, salt));
        _mm256_store_si256((__m256i *)(g->block + i), scale64_avx2(h, slots));
        _mm_store_si128((__m128i *)(g->x + i),
                        _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(h, evens)));
    }
    one_block_hash(b, g, keys, most, n);
}

TARGET_END
TARGET_AVX512

MANY_INLINE void one_block_prepare_avx512(const void *self, void *group, const uint64_t *keys,
                                          size_t n)
{
    const one_block_batch *b = self;
    one_block_group *g = group;
    __m512i slots = _mm512_set1_epi64((long long)b->f->plan.slots);
    __m512i salt = _mm512_set1_epi64((long long)b->f->salt);
    size_t most = b->f->plan.slots >> 32 ? 0 : n - n % 8;

    for (size_t i = 0; i < most; i += 8) {
        __m512i h = mix64_avx512(_mm512_xor_si512(_mm512_loadu_si512(keys + i), salt));
        _mm512_store_si512(g->block + i, scale64_avx512(h, slots));
        _mm256_store_si256((__m256i *)(g->x + i), _mm512_cvtepi64_epi32(h));
    }
    one_block_hash(b, g, keys, most, n);
}

TARGET_END
#endif

MANY_INLINE void one_block_fetch(const void *self, const void *group, size_t i)
{
    const one_block_batch *b = self;

    ahead_read(one_block_at(b, group, i), b->is_far);
}

MANY_INLINE void one_block_fetch_to_write(const void *self, const void *group, size_t i)
{
    const one_block_batch *b = self;

    ahead_write(one_block_at(b, group, i), b->is_far);
}

/* A group is filled as a whole: for so few keys that takes longer than to look them up. */
enum { ONE_BLOCK_FEW = 8 };

MANY_INLINE size_t one_block_look_up(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n,
                                     size_t size, many_prepare *prepare, many_look *look)
{
    one_block_batch b = one_block_begin(f, size);
    one_block_group groups[2];

    if (n <= ONE_BLOCK_FEW)
        return tamis__batch_has_few(f, hits, keys, n);
    return many_lookups(&b, hits, keys, n, &groups[0], &groups[1], prepare, one_block_fetch, look,
                        NULL);
}

/* Returns what became of the batch. */
MANY_INLINE one_block_batch one_block_change(tamis *f, const uint64_t *keys, size_t n, size_t size,
                                             many_prepare *prepare, many_look *change)
{
    one_block_batch b = one_block_begin(f, size);
    one_block_group groups[2];

    many_changes(&b, keys, n, &groups[0], &groups[1], prepare, one_block_fetch_to_write, change);
    return b;
}

/* What the tables of these kinds have in common: of one_block_template.h. */
#define ONE_BLOCK_OPS(kind) \
    .has = kind##_has, .has_many = kind##_has_many, .add_many = kind##_add_many

#endif
