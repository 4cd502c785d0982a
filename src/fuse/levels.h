/* levels.h - what ribbons tell of themselves: the slots of their levels, and the equation of a key
 * (ribbon.h). For the ribbon filter and for kinds with values. */
#ifndef TAMIS_FUSE_LEVELS_H
#define TAMIS_FUSE_LEVELS_H

#include "explain.h"
#include "fuse/retrieval.h"

/* How the arrays of a ribbon are called. */
typedef struct levels_names {
    const char *level, *thresholds, *seeds;
    bool is_of_others; /* who has his fingerprint there is no member */
} levels_names;

/* A cell is a slot with all its columns. */
void tamis__levels_cells(const tamis *f, const retrieval *r, const levels_names *names,
                         tamis_telling *t);

/* Tells what the key with hash h reads in the level that it lives on, and sets *value to what is
 * below the fingerprint. NULL if the fingerprint is its own, else why not. */
const char *tamis__levels_explain(const tamis *f, const retrieval *r, const levels_names *names,
                                  uint64_t h, uint64_t *value, tamis_telling *t);

#endif
