/* cmd_plan.c - tamis plan: what each kind would take for a set of keys, and which is worth it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "filters/advice.h"
#include "filters/machine.h"
#include "filters/shape.h"
#include "filters/spec.h"
#include "term/array.h"
#include "term/message.h"
#include "text/abilities.h"
#include "text/json.h"

/* Bits per key to tell which of all subsets of that size it is. */
static double bits_to_choose(double keys, double universe)
{
    double choices = lgamma(universe + 1) - lgamma(keys + 1) - lgamma(universe - keys + 1);

    return choices / log(2) / keys;
}

/* The least that any filter needs for a key; 0 if it is not known. */
static double least_bits(const tamis_plan *p, const tamis_spec *spec)
{
    double fpr = spec->fpr > 0 ? spec->fpr : p->fpr;

    if (spec->universe)
        return bits_to_choose((double)p->capacity, (double)spec->universe);
    return fpr > 0 ? spec->value_bits + log2(1 / fpr) : 0;
}

/* How far above that; NaN if the least is not known. */
static double overhead(const tamis_plan *p, const tamis_spec *spec)
{
    double least = least_bits(p, spec);

    return least > 0 ? bits_per_key(p) / least - 1 : NAN;
}

typedef struct table {
    const tamis_plan *plans;
    size_t n;
    const tamis_spec *spec;
    tamis_kind chosen;   /* by build, if it is given no kind */
    bool with_keys;      /* how many fit is what was asked */
    bool with_shape;     /* and this */
    bool with_abilities; /* no line ends before column 80 then */
} table;

static const char *mark(const table *t, const tamis_plan *p)
{
    return p->kind == t->chosen ? " *" : "";
}

static void print_row(const table *t, const tamis_plan *p)
{
    char over[32] = "-";

    if (!isnan(overhead(p, t->spec)))
        snprintf(over, sizeof over, "%+.1f%%", overhead(p, t->spec) * 100);
    printf("%-16s%-2s", tamis_kind_name(p->kind), mark(t, p));
    if (t->with_keys)
        printf("%12" PRIu64 "  ", p->capacity);
    printf("%13" PRIu64 "  %9.3f  %9s  %10.4g", p->bytes, bits_per_key(p), over, p->fpr);
    if (t->with_shape || t->with_abilities)
        printf("  ");
    if (t->with_shape)
        shape_print(p);
    else if (t->with_abilities)
        abilities_print(tamis_kind_can(p->kind));
    putchar('\n');
}

/* What lectures say of m bits for n keys, with a number of hashes that is no integer. */
static void print_textbook(const tamis_spec *spec)
{
    double ratio = (double)spec->bits / (double)spec->keys;

    printf("%.4g bits per key: by the textbook, (m/n) ln 2 = %.3g hashes are best, and the rate is "
           "0.6185^(m/n) = %.3g\n",
           ratio, ratio * log(2), pow(0.5, ratio * log(2)));
}

static void print_table(const table *t)
{
    printf("%-16s  ", "kind");
    if (t->with_keys)
        printf("%12s  ", "keys");
    printf("%13s  %9s  %9s  %10s%s\n", "bytes", "bits/key", "overhead", "fpr",
           t->with_shape       ? "  shape"
           : t->with_abilities ? "  abilities"
                               : "");
    for (size_t i = 0; i < t->n; i++)
        print_row(t, &t->plans[i]);
    if (t->spec->bits && t->spec->keys)
        print_textbook(t->spec);
}

/* The Bloom filter that works with the answers: bits per key, and k. */
static void print_array(const tamis_plan *p)
{
    bool is_array = p->kind == TAMIS_BLOOM || p->kind == TAMIS_COMPRESSED;

    if (is_array && p->capacity)
        printf("%9.2f  %3" PRIu32, (double)p->slots / (double)p->capacity, p->hashes);
    else
        printf("%9s  %3s", "-", "-");
}

static void print_wire(const table *t)
{
    printf("%-16s  %13s  %9s  %9s  %3s  %10s\n", "kind", "bytes sent", "z", "m/n", "k", "fpr");
    for (const tamis_plan *p = t->plans; p < t->plans + t->n; p++) {
        printf("%-16s  %13" PRIu64 "  %9.3f  ", tamis_kind_name(p->kind), p->bytes,
               bits_per_key(p));
        print_array(p);
        printf("  %10.4g\n", p->fpr);
    }
}

