/* workloads.h - what people do with a filter, each by its name. */
#ifndef BENCH_WORKLOADS_H
#define BENCH_WORKLOADS_H

#include "bench.h"
#include "clock.h"
#include "memory_speed.h"

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
    bench_time filling;     /* what it took to put them in */
    unsigned without;       /* TAMIS_CPU_ flags that are not used now */
    size_t found_strangers; /* must be found, however they are asked for */
    const char *path;       /* of a file that may be written */
    bench_tables *tables;
} bench_trial;

/* What a long run has time for. A case that was asked for by name has all workloads. */
enum {
    AT_ALL_RATES = 1,      /* else only at the usual one */
    AT_LARGE = 2,          /* where filling a filter takes seconds too */
    AT_MAIN_SIZE_ONLY = 4, /* ten million keys */
    BY_CPU = 8,            /* also without some instruction sets: --without */
    ON_THREADS = 16,       /* `how` is their number: needs as many processors */
};

typedef struct bench_workload bench_workload;
struct bench_workload {
    const char *name;
    bench_limit limit; /* what its figures are a multiple of */
    bool by_wall;
    bool (*can)(const bench_subject *s);
    /* Nanoseconds per key. Ends the program if an answer is wrong. */
    bench_time (*run)(bench_trial *t, unsigned how);
    unsigned how;   /* share present, size of batches, threads */
    unsigned where; /* AT_ and BY_ */
};

extern const bench_workload BENCH_WORKLOADS[];
extern const size_t BENCH_WORKLOAD_COUNT;

#endif
