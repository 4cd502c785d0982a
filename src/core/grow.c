/* grow.c - filters that make room by themselves.
 *
 * What they hold goes into a larger one, and then the key that found no room: until that is in, the
 * filter is as it was. */
#include "core/grow.h"

#include "core/memory.h"
#include "core/ordered.h"
#include "core/plan.h"

bool tamis__grows(const tamis *f)
{
    const tamis_ops *ops = f->ops;

    return ops->ordered ? ops->ordered->grows(&f->plan)
                        : ops->grower && ops->grower->grows(&f->plan);
}

static tamis_status enlarge(tamis_plan *p)
{
    const tamis_ops *ops = tamis__ops(p->kind);

    if (ops->ordered)
        return tamis__plan_doubled(p);
    tamis_status status = ops->grower->larger(p);
    return status ? status : tamis__plan_settle(p);
}

static tamis_status copy(tamis **out, const tamis_plan *plan, const tamis *f)
{
    if (f->ops->ordered)
        return tamis__ordered_copy(out, plan, f);
    tamis_status status = tamis_new(out, plan, &f->alloc);
    if (status)
        return status;
    status = f->ops->grower->move(*out, f);
    if (status)
        tamis_free(*out);
    return status;
}

static tamis_status add_times(tamis *f, uint64_t key, uint64_t times)
{
    return times == 1 ? f->ops->add(f, key) : f->ops->add_times(f, key, times);
}

tamis_status tamis__grow(tamis *f, uint64_t key, uint64_t times)
{
    tamis_plan plan = f->plan;
    tamis *made;
    tamis_status status = TAMIS_FULL;

    if (!tamis__grows(f))
        return TAMIS_FULL;
    while (status == TAMIS_FULL) {
        if (enlarge(&plan))
            return TAMIS_FULL;
        status = copy(&made, &plan, f);
        if (status)
            continue;
        status = add_times(made, key, times);
        if (status)
            tamis_free(made);
        else
            tamis__take_over(f, made);
    }
    return status;
}
