/* fuse.c - binary fuse filter, three slots a key. */
#define ARITY 3

#include "fuse/peel.h"

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    double n = fmax(2, (double)part_room(spec->keys));
    int lb = (int)floor(log(n) / log(3.33) + 2.25);
    double c = fmax(1.125, 0.875 + 0.25 * log(1e6) / log(n));

    p->width = width_for(spec->fpr);
    if (p->width > PACKED_WIDEST)
        return TAMIS_RANGE;
    p->hashes = (uint32_t)lb;
    p->slots = (uint64_t)fmax(3, ceil(n * c / exp2(lb))) << lb;
    return TAMIS_OK;
}

const tamis_ops tamis__fuse = {
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .solver = &SOLVER,
    .touch = touch,
};
