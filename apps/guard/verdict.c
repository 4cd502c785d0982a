/* verdict.c - is a filter worth its memory?
 *
 * The model is that of `tamis plan`, and what it is told was measured: a lookup in the store, a
 * lookup in the filter, a key when it is built, and the share of lookups that find something. */
#include "verdict.h"

#include <math.h>

/* The plan of a filter that is there, asked for again. Kinds for small integers, those that forget
 * and those to study are planned only if that is asked for. */
static tamis_spec spec_of(const guard_round *r, double fpr)
{
    tamis_spec spec =
        TAMIS_SPEC(.keys = r->plan.capacity ? r->plan.capacity : 1, .hasher = r->plan.hasher);

    spec.can =
        tamis_kind_can(r->plan.kind) & (TAMIS_IS_INDEXED | TAMIS_CAN_ROTATE | TAMIS_IS_TO_STUDY);
    spec.fpr = r->build > 0 ? fpr : r->plan.fpr;
    return spec;
}

static double per_query(double total, const guard_round *none)
{
    double n = 0;

    for (int i = 0; i < GUARD_OUTCOMES; i++)
        n += (double)none->outcomes[i];
    return n > 0 ? total / n : 0;
}

static tamis_use use_of(const guard_round *none, const guard_round *r, const verdict_price *price)
{
    double lookups = (double)none->lookups;
    tamis_use use = TAMIS_USE(.builds = 1, .memory_cost = price->memory_cost,
                              .probe_cost = r->probe, .build_cost = r->build, .queries = lookups);

    if (price->queries)
        use.queries = (double)price->queries * per_query(lookups, none);
    use.member_share = lookups > 0 ? (double)none->outcomes[GUARD_FOUND] / lookups : 0;
    use.store_cost = lookups > 0 ? none->seconds / lookups : 0;
    return use;
}

/* What is paid once is earned again by what each query saves. */
static double queries_from(const verdict *v, const guard_round *none)
{
    double once = v->advice.builds + v->advice.memory;
    double saved = (v->without - (v->advice.total - once)) / v->use.queries;

    return saved > 0 ? once / saved / per_query((double)none->lookups, none) : INFINITY;
}

verdict verdict_of(const guard_round *none, const guard_round *r, const verdict_price *price)
{
    static tamis_advice all[TAMIS_SPEEDS_MAX + 1];
    tamis_spec spec = spec_of(r, price->fpr);
    verdict v = { .use = use_of(none, r, price) };
    size_t n = tamis_advise(all, sizeof all / sizeof *all, &spec, &v.use);

    for (size_t i = 0; i < n; i++)
        if (all[i].plan.kind == r->plan.kind) {
            v.advice = all[i];
            v.is_known = none->lookups > 0;
        } else if (!all[i].plan.kind) {
            v.without = all[i].total;
        }
    if (!v.is_known)
        return v;
    v.is_worth = v.advice.total < v.without && r->seconds < none->seconds;
    v.from_queries = queries_from(&v, none);
    return v;
}
