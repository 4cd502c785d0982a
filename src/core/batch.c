/* batch.c - many keys at once: prefetch a group, then probe it.
 *
 * The processor waits for one line of memory about as long as for sixteen, if it is asked for all
 * of them first. */
#include "core/batch.h"

#include <string.h>

#include "base/many.h"

enum { GROUP = 16 };

static void touch(const tamis *f, const uint64_t *keys, size_t n)
{
    if (f->ops->touch)
        for (size_t i = 0; i < n; i++)
            f->ops->touch(f, keys[i]);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static uint64_t place_key(const void *f, uint64_t key)
{
    (void)f;
    return key;
}

static void fetch(const void *self, uint64_t key)
{
    const tamis *f = self;

    if (f->ops->touch)
        f->ops->touch(f, key);
}

static bool look(const void *self, uint64_t key)
{
    const tamis *f = self;

    return f->has(f, key);
}

size_t tamis__batch_has(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return many_lookups(f, hits, keys, n, place_key, fetch, look);
}

size_t tamis__batch_has_few(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    uint64_t word = 0;

    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)f->has(f, keys[i]) << i;
    if (n)
        hits[0] = word;
    return (size_t)__builtin_popcountll(word);
}

size_t tamis__batch_get(const tamis *f, uint64_t *values, uint64_t *hits, const uint64_t *keys,
                        size_t n)
{
    size_t found = 0;

    memset(values, 0, n * sizeof *values);
    memset(hits, 0, (n + 63) / 64 * sizeof *hits);
    for (size_t i = 0; i < n; i++) {
        if (i % GROUP == 0)
            touch(f, keys + i, smaller(GROUP, n - i));
        uint64_t hit = f->ops->mapper->get(f, &values[i], keys[i]);
        hits[i / 64] |= hit << i % 64;
        found += hit;
    }
    return found;
}

size_t tamis__batch_remove(tamis *f, const uint64_t *keys, size_t n)
{
    size_t removed = 0;

    for (size_t i = 0; i < n; i++) {
        if (i % GROUP == 0)
            touch(f, keys + i, smaller(GROUP, n - i));
        removed += f->ops->remove(f, keys[i]) == TAMIS_OK;
    }
    return removed;
}

void tamis__batch_count(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i % GROUP == 0)
            touch(f, keys + i, smaller(GROUP, n - i));
        counts[i] = tamis_count(f, keys[i]);
    }
}

/* Kernels that are there take the whole batch. */
tamis_status tamis__batch_add(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    if (f->batch->try_add_many)
        return f->batch->try_add_many(f, added, keys, n);
    for (*added = 0; *added < n; ++*added) {
        if (*added % GROUP == 0)
            touch(f, keys + *added, smaller(GROUP, n - *added));
        tamis_status status = f->ops->add(f, keys[*added]);
        if (status)
            return status;
    }
    return TAMIS_OK;
}
