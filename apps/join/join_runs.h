/* join_runs.h - rows that go out, in pieces that are in order each, and put in order on their way.
 */
#ifndef TAMIS_APPS_JOIN_JOIN_RUNS_H
#define TAMIS_APPS_JOIN_JOIN_RUNS_H

#include "tape.h"

typedef struct runs {
    tape rows;
    buffer starts; /* uint64_t: of each run on the tape */
    bool is_new;   /* the next row begins a run */
} runs;

/* Bytes are written and read by the piece. */
void runs_open(runs *r, size_t piece);
/* What is put from now on is in order again. */
void runs_begin(runs *r);
void runs_put(runs *r, uint64_t place, span text);
/* Calls `take` for each row, by its place; of one place, the earliest run comes first. Returns how
 * many bytes went to the disk. */
uint64_t runs_merge(runs *r, void (*take)(void *ctx, const record *row), void *ctx);

#endif
