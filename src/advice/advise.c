/* advise.c - the best option for each kind, and the best of these.
 *
 * With a price for memory, the total of a kind that takes c bits per key and bit of the rate is
 *
 *   T(p) = T0 + queries (1 - members) store p + c log2(1 / p) keys price / 2^33
 *
 * which is least where both terms change by the same,
 *
 *   p = c keys price / (2^33 ln 2 queries (1 - members) store)
 *
 * Real kinds come in steps of bytes, c is not the same at all rates, and lookups take longer at
 * lower rates in some. So rates are tried, one for each bit at first: the total falls to its least
 * and then rises, but for steps. */
#include <math.h>

#include "advice/advise.h"
#include "core/list.h"
#include "core/plan.h"

/* ---- One kind ---------------------------------------------------------- */

typedef struct advise_search {
    tamis_kind kind;
    tamis_spec spec;
    const tamis_use *use;
    tamis_advice best;
    double bits; /* of the rate that was asked for it */
    bool is_found;
} advise_search;

/* False if there is no such plan. A rate of 0 asks for the lowest that fits. */
static bool advise_try_rate(advise_search *s, double fpr)
{
    tamis_advice a;
    tamis_plan p;

    s->spec.fpr = fpr;
    if (tamis_plan_kind(&p, s->kind, &s->spec) || !tamis__advise_cost(&a, &p, s->use))
        return false;
    if (!s->is_found || a.total < s->best.total) {
        s->best = a;
        s->bits = -log2(fpr > 0 ? fpr : fmax(p.fpr, 0x1p-64));
        s->is_found = true;
    }
    return true;
}

static bool advise_try(advise_search *s, double bits)
{
    return advise_try_rate(s, exp2(-bits));
}

/* A total this many bits past the least is not going to be less again: steps of plans are a bit
 * wide, or two. */
enum { MOST_BITS = 64, PATIENCE = 6 };

/* Sixteenths of a bit are 4 % of the rate: at the least, where the total is flat, a thousandth of
 * what wrong answers cost. */
static void advise_find_rate(advise_search *s)
{
    for (double bits = 1; bits <= MOST_BITS; bits++)
        if (!advise_try(s, bits) && s->is_found && s->spec.max_bytes == 0)
            break;
        else if (s->is_found && bits > s->bits + PATIENCE)
            break;
    for (double bits = 1; bits > 0x1p-8 && (!s->is_found || s->bits <= 1); bits /= 2)
        advise_try(s, bits);
    if (s->spec.max_bytes)
        advise_try_rate(s, 0);
    for (double step = 0.5; s->is_found && step >= 0x1p-4; step /= 2) {
        double at = s->bits;
        advise_try(s, at + step);
        if (at > step)
            advise_try(s, at - step);
    }
}

static bool advise_is_memory_free(const tamis_spec *spec, const tamis_use *use)
{
    return use->memory_cost == 0 && spec->max_bytes == 0;
}

static bool advise_kind(tamis_advice *advice, tamis_kind kind, const tamis_spec *spec,
                        const tamis_use *use)
{
    bool is_rate_given = spec->fpr != 0 || spec->bits || spec->tag_bits;
    advise_search s = { .kind = kind, .spec = *spec, .use = use };
    tamis_plan p;

    if (is_rate_given || advise_is_memory_free(spec, use))
        return !tamis_plan_kind(&p, kind, spec) && tamis__advise_cost(advice, &p, use);
    advise_find_rate(&s);
    *advice = s.best;
    return s.is_found;
}

/* ---- All kinds --------------------------------------------------------- */

static const double USUAL_FPR = 0.01; /* of tamis_spec */

/* What options are ordered by. */
typedef struct advise_order {
    double without;      /* what no filter costs */
    bool is_memory_free; /* neither a price nor a bound keeps filters small */
    double wrong;        /* what false positives cost at the rate that was asked for; or NAN */
} advise_order;

/* Filters that are worth it, no filter, filters that are not. */
static int advise_group(const tamis_advice *a, const advise_order *o)
{
    return a->plan.kind == TAMIS_NO_KIND ? 1 : a->total < o->without ? 0 : 2;
}

/* Where memory is free, a percent less of it counts as much as a percent less of the total; and it
 * is no merit to have a lower rate than was asked for. */
static double advise_price(const tamis_advice *a, const advise_order *o)
{
    if (!o->is_memory_free || a->plan.kind == TAMIS_NO_KIND)
        return a->total;
    double wrong = isnan(o->wrong) ? a->wrong : o->wrong;
    return (a->total - a->wrong + wrong) * (double)a->plan.bytes;
}

static bool advise_is_before(const tamis_advice *a, const tamis_advice *b, const advise_order *o)
{
    int group_a = advise_group(a, o), group_b = advise_group(b, o);
    double price_a = advise_price(a, o), price_b = advise_price(b, o);

    if (group_a != group_b)
        return group_a < group_b;
    return price_a < price_b || (price_a == price_b && a->plan.bytes < b->plan.bytes);
}

static void advise_insert(tamis_advice *advice, size_t n, size_t max, const tamis_advice *a,
                          const advise_order *o)
{
    size_t at = n < max ? n : max;

    while (at > 0 && advise_is_before(a, &advice[at - 1], o))
        at--;
    tamis__list_put(advice, sizeof *advice, n, max, at, a);
}

/* With its machine, if it has one. */
static bool advise_take_use(tamis_use *u, tamis_machine *machine, const tamis_use *theirs)
{
    if (!tamis__sized_take(u, sizeof *u, ADVISE_USE, theirs))
        return false;
    if (u->machine && !tamis__sized_take(machine, sizeof *machine, ADVISE_MACHINE, u->machine))
        return false;
    u->machine = u->machine ? machine : NULL;
    return true;
}

size_t tamis_advise(tamis_advice *advice, size_t max, const tamis_spec *spec, const tamis_use *use)
{
    const tamis_plan nothing = { .kind = TAMIS_NO_KIND };
    tamis_machine machine;
    tamis_advice a;
    tamis_spec s;
    tamis_use u;
    size_t n = 0;

    if (!tamis__sized_take_spec(&s, spec) || !advise_take_use(&u, &machine, use) ||
        !tamis__advise_is_valid(&u) || !(s.fpr >= 0 && s.fpr < 1))
        return 0;
    tamis__advise_cost(&a, &nothing, &u);
    double asked = s.fpr > 0 ? s.fpr : s.bits || s.tag_bits ? NAN : USUAL_FPR;
    const advise_order order = { a.total, advise_is_memory_free(&s, &u),
                                 asked * (1 - u.member_share) * a.total };
    advise_insert(advice, n++, max, &a, &order);
    for (tamis_kind k = TAMIS_NO_KIND; (k = tamis_kind_next(k)) != TAMIS_NO_KIND;)
        if (advise_kind(&a, k, &s, &u) && tamis__plan_may_be_chosen(&a.plan, &s))
            advise_insert(advice, n++, max, &a, &order);
    return n;
}
