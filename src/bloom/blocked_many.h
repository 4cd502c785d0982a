/* blocked_many.h - lookups and adds of many keys, a template for the kernels.
 *
 * A kernel defines block_has() and block_add() for its instruction set, then includes this. The
 * line of a key is asked for AHEAD keys before it is used: the memory is never idle, neither
 * between groups nor at their ends. */
#include "bloom/blocked.h"

/* Between the number of lines a core can wait for (a few dozen) and what the first-level cache
 * keeps. */
enum { AHEAD = 32 };

static inline uint64_t fetch(const block *blocks, uint64_t slots, uint64_t key, uint64_t salt)
{
    uint64_t h = place(key, salt);

    __builtin_prefetch(&blocks[scale64(h, slots)], 0, 3);
    return h;
}

static inline uint64_t fetch_to_write(block *blocks, uint64_t slots, uint64_t key, uint64_t salt)
{
    uint64_t h = place(key, salt);

    __builtin_prefetch(&blocks[scale64(h, slots)], 1, 3);
    return h;
}

/* Readers may run beside add_shared(). Words are read whole on every machine with vectors, and a
 * bit that shows a moment later is no harm; the race detector cannot know that. */
#ifndef KERNEL_READS
#define KERNEL_READS
#endif

KERNEL_READS static bool has(const tamis *f, uint64_t key)
{
    const block *blocks = f->payload;
    uint64_t h = place(key, f->salt);

    return block_has(&blocks[scale64(h, f->plan.slots)], (uint32_t)h);
}

KERNEL_READS static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const block *blocks = f->payload;
    uint64_t slots = f->plan.slots, salt = f->salt, ring[AHEAD];
    size_t found = 0;

    for (size_t i = 0; i < AHEAD && i < n; i++)
        ring[i] = fetch(blocks, slots, keys[i], salt);
    for (size_t i = 0; i < n; i += 64) {
        size_t end = n - i < 64 ? n : i + 64;
        uint64_t word = 0;
        for (size_t j = i; j < end; j++) {
            uint64_t h = ring[j % AHEAD];
            if (j + AHEAD < n)
                ring[j % AHEAD] = fetch(blocks, slots, keys[j + AHEAD], salt);
            word |= (uint64_t)block_has(&blocks[scale64(h, slots)], (uint32_t)h) << (j - i);
        }
        hits[i / 64] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

static void add_many(tamis *f, const uint64_t *keys, size_t n)
{
    block *blocks = f->payload;
    uint64_t slots = f->plan.slots, salt = f->salt, ring[AHEAD];

    for (size_t i = 0; i < AHEAD && i < n; i++)
        ring[i] = fetch_to_write(blocks, slots, keys[i], salt);
    for (size_t i = 0; i < n; i++) {
        uint64_t h = ring[i % AHEAD];
        if (i + AHEAD < n)
            ring[i % AHEAD] = fetch_to_write(blocks, slots, keys[i + AHEAD], salt);
        block_add(&blocks[scale64(h, slots)], (uint32_t)h);
    }
    f->count += n;
}
