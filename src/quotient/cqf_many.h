/* cqf_many.h - lookups and changes of many keys, a template for the kernels: what instructions they
 * are made of is up to the options of the file that includes it. */
#include "base/many.h"
#include "quotient/cqf.h"

/* ---- Lookups ----------------------------------------------------------- */

static inline bool has_spot(const shards *s, spot at)
{
    table t = table_of(s, at.shard);

    return count_in(&t, at.quotient, at.remainder) != 0;
}

static bool has(const tamis *f, uint64_t key)
{
    shards s = shards_of(f);

    return has_spot(&s, spot_of(&s, place(key, s.salt)));
}

static uint64_t place_key(const void *self, uint64_t key)
{
    return place(key, ((const shards *)self)->salt);
}

__attribute__((always_inline)) static inline const uint8_t *block_of(const shards *s, uint64_t h)
{
    spot at = spot_of(s, h);
    table t = table_of(s, at.shard);

    return t.at + at.quotient / BLOCK * t.stride;
}

__attribute__((always_inline)) static inline void fetch(const void *self, uint64_t h)
{
    const shards *s = self;
    spot at = spot_of(s, h);
    table t = table_of(s, at.shard);
    const uint8_t *b = t.at + at.quotient / BLOCK * t.stride;

    __builtin_prefetch(b, 0, 3);
    __builtin_prefetch(b + SLOTS + at.quotient % BLOCK * s->width / 8, 0, 3);
}

static inline bool look(const void *self, uint64_t h)
{
    return has_spot(self, spot_of(self, h));
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    shards s = shards_of(f);

    return many_lookups(&s, hits, keys, n, place_key, fetch, look);
}
