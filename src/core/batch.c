/* batch.c - many keys at once: prefetch a group, then probe it.
 *
 * The processor waits for one line of memory about as long as for sixteen, if it is asked for all
 * of them first. */
#include "core/batch.h"

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

/* Up to 64 answers. */
static uint64_t has_word(const tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t hits = 0;

    for (size_t from = 0; from < n; from += GROUP) {
        size_t to = smaller(from + GROUP, n);
        touch(f, keys + from, to - from);
        for (size_t i = from; i < to; i++)
            hits |= (uint64_t)f->has(f, keys[i]) << i;
    }
    return hits;
}

size_t tamis__batch_has(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i += 64) {
        hits[i / 64] = has_word(f, keys + i, smaller(64, n - i));
        found += (size_t)__builtin_popcountll(hits[i / 64]);
    }
    return found;
}

tamis_status tamis__batch_add(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    for (*added = 0; *added < n; ++*added) {
        if (*added % GROUP == 0)
            touch(f, keys + *added, smaller(GROUP, n - *added));
        tamis_status status = f->ops->add(f, keys[*added]);
        if (status)
            return status;
    }
    return TAMIS_OK;
}
