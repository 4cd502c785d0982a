/* join_runs.h - rows that go out, in pieces that are in order each, and put in order on their way.
 */
#ifndef TAMIS_APPS_JOIN_JOIN_RUNS_H
#define TAMIS_APPS_JOIN_JOIN_RUNS_H

#include "spool.h"
#include "text/keys.h"

typedef struct runs {
    spool spool;
    size_t piece;  /* bytes written or read at a time */
    buffer starts; /* uint64_t: of each run */
    bool is_new;   /* the next row begins a run */
} runs;

void runs_open(runs *r, size_t piece);
/* What is put from now on is in order again. */
void runs_begin(runs *r);
void runs_put(runs *r, uint64_t place, span text);
/* Calls `take` for each text, by its place; of one place, the earliest run comes first. Returns how
 * many bytes went to the disk. */
uint64_t runs_merge(runs *r, void (*take)(void *ctx, span text), void *ctx);

#endif
