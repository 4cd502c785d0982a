/* array.c - arrays. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "message.h"

static void *given(void *memory, uint64_t n, const char *what)
{
    if (!memory && n > 1)
        die(CODE_MEMORY, "out of memory for %" PRIu64 " %s", n, what);
    if (!memory)
        die(CODE_MEMORY, "out of memory for %s", what);
    return memory;
}

void *array_new(uint64_t n, size_t size, const char *what)
{
    return given(n <= SIZE_MAX ? calloc(n ? (size_t)n : 1, size) : NULL, n, what);
}

/* A block is full when it has a power of two, and becomes twice as large then. */
void *array_grown(void *all, size_t n, size_t size, const char *what)
{
    if (n & (n - 1))
        return all;
    return given(reallocarray(all, n ? 2 * n : 1, size), n, what);
}

char *array_text(const char *bytes, size_t size)
{
    return memcpy(array_new(size + 1, 1, "bytes of text"), bytes, size);
}

static int compare_ranked(const void *left, const void *right)
{
    const ranked *a = left, *b = right;

    return a->by != b->by ? (a->by > b->by) - (a->by < b->by) : (a->id > b->id) - (a->id < b->id);
}

void array_sort(ranked *all, size_t n)
{
    if (n > 1)
        qsort(all, n, sizeof *all, compare_ranked);
}
