/* bench_budget.c - tamis-bench-budget: wrong answers of many filters in one budget, promised and
 * counted.
 *
 *   tamis-bench-budget > FILE.csv
 *
 * Each workload has 300 filters, built for a rate of 1e-4: that is the full budget. For shares of
 * it the filters are made as each way to share says, and asked for keys that they do not hold:
 *
 *   optimal    tamis_budget_choose(), built to measure
 *   rows       the same, made of the full filters without their keys, by dropping rows
 *   fraction   each filter has the same share of its full size, built to measure
 *   prefix     the same, as the first bits of a classic Bloom filter
 *   weight     bytes in proportion to how often a filter is asked, up to its full size
 *   again      the same, and what is left over then is shared again among the others
 *
 * Writes a row for each: workload, share of the full budget, way, wrong answers per query expected
 * and counted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "bloom/bitset.h"
#include "bloom/probes.h"
#include "tamis_budget.h"

enum { FILTERS = 300, STRANGERS = 20000, MOST_KEYS = 10000 };

static const double FULL_RATE = 1e-4;

/* ---- Workloads --------------------------------------------------------- */

typedef struct subject {
    uint64_t n, seed;
    double weight; /* share of queries, all of them for keys that it does not hold */
    tamis *full, *classic;
} subject;

typedef struct workload {
    const char *name;
    double (*weight)(int i);
    double (*keys)(int i);
} workload;

/* The i-th of a row of numbers between 0 and 1 in no order. */
static double scattered(int i, uint64_t seed)
{
    return (double)(mix64((uint64_t)i + 1000 * seed) >> 11) * 0x1p-53;
}

static double one(int i)
{
    (void)i;
    return 1;
}

static double thousand(int i)
{
    (void)i;
    return 1000;
}

/* From a hundred to ten thousand, evenly on a scale of logarithms. */
static double two_decades(int i)
{
    return 100 * pow(100, scattered(i, 1));
}

static double zipf(int i)
{
    return pow(i + 1, -1.2);
}

/* One of ten is asked 81 times as often as the others: nine tenths of all queries. */
static double bimodal(int i)
{
    return i % 10 == 0 ? 81 : 1;
}

static const workload WORKLOADS[] = {
    { "uniform", one, two_decades },
    { "uniform, equal sizes", one, thousand },
    { "Zipf", zipf, two_decades },
    { "bimodal", bimodal, two_decades },
};

/* ---- Filters ----------------------------------------------------------- */

static void must(tamis_status status)
{
    if (!status)
        return;
    fprintf(stderr, "tamis-bench-budget: %s\n", tamis_status_text(status));
    exit(1);
}

/* Keys are even numbers, mixed, and strangers odd ones. */
static uint64_t key_of(const subject *s, uint64_t i)
{
    return mix64(2 * (i + (s->seed << 32)));
}

static uint64_t stranger_of(const subject *s, uint64_t i)
{
    return mix64(2 * (i + (s->seed << 32)) + 1);
}

static tamis *built(const subject *s, tamis_kind kind, double fpr, uint64_t max_bytes)
{
    static uint64_t keys[MOST_KEYS];
    tamis_spec spec = TAMIS_SPEC(.keys = s->n, .fpr = fpr, .max_bytes = max_bytes);
    tamis_plan plan;
    tamis *f;

    for (uint64_t i = 0; i < s->n; i++)
        keys[i] = key_of(s, i);
    /* There is no filter that small. */
    if (tamis_plan_kind(&plan, kind, &spec))
        return NULL;
    must(tamis_build(&f, &plan, keys, s->n, NULL));
    return f;
}

/* The share of strangers that it takes for keys; all of them if there is no filter. */
static double asked(const tamis *f, const subject *s)
{
    uint64_t found = 0;

    for (uint64_t i = 0; i < STRANGERS && f; i++)
        found += tamis_has(f, stranger_of(s, i));
    return f ? (double)found / STRANGERS : 1;
}

/* Probes behind the first bits tell nothing. */
static bool prefix_has(const tamis *f, uint64_t bits, uint64_t key)
{
    uint64_t x = hash_key(key, f->salt);

    for (uint32_t i = 0; i < f->plan.hashes; i++, x = probes_next(x)) {
        uint64_t at = scale64(x, f->plan.slots);
        if (at < bits && !bitset_get(f->payload, at))
            return false;
    }
    return true;
}

/* ---- Ways to share ----------------------------------------------------- */

typedef struct answers {
    double expected, counted; /* wrong ones, per query */
} answers;

static void add(answers *a, const subject *s, const tamis *f)
{
    a->expected += s->weight * (f ? tamis_plan_rate(tamis_plan_of(f), s->n) : 1);
    a->counted += s->weight * asked(f, s);
}

/* Each filter built within so many bytes. */
static answers build_all(const subject *all, const double *bytes)
{
    answers a = { 0 };

    for (int i = 0; i < FILTERS; i++) {
        uint64_t most = (uint64_t)bytes[i];
        tamis *f = most ? built(&all[i], TAMIS_PARTITIONED, 0, most) : NULL;
        add(&a, &all[i], f);
        tamis_free(f);
    }
    return a;
}

static double full_size(const subject *s)
{
    return (double)tamis_plan_of(s->full)->bytes;
}

static answers same_fraction(const subject *all, double total)
{
    double bytes[FILTERS], full = 0;

    for (int i = 0; i < FILTERS; i++)
        full += full_size(&all[i]);
    for (int i = 0; i < FILTERS; i++)
        bytes[i] = total / full * full_size(&all[i]);
    return build_all(all, bytes);
}

