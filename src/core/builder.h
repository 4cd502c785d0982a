/* builder.h - what a builder is, between its files: builder.c takes keys and finishes filters,
 * solve.c makes those of static kinds, split.c those that tell keys from others. */
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
    uint64_t values;      /* all of them, or-ed: the bits that they need */
    tamis *filter;        /* that takes keys at once; else NULL */
    spill spill;          /* of keys, hashes, or hashes with their values */
    spill others;         /* of the hashes of others, in kinds that split */
};

/* Bytes that may still be taken beside these. */
uint64_t tamis__memory_left(const tamis_builder *b, uint64_t taken);

/* Tells how far the work is; whether to go on with it. */
bool tamis__is_wanted(const tamis_builder *b, uint64_t done, uint64_t total);

/* What is wanted, as far as it is known yet. */
tamis_spec tamis__builder_spec(const tamis_builder *b);

/* Items of both in a bucket. */
uint64_t tamis__items_in(const tamis_builder *b, size_t bucket);

/* Bytes that it takes to solve the largest part of that plan to be expected. */
uint64_t tamis__solve_needs(const tamis_builder *b, const tamis_plan *plan);
/* The filter of a static kind, in memory or in a file. */
tamis_status tamis__solve(tamis **out, tamis_builder *b);
tamis_status tamis__solve_to_file(tamis_builder *b, const char *path);
/* The filter of an ordered kind: in memory if there is no `path`. In memory, that of a kind that
 * builds sets. */
tamis_status tamis__pour(tamis **out, tamis_builder *b, const char *path);

/* The filter of a kind that splits. */
tamis_status tamis__split(tamis **out, tamis_builder *b);

#endif
