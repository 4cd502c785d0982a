/* grow.c - filters that make room by themselves.
 *
 * What they hold goes into a larger one, and then what found no room: until that is in, the filter
 * is as it was. */
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

/* What found no room: copies of a key, or all that another filter holds. */
typedef struct {
    uint64_t key, times;
    const tamis *other;
} load;

static tamis_status put(tamis *f, const load *l)
{
    if (l->other)
        return f->ops->merge(f, l->other);
    return l->times == 1 ? f->ops->add(f, l->key) : f->ops->add_times(f, l->key, l->times);
}

static tamis_status grow(tamis *f, const load *l)
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
        status = put(made, l);
        if (status)
            tamis_free(made);
        else
            tamis__take_over(f, made);
    }
    return status;
}

tamis_status tamis__grow(tamis *f, uint64_t key, uint64_t times)
{
    const load l = { .key = key, .times = times };

    return grow(f, &l);
}

tamis_status tamis__grow_merge(tamis *f, const tamis *g)
{
    const load l = { .other = g };
    tamis_status status = f->ops->merge(f, g);

    return status == TAMIS_FULL ? grow(f, &l) : status;
}
