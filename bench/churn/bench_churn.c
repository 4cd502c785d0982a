/* bench_churn.c - tamis-bench-churn: filters whose keys come and go, at the load they are planned
 * for.
 *
 *   tamis-bench-churn KEYS TURNOVERS [FPR] [KIND]     each kind that removes, at each of four rates
 *
 * A turnover replaces all keys, the oldest first, a tenth at a time. Writes rows after 1, 2, 5, 10,
 * ... turnovers: kind and rate asked for, keys, turnovers, the rate planned for that many keys, the
 * rate measured, bits per key, ns per lookup of absent keys in batches and, of the turnovers since
 * the row before, ns per key that is removed and replaced. All members are looked up after each
 * turnover. A filter that refuses a key has its last row in that turnover, and `full`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "base/hash.h"
#include "tamis.h"

enum { PARTS = 10, STRANGERS = 1 << 20 };

static const char *const RATES[] = { "0.1", "0.01", "0.001", "0.000001" };

typedef struct crowd {
    tamis *f;
    const char *name, *fpr;
    uint64_t first, universe; /* of kinds whose keys are numbers below it */
    size_t n;
    uint64_t *keys, *hits;
} crowd;

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "tamis-bench-churn: %s: %s\n", what, why);
    exit(1);
}

/* Those from c->first on are members; those that follow come next. */
static const uint64_t *keys_from(crowd *c, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c->keys[i] = c->universe ? (first + i) % c->universe : mix64(first + i);
    return c->keys;
}

static uint64_t look(crowd *c, uint64_t first, double *ns)
{
    const uint64_t *keys = keys_from(c, first, c->n);
    bench_time start = bench_start();
    uint64_t found = tamis_has_many(c->f, c->hits, keys, c->n);

    *ns += bench_stop(start, 1).cpu;
    return found;
}

/* False: a key was refused. */
static bool turn_over(crowd *c, double *ns)
{
    for (size_t part = 0; part < PARTS; part++) {
        size_t done, n = c->n * (part + 1) / PARTS - c->n * part / PARTS;
        const uint64_t *keys = keys_from(c, c->first, n);
        bench_time start = bench_start();
        if (tamis_remove_many(c->f, &done, keys, n) || done < n)
            fail(c->name, "a key could not be removed");
        *ns += bench_stop(start, 1).cpu;
        keys = keys_from(c, c->first + c->n, n);
        start = bench_start();
        tamis_status status = tamis_add_many(c->f, &done, keys, n);
        *ns += bench_stop(start, 1).cpu;
        if (status == TAMIS_FULL)
            return false;
        if (status)
            fail(c->name, tamis_status_text(status));
        c->first += n;
    }
    return true;
}

/* Strangers never become members, unless all numbers do. */
static void print_row(crowd *c, uint64_t turnovers, double turn_ns, bool is_full)
{
    const tamis_plan *p = tamis_plan_of(c->f);
    uint64_t first = c->universe ? c->first + c->n : UINT64_C(1) << 60;
    double ns = 0, found = 0, asked = 0;

    for (; asked < STRANGERS; asked += (double)c->n, first += c->universe ? 0 : c->n)
        found += (double)look(c, first, &ns);
    printf("%s,%s,%zu,%" PRIu64 ",%.4g,%.4g,%.3f,%.2f,%.2f,%s\n", c->name, c->fpr, c->n, turnovers,
           tamis_plan_rate(p, c->n), found / asked, 8 * (double)p->bytes / (double)c->n, ns / asked,
           turn_ns, is_full ? "full" : "ok");
    fflush(stdout);
}

static uint64_t next_row(uint64_t turnovers)
{
    uint64_t power = 1;

    while (10 * power <= turnovers)
        power *= 10;
    return turnovers < 2 * power ? 2 * power : turnovers < 5 * power ? 5 * power : 10 * power;
}

static void churn(crowd *c, uint64_t turnovers)
{
    double ns = 0, ignored = 0;

    for (uint64_t done = 1, last = 0, row = 1; done <= turnovers; done++) {
        bool is_full = !turn_over(c, &ns);
        if (!is_full && look(c, c->first, &ignored) != c->n)
            fail(c->name, "a key was lost");
        if (!is_full && done < row && done < turnovers)
            continue;
        print_row(c, done, ns / (double)((done - last) * c->n), is_full);
        if (is_full)
            return;
        row = next_row(done);
        last = done;
        ns = 0;
    }
}

static void churn_kind(tamis_kind kind, const char *fpr, size_t n, uint64_t turnovers)
{
    bool is_indexed = tamis_kind_can(kind) & TAMIS_IS_INDEXED;
    crowd c = { .name = tamis_kind_name(kind), .fpr = fpr, .n = n };
    tamis_spec spec = TAMIS_SPEC(.keys = is_indexed ? 2 * n : n, .fpr = strtod(fpr, NULL),
                                 .hasher.hash = TAMIS_RAW);
    tamis_plan plan;
    size_t added;

    c.universe = is_indexed ? 2 * n : 0;
    c.keys = calloc(n, sizeof *c.keys);
    c.hits = calloc(n / 64 + 1, sizeof *c.hits);
    if (!c.keys || !c.hits)
        fail("keys", "out of memory");
    tamis_status status = tamis_plan_kind(&plan, kind, &spec);
    if (status || (status = tamis_new(&c.f, &plan, NULL)) ||
        (status = tamis_add_many(c.f, &added, keys_from(&c, 0, n), n)))
        fail(c.name, tamis_status_text(status));
    churn(&c, turnovers);
    tamis_free(c.f);
    free(c.keys);
    free(c.hits);
}

int main(int argc, char **argv)
{
    const unsigned NEEDED = TAMIS_CAN_ADD | TAMIS_CAN_REMOVE;

    if (argc < 3 || argc > 5)
        fail("usage", "KEYS TURNOVERS [FPR] [KIND]");
    size_t n = (size_t)strtod(argv[1], NULL);
    uint64_t turnovers = (uint64_t)strtod(argv[2], NULL);
    for (tamis_kind k = tamis_kind_next(TAMIS_NO_KIND); k; k = tamis_kind_next(k)) {
        if ((tamis_kind_can(k) & NEEDED) != NEEDED)
            continue;
        if (argc > 4 && strcmp(argv[4], tamis_kind_name(k)) != 0)
            continue;
        for (size_t i = 0; i < sizeof RATES / sizeof *RATES; i++)
            if (argc < 4 || strtod(argv[3], NULL) == strtod(RATES[i], NULL))
                churn_kind(k, RATES[i], n, turnovers);
    }
    return 0;
}
