/* info.c - what a filter holds, and what is known of it. */
#include <math.h>

#include "core/sized.h"
#include "filter.h"

tamis_status tamis_list(const tamis *f, tamis_visit *visit, void *ctx)
{
    tamis_cursor c = { .f = f };

    if (!f->ops.next)
        return TAMIS_CANNOT;
    while (f->ops.next(&c) && visit(ctx, c.fingerprint, c.count))
        continue;
    return c.status;
}

tamis_status tamis_list_values(const tamis *f, tamis_visit_value *visit, void *ctx)
{
    tamis_cursor c = { .f = f };

    if (!f->ops.next)
        return TAMIS_CANNOT;
    while (f->ops.next(&c) && visit(ctx, c.fingerprint, c.value))
        continue;
    return c.status;
}

const tamis_plan *tamis_plan_of(const tamis *f)
{
    return &f->plan;
}

void tamis_get_info(const tamis *f, tamis_info *out)
{
    uint64_t count = __atomic_load_n(&f->count, __ATOMIC_RELAXED);
    uint64_t capacity = f->plan.capacity ? f->plan.capacity : 1;
    tamis_info info = { .plan = f->plan,
                        .count = count,
                        .cardinality = (double)count,
                        .fill = (double)count / (double)capacity,
                        .readonly = f->readonly,
                        .note = f->note.text,
                        .noted = f->note.time };

    if (f->ops.measure)
        f->ops.measure(f, &info);
    else
        info.fpr = tamis_plan_rate(&f->plan, count);
    /* The count of a damaged view may say anything. */
    info.fill = fmin(info.fill, 1);
    tamis__sized_give(out, &info, sizeof info);
}
