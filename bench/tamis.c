/* tamis.c - every kind of this library as a subject, by its abilities. */
#include "tamis_file.h"

#include <stdio.h>

#include "bench.h"

static bool plan(tamis_plan *p, const bench_subject *s, const bench_case *c)
{
    tamis_spec spec = TAMIS_SPEC(.keys = s->indexed ? BENCH_UNIVERSE * c->keys : c->keys,
                                 .fpr = c->fpr, .load = c->load, .hasher.hash = TAMIS_RAW);

    return tamis_plan_kind(p, (tamis_kind)s->kind, &spec) == TAMIS_OK;
}

static void *make(const bench_subject *s, const bench_case *c, const uint64_t *keys, size_t n)
{
    tamis_plan p;
    tamis *f;

    if (!plan(&p, s, c))
        return NULL;
    tamis_status status = n ? tamis_build(&f, &p, keys, n, NULL) : tamis_new(&f, &p, NULL);
    return status ? NULL : f;
}

static bool add(void *self, const uint64_t *keys, size_t n)
{
    size_t added;

    return tamis_add_many(self, &added, keys, n) == TAMIS_OK;
}

static bool add_one(void *self, uint64_t key)
{
    return tamis_add(self, key) == TAMIS_OK;
}

static size_t has(const void *self, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return tamis_has_many(self, hits, keys, n);
}

static bool has_one(const void *self, uint64_t key)
{
    return tamis_has(self, key);
}

static bool remove_all(void *self, const uint64_t *keys, size_t n)
{
    size_t removed;

    return tamis_remove_many(self, &removed, keys, n) == TAMIS_OK;
}

static uint64_t count(const void *self, const uint64_t *keys, size_t n)
{
    uint64_t counts[4096], sum = 0;

    for (size_t at = 0, part; at < n; at += part) {
        part = n - at < 4096 ? n - at : 4096;
        tamis_count_many(self, counts, keys + at, part);
        for (size_t i = 0; i < part; i++)
            sum += counts[i];
    }
    return sum;
}

static size_t bytes(const void *self)
{
    return (size_t)tamis_plan_of(self)->bytes;
}

static double planned_fpr(const void *self)
{
    return tamis_plan_of(self)->fpr;
}

static bool save(const void *self, const char *path)
{
    return tamis_save(self, path) == TAMIS_OK;
}

static void *map(const char *path)
{
    tamis *f;

    return tamis_map(&f, path, 0, NULL) ? NULL : f;
}

static void drop(void *self)
{
    tamis_free(self);
}

static bench_subject subject(tamis_kind kind)
{
    unsigned can = tamis_kind_can(kind);

    return (bench_subject){
        .name = tamis_kind_name(kind),
        .library = "tamis " TAMIS_VERSION,
        .kind = (int)kind,
        .indexed = can & TAMIS_IS_INDEXED,
        .exact = can & TAMIS_IS_EXACT,
        .slow = can & TAMIS_CAN_CONVERT && !(can & TAMIS_CAN_ADD), /* it decodes */
        .builds_at_once = can & TAMIS_CAN_BUILD,
        .make = make,
        .add = can & TAMIS_CAN_ADD ? add : NULL,
        .add_one = can & TAMIS_CAN_ADD ? add_one : NULL,
        .has = has,
        .has_one = has_one,
        .remove = can & TAMIS_CAN_REMOVE ? remove_all : NULL,
        .count = can & TAMIS_CAN_COUNT ? count : NULL,
        .bytes = bytes,
        .planned_fpr = planned_fpr,
        .save = save,
        .map = map,
        .drop = drop,
    };
}

size_t bench_tamis(bench_subject *subjects, size_t max)
{
    size_t n = 0;

    /* Kinds that need more than keys cannot be compared with others. */
    for (tamis_kind k = TAMIS_NO_KIND; (k = tamis_kind_next(k)) != TAMIS_NO_KIND && n < max;)
        if (tamis_kind_can(k) & TAMIS_CAN_BUILD)
            subjects[n++] = subject(k);
    return n;
}
