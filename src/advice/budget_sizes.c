/* budget_sizes.c - which sizes filters may have. */
#include <math.h>

#include "core/plan.h"
#include "core/sized.h"
#include "tamis_budget.h"

/* Puts a size behind those that are smaller and worse, and drops those that are not smaller. */
static size_t budget_put(tamis_size *sizes, size_t n, const tamis_plan *p)
{
    while (n > 0 && sizes[n - 1].bytes >= p->bytes && sizes[n - 1].rate >= p->fpr)
        n--;
    if (n > 0 && sizes[n - 1].rate <= p->fpr)
        return n;
    sizes[n] = (tamis_size){ p->bytes, p->fpr };
    return n + 1;
}

size_t tamis_budget_sizes(tamis_size sizes[TAMIS_SIZES_MAX], tamis_kind kind,
                          const tamis_spec *spec)
{
    tamis_spec s;
    size_t n = 0;

    if (!tamis__sized_take_spec(&s, spec))
        return 0;
    for (int quarter = 1; quarter <= TAMIS_SIZES_MAX; quarter++) {
        tamis_plan p;
        s.fpr = exp2(-quarter / 4.0);
        if (tamis_plan_kind(&p, kind, &s) == TAMIS_OK)
            n = budget_put(sizes, n, &p);
    }
    return n;
}

/* A filter that says no to less than one of a hundred strangers. */
static const double WORTHLESS = 0.99;

/* From the largest on; then the other way round. */
size_t tamis_budget_shrunk(tamis_size sizes[TAMIS_SIZES_MAX], const tamis_plan *plan, uint64_t keys)
{
    uint64_t max_bytes = plan->bytes;
    size_t n = 0;

    if (!tamis__ops(plan->kind))
        return 0;
    if (!(tamis_kind_can(plan->kind) & TAMIS_CAN_FOLD))
        sizes[n++] = (tamis_size){ plan->bytes, tamis_plan_rate(plan, keys) };
    for (tamis_plan p = *plan; n < TAMIS_SIZES_MAX && !tamis__plan_shrink(&p, max_bytes, keys);
         p = *plan) {
        double rate = tamis_plan_rate(&p, keys);
        max_bytes = p.bytes - 1;
        if (rate > WORTHLESS)
            break;
        /* Rates of small and of large filters are worked out in two ways, which differ a little. */
        while (n > 0 && sizes[n - 1].rate >= rate)
            n--;
        sizes[n++] = (tamis_size){ p.bytes, rate };
    }
    for (size_t i = 0; i < n / 2; i++) {
        tamis_size swap = sizes[i];
        sizes[i] = sizes[n - 1 - i];
        sizes[n - 1 - i] = swap;
    }
    return n;
}
