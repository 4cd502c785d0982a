/* retrieval.h - keys with values: the equations of a ribbon filter, whose slots add up to a value
 * and then to a fingerprint. Kinds that hold values are made of one or two of these. */
#ifndef TAMIS_FUSE_RETRIEVAL_H
#define TAMIS_FUSE_RETRIEVAL_H

#include "fuse/ribbon.h"

/* f->derived of these kinds, by enum tamis_stage; kinds without stages use the first only. */
typedef struct retrieval {
    struct retrieval_stage {
        shape shape; /* width 0: there is none, and every key passes */
        uint64_t at; /* where in a part it begins */
    } stage[2];
} retrieval;

_Static_assert(sizeof(retrieval) <= TAMIS_DERIVED_SIZE, "");

/* Of the table, by what is in f->derived. */
tamis_status tamis__retrieval_solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                                    size_t *n, void *scratch);
size_t tamis__retrieval_scratch(const shape *s, size_t n);
void tamis__retrieval_use_avx2(tamis_ops *ops);

/* False: there is no key in the part of hash h, or the fingerprint is another's. */
bool tamis__retrieval_get(const tamis *f, enum tamis_stage stage, uint64_t *value, uint64_t h);
/* Prefetches what that reads first. */
void tamis__retrieval_touch(const tamis *f, enum tamis_stage stage, uint64_t h);

#endif
