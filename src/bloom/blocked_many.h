/* blocked_many.h - lookups and adds, a template for the kernels.
 *
 * A kernel has the type block of its kind, defines block_has(), block_add(), which tells whether
 * the add counts, and place_group() for its instruction set, then includes this. Keys go through in
 * groups of 64, a word of answers: while the blocks of one group are looked at, those of the next
 * are on their way from memory. */
#include "bloom/group.h"

/* Readers may run beside add_concurrent(). Words are read whole on every machine with vectors, and
 * a bit that shows a moment later is no harm; the race detector cannot know that. */
#ifndef KERNEL_READS
#define KERNEL_READS
#endif

KERNEL_READS static bool has(const tamis *f, uint64_t key)
{
    const block *blocks = f->payload;
    uint64_t h = hash_key(key, f->salt);

    return block_has(&blocks[scale64(h, f->plan.slots)], (uint32_t)h);
}

/* Places the keys from .. from + 63, as far as there are any; the rest of the group stands for
 * block 0, so that it may be fetched as well. */
static inline void place_next(group *g, const tamis *f, const uint64_t *keys, size_t from, size_t n)
{
    if (from > n)
        from = n;
    g->n = n - from < GROUP ? n - from : GROUP;
    place_group(g, keys + from, f->plan.slots, f->salt);
    for (size_t i = g->n; i < GROUP; i++)
        g->block[i] = 0;
}

/* To the second cache: there the processors that were measured keep more requests open than on the
 * way to the first, and filters larger than all caches gain a factor of two. */
enum { FAR = 2 };

static inline void fetch_all(const tamis *f, const group *g)
{
    const block *blocks = f->payload;

    for (size_t i = 0; i < g->n; i++)
        __builtin_prefetch(&blocks[g->block[i]], 0, FAR);
}

/* A group is placed as a whole: for a few keys that takes longer than to look them up. */
enum { FEW = 8 };

KERNEL_READS static size_t has_few(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    uint64_t word = 0;

    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)has(f, keys[i]) << i;
    hits[0] = word;
    return (size_t)__builtin_popcountll(word);
}

/* Each step looks at one block and asks for one of the next group: requests in bursts would wait
 * for each other. */
KERNEL_READS static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const block *blocks = f->payload;
    group groups[2];
    size_t found = 0;

    if (n > 0 && n <= FEW)
        return has_few(f, hits, keys, n);
    place_next(&groups[0], f, keys, 0, n);
    fetch_all(f, &groups[0]);
    for (size_t from = 0; from < n; from += GROUP) {
        const group *now = &groups[from / GROUP % 2];
        group *next = &groups[from / GROUP % 2 ^ 1];
        uint64_t word = 0;
        place_next(next, f, keys, from + GROUP, n);
        for (size_t i = 0; i < now->n; i++) {
            __builtin_prefetch(&blocks[next->block[i]], 0, FAR);
            word |= (uint64_t)block_has(&blocks[now->block[i]], now->x[i]) << i;
        }
        hits[from / GROUP] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

typedef struct {
    size_t done, counted; /* keys, and those of them that f->count is to learn of */
} tally;

typedef void block_change(block *b, uint32_t x, tally *t);

__attribute__((always_inline)) static inline tally change_many(tamis *f, const uint64_t *keys,
                                                               size_t n, block_change *change)
{
    block *blocks = f->payload;
    group groups[2];
    tally t = { 0, 0 };

    place_next(&groups[0], f, keys, 0, n);
    fetch_all(f, &groups[0]);
    for (size_t from = 0; from < n; from += GROUP) {
        const group *now = &groups[from / GROUP % 2];
        group *next = &groups[from / GROUP % 2 ^ 1];
        place_next(next, f, keys, from + GROUP, n);
        for (size_t i = 0; i < now->n; i++) {
            __builtin_prefetch(&blocks[next->block[i]], 1, FAR);
            change(&blocks[now->block[i]], now->x[i], &t);
        }
    }
    return t;
}

static inline void add_one(block *b, uint32_t x, tally *t)
{
    t->counted += block_add(b, x);
}

static tamis_status add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    f->count += change_many(f, keys, n, add_one).counted;
    *added = n;
    return TAMIS_OK;
}
