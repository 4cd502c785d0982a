/* builder.h - what a builder is, between its two files: builder.c takes keys and finishes filters,
 * solve.c makes those of static kinds. */
#ifndef TAMIS_CORE_BUILDER_H
#define TAMIS_CORE_BUILDER_H

#include <pthread.h>

#include "core/spill.h"

struct tamis_builder {
    tamis_kind kind;
    const tamis_ops *ops;
    tamis_spec spec;
    tamis_build_options options;
    uint64_t salt;
    pthread_mutex_t lock; /* guards all that follows while keys come */
    tamis_status broken;  /* nothing can be done any more */
    uint64_t largest;     /* key: the capacity of indexed kinds */
    tamis *filter;        /* that takes keys at once; else NULL */
    spill spill;
};

/* Bytes that may still be taken beside these. */
uint64_t tamis__memory_left(const tamis_builder *b, uint64_t taken);

/* Tells how far the work is; whether to go on with it. */
bool tamis__is_wanted(const tamis_builder *b, uint64_t done, uint64_t total);

/* Bytes that it takes to solve the largest part of that plan to be expected. */
uint64_t tamis__solve_needs(const tamis_ops *ops, const tamis_plan *plan);
/* The filter of a static kind, in memory or in a file. */
tamis_status tamis__solve(tamis **out, tamis_builder *b);
tamis_status tamis__solve_to_file(tamis_builder *b, const char *path);
/* The filter of an ordered kind: in memory if there is no `path`. */
tamis_status tamis__pour(tamis **out, tamis_builder *b, const char *path);

#endif
