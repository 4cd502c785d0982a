/* heap.c - the default allocator: malloc(), and whole pages for large blocks. */
#include <stdlib.h>

#include "core/memory.h"
#include "os/pages.h"

static void *heap_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return size >= TAMIS_ZEROED_SIZE ? tamis__pages_new(size) : malloc(size);
}

static void heap_free(void *ctx, void *block, size_t size)
{
    (void)ctx;
    if (size >= TAMIS_ZEROED_SIZE)
        tamis__pages_free(block, size);
    else
        free(block);
}

const tamis_allocator tamis__default_allocator = { heap_alloc, heap_free, NULL };
