/* retrieval_solve_template.h - TEMPLATE, compiled once for each CPU: solve() of keys with values.
 * The includer defines RIBBON_AVX2 for a CPU with it. */
#define RIBBON_VALUES

#include "fuse/retrieval.h"
#include "fuse/ribbon_solve_template.h"

static tamis_status retrieval_solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                                    size_t *n, void *scratch, const tamis_team *team)
{
    const retrieval *r = retrieval_in(f, stage);
    const tamis_entry *entries = items;

    if (r->shape.width == 0)
        return TAMIS_OK;
    for (size_t i = 0; i < *n && r->shape.value_bits; i++)
        if (entries[i].value >> r->shape.value_bits)
            return TAMIS_RANGE;
    return ribbon_solve_part(&r->shape, (uint8_t *)part + r->at, items, n, scratch, team);
}
