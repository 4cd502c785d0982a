/* roaring.c - compressed bitmaps of CRoaring: exact, for integers below 2^32. */
#include "../bench.h"

#include <roaring/roaring.h>
#include <stdio.h>
#include <string.h>

/* The library has narrower keys: those of the benchmark are converted, this many at a time. */
enum { PIECE = 1024 };

static size_t narrow(uint32_t *to, const uint64_t *keys, size_t n)
{
    size_t count = n < PIECE ? n : PIECE;

    for (size_t i = 0; i < count; i++)
        to[i] = (uint32_t)keys[i];
    return count;
}

static bool add(void *self, const uint64_t *keys, size_t n)
{
    uint32_t piece[PIECE];

    for (size_t i = 0, count; i < n; i += count) {
        count = narrow(piece, keys + i, n - i);
        roaring_bitmap_add_many(self, count, piece);
    }
    return true;
}

static bool add_each(void *self, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        roaring_bitmap_add(self, (uint32_t)keys[i]);
    return true;
}

static bool remove_each(void *self, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        roaring_bitmap_remove(self, (uint32_t)keys[i]);
    return true;
}

static void *make(const bench_subject *subject, const bench_case *c, const uint64_t *keys, size_t n)
{
    (void)subject;
    if (c->keys > UINT32_MAX / 8)
        return NULL;
    roaring_bitmap_t *r = roaring_bitmap_create();
    if (!r)
        return NULL;
    add(r, keys, n);
    /* Does nothing for scattered keys, which have no runs, but users who build at once would call
     * it. */
    if (n)
        roaring_bitmap_run_optimize(r);
    return r;
}

static void drop(void *self)
{
    roaring_bitmap_free(self);
}

static bool has_one(const void *self, uint64_t key)
{
    return roaring_bitmap_contains(self, (uint32_t)key);
}

#include "../lone_template.h"

static size_t has(const void *self, uint64_t *hits, const uint64_t *keys, size_t n)
{
    size_t count = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof(*hits));
    for (size_t i = 0; i < n; i++) {
        bool hit = roaring_bitmap_contains(self, (uint32_t)keys[i]);
        hits[i / 64] |= (uint64_t)hit << i % 64;
        count += hit;
    }
    return count;
}

/* As written to a file; the containers take the same in memory. */
static size_t bytes(const void *self)
{
    return roaring_bitmap_portable_size_in_bytes(self);
}

static char library[32];

static const bench_subject bitmap = {
    .name = "roaring-bitmap",
    .library = library,
    .indexed = true,
    .exact = true,
    .make = make,
    .add = add,
    .has = has,
    .bytes = bytes,
    .drop = drop,
    .builds_at_once = true,
    .has_each = has_each,
    .has_chain = has_chain,
    .add_each = add_each,
    .remove = remove_each,
    .remove_each = remove_each,
};

/* The version is made of constants, not of text. */
__attribute__((constructor)) static void name_library(void)
{
    snprintf(library, sizeof(library), "CRoaring %d.%d.%d", ROARING_VERSION_MAJOR,
             ROARING_VERSION_MINOR, ROARING_VERSION_REVISION);
}

extern const bench_subject *const bench_peer_roaring[];
const bench_subject *const bench_peer_roaring[] = { &bitmap, NULL };
