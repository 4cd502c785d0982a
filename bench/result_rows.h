/* result_rows.h - what the repetitions of a workload gave, and its row in the CSV. */
#ifndef BENCH_RESULT_ROWS_H
#define BENCH_RESULT_ROWS_H

#include <stdio.h>

#include "workloads.h"

enum { BENCH_MAX_RUNS = 99 };

/* One workload: the time of each repetition, and each limit beside it. */
typedef struct bench_series {
    bench_time times[BENCH_MAX_RUNS];
    double limits[BENCH_MAX_RUNS][BENCH_LIMIT_COUNT];
    int n;
} bench_series;

/* A workload, maybe without some of what the machine can do. */
typedef struct bench_job {
    const bench_workload *workload;
    const char *without; /* as it was asked for; "": all is used */
    unsigned cpu;        /* the same as TAMIS_CPU_ flags */
    bool planned, due;
    bool known;     /* by the run that is resumed */
    bool waits;     /* for more processors: noisy, and due when the run is resumed */
    double seconds; /* spent on it */
    bench_series series;
} bench_job;

/* What is the same in every row. */
typedef struct bench_machine {
    char name[128], caches[128], date[16];
    long cores;
    const char *commit;
} bench_machine;

/* What is the same in every row of a trial. */
typedef struct bench_space {
    double bits_per_key, planned_fpr, measured_fpr; /* rates are NaN where there are none */
    size_t bytes;
} bench_space;

typedef struct bench_figures {
    double median, low, high;
} bench_figures;

void bench_machine_find(bench_machine *m, const char *commit);

/* The middle half of the repetitions differs by more than half of the median, or there were not
 * enough free processors: no figure is reported. */
bool bench_is_absurd(const bench_job *job);
bench_figures bench_ns(const bench_job *job);
bench_figures bench_ratio(const bench_job *job);

enum {
    BENCH_SUBJECT_COLUMN = 0,
    BENCH_WORKLOAD_COLUMN = 4,
    BENCH_WITHOUT_COLUMN,
    BENCH_KEYS_COLUMN,
    BENCH_FPR_COLUMN,
    BENCH_STATUS_COLUMN
};

void bench_print_head(FILE *csv);
/* A series without repetitions means that the subject cannot do it. */
void bench_print_row(FILE *csv, const bench_machine *m, const bench_trial *t,
                     const bench_space *space, const bench_job *job);
/* The cells that all rows of a run share, without the date. */
void bench_print_place(FILE *csv, const bench_machine *m);

#endif
