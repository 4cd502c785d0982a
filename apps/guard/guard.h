/* guard.h - queries to a store, with filters in front of it. */
#ifndef TAMIS_APPS_GUARD_GUARD_H
#define TAMIS_APPS_GUARD_GUARD_H

#include "answers.h"
#include "database.h"
#include "queries.h"

/* What became of a query. */
typedef enum guard_outcome {
    GUARD_STOPPED, /* the filter said no: the store was not asked */
    GUARD_FOUND,   /* it passed, and the store has it */
    GUARD_IN_VAIN, /* it passed, and the store has it not */
    GUARD_OUTCOMES
} guard_outcome;

/* All queries once, with one filter or with none. */
typedef struct guard_round {
    const char *name; /* of the filter: its kind or its file; "none" */
    tamis_plan plan;  /* its kind is TAMIS_NO_KIND: none */
    uint64_t outcomes[GUARD_OUTCOMES];
    uint64_t lookups; /* of one or more a query has, those that were made */
    uint64_t reads;   /* of the store */
    uint64_t hits;    /* of the cache in front of it */
    uint64_t adapted; /* mistakes that the filter took back in the end, */
    uint64_t no_room; /* and those that it had no room for */
    double seconds;   /* for all queries */
    double probe;     /* for a lookup in the filter alone */
    double build;     /* for a key, with reading it from the store; 0: it came from a file */
} guard_round;

typedef struct guard {
    database *store;
    queries queries;
    uint64_t cache;   /* answers; 0: there is none */
    buffer keys;      /* uint64_t: those of the store, for filters that are built */
    uint64_t n_keys;  /* how many there are */
    double read_keys; /* seconds it took to read them */
    uint64_t strange; /* keys of the store that no URL is looked up by, and one of them */
    buffer stranger;
    uint64_t *answers; /* a bit for each query: whether the store has it */
} guard;

/* Reads all keys of the store. */
void guard_read_keys(guard *g);
/* A filter of them, of that kind, and what it took. */
tamis *guard_build(guard *g, tamis_kind kind, double fpr, guard_round *r);
/* The round without a filter, f is NULL, comes first. In later ones, a filter that does not know a
 * query that was found then ends the program. */
void guard_run(guard *g, tamis *f, guard_round *r);
void guard_free(guard *g);

#endif
