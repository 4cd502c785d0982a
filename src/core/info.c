/* info.c - what a filter holds, and what is known of it. */
#include <math.h>

#include "core/sized.h"
#include "filter.h"

/* A tamis_visit and a tamis_visit_value are functions of one type. */
static tamis_status info_list(const tamis *f, tamis_visit *visit, void *ctx, bool with_values)
{
    tamis_cursor c = { .f = f };

    if (!f->ops.next)
        return TAMIS_CANNOT;
    while (f->ops.next(&c) && visit(ctx, c.fingerprint, with_values ? c.value : c.count))
        continue;
    return c.status;
}

tamis_status tamis_list(const tamis *f, tamis_visit *visit, void *ctx)
{
    return info_list(f, visit, ctx, false);
}

tamis_status tamis_list_values(const tamis *f, tamis_visit_value *visit, void *ctx)
{
    return info_list(f, visit, ctx, true);
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
