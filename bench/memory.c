#include "memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/hash.h"
#include "bench.h"
#include "clock.h"
#include "os/pages.h"
#include "threads.h"

enum { MOST_AHEAD = 128, PAGE = 4096, COLD_PAGES = 200 };

typedef struct {
    uint64_t words[8];
} line;

typedef struct {
    line *lines;
    uint64_t n;
} table;

struct bench_tables {
    table small, huge;
    size_t size; /* of each */
    size_t file_size;
    const char *path; /* NULL: no file */
};

const char *bench_limit_name(bench_limit limit)
{
    static const char *const NAMES[] = {
#define BENCH_X(constant, name) #name,
        BENCH_LIMITS(BENCH_X)
#undef BENCH_X
    };

    return NAMES[limit];
}

/* ---- Tables ------------------------------------------------------------ */

static line *small_pages_new(size_t size)
{
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (block == MAP_FAILED)
        return NULL;
#ifdef MADV_NOHUGEPAGE
    (void)madvise(block, size, MADV_NOHUGEPAGE);
#endif
    return block;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0)
        bench_die(path, "cannot be written");
    for (size_t at = 0; at < size;) {
        ssize_t written = write(fd, bytes + at, size - at);
        if (written <= 0)
            bench_die(path, "cannot be written");
        at += (size_t)written;
    }
    if (fsync(fd) || close(fd))
        bench_die(path, "cannot be written");
}

bool bench_forget(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool done = fd >= 0 && fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;

    if (fd >= 0)
        close(fd);
    return done;
}

/* A file system in memory does not drop pages. */
static bool can_forget(const char *path)
{
    uint8_t page[PAGE];
    struct iovec to = { page, PAGE };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool forgotten = fd >= 0 && bench_forget(path) && preadv2(fd, &to, 1, 0, RWF_NOWAIT) < 0;

    if (fd >= 0)
        close(fd);
    return forgotten;
}

/* Different bytes, so that no file system stores them as a hole. */
static void fill(line *lines, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        for (int j = 0; j < 8; j++)
            lines[i].words[j] = mix64(i * 8 + (uint64_t)j);
}

bench_tables *bench_tables_new(size_t size, size_t file_size, const char *path)
{
    bench_tables *t = calloc(1, sizeof *t);
    uint64_t n = size / sizeof(line) + 1;

    if (!t)
        return NULL;
    t->size = n * sizeof(line);
    t->small = (table){ small_pages_new(t->size), n };
    t->huge = (table){ tamis__pages_new(t->size), n };
    if (!t->small.lines || !t->huge.lines)
        return NULL;
    fill(t->small.lines, n);
    fill(t->huge.lines, n);
    t->file_size = file_size < t->size ? file_size : t->size;
    t->path = t->file_size >= PAGE ? path : NULL;
    if (t->path)
        write_file(path, (const uint8_t *)t->huge.lines, t->file_size);
    if (t->path && !can_forget(path)) {
        unlink(path);
        t->path = NULL;
    }
    return t;
}

void bench_tables_free(bench_tables *t)
{
    if (t->path)
        unlink(t->path);
    munmap(t->small.lines, t->size);
    tamis__pages_free(t->huge.lines, t->size);
    free(t);
}

/* ---- Walks ------------------------------------------------------------- */

/* If the sum were not used, the compiler could leave out the reads. */
static void use(uint64_t sum)
{
    __asm__ volatile("" : : "r"(sum));
}

static uint64_t line_of(const table *t, uint64_t key)
{
    return scale64(mix64(key), t->n);
}

static void read_dependent(const table *t, const uint64_t *keys, size_t n)
{
    uint64_t last = 0;

    /* The address of the next line depends on a bit of this one. */
    for (size_t i = 0; i < n; i++)
        last = t->lines[line_of(t, keys[i] ^ (last & 1))].words[0];
    use(last);
}

static void read_independent(const table *t, const uint64_t *keys, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += t->lines[line_of(t, keys[i])].words[0];
    use(sum);
}

static void write_independent(const table *t, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        t->lines[line_of(t, keys[i])].words[0] |= keys[i];
}

static uint64_t fetch(const table *t, uint64_t key, int for_writing)
{
    uint64_t i = line_of(t, key);

    if (for_writing)
        __builtin_prefetch(&t->lines[i], 1, 3);
    else
        __builtin_prefetch(&t->lines[i], 0, 3);
    return i;
}

/* The best prefetch distance depends on the cache that the table is in: two are tried. */
__attribute__((always_inline)) static inline void read_ahead(const table *t, const uint64_t *keys,
                                                             size_t n, size_t ahead)
{
    uint64_t ring[MOST_AHEAD], sum = 0;

    for (size_t i = 0; i < ahead && i < n; i++)
        ring[i] = fetch(t, keys[i], 0);
    for (size_t i = 0; i < n; i++) {
        uint64_t at = ring[i % ahead];
        if (i + ahead < n)
            ring[i % ahead] = fetch(t, keys[i + ahead], 0);
        sum += t->lines[at].words[0];
    }
    use(sum);
}

