/* batch.c - many keys at once, for kinds without loops of their own: what a key reads is asked for
 * long before its turn comes. */
#include "core/batch.h"

#include <string.h>

#include "base/many.h"

enum { KEYS_AHEAD = 32 };

/* Asks for what a later key will read, before key i is looked at; before the first, for several. */
static void batch_touch(const tamis *f, const uint64_t *keys, size_t i, size_t n)
{
    if (!f->ops.touch)
        return;
    for (size_t at = i ? i + KEYS_AHEAD : 0; at < n && at <= i + KEYS_AHEAD; at++)
        f->ops.touch(f, keys[at]);
}

MANY_INLINE void batch_prepare(const void *f, void *group, const uint64_t *keys, size_t n)
{
    (void)f;
    memcpy(group, keys, n * sizeof *keys);
}

MANY_INLINE void batch_fetch(const void *self, const void *group, size_t i)
{
    const tamis *f = self;
    const uint64_t *keys = group;

    if (f->ops.touch)
        f->ops.touch(f, keys[i]);
}

MANY_INLINE uint64_t batch_look(void *self, void *group, size_t i)
{
    const tamis *f = self;
    const uint64_t *keys = group;

    return f->ops.has(f, keys[i]);
}

static size_t batch_has(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    uint64_t groups[2][MANY];

    return many_lookups(f, hits, keys, n, groups[0], groups[1], batch_prepare, batch_fetch,
                        batch_look, NULL);
}

size_t tamis__batch_has_few(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    uint64_t word = 0;

    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)f->ops.has(f, keys[i]) << i;
    if (n)
        hits[0] = word;
    return (size_t)__builtin_popcountll(word);
}

size_t tamis__batch_get(const tamis *f, uint64_t *values, uint64_t *hits, const uint64_t *keys,
                        size_t n)
{
    size_t found = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof *hits);
    for (size_t i = 0; i < n; i++) {
        batch_touch(f, keys, i, n);
        values[i] = 0;
        uint64_t hit = tamis_get(f, &values[i], keys[i]);
        hits[i / 64] |= hit << i % 64;
        found += (size_t)hit;
    }
    return found;
}

static void batch_count(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        batch_touch(f, keys, i, n);
        counts[i] = tamis_count(f, keys[i]);
    }
}

tamis_status tamis__batch_put(tamis *f, size_t *done, const uint64_t *keys, const uint64_t *values,
                              size_t n)
{
    for (*done = 0; *done < n; ++*done) {
        batch_touch(f, keys, *done, n);
        tamis_status status = f->ops.add(f, keys[*done], values ? values[*done] : 1);
        if (status)
            return status;
    }
    return TAMIS_OK;
}

static tamis_status batch_add(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    return tamis__batch_put(f, added, keys, NULL, n);
}

static size_t batch_remove(tamis *f, const uint64_t *keys, size_t n)
{
    size_t removed = 0;

    for (size_t i = 0; i < n; i++) {
        batch_touch(f, keys, i, n);
        removed += f->ops.remove(f, keys[i], 1) == TAMIS_OK;
    }
    return removed;
}

void tamis__batch_fill(tamis_ops *ops)
{
    if (!ops->has_many)
        ops->has_many = batch_has;
    if (!ops->count_many)
        ops->count_many = batch_count;
    if (ops->add && !ops->add_many)
        ops->add_many = batch_add;
    if (ops->remove && !ops->remove_many)
        ops->remove_many = batch_remove;
}
