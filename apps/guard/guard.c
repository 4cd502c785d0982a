/* guard.c - queries to a store, with filters in front of it.
 *
 *     query -> filter -> cache -> store
 *
 * Each round asks the same queries in the same order. A URL is several keys, of which one that is
 * found is enough. */
#include "guard.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tamis_adapt.h"
#include "tamis_builder.h"
#include "term/array.h"
#include "term/message.h"
#include "term/progress.h"

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Keys and filters -------------------------------------------------- */

/* Whether the key of a store is one that a URL in normal form is looked up by. */
static bool is_url_part(span key, buffer *scratch)
{
    static const char usual[] = "http://";
    const size_t before = sizeof usual - 1;

    scratch->size = 0;
    if (!url_normalise(scratch, key))
        return false;
    if (scratch->size == key.size && memcmp(scratch->bytes, key.at, key.size) == 0)
        return true;
    return scratch->size == key.size + before && memcmp(scratch->bytes, usual, before) == 0 &&
           memcmp(scratch->bytes + before, key.at, key.size) == 0;
}

typedef struct key_taker {
    guard *guard;
    tamis_hasher hasher;
    buffer scratch;
} key_taker;

static void take_key(void *ctx, span key)
{
    key_taker *t = ctx;
    guard *g = t->guard;
    uint64_t hash = tamis_hasher_key(&t->hasher, key.at, key.size);

    buffer_append(&g->keys, &hash, sizeof hash);
    if ((g->n_keys++ & 0xfff) == 0)
        progress_show(g->n_keys, 0, "keys");
    if (!g->queries.are_urls || is_url_part(key, &t->scratch))
        return;
    if (g->strange++ == 0)
        buffer_append(&g->stranger, key.at, key.size < 200 ? key.size : 200);
}

void guard_read_keys(guard *g)
{
    key_taker t = { .guard = g, .hasher = { .hash = TAMIS_FAST } };
    double start = seconds();

    g->store->engine->each(g->store, take_key, &t);
    g->read_keys = seconds() - start;
    progress_erase();
    buffer_free(&t.scratch);
}

tamis *guard_build(guard *g, tamis_kind kind, double fpr, guard_round *r)
{
    const tamis_spec spec = TAMIS_SPEC(.fpr = fpr);
    tamis_builder *b;
    tamis *f;
    double start = seconds();
    tamis_status status = tamis_builder_new(&b, kind, &spec, NULL);

    if (!status && g->n_keys)
        status = tamis_builder_add_many(b, (const void *)g->keys.bytes, (size_t)g->n_keys);
    if (!status)
        status = tamis_builder_finish(&f, b);
    if (status)
        die_status("build", tamis_kind_name(kind), status);
    tamis_builder_free(b);
    r->build = g->n_keys ? (seconds() - start + g->read_keys) / (double)g->n_keys : 0;
    return f;
}

/* ---- Rounds ------------------------------------------------------------ */

typedef struct asking {
    guard *guard;
    guard_round *round;
    answers *cache;
    span key;    /* at hand */
    bool passed; /* a key of the query went to the store */
} asking;

/* A tamis_store. */
static tamis_status ask(void *ctx, bool *found, uint64_t key)
{
    asking *a = ctx;

    (void)key;
    a->passed = true;
    if (a->cache && answers_get(a->cache, a->key, found)) {
        a->round->hits++;
        return TAMIS_OK;
    }
    a->round->reads++;
    *found = a->guard->store->engine->has(a->guard->store, a->key);
    if (a->cache)
        answers_put(a->cache, *found);
    return TAMIS_OK;
}

/* Bytes to the key of a filter, which may be one of integers. */
static uint64_t key_for(const key_format *format, span text, const char *name)
{
    uint64_t key;

    if (key_make(&key, format, text))
        die(CODE_USAGE,
            "guard: the filter %s takes raw keys, and a query is not an integer from 0 to "
            "18446744073709551615",
            name);
    return key;
}

