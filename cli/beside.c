/* beside.c - filters from keys and what stands beside them: values, or the rest of a universe. */
#include "beside.h"

#include <stdlib.h>

#include "message.h"
#include "spec.h"

typedef struct columns {
    buffer keys, values;
} columns;

static const uint64_t *numbers_in(const buffer *b, size_t *n)
{
    *n = b->size / sizeof(uint64_t);
    return (const void *)b->bytes;
}

/* ---- Reading ----------------------------------------------------------- */

/* Keys and values by turns. */
static void keep_columns(void *ctx, job *j)
{
    batch *b = &j->batch;

    (void)ctx;
    batch_drop_keyless(b);
    for (size_t i = 0; i < b->n; i++) {
        buffer_append(&j->out, &b->keys[i], sizeof b->keys[i]);
        buffer_append(&j->out, &b->values[i], sizeof b->values[i]);
    }
}

static void collect_columns(void *ctx, job *j)
{
    columns *c = ctx;

    for (size_t at = 0; at < j->out.size; at += 2 * sizeof(uint64_t)) {
        buffer_append(&c->keys, j->out.bytes + at, sizeof(uint64_t));
        buffer_append(&c->values, j->out.bytes + at + sizeof(uint64_t), sizeof(uint64_t));
    }
}

static void collect_keys(void *ctx, job *j)
{
    buffer_append(ctx, j->out.bytes, j->out.size);
}

static void read_columns(columns *c, const source *s)
{
    pipeline p = { .take_batch = keep_columns, .finish_chunk = collect_columns, .ctx = c };

    /* An array without keys is an array still. */
    buffer_reserve(&c->keys, sizeof(uint64_t));
    buffer_reserve(&c->values, sizeof(uint64_t));
    pipeline_run(&p, s);
}

static void read_keys(buffer *keys, const source *s)
{
    pipeline p = { .take_batch = pipeline_keep_keys, .finish_chunk = collect_keys, .ctx = keys };

    buffer_reserve(keys, sizeof(uint64_t));
    pipeline_run(&p, s);
}

/* ---- Building ---------------------------------------------------------- */

static _Noreturn void refuse(tamis_kind kind, const char *path, tamis_status status)
{
    if (status == TAMIS_RANGE)
        die(CODE_LIMIT, "build: %s filters cannot hold so many keys at that rate and size",
            tamis_kind_name(kind));
    if (status == TAMIS_CANNOT)
        die(CODE_USAGE, "build: %s filters lack an ability asked for by --can; see 'tamis kinds'",
            tamis_kind_name(kind));
    die_status("build", path, status);
}

static uint32_t bits_of_largest(const uint64_t *values, size_t n)
{
    uint64_t all = 1;

    for (size_t i = 0; i < n; i++)
        all |= values[i];
    return 64 - (uint32_t)__builtin_clzll(all);
}

static void settle_bits(tamis_spec *spec, const uint64_t *values, size_t n)
{
    uint32_t bits = bits_of_largest(values, n);

    if (bits > 32)
        die(CODE_LIMIT, "build: a value has more than 32 bits: values are 0 to 4294967295");
    if (spec->value_bits == 0)
        spec->value_bits = bits;
    if (bits > spec->value_bits)
        die(CODE_LIMIT, "build: a value has more than %" PRIu32 " bits; give more --value-bits",
            spec->value_bits);
}

tamis *beside_values(tamis_kind kind, const tamis_spec *spec, const source *s, const char *path)
{
    columns c = { 0 };
    tamis_spec wanted = *spec;
    tamis_plan plan;
    tamis *f;
    size_t n;

    read_columns(&c, s);
    const uint64_t *keys = numbers_in(&c.keys, &n), *values = numbers_in(&c.values, &n);
    if (wanted.keys < n)
        wanted.keys = n;
    settle_bits(&wanted, values, n);
    tamis_status status = tamis_plan_kind(&plan, kind, &wanted);
    if (!status)
        status = tamis_build_map(&f, &plan, keys, values, n, NULL);
    if (status)
        refuse(kind, path, status);
    buffer_free(&c.keys);
    buffer_free(&c.values);
    return f;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Members may stand in the file of the universe, too. */
static void drop_members(buffer *others, buffer *members)
{
    uint64_t *keys = (void *)members->bytes, *other = (void *)others->bytes;
    size_t n = members->size / sizeof *keys, m = others->size / sizeof *other, kept = 0;

    qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 0; i < m; i++)
        if (!bsearch(&other[i], keys, n, sizeof *keys, compare_keys))
            other[kept++] = other[i];
    others->size = kept * sizeof *other;
}

tamis *beside_universe(tamis_kind kind, const tamis_spec *spec, const source *s, char *universe,
                       const char *path)
{
    char *names[] = { universe, NULL };
    source all = *s;
    buffer members = { 0 }, others = { 0 };
    tamis_spec wanted = *spec;
    tamis_plan plan;
    tamis *f;
    size_t n, m;

    all.names = names;
    read_keys(&members, s);
    read_keys(&others, &all);
    drop_members(&others, &members);
    const uint64_t *keys = numbers_in(&members, &n), *rest = numbers_in(&others, &m);
    if (wanted.keys < n)
        wanted.keys = n;
    wanted.universe = wanted.keys + m + (wanted.keys + m == 0);
    tamis_status status = tamis_plan_kind(&plan, kind, &wanted);
    if (!status)
        status = tamis_build_cascade(&f, &plan, keys, n, rest, m, NULL);
    if (status)
        refuse(kind, path, status);
    buffer_free(&members);
    buffer_free(&others);
    return f;
}
