/* retrieval_solve_template.h - TEMPLATE, compiled once for each CPU: solve() of keys with values.
 * The includer has included put_back() for its CPU, with PAIRS defined. */
#include "fuse/retrieval.h"

static tamis_status retrieval_solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                                    size_t *n, void *scratch)
{
    const struct retrieval_stage *s = &((const retrieval *)(const void *)f->derived)->stage[stage];
    const tamis_entry *entries = items;

    if (s->shape.width == 0)
        return TAMIS_OK;
    for (size_t i = 0; i < *n && s->shape.value_bits; i++)
        if (entries[i].value >> s->shape.value_bits)
            return TAMIS_RANGE;
    return solve(&s->shape, (uint8_t *)part + s->at, items, n, scratch);
}
