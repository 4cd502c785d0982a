/* bench_collection.c - tamis-bench-collection: how fast a collection of many filters opens, and
 * which pages a look-up reads.
 *
 *   tamis-bench-collection FILE [FILTERS]     makes FILE, with 100000 filters or so many
 *
 * The pages of the file are dropped from memory before each round, and counted in it afterwards:
 * that of the header, that of the directory, and those of the filter. Where the file system keeps
 * its pages, as tmpfs does, there is nothing to count. Medians of all rounds are printed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "tamis_collection.h"

enum { KEYS = 1000, ROUNDS = 101, PAGE = 4096 };

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "tamis-bench-collection: %s\n", what);
    exit(1);
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void name_of(char name[32], uint64_t i)
{
    snprintf(name, 32, "block-%07llu", (unsigned long long)i);
}

static tamis *filter_of(uint64_t i)
{
    tamis_spec spec = TAMIS_SPEC(.keys = KEYS, .fpr = 0.01, .hasher.hash = TAMIS_RAW);
    uint64_t keys[KEYS];
    tamis_plan plan;
    tamis *f;

    for (uint64_t k = 0; k < KEYS; k++)
        keys[k] = mix64(i * KEYS + k);
    must(!tamis_plan_kind(&plan, TAMIS_BLOCKED, &spec), "cannot be planned");
    must(!tamis_build(&f, &plan, keys, KEYS, NULL), "cannot be built");
    return f;
}

static void make(const char *path, uint64_t n)
{
    tamis_editor *e;
    char name[32];

    unlink(path);
    must(!tamis_editor_open(&e, path, 0, NULL), "cannot be made");
    for (uint64_t i = 0; i < n; i++) {
        tamis *f = filter_of(i);
        name_of(name, i);
        must(!tamis_editor_put(e, name, f), "a filter cannot be put in");
        tamis_free(f);
    }
    must(!tamis_editor_save(e), "cannot be saved");
    tamis_editor_free(e);
}

/* ---- Pages ------------------------------------------------------------- */

static void drop_pages(const char *path)
{
    int fd = open(path, O_RDONLY);

    must(fd >= 0 && fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0,
         "its pages cannot be dropped");
    close(fd);
}

static size_t pages_in_memory(const char *path)
{
    int fd = open(path, O_RDONLY);
    struct stat s;
    size_t found = 0;

    must(fd >= 0 && fstat(fd, &s) == 0, "cannot be opened");
    size_t size = (size_t)s.st_size, n = (size + PAGE - 1) / PAGE;
    unsigned char *in = calloc(n, 1);
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    must(in && map != MAP_FAILED && mincore(map, size, in) == 0, "pages cannot be counted");
    for (size_t i = 0; i < n; i++)
        found += in[i] & 1;
    munmap(map, size);
    free(in);
    close(fd);
    return found;
}

/* ---- Rounds ------------------------------------------------------------ */

typedef struct turn {
    double open_us, query_us;
    double pages; /* read by both */
} turn;

static turn look(const char *path, uint64_t i, bool is_cold)
{
    turn r = { 0 };
    tamis_collection *c;
    char name[32];
    tamis *f;

    name_of(name, i);
    if (is_cold)
        drop_pages(path);
    double start = now_us();
    must(!tamis_collection_open(&c, path, NULL), "does not open");
    double opened = now_us();
    must(!tamis_collection_get(c, &f, name, NULL), "a name is not found");
    must(tamis_has(f, mix64(i * KEYS + 7)), "a key is lost");
    r.query_us = now_us() - opened;
    r.open_us = opened - start;
    tamis_free(f);
    tamis_collection_free(c);
    if (is_cold)
        r.pages = (double)pages_in_memory(path);
    return r;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void report(const char *what, double *values)
{
    qsort(values, ROUNDS, sizeof *values, by_value);
    printf("%s: median %.1f, most %.1f\n", what, values[ROUNDS / 2], values[ROUNDS - 1]);
}

static void run(const char *path, uint64_t n, bool is_cold)
{
    double opens[ROUNDS], queries[ROUNDS], pages[ROUNDS];

    for (uint64_t i = 0; i < ROUNDS; i++) {
        turn r = look(path, mix64(i) % n, is_cold);
        opens[i] = r.open_us;
        queries[i] = r.query_us;
        pages[i] = r.pages;
    }
    printf("%s\n", is_cold ? "not in memory" : "in memory");
    report("  us to open", opens);
    report("  us to find a filter and ask it", queries);
    if (is_cold)
        report("  pages read by both", pages);
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
    struct stat s;

    must(argc == 2 || argc == 3, "give a FILE, and perhaps a number of filters");
    must(n > 0, "give a number of filters");
    double start = now_us();
    make(argv[1], n);
    must(stat(argv[1], &s) == 0, "is gone");
    printf("%llu filters, %.1f MB, made in %.2f s\n", (unsigned long long)n,
           (double)s.st_size / 1e6, (now_us() - start) / 1e6);
    run(argv[1], n, false);
    run(argv[1], n, true);
    unlink(argv[1]);
    return 0;
}
