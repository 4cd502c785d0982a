/* subjects.c - every kind of this library as a subject, by its abilities. */
#include "tamis_builder.h"

#include <stdio.h>

#include "base/cpu.h"
#include "bench.h"
#include "filter.h"
#include "threads.h"

static tamis_spec spec_of(const bench_subject *s, const bench_case *c)
{
    return (tamis_spec)TAMIS_SPEC(.keys = s->indexed ? BENCH_UNIVERSE * c->keys : c->keys,
                                  .fpr = c->fpr, .load = c->load, .hasher.hash = TAMIS_RAW);
}

static bool plan(tamis_plan *p, const bench_subject *s, const bench_case *c)
{
    tamis_spec spec = spec_of(s, c);

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

static bool add_each(void *self, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tamis_add(self, keys[i]))
            return false;
    return true;
}

static bool add_shared(void *self, const uint64_t *keys, size_t n)
{
    size_t added;

    return tamis_add_concurrent(self, &added, keys, n) == TAMIS_OK;
}

static size_t has(const void *self, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return tamis_has_many(self, hits, keys, n);
}

static bool has_one(const void *self, uint64_t key)
{
    return tamis_has(self, key);
}

#include "lone_template.h"

static bool remove_each(void *self, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tamis_remove(self, keys[i]))
            return false;
    return true;
}

static bool remove_many(void *self, const uint64_t *keys, size_t n)
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

/* ---- Several threads --------------------------------------------------- */

typedef struct {
    tamis_builder *builder;
    const uint64_t *keys;
    size_t n;
    unsigned threads;
    bool failed[BENCH_MAX_THREADS];
} pieces;

/* Pieces such as programs read keys in. */
static void add_pieces(void *ctx, unsigned i)
{
    enum { PIECE = 1 << 16 };
    pieces *p = ctx;
    size_t at = p->n / p->threads * i, end = i + 1 < p->threads ? at + p->n / p->threads : p->n;

    for (size_t part; at < end && !p->failed[i]; at += part) {
        part = end - at < PIECE ? end - at : PIECE;
        p->failed[i] = tamis_builder_add_many(p->builder, p->keys + at, part) != TAMIS_OK;
    }
}

static void *make_shared(const bench_subject *s, const bench_case *c, const uint64_t *keys,
                         size_t n, unsigned threads)
{
    tamis_spec spec = spec_of(s, c);
    tamis_build_options options = TAMIS_BUILD_OPTIONS(.threads = threads);
    pieces p = { .keys = keys, .n = n, .threads = threads };
    tamis *f = NULL;
    bool failed = false;

    if (tamis_builder_new(&p.builder, (tamis_kind)s->kind, &spec, &options))
        return NULL;
    bench_threads(threads, add_pieces, &p);
    for (unsigned i = 0; i < threads; i++)
        failed |= p.failed[i];
    if (failed || tamis_builder_finish(&f, p.builder))
        f = NULL;
    tamis_builder_free(p.builder);
    return f;
}

/* ---- Subjects ---------------------------------------------------------- */

static void use_without(void *self, unsigned cpu)
{
    tamis__use_cpu(self, tamis__cpu() & ~cpu);
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
        .add_each = can & TAMIS_CAN_ADD ? add_each : NULL,
        .add_shared = can & TAMIS_CAN_ADD_CONCURRENT ? add_shared : NULL,
        .make_shared = make_shared,
        .has = has,
        .has_each = has_each,
        .has_chain = has_chain,
        .remove = can & TAMIS_CAN_REMOVE ? remove_many : NULL,
        .remove_each = can & TAMIS_CAN_REMOVE ? remove_each : NULL,
        .count = can & TAMIS_CAN_COUNT ? count : NULL,
        .bytes = bytes,
        .planned_fpr = planned_fpr,
        .save = save,
        .map = map,
        .use_without = use_without,
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
