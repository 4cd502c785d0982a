/* resume.h - the rows of a run. A run that was stopped can be resumed: see --resume. */
#ifndef BENCH_RESUME_H
#define BENCH_RESUME_H

#include "result_rows.h"

typedef struct bench_store bench_store;

/* An empty one or, to resume, with the rows of the file at `path`, if there is one. Ends the
 * program if these are not of this machine, compiler and commit. */
bench_store *bench_store_new(const char *path, bool resumes, const bench_machine *m);
void bench_store_free(bench_store *s);

/* Whether there is a row that need not be measured again: one that is not noisy. */
bool bench_store_has(const bench_store *s, const bench_trial *t, const bench_job *job);
/* Takes the place of the row that was there. */
void bench_store_put(bench_store *s, const bench_machine *m, const bench_trial *t,
                     const bench_space *space, const bench_job *job);
/* The file is complete at any time: a draft beside it takes its place. */
void bench_store_write(const bench_store *s);
/* For who ends the program. */
void bench_store_remove_draft(void);

#endif
