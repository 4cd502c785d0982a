/* no_heap.c - no default allocator: where the core runs alone, memory is the caller's to give. */
#include "core/memory.h"

static void *no_heap_alloc(void *ctx, size_t size)
{
    (void)ctx;
    (void)size;
    return NULL;
}

static void no_heap_free(void *ctx, void *block, size_t size)
{
    (void)ctx;
    (void)block;
    (void)size;
}

const tamis_allocator tamis__default_allocator = { no_heap_alloc, no_heap_free, NULL };
