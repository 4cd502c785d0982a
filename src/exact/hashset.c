/* hashset.c - exact set of 64-bit keys.
 *
 * What an approximate filter is measured against: eight bytes a key and some air, no false
 * positives beyond those of the key hash. The table is that of robin_hood.c, with plan.width = 64:
 * its bytes depend on the set alone. */
#include "exact/robin_hood.h"

enum { HASHSET_WIDTH = 64 };

static uint64_t hashset_bytes(const tamis_plan *p)
{
    return p->width == HASHSET_WIDTH ? tamis__robin_hood_bytes(p) : 0;
}

static tamis_status hashset_plan(tamis_plan *p, const tamis_spec *spec)
{
    return tamis__robin_hood_plan(p, spec->keys, HASHSET_WIDTH);
}

static tamis_status hashset_add(tamis *f, uint64_t key, uint64_t times)
{
    (void)times;
    return tamis__robin_hood_put(f, key, 0);
}

const tamis_ops tamis__hashset = {
    ROBIN_HOOD_OPS,
    .plan = hashset_plan,
    .bytes = hashset_bytes,
    .add = hashset_add,
};
