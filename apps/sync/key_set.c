/* key_set.c - keys in order. */
#include <stdlib.h>
#include <string.h>

#include "key_set.h"
#include "term/array.h"
#include "term/buffer.h"

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

uint64_t *key_set_of(const uint64_t *keys, size_t n)
{
    uint64_t *set = array_new(n, sizeof *set, "keys");

    if (n > 0)
        memcpy(set, keys, n * sizeof *set);
    qsort(set, n, sizeof *set, compare_keys);
    return set;
}

bool key_set_has(const uint64_t *set, size_t n, uint64_t key)
{
    return n > 0 && bsearch(&key, set, n, sizeof key, compare_keys);
}
