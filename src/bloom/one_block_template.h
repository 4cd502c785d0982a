/* one_block_template.h - TEMPLATE, compiled once for each CPU and kind of one block per key.
 *
 * Keys go through in groups of 64, a word of answers: while the blocks of one group are looked at,
 * those of the next are on their way from memory. The includer defines
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

enum { GROUP = 64 };

typedef struct one_block_group {
    _Alignas(64) uint64_t block[GROUP];
    _Alignas(64) uint32_t x[GROUP]; /* which bits or counters of it */
    size_t n;
} one_block_group;

/* Hashes keys by vectors, as far as these go; returns how many. */
#if defined(__AVX512DQ__)
static inline size_t one_block_hash(one_block_group *g, const tamis *f, const uint64_t *keys)
{
    __m512i slots = _mm512_set1_epi64((long long)f->plan.slots);
    __m512i salt = _mm512_set1_epi64((long long)f->salt);
    size_t n = f->plan.slots >> 32 ? 0 : g->n - g->n % 8; /* scale64_avx512() has a limit */

    for (size_t i = 0; i < n; i += 8) {
        __m512i h = mix64_avx512(_mm512_xor_si512(_mm512_loadu_si512(keys + i), salt));
        _mm512_store_si512(g->block + i, scale64_avx512(h, slots));
        _mm256_store_si256((__m256i *)(g->x + i), _mm512_cvtepi64_epi32(h));
    }
    return n;
}
#elif defined(__AVX2__)
static inline size_t one_block_hash(one_block_group *g, const tamis *f, const uint64_t *keys)
{
    const __m256i evens = _mm256_set_epi32(0, 0, 0, 0, 6, 4, 2, 0);
    __m256i slots = _mm256_set1_epi64x((long long)f->plan.slots);
    __m256i salt = _mm256_set1_epi64x((long long)f->salt);
    size_t n = f->plan.slots >> 32 ? 0 : g->n - g->n % 4; /* scale64_avx2() has a limit */

    for (size_t i = 0; i < n; i += 4) {
        __m256i key = _mm256_loadu_si256((const __m256i *)(keys + i));
        __m256i h = mix64_avx2(_mm256_xor_si256(key, salt));
        _mm256_store_si256((__m256i *)(g->block + i), scale64_avx2(h, slots));
        _mm_store_si128((__m128i *)(g->x + i),
                        _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(h, evens)));
    }
    return n;
}
#else
static inline size_t one_block_hash(one_block_group *g, const tamis *f, const uint64_t *keys)
{
    (void)g, (void)f, (void)keys;
    return 0;
}
#endif

/* Takes the keys from .. from + 63, as far as there are any; the rest of the group stands for block
 * 0, so that it may be fetched as well. */
static inline void one_block_fill(one_block_group *g, const tamis *f, const uint64_t *keys,
                                  size_t from, size_t n)
{
    if (from > n)
        from = n;
    keys += from;
    g->n = n - from < GROUP ? n - from : GROUP;
    size_t i = one_block_hash(g, f, keys);
    for (; i < g->n; i++) {
        uint64_t h = hash_key(keys[i], f->salt);
        g->block[i] = scale64(h, f->plan.slots);
        g->x[i] = (uint32_t)h;
    }
    for (; i < GROUP; i++)
        g->block[i] = 0;
}

static inline void one_block_fetch(const tamis *f, const one_block_group *g)
{
    const ONE_BLOCK *blocks = f->payload;

    for (size_t i = 0; i < g->n; i++)
        ahead_read(&blocks[g->block[i]], f->is_far);
}

/* ---- Many keys --------------------------------------------------------- */

/* A group is filled as a whole: for so few keys that takes longer than to look them up. */
enum { FEW = 8 };

/* Each step looks at one block and asks for one of the next group: requests in bursts would wait
 * for each other. */
ONE_BLOCK_READS static size_t one_block_has_many(const tamis *f, uint64_t *hits,
                                                 const uint64_t *keys, size_t n)
{
    const ONE_BLOCK *blocks = f->payload;
    one_block_group groups[2];
    size_t found = 0;
    bool is_far = f->is_far;

    if (n <= FEW) {
        uint64_t word = 0;
        for (size_t i = 0; i < n; i++)
            word |= (uint64_t)one_block_has(f, keys[i]) << i;
        if (n)
            hits[0] = word;
        return (size_t)__builtin_popcountll(word);
    }
    one_block_fill(&groups[0], f, keys, 0, n);
    one_block_fetch(f, &groups[0]);
    for (size_t from = 0; from < n; from += GROUP) {
        const one_block_group *now = &groups[from / GROUP % 2];
        one_block_group *next = &groups[from / GROUP % 2 ^ 1];
        uint64_t word = 0;
        one_block_fill(next, f, keys, from + GROUP, n);
        for (size_t i = 0; i < now->n; i++) {
            ahead_read(&blocks[next->block[i]], is_far);
            word |= (uint64_t)ONE_BLOCK_HAS(&blocks[now->block[i]], now->x[i]) << i;
        }
        hits[from / GROUP] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

typedef bool one_block_change(ONE_BLOCK *b, uint32_t x, uint64_t *counted);

/* Returns for how many keys the change did. */
__attribute__((always_inline)) static inline size_t
one_block_change_many(tamis *f, const uint64_t *keys, size_t n, one_block_change *change,
                      uint64_t *counted)
{
    ONE_BLOCK *blocks = f->payload;
    one_block_group groups[2];
    size_t done = 0;
    bool is_far = f->is_far;

    one_block_fill(&groups[0], f, keys, 0, n);
    one_block_fetch(f, &groups[0]);
    for (size_t from = 0; from < n; from += GROUP) {
        const one_block_group *now = &groups[from / GROUP % 2];
        one_block_group *next = &groups[from / GROUP % 2 ^ 1];
        one_block_fill(next, f, keys, from + GROUP, n);
        for (size_t i = 0; i < now->n; i++) {
            ahead_write(&blocks[next->block[i]], is_far);
            done += change(&blocks[now->block[i]], now->x[i], counted);
        }
    }
    return done;
}

static tamis_status one_block_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    uint64_t counted = 0;

    *added = one_block_change_many(f, keys, n, ONE_BLOCK_ADD, &counted);
    f->count += counted;
    return TAMIS_OK;
}

#ifdef ONE_BLOCK_REMOVE
static size_t one_block_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t counted = 0;
    size_t removed = one_block_change_many(f, keys, n, ONE_BLOCK_REMOVE, &counted);

    counters_forget(f, counted);
    return removed;
}
#endif