__attribute__((always_inline)) static inline void write_ahead(const table *t, const uint64_t *keys,
                                                              size_t n, size_t ahead)
{
    uint64_t ring[MOST_AHEAD];

    for (size_t i = 0; i < ahead && i < n; i++)
        ring[i] = fetch(t, keys[i], 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t at = ring[i % ahead];
        if (i + ahead < n)
            ring[i % ahead] = fetch(t, keys[i + ahead], 1);
        t->lines[at].words[0] |= keys[i];
    }
}

static void read_near(const table *t, const uint64_t *keys, size_t n)
{
    read_ahead(t, keys, n, 32);
}

static void read_far(const table *t, const uint64_t *keys, size_t n)
{
    read_ahead(t, keys, n, MOST_AHEAD);
}

static void write_near(const table *t, const uint64_t *keys, size_t n)
{
    write_ahead(t, keys, n, 32);
}

static void write_far(const table *t, const uint64_t *keys, size_t n)
{
    write_ahead(t, keys, n, MOST_AHEAD);
}

/* ---- Measures ---------------------------------------------------------- */

typedef void walk(const table *t, const uint64_t *keys, size_t n);

/* As in the workloads, what fits in the cache is in it: the same reads are done once before. */
static double time_walk(walk *go, const table *t, const uint64_t *keys, size_t n)
{
    go(t, keys, n);
    bench_time start = bench_start();
    go(t, keys, n);
    return bench_stop(start, n).cpu;
}

static double time_best(walk *one, walk *other, const table *t, const uint64_t *keys, size_t n)
{
    double a = time_walk(one, t, keys, n), b = time_walk(other, t, keys, n);

    return a < b ? a : b;
}

typedef struct {
    walk *go;
    const table *table;
    const uint64_t *keys;
    size_t each;
} shares;

static void read_share(void *ctx, unsigned i)
{
    const shares *s = ctx;

    for (int round = 0; round < BENCH_ROUNDS; round++)
        s->go(s->table, s->keys + i * s->each, s->each);
}

static double time_team(walk *go, const table *t, const uint64_t *keys, size_t n, unsigned threads)
{
    shares s = { go, t, keys, n / threads };

    return bench_threads(threads, read_share, &s).wall / (double)(s.each * threads * BENCH_ROUNDS);
}

static double time_threads(const table *t, const uint64_t *keys, size_t n, unsigned threads)
{
    double near = time_team(read_near, t, keys, n, threads);
    double far = time_team(read_far, t, keys, n, threads);

    return near < far ? near : far;
}

bool bench_tables_have_file(const bench_tables *t)
{
    return t->path != NULL;
}

/* Reads pages of a file that are not in memory, one at a time. */
static double time_cold_pages(const bench_tables *t, const uint64_t *keys, size_t n)
{
    uint8_t page[PAGE];
    uint64_t pages = t->file_size / PAGE;
    int fd = open(t->path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || !bench_forget(t->path) || posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM))
        bench_die(t->path, "cannot be read");
    n = n < COLD_PAGES ? n : COLD_PAGES;
    bench_time start = bench_start();
    for (size_t i = 0; i < n; i++)
        if (pread(fd, page, PAGE, (off_t)(scale64(mix64(keys[i]), pages) * PAGE)) != PAGE)
            bench_die(t->path, "cannot be read");
    double ns = bench_stop(start, n).wall;
    close(fd);
    return ns;
}

void bench_limits_measure(double *ns, const bench_tables *t, const uint64_t *keys, size_t n)
{
    ns[READ_DEPENDENT_4K] = time_walk(read_dependent, &t->small, keys, n / 8);
    ns[READ_DEPENDENT_HUGE] = time_walk(read_dependent, &t->huge, keys, n / 8);
    ns[READ_INDEPENDENT_4K] = time_walk(read_independent, &t->small, keys, n);
    ns[READ_INDEPENDENT_HUGE] = time_walk(read_independent, &t->huge, keys, n);
    ns[READ_PREFETCHED_4K] = time_best(read_near, read_far, &t->small, keys, n);
    ns[READ_PREFETCHED_HUGE] = time_best(read_near, read_far, &t->huge, keys, n);
    ns[WRITE_INDEPENDENT_4K] = time_walk(write_independent, &t->small, keys, n);
    ns[WRITE_INDEPENDENT_HUGE] = time_walk(write_independent, &t->huge, keys, n);
    ns[WRITE_PREFETCHED_4K] = time_best(write_near, write_far, &t->small, keys, n);
    ns[WRITE_PREFETCHED_HUGE] = time_best(write_near, write_far, &t->huge, keys, n);
    ns[READ_THREADS_1] = time_threads(&t->huge, keys, n, 1);
    ns[READ_THREADS_2] = time_threads(&t->huge, keys, n, 2);
    ns[COLD_PAGE_READ] = t->path ? time_cold_pages(t, keys, n) : 0;
}
