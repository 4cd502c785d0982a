/* host.c - what the core asks of its host: memory, and a turn for other threads. */
#include <sched.h>
#include <stdlib.h>

#include "core/memory.h"
#include "os/pages.h"

static void *host_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return size >= TAMIS_ZEROED_SIZE ? tamis__pages_new(size) : malloc(size);
}

static void host_free(void *ctx, void *block, size_t size)
{
    (void)ctx;
    if (size >= TAMIS_ZEROED_SIZE)
        tamis__pages_free(block, size);
    else
        free(block);
}

const tamis_allocator tamis__default_allocator = { host_alloc, host_free, NULL };

void tamis__yield(void)
{
    sched_yield();
}
