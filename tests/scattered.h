/* scattered.h - bloom and partitioned of any size, and their bits one by one. */
#ifndef TAMIS_TESTS_SCATTERED_H
#define TAMIS_TESTS_SCATTERED_H

#include "bloom/bitset.h"
#include "kinds.h"

/* k probes in rows, or in one array, of so many slots: that many bits in all. */
static inline tamis_plan scattered_plan(tamis_kind kind, uint64_t slots, unsigned k, uint64_t bits)
{
    tamis_plan plan = plan_for(kind, 10, 0.01, 0);

    plan.slots = slots;
    plan.hashes = k;
    plan.bytes = tamis__ops(kind)->bytes(&plan);
    assert_int_equal(plan.bytes, (bits + 63) / 64 * 8);
    return plan;
}

/* Whether each of the n bits is set. */
static inline bool all_set(const tamis *f, const uint64_t *at, int n)
{
    for (int i = 0; i < n; i++)
        if (!bitset_get(f->payload, at[i]))
            return false;
    return true;
}

static inline void set_all(tamis *f, const uint64_t *at, int n)
{
    for (int i = 0; i < n; i++)
        bitset_set(f->payload, at[i]);
}

#endif
