/* no_host.c - in place of os/host.c where the core runs alone: memory is the caller's to give, and
 * there are no other threads. */
#include "core/memory.h"

static void *no_host_alloc(void *ctx, size_t size)
{
    (void)ctx;
    (void)size;
    return NULL;
}

static void no_host_free(void *ctx, void *block, size_t size)
{
    (void)ctx;
    (void)block;
    (void)size;
}

const tamis_allocator tamis__default_allocator = { no_host_alloc, no_host_free, NULL };

void tamis__yield(void)
{
}
