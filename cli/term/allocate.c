/* allocate.c - memory. */
#include <stdlib.h>
#include <string.h>

#include "allocate.h"
#include "message.h"

void *allocate(uint64_t n, size_t size)
{
    void *items = n <= SIZE_MAX ? calloc(n ? (size_t)n : 1, size) : NULL;

    if (!items)
        die(CODE_MEMORY, "out of memory for %" PRIu64 " times %zu bytes", n, size);
    return items;
}

char *allocate_text(const char *bytes, size_t size)
{
    return memcpy(allocate(size + 1, 1), bytes, size);
}
