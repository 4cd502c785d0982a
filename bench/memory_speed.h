/* memory_speed.h - what the memory itself allows: random reads and writes of cache lines in a
 * table as large as the subject, with nothing to compute but where the line is. */
#ifndef BENCH_MEMORY_SPEED_H
#define BENCH_MEMORY_SPEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Constant, column of the CSV. Dependent: the next address is known only when the line has come.
 * Independent: the processor overlaps reads. Prefetched: every line is asked for well before it is
 * used, in the way that is fastest in this table: a hint and a distance, or none. On pages of 4
 * KiB, and on huge ones if the system grants them. */
#define BENCH_LIMITS(X)                               \
    X(READ_DEPENDENT_4K, read_dependent_4k)           \
    X(READ_DEPENDENT_HUGE, read_dependent_huge)       \
    X(READ_INDEPENDENT_4K, read_independent_4k)       \
    X(READ_INDEPENDENT_HUGE, read_independent_huge)   \
    X(READ_PREFETCHED_4K, read_prefetched_4k)         \
    X(READ_PREFETCHED_HUGE, read_prefetched_huge)     \
    X(WRITE_INDEPENDENT_4K, write_independent_4k)     \
    X(WRITE_INDEPENDENT_HUGE, write_independent_huge) \
    X(WRITE_PREFETCHED_4K, write_prefetched_4k)       \
    X(WRITE_PREFETCHED_HUGE, write_prefetched_huge)   \
    X(READ_THREADS_1, read_threads_1)                 \
    X(READ_THREADS_2, read_threads_2)                 \
    X(COLD_PAGE_READ, cold_page_read)

typedef enum bench_limit {
#define BENCH_X(constant, name) constant,
    BENCH_LIMITS(BENCH_X)
#undef BENCH_X
        BENCH_LIMIT_COUNT
} bench_limit;

const char *bench_limit_name(bench_limit limit);

typedef struct bench_tables bench_tables;

/* Two tables of `size` bytes, and a file of `file_size` bytes at `path` unless that is 0. NULL if
 * there is no memory. */
bench_tables *bench_tables_new(size_t size, size_t file_size, const char *path);
void bench_tables_free(bench_tables *t);
/* False if there is no file, or if the system does not drop its pages from memory. */
bool bench_tables_have_file(const bench_tables *t);
/* Writes the pages of a file to disk and drops them from memory. */
bool bench_forget(const char *path);
/* ns per line of each limit; the keys say which lines are read. The first call finds the ways. */
void bench_limits_measure(double *ns, bench_tables *t, const uint64_t *keys, size_t n);

#endif
