/* one_block_template.h - TEMPLATE, compiled once for each CPU and kind of one block per key.
 *
 * The includer defines one_block_name(), which makes a name its own, and
 *
 *   ONE_BLOCK         the type of a block
 *   ONE_BLOCK_HAS     bool (const ONE_BLOCK *b, uint32_t x)
 *   ONE_BLOCK_ADD     bool (ONE_BLOCK *b, uint32_t x, uint64_t *counted): true, and 1 is added to
 *                     *counted if f->count is to learn of it
 *   ONE_BLOCK_PREPARE optional, how a group of keys is hashed: see one_block.h
 *   ONE_BLOCK_REMOVE  optional, the same; false: the key is not there
 *   ONE_BLOCK_READS   optional, an attribute of functions that read blocks beside add_concurrent().
 *                     Words are read whole on every machine with vectors, and a bit that shows a
 *                     moment later is no harm; the race detector cannot know that. */
#include "bloom/one_block.h"

#ifndef ONE_BLOCK_PREPARE
#define ONE_BLOCK_PREPARE one_block_prepare
#endif
#ifndef ONE_BLOCK_READS
#define ONE_BLOCK_READS
#endif

static inline ONE_BLOCK *one_block_name(block_of)(const tamis *f, uint64_t h)
{
    ONE_BLOCK *blocks = f->payload;

    return &blocks[scale64(h, f->plan.slots)];
}

ONE_BLOCK_READS static bool one_block_name(has)(const tamis *f, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);

    return ONE_BLOCK_HAS(one_block_name(block_of)(f, h), (uint32_t)h);
}

ONE_BLOCK_READS MANY_INLINE uint64_t one_block_name(look)(void *self, void *group, size_t i)
{
    const one_block_group *g = group;

    return ONE_BLOCK_HAS(one_block_at(self, g, i), g->x[i]);
}

ONE_BLOCK_READS static size_t one_block_name(has_many)(const tamis *f, uint64_t *hits,
                                                       const uint64_t *keys, size_t n)
{
    return one_block_look_up(f, hits, keys, n, sizeof(ONE_BLOCK), ONE_BLOCK_PREPARE,
                             one_block_name(look));
}

MANY_INLINE uint64_t one_block_name(add_in)(void *self, void *group, size_t i)
{
    one_block_batch *b = self;
    const one_block_group *g = group;

    return ONE_BLOCK_ADD(one_block_at(b, g, i), g->x[i], &b->counted);
}

static tamis_status one_block_name(add_many)(tamis *f, size_t *added, const uint64_t *keys,
                                             size_t n)
{
    f->count +=
        one_block_change(f, keys, n, sizeof(ONE_BLOCK), ONE_BLOCK_PREPARE, one_block_name(add_in))
            .counted;
    *added = n;
    return TAMIS_OK;
}

#ifdef ONE_BLOCK_REMOVE
MANY_INLINE uint64_t one_block_name(remove_in)(void *self, void *group, size_t i)
{
    one_block_batch *b = self;
    const one_block_group *g = group;

    b->done += ONE_BLOCK_REMOVE(one_block_at(b, g, i), g->x[i], &b->counted);
    return true;
}

static size_t one_block_name(remove_many)(tamis *f, const uint64_t *keys, size_t n)
{
    one_block_batch b = one_block_change(f, keys, n, sizeof(ONE_BLOCK), ONE_BLOCK_PREPARE,
                                         one_block_name(remove_in));

    counters_forget(f, b.counted);
    return b.done;
}
#else
static tamis_status one_block_name(add)(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt);

    (void)times;
    ONE_BLOCK_ADD(one_block_name(block_of)(f, h), (uint32_t)h, &f->count);
    return TAMIS_OK;
}
#endif

/* Puts them into a table, for kernels. */
static inline void one_block_name(use)(tamis_ops *ops)
{
    ops->has = one_block_name(has);
    ops->has_many = one_block_name(has_many);
    ops->add_many = one_block_name(add_many);
#ifdef ONE_BLOCK_REMOVE
    ops->remove_many = one_block_name(remove_many);
#else
    ops->add = one_block_name(add);
#endif
}

#undef one_block_name
#undef ONE_BLOCK
#undef ONE_BLOCK_HAS
#undef ONE_BLOCK_ADD
#undef ONE_BLOCK_PREPARE
#undef ONE_BLOCK_REMOVE
#undef ONE_BLOCK_READS