/* One round: those that have room get their parts. Returns what is left over. */
static double deal(double bytes[FILTERS], const subject *all, double total)
{
    double sum = 0, used = 0;

    for (int i = 0; i < FILTERS; i++)
        sum += bytes[i] < full_size(&all[i]) ? all[i].weight : 0;
    for (int i = 0; i < FILTERS && sum > 0; i++) {
        double room = full_size(&all[i]) - bytes[i];
        double part = room > 0 ? fmin(room, total * all[i].weight / sum) : 0;
        bytes[i] += part;
        used += part;
    }
    return total - used;
}

static answers by_weight(const subject *all, double total)
{
    double bytes[FILTERS] = { 0 };

    (void)deal(bytes, all, total);
    return build_all(all, bytes);
}

static answers by_weight_again(const subject *all, double total)
{
    double bytes[FILTERS] = { 0 };

    for (int round = 0; round < FILTERS && total > 1; round++)
        total = deal(bytes, all, total);
    return build_all(all, bytes);
}

static answers by_prefix(const subject *all, double total)
{
    answers a = { 0 };
    double full = 0;

    for (int i = 0; i < FILTERS; i++)
        full += (double)tamis_plan_of(all[i].classic)->bytes;
    for (int i = 0; i < FILTERS; i++) {
        const tamis *f = all[i].classic;
        double r = total / full, m = (double)f->plan.slots, k = f->plan.hashes;
        double ones = -expm1(k * (double)all[i].n * log1p(-1 / m));
        uint64_t found = 0, bits = (uint64_t)(m * r);
        for (uint64_t q = 0; q < STRANGERS; q++)
            found += prefix_has(f, bits, stranger_of(&all[i], q));
        a.expected += all[i].weight * pow(1 - r * (1 - ones), k);
        a.counted += all[i].weight * (double)found / STRANGERS;
    }
    return a;
}

/* What tamis_budget_choose() chooses among these sizes. */
static void choose(tamis_claim *claims, const subject *all, double total)
{
    tamis_budget result;

    for (int i = 0; i < FILTERS; i++)
        claims[i].weight = all[i].weight;
    must(tamis_budget_choose(&result, claims, FILTERS, (uint64_t)total, NULL));
}

static answers optimal(const subject *all, double total)
{
    static tamis_size sizes[FILTERS][TAMIS_SIZES_MAX];
    tamis_claim claims[FILTERS] = { 0 };
    answers a = { 0 };

    for (int i = 0; i < FILTERS; i++) {
        tamis_spec spec = TAMIS_SPEC(.keys = all[i].n);
        claims[i].sizes = sizes[i];
        claims[i].n = tamis_budget_sizes(sizes[i], TAMIS_PARTITIONED, &spec);
    }
    choose(claims, all, total);
    for (int i = 0; i < FILTERS; i++) {
        const tamis_size *size = claims[i].size;
        tamis *f = size ? built(&all[i], TAMIS_PARTITIONED, 0, size->bytes) : NULL;
        add(&a, &all[i], f);
        tamis_free(f);
    }
    return a;
}

static answers by_rows(const subject *all, double total)
{
    static tamis_size sizes[FILTERS][TAMIS_SIZES_MAX];
    tamis_claim claims[FILTERS] = { 0 };
    answers a = { 0 };

    for (int i = 0; i < FILTERS; i++) {
        claims[i].kept = sizes[i];
        claims[i].m = tamis_budget_shrunk(sizes[i], tamis_plan_of(all[i].full), all[i].n);
    }
    choose(claims, all, total);
    for (int i = 0; i < FILTERS; i++) {
        tamis *f = NULL;
        if (claims[i].size)
            must(tamis_shrink(&f, all[i].full, claims[i].size->bytes, NULL));
        add(&a, &all[i], f);
        tamis_free(f);
    }
    return a;
}

static const struct way {
    const char *name;
    answers (*share)(const subject *all, double total);
} WAYS[] = {
    { "optimal", optimal },  { "rows", by_rows },     { "fraction", same_fraction },
    { "prefix", by_prefix }, { "weight", by_weight }, { "again", by_weight_again },
};

/* ---- All of it --------------------------------------------------------- */

static void make_subjects(subject *all, const workload *w)
{
    double sum = 0;

    for (int i = 0; i < FILTERS; i++)
        sum += w->weight(i);
    for (int i = 0; i < FILTERS; i++) {
        subject *s = &all[i];
        *s = (subject){ .n = (uint64_t)w->keys(i),
                        .seed = (uint64_t)i,
                        .weight = w->weight(i) / sum };
        s->full = built(s, TAMIS_PARTITIONED, FULL_RATE, 0);
        s->classic = built(s, TAMIS_BLOOM, FULL_RATE, 0);
    }
}

static void run(const workload *w)
{
    static const double SHARES[] = { 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1 };
    static subject all[FILTERS];
    double full = 0;

    make_subjects(all, w);
    for (int i = 0; i < FILTERS; i++)
        full += (double)tamis_plan_of(all[i].full)->bytes;
    for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++)
        for (size_t j = 0; j < sizeof WAYS / sizeof *WAYS; j++) {
            answers a = WAYS[j].share(all, SHARES[i] * full);
            printf("\"%s\",%g,%s,%.6g,%.6g\n", w->name, SHARES[i], WAYS[j].name, a.expected,
                   a.counted);
        }
    for (int i = 0; i < FILTERS; i++) {
        tamis_free(all[i].full);
        tamis_free(all[i].classic);
    }
}

int main(void)
{
    printf("workload,share,way,expected,counted\n");
    for (size_t i = 0; i < sizeof WORKLOADS / sizeof *WORKLOADS; i++)
        run(&WORKLOADS[i]);
    return 0;
}
