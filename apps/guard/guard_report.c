/* guard_report.c - what guard found out. */
#include "guard_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filters/advice.h"
#include "term/message.h"
#include "text/json.h"

static double saved(const tell_view *v, const guard_round *r)
{
    double n = (double)v->guard->queries.n;

    return n > 0 ? (v->rounds->seconds - r->seconds) / n : 0;
}

static double each(const tell_view *v, const guard_round *r)
{
    return v->guard->queries.n ? r->seconds / (double)v->guard->queries.n : 0;
}

/* ---- The table --------------------------------------------------------- */

/* Costs are not negative, but a filter may save less than nothing. */
static void print_cost(double value)
{
    char text[48];

    snprintf(text, sizeof text, "%s%s", value < 0 ? "-" : "",
             advice_cost(fabs(value), true, 3).text);
    printf("  %9s", text);
}

static int width_of_names(const tell_view *v)
{
    size_t width = 10;

    for (size_t i = 0; i < v->n; i++)
        if (strlen(v->rounds[i].name) > width)
            width = strlen(v->rounds[i].name);
    return width < 60 ? (int)width : 60;
}

static void print_round(const tell_view *v, const guard_round *r, int width)
{
    printf("%-*s", width, r->name);
    if (r->plan.kind)
        printf("  %11" PRIu64, r->plan.bytes);
    else
        printf("  %11s", "-");
    for (int i = 0; i < GUARD_OUTCOMES; i++)
        printf("  %9" PRIu64, r->outcomes[i]);
    if (v->guard->cache)
        printf("  %9" PRIu64, r->hits);
    printf("  %9" PRIu64, r->reads);
    print_cost(r->seconds);
    print_cost(each(v, r));
    if (r->plan.kind)
        print_cost(saved(v, r));
    else
        printf("  %9s", "-");
    putchar('\n');
}

static void print_table(const tell_view *v)
{
    int width = width_of_names(v);

    printf("%-*s  %11s  %9s  %9s  %9s", width, "filter", "bytes", "stopped", "found", "in vain");
    if (v->guard->cache)
        printf("  %9s", "cached");
    printf("  %9s  %9s  %9s  %9s\n", "reads", "time", "per query", "saved");
    for (size_t i = 0; i < v->n; i++)
        print_round(v, &v->rounds[i], width);
}

/* ---- Words ------------------------------------------------------------- */

static void print_adapted(const guard_round *r)
{
    if (!(tamis_kind_can(r->plan.kind) & TAMIS_CAN_ADAPT))
        return;
    printf("%s was told of each read in vain, and took back %" PRIu64 " of its answers", r->name,
           r->adapted);
    if (r->no_room)
        printf("; it had no room for %" PRIu64, r->no_room);
    puts(".");
}

/* Costs of the model are of lookups, of which a URL has several. */
static double of_a_query(const tell_view *v, const verdict *d, double total)
{
    return total / d->use.queries * (double)v->rounds->lookups / (double)v->guard->queries.n;
}

/* What would have to be otherwise. */
static void print_change(const verdict *d)
{
    const tamis_advice *a = &d->advice;

    if (d->is_worth)
        printf(" No filter is better if a lookup in the store takes less than %s, or if %s of them "
               "find something.",
               advice_cost(a->worth_from, true, 3).text, advice_share_from(a->worth_below).text);
    else if (isfinite(d->from_queries) && a->total >= d->without)
        printf(" It is from %.3g queries on.", d->from_queries);
    else if (isfinite(a->worth_from))
        printf(" It is if a lookup in the store takes more than %s.",
               advice_cost(a->worth_from, true, 3).text);
    else
        printf(" It has nothing to stop: all that is asked for is there.");
}

