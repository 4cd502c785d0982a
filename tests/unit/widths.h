/* widths.h - what fingerprints of a width do in any static filter of one fingerprint a slot. */
#ifndef TAMIS_TESTS_UNIT_WIDTHS_H
#define TAMIS_TESTS_UNIT_WIDTHS_H

#include "kinds.h"

/* It holds its keys, and strangers with the rate of the width. Returns the plan that it came to. */
static inline tamis_plan check_width(tamis_kind kind, int width, uint64_t purpose)
{
    rng r = rng_for(purpose, (uint64_t)width);
    uint64_t *keys = fresh_keys(&r, 3000), strangers = 0;
    tamis_plan plan = plan_for(kind, 3000, ldexp(1, -width), 0);
    tamis *f = filter_of(&plan, keys, 3000);

    assert_int_equal(plan.width, width);
    assert_true(holds_all(f, keys, 3000));
    for (int i = 0; i < 20000; i++)
        strangers += tamis_has(f, rng_next(&r));
    assert_true(binomial_fits(strangers, 20000, ldexp(1, -width)));
    plan = f->plan;
    tamis_free(f);
    free(keys);
    return plan;
}

static inline double bits_per_key(tamis_kind kind, uint64_t n, double fpr)
{
    tamis_plan plan = plan_for(kind, n, fpr, 0);

    return 8 * (double)plan.bytes / (double)n;
}

#endif
