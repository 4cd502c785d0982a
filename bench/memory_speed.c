#include "memory_speed.h"

#include <fcntl.h>
#include <math.h>
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

typedef struct table table;
typedef void walk(const table *t, const uint64_t *keys, size_t n);

struct table {
    line *lines;
    uint64_t n;
    walk *read, *write; /* the fastest of WAYS, here; NULL: not known yet */
};

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
    t->small = (table){ .lines = small_pages_new(t->size), .n = n };
    t->huge = (table){ .lines = tamis__pages_new(t->size), .n = n };
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

/* ---- Ways to ask ahead ------------------------------------------------- */

/* The hints of prefetch instructions: to which cache the line goes. */
enum { T0 = 3, T1 = 2, T2 = 1, NTA = 0 };

/* The compiler wants the hint as a constant. */
__attribute__((always_inline)) static inline uint64_t fetch(const table *t, uint64_t key, int hint)
{
    uint64_t i = line_of(t, key);

    switch (hint) {
    case T0:
        __builtin_prefetch(&t->lines[i], 0, T0);
        break;
    case T1:
        __builtin_prefetch(&t->lines[i], 0, T1);
        break;
    case T2:
        __builtin_prefetch(&t->lines[i], 0, T2);
        break;
    default:
        __builtin_prefetch(&t->lines[i], 0, NTA);
    }
    return i;
}

__attribute__((always_inline)) static inline void
go_ahead(const table *t, const uint64_t *keys, size_t n, int hint, size_t ahead, bool writes)
{
    uint64_t ring[MOST_AHEAD], sum = 0;

    for (size_t i = 0; i < ahead && i < n; i++)
        ring[i] = fetch(t, keys[i], hint);
    for (size_t i = 0; i < n; i++) {
        uint64_t at = ring[i % ahead];
        if (i + ahead < n)
            ring[i % ahead] = fetch(t, keys[i + ahead], hint);
        if (writes)
            t->lines[at].words[0] |= keys[i];
        else
            sum += t->lines[at].words[0];
    }
    use(sum);
}

#define WAYS_AHEAD(X) \
    X(T0, 32)         \
    X(T0, 64)         \
    X(T0, 128)        \
    X(T1, 32)         \
    X(T1, 64)         \
    X(T1, 128)        \
    X(T2, 32)         \
    X(T2, 64)         \
    X(T2, 128)        \
    X(NTA, 32)        \
    X(NTA, 64)        \
    X(NTA, 128)

#define WAY_X(hint, ahead)                                                             \
    static void read_##hint##_##ahead(const table *t, const uint64_t *keys, size_t n)  \
    {                                                                                  \
        go_ahead(t, keys, n, hint, ahead, false);                                      \
    }                                                                                  \
    static void write_##hint##_##ahead(const table *t, const uint64_t *keys, size_t n) \
    {                                                                                  \
        go_ahead(t, keys, n, hint, ahead, true);                                       \
    }
WAYS_AHEAD(WAY_X)
#undef WAY_X

/* In a small table, it is fastest to leave it all to the processor. */
static const struct {
    walk *read, *write;
} WAYS[] = { { read_independent, write_independent },
#define WAY_X(hint, ahead) { read_##hint##_##ahead, write_##hint##_##ahead },
             WAYS_AHEAD(WAY_X)
#undef WAY_X
};
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

/* ---- Measures ---------------------------------------------------------- */

static double time_once(walk *go, const table *t, const uint64_t *keys, size_t n)
{
    bench_time start = bench_start();

    go(t, keys, n);
    return bench_stop(start, n).cpu;
}

/* As in the workloads, what fits in the cache is in it: the same reads are done once before. */
static double time_walk(walk *go, const table *t, const uint64_t *keys, size_t n)
{
    go(t, keys, n);
    return time_once(go, t, keys, n);
}

/* Each address waits for the line before. So it takes long, and a quarter of the keys must do; but
 * all lines are read before, lest those of a quarter stay in a cache that is too small for all. */
static double time_dependent(const table *t, const uint64_t *keys, size_t n)
{
    t->read(t, keys, n);
    return time_once(read_dependent, t, keys, n / 4);
}

enum { TRIES = 2 };

/* Ways take turns, so that what disturbs the machine for a while disturbs them all. */
static walk *fastest(const table *t, bool writes, const uint64_t *keys, size_t n)
{
    double least = INFINITY;
    walk *best = NULL;

    for (int i = -1; i < TRIES * WAY_COUNT; i++) {
        int way = i < 0 ? 0 : i % WAY_COUNT; /* once to fill the cache */
        walk *go = writes ? WAYS[way].write : WAYS[way].read;
        double ns = time_once(go, t, keys, n);
        if (i >= 0 && ns < least) {
            least = ns;
            best = go;
        }
    }
    return best;
}

static void find_ways(table *t, const uint64_t *keys, size_t n)
{
    t->read = fastest(t, false, keys, n);
    t->write = fastest(t, true, keys, n);
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

    for (int round = 0; round < bench_rounds(s->each); round++)
        s->go(s->table, s->keys + i * s->each, s->each);
}

static double time_team(walk *go, const table *t, const uint64_t *keys, size_t n, unsigned threads)
{
    shares s = { go, t, keys, n / threads };

    double reads = (double)s.each * threads * bench_rounds(s.each);

    return bench_threads(threads, read_share, &s).wall / reads;
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

void bench_limits_measure(double *ns, bench_tables *t, const uint64_t *keys, size_t n)
{
    if (!t->huge.read) {
        find_ways(&t->small, keys, n);
        find_ways(&t->huge, keys, n);
    }
    ns[READ_DEPENDENT_4K] = time_dependent(&t->small, keys, n);
    ns[READ_DEPENDENT_HUGE] = time_dependent(&t->huge, keys, n);
    ns[READ_INDEPENDENT_4K] = time_walk(read_independent, &t->small, keys, n);
    ns[READ_INDEPENDENT_HUGE] = time_walk(read_independent, &t->huge, keys, n);
    ns[READ_PREFETCHED_4K] = time_walk(t->small.read, &t->small, keys, n);
    ns[READ_PREFETCHED_HUGE] = time_walk(t->huge.read, &t->huge, keys, n);
    ns[READ_THREADS_1] = time_team(t->huge.read, &t->huge, keys, n, 1);
    ns[READ_THREADS_2] = time_team(t->huge.read, &t->huge, keys, n, 2);
    /* Writes last: lines that were changed would have to be stored while others are read. */
    ns[WRITE_INDEPENDENT_4K] = time_walk(write_independent, &t->small, keys, n);
    ns[WRITE_INDEPENDENT_HUGE] = time_walk(write_independent, &t->huge, keys, n);
    ns[WRITE_PREFETCHED_4K] = time_walk(t->small.write, &t->small, keys, n);
    ns[WRITE_PREFETCHED_HUGE] = time_walk(t->huge.write, &t->huge, keys, n);
    ns[COLD_PAGE_READ] = t->path ? time_cold_pages(t, keys, n) : 0;
}
