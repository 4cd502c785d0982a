/* counting_blocked_many.h - lookups, adds and removes, a template for the kernels: as
 * blocked_many.h, and each defines block_remove() too. */
#include "bloom/blocked_many.h"
#include "bloom/counters.h"

static inline void remove_one(block *b, uint32_t x, tally *t)
{
    removal r = block_remove(b, x);

    t->done += r != ABSENT;
    t->counted += r == FORGOTTEN;
}

static size_t remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    tally t = change_many(f, keys, n, remove_one);

    counters_forget(f, t.counted);
    return t.done;
}
