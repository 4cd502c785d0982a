/* bench_disk.c - tamis-bench-disk: keys into a filter that is larger than the memory it may use.
 *
 *   tamis-bench-disk make KIND FILE BYTES          an empty filter of about that size
 *   tamis-bench-disk run KIND FILE MEMORY SECONDS  adds, then lookups; one line about them
 *
 * Kinds in order take keys by tamis_disk, Bloom filters in a writable map. bench/disk/run starts
 * `run` where memory is limited. Adds stop after that many seconds or at nine tenths of the
 * capacity. The time includes a flush or a sync. Before lookups the file's pages are dropped, and
 * there are few lookups compared with its pages, so that each reads its own pages from disk. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "tamis_disk.h"

enum { BATCH = 4096, LOOKUPS = 2000 };

static _Noreturn void fail(const char *what, tamis_status status)
{
    fprintf(stderr, "tamis-bench-disk: %s: %s\n", what, tamis_status_text(status));
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Members are even, absent keys odd. */
static uint64_t key_of(uint64_t i, int odd)
{
    return mix64(2 * i + (uint64_t)odd);
}

static void fill(uint64_t *keys, uint64_t first, size_t n, int odd)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = key_of(first + i, odd);
}

/* ---- Making ------------------------------------------------------------ */

static void make(tamis_kind kind, const char *path, uint64_t bytes)
{
    const tamis_spec spec = TAMIS_SPEC(.fpr = 0x1p-8, .max_bytes = bytes, .hasher.hash = TAMIS_RAW);
    tamis_plan plan;
    tamis *f;
    tamis_status status = tamis_plan_kind(&plan, kind, &spec);

    if (!status)
        status = tamis_new(&f, &plan, NULL);
    if (!status)
        status = tamis_save(f, path);
    if (status)
        fail(path, status);
    tamis_free(f);
}

/* ---- Two ways to keep a filter ----------------------------------------- */

typedef struct store {
    tamis_disk *disk;
    tamis *map; /* if it is no disk filter */
} store;

static store open_store(tamis_kind kind, const char *path, uint64_t memory)
{
    const tamis_disk_options o = TAMIS_DISK_OPTIONS(.memory = memory);
    store s = { NULL, NULL };
    tamis_status status = tamis_kind_can(kind) & TAMIS_CAN_RESIZE
                              ? tamis_disk_open(&s.disk, path, &o)
                              : tamis_map(&s.map, path, TAMIS_MAP_WRITE, NULL);

    if (status)
        fail(path, status);
    return s;
}

static const tamis *filter_in(const store *s)
{
    return s->disk ? tamis_disk_file(s->disk) : s->map;
}

static void add(store *s, const uint64_t *keys, size_t n)
{
    size_t added;
    tamis_status status = s->disk ? tamis_disk_add_many(s->disk, &added, keys, n)
                                  : tamis_add_many(s->map, &added, keys, n);

    if (status)
        fail("add", status);
}

static void make_safe(store *s)
{
    tamis_status status = s->disk ? tamis_disk_flush(s->disk) : tamis_sync(s->map);

    if (status)
        fail("flush", status);
}

static bool has(const store *s, uint64_t key)
{
    uint64_t hit;

    return s->disk ? tamis_disk_has_many(s->disk, &hit, &key, 1) : tamis_has(s->map, key);
}

static void close_store(store *s)
{
    tamis_disk_free(s->disk);
    tamis_free(s->map);
}

/* ---- Measuring --------------------------------------------------------- */

static uint64_t add_for(store *s, double seconds, double *took)
{
    uint64_t limit = tamis_plan_of(filter_in(s))->capacity / 10 * 9, done = 0;
    uint64_t keys[BATCH];
    double start = now();

    while (done + BATCH <= limit && now() - start < seconds) {
        fill(keys, done, BATCH, 0);
        add(s, keys, BATCH);
        done += BATCH;
    }
    make_safe(s);
    *took = now() - start;
    return done;
}

static void drop_pages(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) || close(fd))
        fail("drop pages", TAMIS_IO);
}

static uint64_t pages_read(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_majflt;
}

typedef struct lookups {
    uint64_t found, pages;
    double seconds;
} lookups;

/* The first lookup also reads the header, and is not counted. */
static lookups look_up(const store *s, uint64_t first, uint64_t step, int odd)
{
    lookups l = { 0 };

    (void)has(s, key_of(first + LOOKUPS * step, odd));
    uint64_t before = pages_read();
    double start = now();
    for (uint64_t i = 0; i < LOOKUPS; i++)
        l.found += has(s, key_of(first + i * step, odd));
    l.seconds = now() - start;
    l.pages = pages_read() - before;
    return l;
}

static lookups look_up_cold(tamis_kind kind, const char *path, uint64_t memory, uint64_t step,
                            int odd)
{
    drop_pages(path);
    store s = open_store(kind, path, memory);
    lookups l = look_up(&s, 0, step, odd);
    close_store(&s);
    return l;
}

/* Prints kind, bytes, keys, seconds and adds per second; pages and microseconds of an absent lookup
 * and the share of absent keys found; the same of present keys. */
static int run(tamis_kind kind, const char *path, uint64_t memory, double seconds)
{
    double took;

    /* Making the file left some of its pages in memory. */
    drop_pages(path);
    store s = open_store(kind, path, memory);
    uint64_t bytes = tamis_plan_of(filter_in(&s))->bytes, n = add_for(&s, seconds, &took);

    close_store(&s);
    lookups absent = look_up_cold(kind, path, memory, 1, 1);
    lookups present = look_up_cold(kind, path, memory, n / (LOOKUPS + 1), 0);
    printf("%s,%llu,%llu,%.2f,%.0f,%.3f,%.1f,%.5f,%.3f,%.1f,%.5f\n", tamis_kind_name(kind),
           (unsigned long long)bytes, (unsigned long long)n, took, (double)n / took,
           (double)absent.pages / LOOKUPS, absent.seconds * 1e6 / LOOKUPS,
           (double)absent.found / LOOKUPS, (double)present.pages / LOOKUPS,
           present.seconds * 1e6 / LOOKUPS, (double)present.found / LOOKUPS);
    return present.found != LOOKUPS;
}

int main(int argc, char **argv)
{
    tamis_kind kind;

    if (argc < 5 || !tamis_kind_find(&kind, argv[2])) {
        fprintf(stderr, "usage: tamis-bench-disk make KIND FILE BYTES\n"
                        "       tamis-bench-disk run KIND FILE MEMORY SECONDS\n");
        return 2;
    }
    uint64_t number = strtoull(argv[4], NULL, 10);
    if (strcmp(argv[1], "run") == 0 && argc == 6)
        return run(kind, argv[3], number, strtod(argv[5], NULL));
    make(kind, argv[3], number);
    return 0;
}
