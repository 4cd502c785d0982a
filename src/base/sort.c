/* sort.c - hashes by themselves. */
#include "base/sort.h"

typedef uint64_t sort_item;

static inline uint64_t sort_hash(sort_item x)
{
    return x;
}

#include "base/sort_template.h"

void tamis__sort(uint64_t *x, size_t n)
{
    sort_from(x, n, 56);
}

size_t tamis__sort_unique(uint64_t *x, size_t n)
{
    size_t kept = 0;

    tamis__sort(x, n);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || x[i] != x[kept - 1])
            x[kept++] = x[i];
    return kept;
}

void tamis__sort_group(uint64_t *x, size_t n, unsigned skip, unsigned bits, size_t *starts)
{
    sort_into_groups(x, n, skip, bits, starts);
}
