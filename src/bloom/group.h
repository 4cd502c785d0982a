/* group.h - keys on their way to their blocks, for the kinds that have one block per key. */
#ifndef TAMIS_BLOOM_GROUP_H
#define TAMIS_BLOOM_GROUP_H

#include "base/bits.h"
#include "base/hash.h"
#include "filter.h"

/* Which block, and which bits or counters of it. */
enum { GROUP = 64 };

typedef struct {
    uint64_t block[GROUP];
    uint32_t x[GROUP];
    size_t n;
} group;

static inline void place_one(group *g, size_t i, uint64_t key, uint64_t slots, uint64_t salt)
{
    uint64_t h = hash_key(key, salt);

    g->block[i] = scale64(h, slots);
    g->x[i] = (uint32_t)h;
}

static inline void place_each(group *g, size_t from, const uint64_t *keys, uint64_t slots,
                              uint64_t salt)
{
    for (size_t i = from; i < g->n; i++)
        place_one(g, i, keys[i], slots, salt);
}

#endif