static guard_outcome run_query(asking *a, tamis *f, const key_format *format, query_keys *keys)
{
    bool found = false;

    a->passed = false;
    for (size_t i = 0; i < keys->n && !found; i++) {
        tamis_status status = TAMIS_OK;

        a->key = queries_key(keys, i);
        a->round->lookups++;
        if (f)
            status = tamis_lookup(f, &found, key_for(format, a->key, a->round->name), ask, a);
        else
            ask(a, &found, 0);
        if (status == TAMIS_FULL)
            a->round->no_room++;
        else if (status)
            die_status("ask", a->round->name, status);
    }
    return found ? GUARD_FOUND : a->passed ? GUARD_IN_VAIN : GUARD_STOPPED;
}

/* Without a filter, answers are remembered; with one, they are compared. */
static void check_answer(guard *g, const tamis *f, const guard_round *r, uint64_t i, bool found)
{
    query_keys keys = { .n = 0 };
    uint64_t bit = UINT64_C(1) << i % 64;

    if (!f && found)
        g->answers[i / 64] |= bit;
    if (found == ((g->answers[i / 64] & bit) != 0))
        return;
    queries_open(&g->queries, i, &keys);
    span text = keys.parts.url;
    die(CODE_CORRUPT,
        "guard: the filter %s does not know '%.*s', which is in the store; it is damaged, or was "
        "made of other keys: build it anew",
        r->name, (int)(text.size < 200 ? text.size : 200), text.at);
}

/* What a lookup in the filter takes, with no store behind it. */
static double time_probes(const guard *g, const tamis *f, const key_format *format,
                          const guard_round *r)
{
    volatile bool answer = false;
    query_keys keys = { .n = 0 };
    uint64_t lookups = 0;
    double start = seconds();

    for (uint64_t i = 0; i < g->queries.n; i++) {
        queries_open(&g->queries, i, &keys);
        for (size_t k = 0; k < keys.n; k++)
            answer = tamis_has(f, key_for(format, queries_key(&keys, k), r->name));
        lookups += keys.n;
    }
    (void)answer;
    buffer_free(&keys.scratch);
    return lookups ? (seconds() - start) / (double)lookups : 0;
}

static void count_adaptations(const tamis *f, guard_round *r)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    r->adapted = info.adaptations;
}

/* No larger than it can become. */
static answers *make_cache(const guard *g)
{
    uint64_t most = g->queries.n * (g->queries.are_urls ? URL_PARTS_MAX : 1);

    if (g->cache == 0 || most == 0)
        return NULL;
    return answers_new(g->cache < most ? g->cache : most);
}

void guard_run(guard *g, tamis *f, guard_round *r)
{
    const key_format format = { .hasher = f ? tamis_plan_of(f)->hasher : (tamis_hasher){ 0 } };
    asking a = { .guard = g, .round = r, .cache = make_cache(g) };
    query_keys keys = { .n = 0 };

    if (!g->answers)
        g->answers = array_new((size_t)(g->queries.n / 64 + 1), sizeof *g->answers, "answers");
    if (f)
        r->probe = time_probes(g, f, &format, r);
    double start = seconds();
    for (uint64_t i = 0; i < g->queries.n; i++) {
        queries_open(&g->queries, i, &keys);
        guard_outcome outcome = run_query(&a, f, &format, &keys);
        r->outcomes[outcome]++;
        check_answer(g, f, r, i, outcome == GUARD_FOUND);
        if ((i & 0xfff) == 0)
            progress_show(i, g->queries.n, "queries");
    }
    r->seconds = seconds() - start;
    progress_erase();
    if (f)
        count_adaptations(f, r);
    answers_free(a.cache);
    buffer_free(&keys.scratch);
}

void guard_free(guard *g)
{
    queries_free(&g->queries);
    buffer_free(&g->keys);
    buffer_free(&g->stranger);
    free(g->answers);
}
