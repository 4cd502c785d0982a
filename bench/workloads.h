/* workloads.h - what people do with a filter, each by its name. */
#ifndef BENCH_WORKLOADS_H
#define BENCH_WORKLOADS_H

#include "bench.h"
#include "clock.h"
#include "memory.h"

/* One subject in one case, with everything the workloads need. */
typedef struct bench_trial {
    const bench_subject *subject;
    bench_case of;
    const uint64_t *all; /* of.keys members */
    void *self;          /* holds them */
    uint64_t *members, *mixed,
        *strangers; /* `queries` of each; every other one of `mixed` is a member */
    uint64_t *hits; /* room for the answers */
    size_t queries;
    size_t found_strangers; /* must be found, however they are asked for */
    const char *path;       /* of a file that may be written */
    bench_tables *tables;
} bench_trial;

typedef struct bench_workload bench_workload;
struct bench_workload {
    const char *name;
    bench_limit limit; /* what its figures are a multiple of */
    bool by_wall;
    bool (*can)(const bench_subject *s);
    /* Nanoseconds per key. Ends the program if an answer is wrong. */
    bench_time (*run)(bench_trial *t, unsigned how);
    unsigned how; /* share present, size of batches, threads */
};

extern const bench_workload BENCH_WORKLOADS[];
extern const size_t BENCH_WORKLOAD_COUNT;

#endif