static void print_verdict(const tell_view *v, const guard_round *r)
{
    verdict d = verdict_of(v->rounds, r, &v->price);

    if (!d.is_known) {
        printf("%s: 'tamis plan' has no model of such a filter.\n", r->name);
        return;
    }
    printf("%s is %sworth its %" PRIu64 " bytes: with all that it takes to make it, a query costs "
           "%s, and %s without.",
           r->name, d.is_worth ? "" : "not ", r->plan.bytes,
           advice_cost(of_a_query(v, &d, d.advice.total), true, 3).text,
           advice_cost(of_a_query(v, &d, d.without), true, 3).text);
    print_change(&d);
    putchar('\n');
}

void tell_print(const tell_view *v)
{
    const guard *g = v->guard;

    printf("%s: %s, %s, %" PRIu64 " keys; %" PRIu64 " queries, %" PRIu64 " found\n", g->store->path,
           g->store->engine->name, g->store->keys, g->n_keys, g->queries.n,
           v->rounds->outcomes[GUARD_FOUND]);
    print_table(v);
    if (g->queries.n == 0)
        return;
    for (size_t i = 1; i < v->n; i++) {
        print_adapted(&v->rounds[i]);
        print_verdict(v, &v->rounds[i]);
    }
    if (v->n > 1 && v->price.memory_cost == 0)
        puts("Memory has no price here: --memory-cost gives it one.");
}

/* ---- JSON -------------------------------------------------------------- */

static void json_verdict(json *j, const tell_view *v, const guard_round *r)
{
    verdict d = verdict_of(v->rounds, r, &v->price);

    if (!d.is_known)
        return;
    json_bool(j, "is_worth", d.is_worth);
    json_open(j, "model", '{');
    json_real(j, "lookups", d.use.queries);
    json_real(j, "member_share", d.use.member_share);
    json_real(j, "store_cost", d.use.store_cost);
    json_real(j, "probe_cost", d.use.probe_cost);
    json_real(j, "build_cost", d.use.build_cost);
    json_real(j, "memory_cost", d.use.memory_cost);
    json_real(j, "cost", d.advice.total);
    json_real(j, "cost_without", d.without);
    json_real(j, "worth_from_store_cost", d.advice.worth_from);
    json_real(j, "worth_below_member_share", d.advice.worth_below);
    json_real(j, "worth_from_queries", d.from_queries);
    json_close(j, '}');
}

static void json_filter(json *j, const guard_round *r)
{
    json_text(j, "kind", tamis_kind_name(r->plan.kind));
    json_count(j, "bytes", r->plan.bytes);
    json_real(j, "fpr", r->plan.fpr);
    if (tamis_kind_can(r->plan.kind) & TAMIS_CAN_ADAPT) {
        json_count(j, "adapted", r->adapted);
        json_count(j, "no_room", r->no_room);
    }
}

static void json_round(json *j, const tell_view *v, const guard_round *r)
{
    json_open(j, NULL, '{');
    json_text(j, "filter", r->name);
    if (r->plan.kind)
        json_filter(j, r);
    json_count(j, "stopped", r->outcomes[GUARD_STOPPED]);
    json_count(j, "found", r->outcomes[GUARD_FOUND]);
    json_count(j, "in_vain", r->outcomes[GUARD_IN_VAIN]);
    json_count(j, "lookups", r->lookups);
    json_count(j, "cache_hits", r->hits);
    json_count(j, "reads", r->reads);
    json_real(j, "seconds", r->seconds);
    json_real(j, "seconds_per_query", each(v, r));
    if (r->plan.kind) {
        json_real(j, "saved_per_query", saved(v, r));
        json_verdict(j, v, r);
    }
    json_close(j, '}');
}

void tell_json(const tell_view *v)
{
    const guard *g = v->guard;
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_text(&j, "store", g->store->path);
    json_text(&j, "engine", g->store->engine->name);
    json_text(&j, "of", g->store->keys);
    json_count(&j, "keys", g->n_keys);
    json_count(&j, "queries", g->queries.n);
    json_open(&j, "rounds", '[');
    for (size_t i = 0; i < v->n; i++)
        json_round(&j, v, &v->rounds[i]);
    json_close(&j, ']');
    json_close(&j, '}');
}