static void print_json(const table *t)
{
    json j = { 0 };

    json_open(&j, NULL, '[');
    for (const tamis_plan *p = t->plans; p < t->plans + t->n; p++) {
        json_open(&j, NULL, '{');
        json_text(&j, "kind", tamis_kind_name(p->kind));
        json_count(&j, "keys", p->capacity);
        json_count(&j, "bytes", p->bytes);
        json_real(&j, "bits_per_key", bits_per_key(p));
        json_real(&j, "overhead", overhead(p, t->spec));
        json_real(&j, "fpr", p->fpr);
        json_bool(&j, "chosen", p->kind == t->chosen);
        shape_json(&j, "shape", p);
        json_abilities(&j, "abilities", tamis_kind_can(p->kind));
        json_close(&j, '}');
    }
    json_close(&j, ']');
}

/* ---- What is asked ----------------------------------------------------- */

typedef struct request {
    tamis_spec spec;
    tamis_use use;
    uint64_t queries, builds;
    cost_value store_cost, probe_cost, build_cost, memory_cost;
    tamis_kind kind; /* the only one to plan; TAMIS_NO_KIND: all */
    bool has_use;    /* an option about use was given, */
    bool has_probe;
    bool calibrates;
    bool is_long, as_json;
    bool as_wire;
    bool shows_all; /* kinds to study, too */
} request;

/* As the library has it: tamis_spec. */
static const double DEFAULT_FPR = 0.01;

static void spell_out(tamis_spec *spec)
{
    bool is_given = spec->tag_bits || (spec->keys && spec->bits);
    bool is_open = spec->universe || (spec->keys && spec->max_bytes);

    if (spec->fpr == 0 && !is_given && !is_open)
        spec->fpr = DEFAULT_FPR;
}

static tamis_kind choice(const tamis_spec *spec)
{
    tamis_plan plan;

    return tamis_plan_kind(&plan, TAMIS_NO_KIND, spec) ? TAMIS_NO_KIND : plan.kind;
}

static bool is_wanted(const request *r, tamis_kind kind)
{
    bool is_to_study = (tamis_kind_can(kind) & TAMIS_IS_TO_STUDY) != 0;

    if (r->kind)
        return kind == r->kind;
    return !is_to_study || r->shows_all || r->spec.can & TAMIS_IS_TO_STUDY;
}

/* Returns how many remain. */
static size_t keep_wanted(const request *r, tamis_plan *plans, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (is_wanted(r, plans[i].kind))
            plans[kept++] = plans[i];
    return kept;
}

static void show(const request *r)
{
    const tamis_spec *spec = &r->spec;
    size_t n = tamis_plan_all(NULL, 0, spec);
    tamis_plan *plans = array_new(n, sizeof *plans, "plans");

    tamis_plan_all(plans, n, spec);
    n = keep_wanted(r, plans, n);
    if (n == 0)
        die(CODE_LIMIT,
            "no kind of filter fits; ask for fewer --keys, a higher --fpr, more --max-bytes "
            "or fewer abilities");
    const table t = { .plans = plans,
                      .n = n,
                      .spec = spec,
                      .chosen = choice(spec),
                      .with_keys = spec->keys == 0,
                      .with_shape =
                          spec->bits || spec->hashes || spec->quotient_bits || spec->tag_bits,
                      .with_abilities = r->is_long || !isatty(STDOUT_FILENO) };
    if (r->as_json)
        print_json(&t);
    else if (r->as_wire)
        print_wire(&t);
    else
        print_table(&t);
    free(plans);
}

/* ---- Advice ------------------------------------------------------------ */

static bool is_time(const request *r)
{
    return r->store_cost.is_time || r->probe_cost.is_time || r->build_cost.is_time ||
           r->memory_cost.is_time || !r->has_probe;
}

/* Costs that are not given are those of this machine. */
static void advise(request *r, const tamis_machine *machine)
{
    static tamis_advice choices[TAMIS_SPEEDS_MAX + 1];

    if (!r->has_probe)
        r->use.machine = machine;
    size_t all = tamis_advise(choices, sizeof choices / sizeof *choices, &r->spec, &r->use), n = 0;
    for (size_t i = 0; i < all; i++)
        if (choices[i].plan.kind == TAMIS_NO_KIND || !r->kind || choices[i].plan.kind == r->kind)
            choices[n++] = choices[i];
    const advice_view v = { .options = choices,
                            .n = n,
                            .spec = &r->spec,
                            .use = &r->use,
                            .is_time = is_time(r),
                            .is_long = r->is_long };
    if (n == 0)
        die(CODE_USAGE, "plan: these costs make no sense");
    if (n == 1)
        die(CODE_LIMIT,
            "no kind of filter fits, or none that was measured; ask for fewer --keys, a higher "
            "--fpr, more --max-bytes or fewer abilities, or give --probe-cost");
    if (r->as_json)
        advice_json(&v);
    else
        advice_print(&v);
}

