/* one_block_template.h - TEMPLATE, compiled once for each CPU and kind of one block per key.
 *
 * The includer defines
 *
 *   ONE_BLOCK         the type of a block
 *   ONE_BLOCK_HAS     bool (const ONE_BLOCK *b, uint32_t x)
 *   ONE_BLOCK_ADD     bool (ONE_BLOCK *b, uint32_t x, uint64_t *counted): true, and 1 is added to
 *                     *counted if f->count is to learn of it
 *   ONE_BLOCK_REMOVE  optional, the same; false: the key is not there
 *   ONE_BLOCK_READS   optional, an attribute of functions that read blocks beside add_concurrent().
 *                     Words are read whole on every machine with vectors, and a bit that shows a
 *                     moment later is no harm; the race detector cannot know that. */
#include "base/ahead.h"
#include "base/bits.h"
#include "base/hash.h"
#include "base/many.h"
#include "filter.h"

#if defined(__AVX512DQ__)
#include "base/hash_avx512.h"
#elif defined(__AVX2__)
#include "base/hash_avx2.h"
#endif

#ifndef ONE_BLOCK_READS
#define ONE_BLOCK_READS
#endif

static inline ONE_BLOCK *one_block_of(const tamis *f, uint64_t h)
{
    ONE_BLOCK *blocks = f->payload;

    return &blocks[scale64(h, f->plan.slots)];
}

ONE_BLOCK_READS static bool one_block_has(const tamis *f, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);

    return ONE_BLOCK_HAS(one_block_of(f, h), (uint32_t)h);
}

#ifndef ONE_BLOCK_REMOVE
static tamis_status one_block_add(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt);

    (void)times;
    ONE_BLOCK_ADD(one_block_of(f, h), (uint32_t)h, &f->count);
    return TAMIS_OK;
}
#endif

/* ---- A group of keys --------------------------------------------------- */

typedef struct one_block_group {
    _Alignas(64) uint64_t block[MANY];
    _Alignas(64) uint32_t x[MANY]; /* which bits or counters of it */
} one_block_group;

/* Hashes keys by vectors, as far as these go; returns how many. */
#if defined(__AVX512DQ__)
static inline size_t one_block_hash(one_block_group *g, const tamis *f, const uint64_t *keys,
                                    size_t n)
{
    __m512i slots = _mm512_set1_epi64((long long)f->plan.slots);
    __m512i salt = _mm512_set1_epi64((long long)f->salt);
    size_t most = f->plan.slots >> 32 ? 0 : n - n % 8; /* scale64_avx512() has a limit */

    for (size_t i = 0; i < most; i += 8) {
        __m512i h = mix64_avx512(_mm512_xor_si512(_mm512_loadu_si512(keys + i), salt));
        _mm512_store_si512(g->block + i, scale64_avx512(h, slots));
        _mm256_store_si256((__m256i *)(g->x + i), _mm512_cvtepi64_epi32(h));
    }
    return most;
}
#elif defined(__AVX2__)
static inline size_t one_block_hash(one_block_group *g, const tamis *f, const uint64_t *keys,
                                    size_t n)
{
    const __m256i evens = _mm256_set_epi32(0, 0, 0, 0, 6, 4, 2, 0);
    __m256i slots = _mm256_set1_epi64x((long long)f->plan.slots);
    __m256i salt = _mm256_set1_epi64x((long long)f->salt);
    size_t most = f->plan.slots >> 32 ? 0 : n - n % 4; /* scale64_avx2() has a limit */

    for (size_t i = 0; i < most; i += 4) {
        __m256i key = _mm256_loadu_si256((const __m256i *)(keys + i));
        __m256i h = mix64_avx2(_mm256_xor_si256(key, salt));
        _mm256_store_si256((__m256i *)(g->block + i), scale64_avx2(h, slots));
        _mm_store_si128((__m128i *)(g->x + i),
                        _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(h, evens)));
    }
    return most;
}
#else
static inline size_t one_block_hash(one_block_group *g, const tamis *f, const uint64_t *keys,
                                    size_t n)
{
    (void)g, (void)f, (void)keys, (void)n;
    return 0;
}
#endif

