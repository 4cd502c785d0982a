/* cmd_guard.c - tamis guard: a filter in front of a store, and whether it is worth its memory. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "filters/spec.h"
#include "filters/store.h"
#include "guard_report.h"
#include "term/array.h"
#include "term/message.h"
#include "text/abilities.h"

/* A filter that is to be tried. */
typedef struct candidate {
    tamis_kind kind;
    const char *path; /* or the one of this file */
} candidate;

enum { CANDIDATES_MAX = 64 };

typedef struct request {
    guard guard;
    database_wish wish;
    verdict_price price;
    cost_value memory_cost;
    source source;
    candidate candidates[CANDIDATES_MAX];
    size_t n;
    bool as_json;
} request;

/* ---- Options ----------------------------------------------------------- */

static void add_candidate(request *r, const args *a, tamis_kind kind, const char *path)
{
    if (r->n == CANDIDATES_MAX)
        args_refuse(a, "these are too many filters for one run; give 64 at most");
    r->candidates[r->n++] = (candidate){ kind, path };
}

/* Made of keys alone, and keeps them all. */
static tamis_kind kind_of_keys(const args *a)
{
    tamis_kind kind = args_kind(a);
    unsigned can = tamis_kind_can(kind);

    if (!(can & (TAMIS_CAN_ADD | TAMIS_CAN_BUILD)) ||
        can & (TAMIS_CAN_GET | TAMIS_CAN_EXCLUDE | TAMIS_CAN_ROTATE | TAMIS_IS_INDEXED))
        die(CODE_USAGE,
            "guard: %s filters need more than keys, forget them, or hold small integers; 'tamis "
            "build' makes one for -f",
            tamis_kind_name(kind));
    return kind;
}

static void add_kind(void *into, const args *a)
{
    add_candidate(into, a, kind_of_keys(a), NULL);
}

static void add_filter(void *into, const args *a)
{
    add_candidate(into, a, TAMIS_NO_KIND, a->value);
}

/* The kind that 'tamis build' would take. */
static void choose_kind(request *r)
{
    const tamis_spec spec =
        TAMIS_SPEC(.keys = r->guard.n_keys ? r->guard.n_keys : 1, .fpr = r->price.fpr);
    tamis_plan plan;

    if (tamis_plan_kind(&plan, TAMIS_NO_KIND, &spec))
        die(CODE_LIMIT, "guard: no kind of filter has that rate; ask for a higher one with -p");
    r->candidates[r->n++] = (candidate){ plan.kind, NULL };
}

/* ---- Rounds ------------------------------------------------------------ */

static tamis *load(const char *path)
{
    tamis *f = store_load(path);

    abilities_require_own_keys(tamis_plan_of(f), path);
    return f;
}

static void try_candidate(request *r, const candidate *c, guard_round *round)
{
    tamis *f = c->path ? load(c->path) : guard_build(&r->guard, c->kind, r->price.fpr, round);

    round->name = c->path ? c->path : tamis_kind_name(c->kind);
    round->plan = *tamis_plan_of(f);
    guard_run(&r->guard, f, round);
    tamis_free(f);
}

static void warn(const guard *g)
{
    if (g->queries.no_urls)
        say("%" PRIu64 " of %" PRIu64 " queries are no URLs, and looked up as they are",
            g->queries.no_urls, g->queries.n);
    if (g->strange)
        say("%" PRIu64 " of %" PRIu64 " keys of the store are found by no URL, such as '%.*s'; "
            "write example.com/path or http://example.com/path, in normal form",
            g->strange, g->n_keys, (int)g->stranger.size, g->stranger.bytes);
}

static int run_rounds(request *r)
{
    guard_round *rounds = array_new(CANDIDATES_MAX + 1, sizeof *rounds, "rounds");

    guard_read_keys(&r->guard);
    if (r->n == 0)
        choose_kind(r);
    warn(&r->guard);
    rounds[0].name = "none";
    guard_run(&r->guard, NULL, &rounds[0]);
    for (size_t i = 0; i < r->n; i++)
        try_candidate(r, &r->candidates[i], &rounds[i + 1]);
    const tell_view v = { .guard = &r->guard, .rounds = rounds, .n = r->n + 1, .price = r->price };
    (r->as_json ? tell_json : tell_print)(&v);
    bool found = rounds[0].outcomes[GUARD_FOUND] > 0;
    free(rounds);
    return found ? CODE_OK : CODE_NOTHING;
}

static int run(args *a)
{
    static request r = { .price.fpr = 0.01 };

    r.source = source_default();
    args_read(a, &r);
    r.price.memory_cost = r.memory_cost.value;
    char **operands = args_operands(a, 2, 2, "the STORE and the file of QUERIES");
    source_inputs(&r.source, operands + 1);
    r.guard.store = database_open(operands[0], &r.wish);
    queries_read(&r.guard.queries, &r.source);
    int code = run_rounds(&r);
    r.guard.store->engine->close(r.guard.store);
    guard_free(&r.guard);
    return code;
}

static const option_row options[] = {
    { 'k', "kind", "KIND", "try a filter of this kind; may be repeated", .take = add_kind },
    { 0, "filter", "FILE", "try this filter of 'tamis build'; may be repeated",
      .take = add_filter },
    { 'p', "fpr", "P", "false positive rate of those that are built (default: 0.01)",
      TO_FPR(request, price.fpr) },
    { 0, "table", "NAME", "table of an SQLite file (default: the only one)",
      TO_TEXT(request, wish.table) },
    { 0, "column", "NAME", "its column with keys (default: primary key, or the first)",
      TO_TEXT(request, wish.column) },
    { 0, "db", "NAME", "database of an LMDB store (default: the only one)",
      TO_TEXT(request, wish.name) },
    { 0, "cache", "N", "keep the last N answers of the store in memory",
      TO_COUNT(request, guard.cache, 1, UINT64_C(1) << 31) },
    { 0, "urls", NULL, "queries are URLs, and found by host and path, too",
      TO_FLAG(request, guard.queries.are_urls) },
    { 0, "queries", "N", "a filter is asked so often before it is built anew",
      TO_COUNT(request, price.queries, 1, UINT64_C(1000000000000000)) },
    { 0, "memory-cost", "C", "time that a GiB costs (default: none)",
      TO_COST(request, memory_cost) },
    { 0, "json", NULL, "print JSON", TO_FLAG(request, as_json) },
    { .included = quiet_options },
    OPTIONS(key_options, request, source),
    { 0 },
};

const command cmd_guard = { "guard", help_guard, options, .run = run };