/* ---- The command ------------------------------------------------------- */

static const option_row use_options[] = {
    { 0, "queries", "N", "advise: how many keys will be asked for",
      TO_COUNT(request, queries, 1, UINT64_C(1000000000000000000)) },
    { 0, "member-share", "S", "share of them that will be there (default: 0)",
      TO_SHARE(request, use.member_share, 0, 1) },
    { 0, "store-cost", "C", "cost of a lookup where the keys are: 500ms, 1us, 0.02",
      TO_COST(request, store_cost) },
    { 0, "probe-cost", "C", "cost of a lookup in the filter (default: measured)",
      TO_COST(request, probe_cost) },
    { 0, "builds", "N", "how often the filter will be built (default: 1)",
      TO_COUNT(request, builds, 0, UINT64_C(1000000000000)) },
    { 0, "build-cost", "C", "cost of a key each time (default: measured)",
      TO_COST(request, build_cost) },
    { 0, "memory-cost", "C", "cost of a GiB all along (default: none)",
      TO_COST(request, memory_cost) },
    { 0 },
};

static void take_use(request *r, const args *a)
{
    tamis_use *u = &r->use;

    r->has_use = args_given_any(a, use_options);
    r->has_probe = args_given(a, "probe-cost");
    u->queries = (double)r->queries;
    u->builds = (double)r->builds;
    u->store_cost = r->store_cost.value;
    u->probe_cost = r->probe_cost.value;
    u->build_cost = r->build_cost.value;
    u->memory_cost = r->memory_cost.value;
}

static void check_use(void *into, const args *a)
{
    request *r = into;

    take_use(r, a);
    if (!r->has_use)
        return;
    if (!args_given(a, "store-cost") || r->queries == 0)
        args_refuse(a, "advice needs both --queries N and --store-cost C");
    if (r->spec.keys == 0)
        args_refuse(a, "advice needs --keys N");
    if (args_given(a, "build-cost") && !r->has_probe)
        args_refuse(a, "--build-cost means nothing without --probe-cost");
    if (r->as_wire)
        args_refuse(a, "--wire and --store-cost cannot be used together");
    if (r->shows_all)
        args_refuse(a,
                    "advice is about kinds to use; --all and --store-cost cannot be used together");
}

static void plan(request *r, const args *a)
{
    const tamis_spec *spec = &r->spec;

    if (spec->keys == 0 && spec->error == 0 && !spec_has_room(spec))
        args_refuse(a,
                    "give --keys N, or the room: --max-bytes SIZE, --bits M or --quotient-bits Q");
    spell_out(&r->spec);
    show(r);
}

static int run(args *a)
{
    static tamis_machine machine;
    request r = { .spec = TAMIS_SPEC(), .use = TAMIS_USE(), .builds = 1 };

    args_read(a, &r);
    args_operands(a, 0, 0, "nothing");
    if (r.calibrates || (r.has_use && !r.has_probe))
        machine_speed(&machine, r.calibrates);
    if (r.has_use)
        advise(&r, &machine);
    else if (!r.calibrates || r.spec.keys)
        plan(&r, a);
    return CODE_OK;
}

static const option_row options[] = {
    { 'l', "long", NULL, "print abilities on a terminal too", TO_FLAG(request, is_long) },
    { 'k', "kind", "KIND", "print this kind only", TO_KIND(request, kind) },
    { 0, "all", NULL, "print kinds to study, too", TO_FLAG(request, shows_all) },
    { 0, "json", NULL, "print JSON", TO_FLAG(request, as_json) },
    { 0, "universe", "N", "keys and excluded keys, for kinds that can exclude or adapt",
      TO_COUNT(request, spec.universe, 1, UINT64_MAX) },
    { 0, "wire", NULL, "tell how much is sent: bytes, and z bits per key",
      TO_FLAG(request, as_wire) },
    { .included = use_options },
    { 0, "calibrate", NULL, "measure this machine anew, and keep the figures",
      TO_FLAG(request, calibrates) },
    OPTIONS(spec_options, request, spec),
    { .take = check_use },
};

const command cmd_plan = { "plan", help_plan, options, .run = run };
