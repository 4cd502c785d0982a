/* host.c - in place of os/host.c in a WebAssembly module: memory is that of the module, which grows
 * until its owner or the machine says no, and there are no other threads. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* Large blocks are aligned for payloads and zero: that is what the core expects of its host. */
static void *host_alloc(void *ctx, size_t size)
{
    (void)ctx;
    if (size < TAMIS_ZEROED_SIZE)
        return malloc(size);
    size_t rounded = (size + 63) & ~(size_t)63;
    void *block = rounded < size ? NULL : aligned_alloc(64, rounded);
    return block ? memset(block, 0, size) : NULL;
}

static void host_free(void *ctx, void *block, size_t size)
{
    (void)ctx;
    (void)size;
    free(block);
}

const tamis_allocator tamis__default_allocator = { host_alloc, host_free, NULL };

void tamis__yield(void)
{
}
