/* advice.c - which filter to take, in words and numbers. */
#include "advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "spec.h"
#include "text/json.h"

/* ---- Costs ------------------------------------------------------------- */

advice_text advice_cost(double value, bool is_time, int digits)
{
    static const struct {
        const char *name;
        double seconds, below;
    } units[] = { { "ns", 1e-9, 1e-6 }, { "us", 1e-6, 1e-3 },  { "ms", 1e-3, 1 },
                  { "s", 1, 7200 },     { "h", 3600, 172800 }, { "d", 86400, INFINITY } };
    advice_text c;
    size_t i = 0;

    while (value >= units[i].below)
        i++;
    double shown = is_time ? value / units[i].seconds : value;
    const char *blank = is_time ? " " : "", *unit = is_time ? units[i].name : "";
    /* 1e+04 is longer than 12345. */
    if (shown >= pow(10, digits) && shown < 1e6)
        snprintf(c.text, sizeof c.text, "%.0f%s%s", shown, blank, unit);
    else
        snprintf(c.text, sizeof c.text, "%.*g%s%s", digits, shown, blank, unit);
    return c;
}

static advice_text cost_in_digits(const advice_view *v, double value, int digits)
{
    return advice_cost(value, v->is_time, digits);
}

static advice_text cost(const advice_view *v, double value)
{
    return cost_in_digits(v, value, 3);
}

static advice_text cost_per_query(const advice_view *v, double total)
{
    return cost(v, total / v->use->queries);
}

static const char *name_of(const tamis_advice *a)
{
    return a->plan.kind ? tamis_kind_name(a->plan.kind) : "no filter";
}

/* ---- The table --------------------------------------------------------- */

static void print_parts(const advice_view *v, const tamis_advice *a)
{
    double parts[] = { a->probes, a->found, a->wrong, a->builds, a->memory };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        printf("  %9s", cost_per_query(v, parts[i]).text);
}

static void print_option(const advice_view *v, const tamis_advice *a)
{
    printf("%-16s%-2s", name_of(a), a == v->options ? " *" : "");
    if (a->plan.kind)
        printf("%13" PRIu64 "  %9.3f  %10.4g", a->plan.bytes, bits_per_key(&a->plan), a->plan.fpr);
    else
        printf("%13s  %9s  %10s", "-", "-", "-");
    printf("  %9s  %9s", cost_in_digits(v, a->total / v->use->queries, 4).text,
           cost_in_digits(v, a->total, 4).text);
    if (v->is_long)
        print_parts(v, a);
    putchar('\n');
}

static void print_options(const advice_view *v)
{
    printf("%-16s  %13s  %9s  %10s  %9s  %9s%s\n", "kind", "bytes", "bits/key", "fpr", "per query",
           "total",
           v->is_long ? "  of it:  probes      found      wrong     builds     memory" : "");
    for (size_t i = 0; i < v->n; i++)
        print_option(v, &v->options[i]);
}

/* ---- Words ------------------------------------------------------------- */

static const tamis_advice *without(const advice_view *v)
{
    const tamis_advice *a = v->options;

    while (a->plan.kind)
        a++;
    return a;
}

static bool has_one_cost(const advice_view *v)
{
    return !v->use->machine && v->use->memory_cost == 0 && v->use->build_cost == 0;
}

/* What lectures work out, before any kind comes into it. */
static double cost_at_rate(const advice_view *v)
{
    const tamis_use *u = v->use;

    return u->probe_cost + (u->member_share + (1 - u->member_share) * v->spec->fpr) * u->store_cost;
}

static void say_rate(const advice_view *v)
{
    printf("At a rate of %.4g, a query costs %s with a filter and %s without.\n", v->spec->fpr,
           cost(v, cost_at_rate(v)).text, cost(v, v->use->store_cost).text);
}

/* Of all queries, those that do not reach the store. */
static double share_kept_out(const advice_view *v, const tamis_advice *a)
{
    double all = without(v)->total;

    return all > 0 ? 1 - (a->found + a->wrong) / all : 0;
}

static void say_take(const advice_view *v)
{
    const tamis_advice *best = v->options;

    if (best->plan.kind)
        printf("Take %s, %" PRIu64 " bytes at a rate of %.3g: it keeps %.3g %% of the queries from "
               "the store, so that one costs %s on average, not %s.\n",
               name_of(best), best->plan.bytes, best->plan.fpr, 100 * share_kept_out(v, best),
               cost_per_query(v, best->total).text, cost(v, v->use->store_cost).text);
    else
        printf("Take no filter: a query costs %s without one, and %s with %s, the best.\n",
               cost(v, v->use->store_cost).text,
               cost_in_digits(v, v->options[1].total / v->use->queries, 5).text,
               name_of(&v->options[1]));
}

