/* plan_resize.c - plans for another size: more room, less, or as much as keys need. */
#include <math.h>

#include "core/plan.h"

tamis_status tamis__plan_resize(tamis_plan *p, uint64_t keys)
{
    tamis_status status = tamis__ops(p->kind)->resize(p, keys);

    return status ? status : tamis__plan_settle(p);
}

/* Kinds in order take the size for twice the keys. Where whole hashes are told apart, slots are the
 * room, and a plan may have more of them than its keys need: then that is no larger size, and twice
 * as many keys again are tried. */
static tamis_status plan_step(tamis_plan *p)
{
    const uint64_t slots = tamis__plan_is_in_slots(p) ? p->slots : 0;
    tamis_status status;

    if (p->grow_to && p->capacity >= p->grow_to)
        return TAMIS_FULL;
    do
        status = tamis__ops(p->kind)->resize(
            p, p->capacity > UINT64_MAX / 2 - 1 ? UINT64_MAX : 2 * p->capacity + 1);
    while (!status && p->slots <= slots);
    if (p->grow_to && p->capacity > p->grow_to)
        p->capacity = p->grow_to;
    return status;
}

tamis_status tamis__plan_enlarge(tamis_plan *p)
{
    tamis_status status = plan_step(p);

    return status ? status : tamis__plan_settle(p);
}

bool tamis__plan_reach(tamis_plan *p, uint64_t keys)
{
    const tamis_ops *ops = tamis__ops(p->kind);

    while ((tamis__plan_is_in_slots(p) ? p->slots : p->capacity) < keys) {
        tamis_plan next = *p;
        if (!ops->bytes(p) || plan_step(&next) || !ops->bytes(&next))
            return false;
        *p = next;
    }
    return true;
}

/* Hashes that nobody chose fill nine tenths of any size, or half of it where copies take room, too.
 * If less than a quarter is in use, then keys were chosen to crowd one place, and crowd it as well
 * in a larger filter; so too if there are keys for less than half of it, where what tells them
 * apart takes room. So a filter never has more than eight times the room that its keys need, or
 * twice what was planned. */
tamis_status tamis__plan_grow(tamis_plan *p, uint64_t needed)
{
    bool for_counts = tamis__ops(p->kind)->traits & TAMIS_TRAIT_GROWS_COUNTS;
    bool helps = for_counts || needed >= p->capacity / (tamis__plan_is_in_slots(p) ? 2 : 4);

    return helps && !tamis__plan_enlarge(p) ? TAMIS_OK : TAMIS_FULL;
}

/* ---- Smaller sizes ----------------------------------------------------- */

/* Leaves out rows, if there are any to be left out, until p has at most max_bytes. */
static bool plan_fit_rows(tamis_plan *p, uint64_t max_bytes)
{
    const tamis_ops *ops = tamis__ops(p->kind);

    for (uint64_t more = 0; (p->bytes = ops->bytes(p)) > max_bytes; more = p->bytes)
        if (p->bytes == more || --p->hashes == 0)
            return false;
    return p->bytes > 0;
}

/* Rows that are half full are better left out than folded, and almost empty ones better folded. */
tamis_status tamis__plan_shrink(tamis_plan *plan, uint64_t max_bytes, uint64_t keys)
{
    enum { MOST_TIMES = 1 << 16 };
    tamis_plan best = { 0 };
    double lowest = INFINITY;
    bool fits_whole = false; /* and then does not get better by being folded more */

    if (!(tamis_kind_can(plan->kind) & TAMIS_CAN_FOLD))
        return TAMIS_CANNOT;
    for (uint64_t by = 1; by <= MOST_TIMES && !fits_whole; by++) {
        tamis_plan p = *plan;
        p.slots /= by;
        if (plan->slots % by || !plan_fit_rows(&p, max_bytes))
            continue;
        double rate = tamis_plan_rate(&p, keys);
        if (rate < lowest)
            best = p;
        lowest = fmin(rate, lowest);
        fits_whole = p.hashes == plan->hashes;
    }
    if (lowest == INFINITY)
        return TAMIS_RANGE;
    *plan = best;
    return tamis__plan_settle(plan);
}
