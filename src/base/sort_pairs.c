/* sort_pairs.c - hashes with something beside them. */
#include "base/sort.h"

typedef struct sort_item {
    uint64_t hash, value;
} sort_item;

static inline uint64_t sort_hash(sort_item x)
{
    return x.hash;
}

#include "base/sort_template.h"

void tamis__sort_pairs(void *pairs, size_t n)
{
    sort_from(pairs, n, 56);
}

void tamis__sort_group_pairs(void *pairs, size_t n, unsigned skip, unsigned bits, size_t *starts)
{
    sort_into_groups(pairs, n, skip, bits, starts);
}
