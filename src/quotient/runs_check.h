/* runs_check.h - whether the bytes of a table of runs are those of what it holds. */
#ifndef TAMIS_QUOTIENT_RUNS_CHECK_H
#define TAMIS_QUOTIENT_RUNS_CHECK_H

#include "quotient/runs.h"

typedef struct runs_check {
    runs_table t;
    uint64_t room; /* slots that may be in use */
    /* Checks what is in slots c->i .. end - 1, the run of c->quotient: why it is damaged, or NULL.
     */
    const char *(*check_run)(const struct runs_check *c, uint64_t end);
    void *ctx;
    uint64_t quotient, i, runs, used; /* so far */
} runs_check;

/* Why the table, its header or the bytes after it are damaged, or NULL. */
const char *tamis__runs_check(runs_check *c);

#endif