/* Of a GiB, at which two options cost the same; it is not above 0 if no price makes them equal. */
static double price_between(const tamis_advice *a, const tamis_advice *b)
{
    double size = ldexp((double)a->plan.bytes - (double)b->plan.bytes, -30);
    double rest = (b->total - b->memory) - (a->total - a->memory);

    return size != 0 ? rest / size : 0;
}

static bool is_price(double price)
{
    return price > 0 && price <= 1e15;
}

/* The first other filter that is better at another price of memory, or NULL. */
static const tamis_advice *rival(const advice_view *v)
{
    for (const tamis_advice *a = v->options + 1; a < v->options + v->n; a++)
        if (a->plan.kind && is_price(price_between(v->options, a)))
            return a;
    return NULL;
}

static void say_rival(const advice_view *v)
{
    const tamis_advice *best = v->options, *other = rival(v);

    if (other)
        printf("If a GiB of memory costs %s than %s, take %s instead.\n",
               other->plan.bytes < best->plan.bytes ? "more" : "less",
               cost(v, price_between(best, other)).text, name_of(other));
}

static double lowest_worth(const advice_view *v)
{
    double lowest = INFINITY;

    for (size_t i = 0; i < v->n; i++)
        if (v->options[i].plan.kind)
            lowest = fmin(lowest, v->options[i].worth_from);
    return lowest;
}

advice_text advice_share_from(double share)
{
    advice_text c;

    if (share > 0.9999)
        snprintf(c.text, sizeof c.text, "nearly all");
    else
        snprintf(c.text, sizeof c.text, "more than %.4g %%", 100 * share);
    return c;
}

static void say_change(const advice_view *v)
{
    const tamis_advice *best = v->options;

    if (best->plan.kind && best->worth_from > 0)
        printf("No filter is better if a lookup in the store costs less than %s, or if %s of the "
               "queries are of members.\n",
               cost(v, best->worth_from).text, advice_share_from(best->worth_below).text);
    else if (!best->plan.kind && isfinite(lowest_worth(v)))
        printf("A filter is better if a lookup in the store costs more than %s.\n",
               cost(v, lowest_worth(v)).text);
    if (v->use->memory_cost == 0 && v->spec->max_bytes == 0)
        printf("Memory has neither a price nor a bound here: --memory-cost or --max-bytes may "
               "change the choice%s.\n",
               v->spec->fpr == 0 ? ", and let the rate be chosen" : "");
    else if (best->plan.kind)
        say_rival(v);
}

void advice_print(const advice_view *v)
{
    print_options(v);
    if (v->spec->fpr > 0 && has_one_cost(v))
        say_rate(v);
    say_take(v);
    say_change(v);
}

/* ---- JSON -------------------------------------------------------------- */

static void json_option(json *j, const advice_view *v, const tamis_advice *a)
{
    json_open(j, NULL, '{');
    json_text(j, "kind", name_of(a));
    if (a->plan.kind) {
        json_count(j, "keys", a->plan.capacity);
        json_count(j, "bytes", a->plan.bytes);
        json_real(j, "bits_per_key", bits_per_key(&a->plan));
        json_real(j, "fpr", a->plan.fpr);
        json_real(j, "worth_from_store_cost", a->worth_from);
        json_real(j, "worth_below_member_share", a->worth_below);
    }
    json_real(j, "cost_per_query", a->total / v->use->queries);
    json_real(j, "cost", a->total);
    json_open(j, "cost_of", '{');
    json_real(j, "probes", a->probes);
    json_real(j, "found", a->found);
    json_real(j, "wrong", a->wrong);
    json_real(j, "builds", a->builds);
    json_real(j, "memory", a->memory);
    json_close(j, '}');
    json_bool(j, "chosen", a == v->options);
    json_close(j, '}');
}

void advice_json(const advice_view *v)
{
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_text(&j, "take", name_of(v->options));
    json_real(&j, "cost_per_query", v->options->total / v->use->queries);
    json_real(&j, "cost_per_query_without", v->use->store_cost);
    if (v->spec->fpr > 0 && has_one_cost(v))
        json_real(&j, "cost_per_query_at_rate", cost_at_rate(v));
    json_text(&j, "unit", v->is_time ? "s" : "");
    json_bool(&j, "is_measured", v->use->machine != NULL);
    if (v->options->plan.kind && rival(v)) {
        json_text(&j, "rival", name_of(rival(v)));
        json_real(&j, "rival_at_memory_cost", price_between(v->options, rival(v)));
    }
    json_open(&j, "options", '[');
    for (size_t i = 0; i < v->n; i++)
        json_option(&j, v, &v->options[i]);
    json_close(&j, ']');
    json_close(&j, '}');
}
