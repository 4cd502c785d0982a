/* redis_topk.h - the k most frequent items of a stream, by HeavyKeeper (Gong et al. 2018), free of
 * Redis.
 *
 * Rows of cells hold a fingerprint and a count. An item that meets another in its cell wears it
 * down: the count falls by one with probability decay^count, and whoever finds it at 0 takes the
 * cell. Large counts are hardly ever worn. The k items with the largest counts are kept beside.
 *
 * Chances are drawn from a state that is part of the sketch, in arithmetic that is the same on
 * every machine: the same commands leave the same bytes everywhere. */
#ifndef TAMIS_REDIS_TOPK_H
#define TAMIS_REDIS_TOPK_H

#include "tamis.h"

typedef struct redis_topk_cell {
    uint32_t mark, count; /* a count of 0: free */
} redis_topk_cell;

typedef struct redis_topk_item {
    char *bytes; /* NULL only if it has no bytes */
    uint32_t size;
    uint32_t mark;
    uint64_t count;
} redis_topk_item;

typedef struct redis_topk {
    tamis_allocator allocator;
    uint32_t k, width, depth;
    double decay;
    uint64_t state;
    redis_topk_cell *cells; /* row after row */
    redis_topk_item *items; /* a heap: no item has a larger count than its children */
    uint32_t n;             /* items there are */
} redis_topk;

/* Whether k items and so many cells can be counted in bytes; the decay is in (0, 1]. */
bool redis_topk_has_size(uint64_t k, uint64_t width, uint64_t depth, double decay);
tamis_status redis_topk_init(redis_topk *t, tamis_allocator allocator, uint32_t k, uint32_t width,
                             uint32_t depth, double decay);
void redis_topk_clear(redis_topk *t);

/* Adds an item n times. If that puts another out of the list, it is moved to *expelled, to be freed
 * by redis_topk_free_item(); else its bytes are NULL. TAMIS_NOMEM: nothing has changed. */
tamis_status redis_topk_add(redis_topk *t, const char *bytes, size_t size, uint64_t n,
                            redis_topk_item *expelled);
void redis_topk_free_item(redis_topk *t, redis_topk_item *item);

/* Its place in the list, or NULL. */
const redis_topk_item *redis_topk_find(const redis_topk *t, const char *bytes, size_t size);
/* About how often it came. */
uint64_t redis_topk_count(const redis_topk *t, const char *bytes, size_t size);
/* Pointers to all items, the largest count first; `sorted` has room for t->n. */
void redis_topk_sort(const redis_topk *t, const redis_topk_item **sorted);

/* Puts an item of a sketch that is loaded at its end. */
tamis_status redis_topk_append(redis_topk *t, const char *bytes, size_t size, uint64_t count);
/* Whether the items of a loaded sketch are a heap without repeats. */
bool redis_topk_is_whole(const redis_topk *t);

#endif