/* ---- Many keys --------------------------------------------------------- */

/* What all keys of a batch need. */
typedef struct one_block_batch {
    const tamis *f;
    ONE_BLOCK *blocks;
    bool is_far;
    uint64_t counted; /* changes that f->count is to learn of */
    size_t done;      /* keys that were changed */
} one_block_batch;

static inline one_block_batch one_block_begin(const tamis *f)
{
    return (one_block_batch){ .f = f, .blocks = f->payload, .is_far = f->is_far };
}

MANY_INLINE void one_block_prepare(const void *self, void *group, const uint64_t *keys, size_t n)
{
    const one_block_batch *b = self;
    one_block_group *g = group;

    for (size_t i = one_block_hash(g, b->f, keys, n); i < n; i++) {
        uint64_t h = hash_key(keys[i], b->f->salt);
        g->block[i] = scale64(h, b->f->plan.slots);
        g->x[i] = (uint32_t)h;
    }
}

MANY_INLINE void one_block_fetch(const void *self, const void *group, size_t i)
{
    const one_block_batch *b = self;
    const one_block_group *g = group;

    ahead_read(&b->blocks[g->block[i]], b->is_far);
}

MANY_INLINE void one_block_fetch_to_write(const void *self, const void *group, size_t i)
{
    const one_block_batch *b = self;
    const one_block_group *g = group;

    ahead_write(&b->blocks[g->block[i]], b->is_far);
}

ONE_BLOCK_READS MANY_INLINE uint64_t one_block_look(void *self, void *group, size_t i)
{
    const one_block_batch *b = self;
    const one_block_group *g = group;

    return ONE_BLOCK_HAS(&b->blocks[g->block[i]], g->x[i]);
}

/* A group is filled as a whole: for so few keys that takes longer than to look them up. */
enum { ONE_BLOCK_FEW = 8 };

ONE_BLOCK_READS static size_t one_block_has_many(const tamis *f, uint64_t *hits,
                                                 const uint64_t *keys, size_t n)
{
    one_block_batch b = one_block_begin(f);
    one_block_group groups[2];

    if (n <= ONE_BLOCK_FEW)
        return tamis__batch_has_few(f, hits, keys, n);
    return many_lookups(&b, hits, keys, n, &groups[0], &groups[1], one_block_prepare,
                        one_block_fetch, one_block_look, NULL);
}

/* Returns what became of the batch. */
MANY_INLINE one_block_batch one_block_change_many(tamis *f, const uint64_t *keys, size_t n,
                                                  many_look *change)
{
    one_block_batch b = one_block_begin(f);
    one_block_group groups[2];

    many_changes(&b, keys, n, &groups[0], &groups[1], one_block_prepare, one_block_fetch_to_write,
                 change);
    return b;
}

MANY_INLINE uint64_t one_block_add_one(void *self, void *group, size_t i)
{
    one_block_batch *b = self;
    const one_block_group *g = group;

    ONE_BLOCK_ADD(&b->blocks[g->block[i]], g->x[i], &b->counted);
    return true;
}

static tamis_status one_block_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    f->count += one_block_change_many(f, keys, n, one_block_add_one).counted;
    *added = n;
    return TAMIS_OK;
}

#ifdef ONE_BLOCK_REMOVE
MANY_INLINE uint64_t one_block_remove_one(void *self, void *group, size_t i)
{
    one_block_batch *b = self;
    const one_block_group *g = group;

    b->done += ONE_BLOCK_REMOVE(&b->blocks[g->block[i]], g->x[i], &b->counted);
    return true;
}

static size_t one_block_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    one_block_batch b = one_block_change_many(f, keys, n, one_block_remove_one);

    counters_forget(f, b.counted);
    return b.done;
}
#endif

/* Puts them into a table, for kernels. */
static inline void one_block_use(tamis_ops *ops)
{
    ops->has = one_block_has;
    ops->has_many = one_block_has_many;
    ops->add_many = one_block_add_many;
#ifdef ONE_BLOCK_REMOVE
    ops->remove_many = one_block_remove_many;
#else
    ops->add = one_block_add;
#endif
}
