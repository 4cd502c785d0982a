/* libbloom.c - the classic Bloom filter of libbloom: keys one at a time, sizes in an int. */
#include "../bench.h"

#include <bloom.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the library takes: it does not check. */
static bool is_in_range(const bench_case *c)
{
    double bits = -log(c->fpr) / (M_LN2 * M_LN2) * (double)c->keys;

    return c->keys >= 1000 && bits + 8 < INT_MAX;
}

static bool add(void *self, const uint64_t *keys, size_t n)
{
    bool ok = true;

    for (size_t i = 0; i < n; i++)
        ok &= bloom_add(self, &keys[i], sizeof(keys[i])) >= 0;
    return ok;
}

static void drop(void *self)
{
    bloom_free(self);
    free(self);
}

static void *make(const bench_subject *subject, const bench_case *c, const uint64_t *keys, size_t n)
{
    struct bloom *b = is_in_range(c) ? calloc(1, sizeof(*b)) : NULL;

    (void)subject;
    if (!b)
        return NULL;
    if (bloom_init(b, (int)c->keys, c->fpr) != 0) {
        free(b);
        return NULL;
    }
    if (add(b, keys, n))
        return b;
    drop(b);
    return NULL;
}

/* The library asks for a filter that it may write to, and does not write. */
static bool has_one(const void *self, uint64_t key)
{
    return bloom_check((struct bloom *)self, &key, sizeof(key)) == 1;
}

#include "../lone_template.h"

static size_t has(const void *self, uint64_t *hits, const uint64_t *keys, size_t n)
{
    size_t count = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof(*hits));
    for (size_t i = 0; i < n; i++) {
        bool hit = has_one(self, keys[i]);
        hits[i / 64] |= (uint64_t)hit << i % 64;
        count += hit;
    }
    return count;
}

static size_t bytes(const void *self)
{
    return (size_t)((const struct bloom *)self)->bytes;
}

static double planned_fpr(const void *self)
{
    return ((const struct bloom *)self)->error;
}

static char library[32];

static const bench_subject classic = {
    .name = "libbloom-bloom",
    .library = library,
    .make = make,
    .add = add,
    .has = has,
    .bytes = bytes,
    .drop = drop,
    .has_each = has_each,
    .has_chain = has_chain,
    .add_each = add,
    .planned_fpr = planned_fpr,
};

/* Only the library itself knows its version. */
__attribute__((constructor)) static void name_library(void)
{
    snprintf(library, sizeof(library), "libbloom %s", bloom_version());
}

extern const bench_subject *const bench_peer_libbloom[];
const bench_subject *const bench_peer_libbloom[] = { &classic, NULL };
