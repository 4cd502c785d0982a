/* limited_allocator.h - an allocator that knows how much it gives out, and refuses what is beyond a
 * limit. */
#ifndef TAMIS_TESTS_LIMITED_ALLOCATOR_H
#define TAMIS_TESTS_LIMITED_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "tamis.h"

typedef struct limited_allocator {
    uint64_t limit, live, most; /* bytes: allowed, given out, and given out at most */
    bool is_overdrawn;          /* something was refused */
} limited_allocator;

static inline void *limited_alloc(void *ctx, size_t size)
{
    limited_allocator *p = ctx;

    if (size > p->limit || p->live > p->limit - size) {
        p->is_overdrawn = true;
        return NULL;
    }
    p->live += size;
    p->most = p->live > p->most ? p->live : p->most;
    return malloc(size);
}

static inline void limited_free(void *ctx, void *block, size_t size)
{
    ((limited_allocator *)ctx)->live -= size;
    free(block);
}

static inline tamis_allocator allocator_of(limited_allocator *p)
{
    return (tamis_allocator){ limited_alloc, limited_free, p };
}

typedef struct limited_blocks {
    size_t left;        /* allocations that succeed */
    size_t held, taken; /* blocks that were not given back, and all there were */
} limited_blocks;

static inline void *limited_blocks_alloc(void *ctx, size_t size)
{
    limited_blocks *b = ctx;

    if (b->left == 0)
        return NULL;
    b->left--;
    b->held++;
    b->taken++;
    return malloc(size);
}

static inline void limited_blocks_free(void *ctx, void *block, size_t size)
{
    (void)size;
    ((limited_blocks *)ctx)->held--;
    free(block);
}

static inline tamis_allocator allocator_of_blocks(limited_blocks *b)
{
    return (tamis_allocator){ limited_blocks_alloc, limited_blocks_free, b };
}

#endif
