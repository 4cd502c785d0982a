/* retrieval.h - keys with values: ribbons whose slots add up to a value and then to a fingerprint.
 * Kinds that hold values are made of one or two of these. */
#ifndef TAMIS_FUSE_RETRIEVAL_H
#define TAMIS_FUSE_RETRIEVAL_H

#include "fuse/ribbon.h"

/* Part of a payload, in each of its parts. */
typedef struct retrieval {
    ribbon_shape shape; /* width 0: there is none */
    uint64_t at;        /* where in a part it begins */
} retrieval;

/* f->derived of these kinds: one for each enum tamis_stage, or the first only. */
typedef struct retrieval_derived {
    retrieval stage[2];
} retrieval_derived;

_Static_assert(sizeof(retrieval_derived) <= TAMIS_DERIVED_SIZE, "");

static inline const retrieval *retrieval_in(const tamis *f, enum tamis_stage stage)
{
    return &((const retrieval_derived *)(const void *)f->derived)->stage[stage];
}

/* Keeps it in f, and puts the functions for the CPU into its table. */
void tamis__retrieval_for_cpu(tamis *f, const retrieval_derived *derived, unsigned cpu);
void tamis__retrieval_use_avx2(tamis_ops *ops);

/* Of the table. */
tamis_status tamis__retrieval_solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                                    size_t *n, void *scratch, const tamis_team *team);
uint64_t tamis__retrieval_scratch(const ribbon_shape *s, uint64_t n, unsigned workers);

/* The value of the key with hash h. False: it is a stranger's, or its part has no keys. */
bool tamis__retrieval_get(const tamis *f, enum tamis_stage stage, uint64_t *value, uint64_t h);
/* Prefetches what that reads first. */
void tamis__retrieval_touch(const tamis *f, enum tamis_stage stage, uint64_t h);

#endif
