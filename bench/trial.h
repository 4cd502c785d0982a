/* trial.h - one subject at one size and rate: its keys, and repetitions of what is due. */
#ifndef BENCH_TRIAL_H
#define BENCH_TRIAL_H

#include "result_rows.h"

typedef struct bench_effort {
    bool quick;
    int runs;
} bench_effort;

/* Files it leaves if the program is ended. */
extern const char BENCH_IMAGE_PATH[], BENCH_PAGES_PATH[];

/* Fills the series of every job that is due, unless the subject cannot do it. */
void bench_trial_run(bench_trial *t, bench_space *space, bench_job *jobs, size_t n,
                     const bench_effort *effort);

#endif
