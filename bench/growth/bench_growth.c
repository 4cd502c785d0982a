/* bench_growth.c - tamis-bench-growth: a filter that grows, at every size that it has.
 *
 *   tamis-bench-growth KIND FPR FROM TO     from room for FROM keys to TO of them
 *
 * Writes one row when the filter is full and one when it has just grown: kind and rate asked for,
 * keys, bits per key, the rate planned for that many keys, the rate measured, ns per lookup of
 * absent keys in batches and, when it is full, ns per add since it was full before, growth
 * included. Keys are computed, not stored; all of them are looked up each time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "base/hash.h"
#include "tamis.h"

enum { BATCH = 1 << 16, FEW = 32, STRANGERS = 1 << 22, RUNS = 5 };

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "tamis-bench-growth: %s: %s\n", what, why);
    exit(1);
}

/* Members are even, absent keys odd. */
static void fill(uint64_t *keys, uint64_t first, size_t n, int odd)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = mix64(2 * (first + i) + (uint64_t)odd);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- Looking ----------------------------------------------------------- */

/* How many of the numbered keys are found, and the ns of a lookup. */
static uint64_t look(const tamis *f, uint64_t n, int odd, double *ns)
{
    static uint64_t keys[BATCH], hits[BATCH / 64];
    uint64_t found = 0;
    double total = 0;

    for (uint64_t from = 0; from < n; from += BATCH) {
        size_t here = (size_t)smaller(BATCH, n - from);
        fill(keys, from, here, odd);
        bench_time start = bench_start();
        found += tamis_has_many(f, hits, keys, here);
        total += bench_stop(start, 1).cpu;
    }
    *ns = total / (double)n;
    return found;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The name includes the rate asked for. */
static void print_row(const char *name, const tamis *f, uint64_t n)
{
    const tamis_plan *p = tamis_plan_of(f);
    double ns[RUNS];
    uint64_t hits = 0;

    for (int i = 0; i < RUNS; i++)
        hits = look(f, STRANGERS, 1, &ns[i]);
    qsort(ns, RUNS, sizeof *ns, by_value);
    printf("%s,%" PRIu64 ",%.3f,%.4g,%.4g,%.2f,", name, n, 8 * (double)p->bytes / (double)n,
           tamis_plan_rate(p, n), (double)hits / STRANGERS, ns[RUNS / 2]);
}

/* ---- Growing ----------------------------------------------------------- */

/* Adds keys from n on, `step` at a time, until there are `to` or the filter has grown. False: it is
 * full for good. */
static bool add_up_to(tamis *f, uint64_t *n, uint64_t to, uint64_t step, double *ns)
{
    static uint64_t keys[BATCH];
    uint64_t capacity = tamis_plan_of(f)->capacity;
    tamis_status status = TAMIS_OK;

    while (*n < to && !status && tamis_plan_of(f)->capacity == capacity) {
        size_t added, here = (size_t)smaller(step, to - *n);
        fill(keys, *n, here, 0);
        bench_time start = bench_start();
        status = tamis_add_many(f, &added, keys, here);
        *ns += bench_stop(start, 1).cpu;
        *n += added;
    }
    if (status && status != TAMIS_FULL)
        fail("adding", tamis_status_text(status));
    return !status;
}

static void check_members(const tamis *f, uint64_t n)
{
    double ns;

    if (look(f, n, 0, &ns) != n)
        fail("growing", "a key was lost");
}

static void grow(const char *name, tamis *f, uint64_t to)
{
    uint64_t n = 0, before = 0;
    bool goes_on = true;
    double ns = 0;

    while (goes_on && n < to) {
        goes_on = add_up_to(f, &n, smaller(tamis_plan_of(f)->capacity, to), BATCH, &ns);
        if (n == before)
            return;
        check_members(f, n);
        print_row(name, f, n);
        printf("%.2f\n", ns / (double)(n - before));
        before = n;
        ns = 0;
        /* Some filters have room for a few keys more than planned. */
        if (goes_on && n < to && (goes_on = add_up_to(f, &n, to, FEW, &ns))) {
            print_row(name, f, n);
            putchar('\n');
        }
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    tamis_spec spec = TAMIS_SPEC(.can = TAMIS_CAN_GROW, .hasher.hash = TAMIS_RAW);
    tamis_plan plan;
    tamis_kind kind;
    tamis *f;
    char name[64];

    if (argc != 5 || !tamis_kind_find(&kind, argv[1]))
        fail("usage", "KIND FPR FROM TO");
    spec.fpr = strtod(argv[2], NULL);
    spec.keys = (uint64_t)strtod(argv[3], NULL);
    tamis_status status = tamis_plan_kind(&plan, kind, &spec);
    if (status || (status = tamis_new(&f, &plan, NULL)))
        fail(argv[1], tamis_status_text(status));
    snprintf(name, sizeof name, "%s,%s", argv[1], argv[2]);
    grow(name, f, (uint64_t)strtod(argv[4], NULL));
    tamis_free(f);
    return 0;
}
