/* plan_choose.c - which kind suits what is wanted best, and what all of them would take. */
#include <math.h>

#include "core/list.h"
#include "core/plan.h"
#include "core/sized.h"

/* ---- The best kind ----------------------------------------------------- */

/* How many times the room of the smallest kind a faster one may take. Where copies count, they may
 * take room too, and the smallest kind is taken. */
static double plan_price_of_speed(const tamis_spec *spec)
{
    return spec->can & TAMIS_CAN_COUNT ? 1 : 2;
}

/* Abilities of kinds that are not chosen unless they are asked for: only callers know that their
 * keys are small integers, or that they may be forgotten; and who wants a kind to study says so. */
enum { PLAN_ONLY_IF_ASKED = TAMIS_IS_INDEXED | TAMIS_CAN_ROTATE | TAMIS_IS_TO_STUDY };

bool tamis__plan_may_be_chosen(const tamis_plan *p, const tamis_spec *spec)
{
    bool is_bounded = spec->can & TAMIS_CAN_GROW && !spec->grow_to && !tamis__plan_keeps_rate(p);

    return !(tamis_kind_can(p->kind) & PLAN_ONLY_IF_ASKED & ~spec->can) && !is_bounded;
}

/* Whether the kind may be chosen, and its plan. Counts with a ceiling do not count everything. */
static tamis_status plan_offer(tamis_plan *p, tamis_kind kind, const tamis_spec *spec,
                               bool has_ceiling)
{
    tamis_status status = tamis__plan_one(p, kind, spec);

    if (status)
        return status;
    bool is_limited = spec->can & TAMIS_CAN_COUNT && p->ceiling != UINT64_MAX;
    return tamis__plan_may_be_chosen(p, spec) && (!is_limited || has_ceiling) ? TAMIS_OK
                                                                              : TAMIS_CANNOT;
}

/* Room for a key. If the rate is as low as the room allows, it is room for a key and a bit of that
 * rate, of which no 64-bit key has more than 64. */
static double plan_price(const tamis_plan *p, const tamis_spec *spec)
{
    double bits = (double)p->bytes / (double)(p->capacity ? p->capacity : 1);
    bool is_best_rate = spec->fpr == 0 && spec->keys && (spec->max_bytes || spec->bits);

    return is_best_rate ? bits / -log2(fmax(p->fpr, 0x1p-64)) : bits;
}

/* What a kind that is chosen may cost: never more than a set that makes no mistakes. */
static double plan_highest_price(const tamis_spec *spec, bool has_ceiling)
{
    double lowest = INFINITY, exact = INFINITY;

    for (tamis_kind k = TAMIS_NO_KIND; (k = tamis_kind_next(k)) != TAMIS_NO_KIND;) {
        tamis_plan p;
        if (plan_offer(&p, k, spec, has_ceiling))
            continue;
        lowest = fmin(lowest, plan_price(&p, spec));
        if (!tamis__ops(k)->rate)
            exact = fmin(exact, plan_price(&p, spec));
    }
    return lowest < INFINITY ? fmin(plan_price_of_speed(spec) * lowest, exact) : 0;
}

static tamis_status plan_fastest(tamis_plan *plan, const tamis_spec *spec, bool has_ceiling)
{
    double highest = plan_highest_price(spec, has_ceiling);
    tamis_status outcome = TAMIS_CANNOT;
    tamis_plan p;

    for (tamis_kind k = TAMIS_NO_KIND; (k = tamis_kind_next(k)) != TAMIS_NO_KIND;) {
        tamis_status status = plan_offer(&p, k, spec, has_ceiling);
        if (status == TAMIS_RANGE && outcome)
            outcome = TAMIS_RANGE;
        if (status || plan_price(&p, spec) > highest)
            continue;
        if (outcome || tamis__kind_rank(k) < tamis__kind_rank(plan->kind))
            *plan = p;
        outcome = TAMIS_OK;
    }
    return outcome;
}

tamis_status tamis_plan_kind(tamis_plan *plan, tamis_kind kind, const tamis_spec *spec)
{
    tamis_spec s;

    if (!tamis__sized_take_spec(&s, spec))
        return TAMIS_RANGE;
    if (kind != TAMIS_NO_KIND)
        return tamis__plan_one(plan, kind, &s);
    return plan_fastest(plan, &s, false) ? plan_fastest(plan, &s, true) : TAMIS_OK;
}

/* ---- All kinds --------------------------------------------------------- */

/* Keeps `plans` sorted by size; of equal ones the first stays first. */
static void plan_insert(tamis_plan *plans, size_t n, size_t max, const tamis_plan *p)
{
    size_t at = n < max ? n : max;

    while (at > 0 && plans[at - 1].bytes > p->bytes)
        at--;
    tamis__list_put(plans, sizeof *plans, n, max, at, p);
}

size_t tamis_plan_all(tamis_plan *plans, size_t max, const tamis_spec *spec)
{
    tamis_spec s;
    size_t n = 0;

    if (!tamis__sized_take_spec(&s, spec))
        return 0;
    for (tamis_kind k = TAMIS_NO_KIND; (k = tamis_kind_next(k)) != TAMIS_NO_KIND;) {
        tamis_plan p;
        if (tamis__plan_one(&p, k, &s) == TAMIS_OK)
            plan_insert(plans, n++, max, &p);
    }
    return n;
}
