/* sort_pairs.c - hashes with something beside them. */
#include "base/sort.h"

typedef struct item {
    uint64_t hash, value;
} item;

static inline uint64_t hash_of(item x)
{
    return x.hash;
}

#include "base/sort_items.h"

void tamis__sort_pairs(void *pairs, size_t n)
{
    sort_from(pairs, n, 56);
}

void tamis__sort_group_pairs(void *pairs, size_t n, unsigned skip, unsigned bits, size_t *starts)
{
    group_by(pairs, n, skip, bits, starts);
}
