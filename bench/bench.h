/* bench.h - what is measured, and what the parts of the benchmark know of each other.
 *
 *   bench.c      the program: options, cases, what is measured where
 *   trial.c      one subject in one case: keys, repetitions
 *   rows.c       medians, ratios and the row of the CSV
 *   store.c      all rows of a run, and of the run that it resumes
 *   workloads.c  the named workloads
 *   memory.c     what the memory itself allows
 *   keys.h       keys that are in the set, and absent ones
 *   tamis.c      every kind of this library as a subject
 *   lone_template.h  lookups one key at a time, compiled into each subject
 *   peers/       other libraries as subjects, each built if it is installed */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One size at one rate. */
typedef struct bench_case {
    uint64_t keys;
    double fpr;
    double load; /* of subjects with slots; 0: their own choice */
} bench_case;

/* A structure to measure. What it cannot do is NULL, and its rows say so. Keys are 64-bit numbers
 * that look random. If it takes only small integers it is `indexed`, and all keys, absent ones too,
 * are below BENCH_UNIVERSE times the number of keys. */
typedef struct bench_subject bench_subject;
struct bench_subject {
    const char *name;    /* unique; of a peer: library-structure */
    const char *library; /* with its version */
    bool indexed;
    bool exact; /* the rate does not matter */
    bool slow;  /* lookups take microseconds: fewer of them will do */

    /* Every subject has these five. make() builds from all keys at once or, for n = 0, makes an
     * empty one with room for c->keys; NULL if it cannot. has() sets bit i of `hits` as
     * tamis_has_many() does and returns how many it set; it runs in several threads at a time. */
    void *(*make)(const bench_subject *s, const bench_case *c, const uint64_t *keys, size_t n);
    bool (*add)(void *self, const uint64_t *keys, size_t n);
    size_t (*has)(const void *self, uint64_t *hits, const uint64_t *keys, size_t n);
    size_t (*bytes)(const void *self);
    void (*drop)(void *self);

    /* Optional. Those with `each` take keys one at a time, in a loop of their own. In has_chain(),
     * each key waits for the answer before. */
    bool builds_at_once; /* make() takes keys */
    size_t (*has_each)(const void *self, const uint64_t *keys, size_t n);
    size_t (*has_chain)(const void *self, const uint64_t *keys, size_t n);
    bool (*add_each)(void *self, const uint64_t *keys, size_t n);
    bool (*remove)(void *self, const uint64_t *keys, size_t n);
    bool (*remove_each)(void *self, const uint64_t *keys, size_t n);
    bool (*add_shared)(void *self, const uint64_t *keys, size_t n); /* from several threads */
    void *(*make_shared)(const bench_subject *s, const bench_case *c, const uint64_t *keys,
                         size_t n, unsigned threads);
    uint64_t (*count)(const void *self, const uint64_t *keys, size_t n); /* the sum of counts */
    void (*use_without)(void *self, unsigned cpu); /* TAMIS_CPU_ flags not to use; 0: use all */
    bool (*save)(const void *self, const char *path);
    void *(*map)(const char *path);
    double (*planned_fpr)(const void *self);
    int kind; /* of tamis */
};

enum { BENCH_UNIVERSE = 8 };

/* Says why on stderr and ends the program. */
__attribute__((noreturn)) void bench_die(const char *what, const char *why);

/* The kinds of this library. */
size_t bench_tamis(bench_subject *subjects, size_t max);

#ifdef __cplusplus
}
#endif

#endif
