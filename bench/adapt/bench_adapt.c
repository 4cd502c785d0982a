/* bench_adapt.c - tamis-bench-adapt: mistakes that are made again, and kinds that take them back.
 *
 *   tamis-bench-adapt adversary KEYS QUERIES [KIND...]
 *   tamis-bench-adapt zipf KEYS QUERIES STRANGERS [KIND...]
 *
 * Nobody asks for a key of the set. An adversary asks for strangers until one of them is found,
 * then ten times for all that were found before, then for other strangers, and so on. Or strangers
 * come as lines of a log do, the r-th as often as 1/r. Kinds that adapt are told of each that is
 * found.
 *
 * Lookups have the same number of bits to look at: those of an aqf planned for 1/256, without the
 * keys that are beside them. Where sizes come in steps, kinds that adapt have fewer and others
 * more.
 *
 * Rows, as CSV: the stream, how many different strangers there are, the kind, bits per key to look
 * at, keys, queries, how many of these were found, and the share of those since the row before:
 * the means of five seeds, as a popular stranger that is found counts for many. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../zipf.h"
#include "base/hash.h"
#include "tamis_adapt.h"

static const char *const KINDS[] = { "bloom", "cuckoo", "cqf", "acf", "aqf" };
static const double RATE = 1.0 / 256;

enum {
    N_KINDS = sizeof KINDS / sizeof *KINDS,
    SEEDS = 5,
    REPEATS = 10,
    FIRST_ROW = 10000,
    ROWS_PER_DECADE = 4,
    ROWS_MAX = 60
};

/* Of one kind, with one seed after the other. */
typedef struct trial {
    tamis *f;
    const char *stream, *kind;
    double bits;              /* to look at, per key */
    uint64_t keys, strangers; /* strangers: different ones; 0: as many as it takes */
    uint64_t seed, queries, found;
    int row;                 /* that comes next, */
    uint64_t next_row;       /* after so many queries */
    uint64_t sums[ROWS_MAX]; /* found before each row, with all seeds */
} trial;

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "tamis-bench-adapt: %s: %s\n", what, why);
    exit(1);
}

static void check(const trial *t, tamis_status status)
{
    if (status)
        fail(t->kind, tamis_status_text(status));
}

/* ---- Plans ------------------------------------------------------------- */

static bool adapts(tamis_kind kind)
{
    return (tamis_kind_can(kind) & TAMIS_CAN_ADAPT) != 0;
}

/* All but the keys: in acf these are beside the cells of four tables, in aqf 8 bytes for each slot.
 */
static double bits_to_look_at(const tamis_plan *p)
{
    bool has_keys = p->kind == TAMIS_AQF && !(p->flags & TAMIS_PLAN_ASKS_KEYS);

    if (p->kind == TAMIS_ACF)
        return 4 * (double)p->slots * p->hashes;
    return (double)p->bytes * 8 - (has_keys ? (double)p->slots * 64 : 0);
}

/* An aqf has room to be told of so many strangers; an acf needs none. */
static bool can_plan(tamis_plan *plan, tamis_kind kind, uint64_t keys, uint64_t strangers,
                     double fpr, unsigned can)
{
    tamis_spec spec = TAMIS_SPEC(.keys = keys, .fpr = fpr, .can = can);

    if (kind == TAMIS_AQF)
        spec.universe = keys + strangers;
    return tamis_plan_kind(plan, kind, &spec) == TAMIS_OK;
}

/* The lowest rate with no more bits than the model or, for kinds that do not adapt, the highest
 * with no fewer. */
static tamis_plan plan_of(tamis_kind kind, uint64_t keys, uint64_t strangers)
{
    tamis_plan model, plan, best = { .kind = TAMIS_NO_KIND };

    if (!can_plan(&model, TAMIS_AQF, keys, strangers, RATE, TAMIS_CAN_ASK_KEYS))
        fail("aqf", "cannot be planned");
    for (double fpr = 0.5; fpr > 1e-6; fpr /= 1.02) {
        if (!can_plan(&plan, kind, keys, strangers, fpr, 0))
            continue;
        bool is_more = bits_to_look_at(&plan) > bits_to_look_at(&model) * 1.001;
        if (adapts(kind) ? !is_more : is_more && !best.kind)
            best = plan;
    }
    if (!best.kind)
        fail(tamis_kind_name(kind), "cannot be planned");
    return best;
}

/* ---- Queries ----------------------------------------------------------- */

static uint64_t member(uint64_t i)
{
    return mix64(i);
}

static uint64_t stranger(uint64_t i)
{
    return mix64((UINT64_C(1) << 60) + i);
}

/* Queries before that row. */
static uint64_t queries_of(int row)
{
    return (uint64_t)llround(FIRST_ROW * pow(10, (double)row / ROWS_PER_DECADE));
}

static void start(trial *t, tamis_plan plan)
{
    plan.hasher.seed = t->seed;
    t->queries = t->found = 0;
    t->row = 0;
    t->next_row = queries_of(0);
    check(t, tamis_new(&t->f, &plan, NULL));
    for (uint64_t i = 0; i < t->keys; i++)
        check(t, tamis_add(t->f, member(i)));
}

static void end(trial *t)
{
    for (uint64_t i = 0; i < t->keys; i++)
        if (!tamis_has(t->f, member(i)))
            fail(t->kind, "a key was lost");
    tamis_free(t->f);
}

/* Whether it was found. */
static bool ask(trial *t, uint64_t key)
{
    bool is_found = tamis_has(t->f, key);

    if (is_found && adapts(tamis_plan_of(t->f)->kind))
        check(t, tamis_adapt(t->f, key));
    t->found += is_found;
    if (++t->queries == t->next_row) {
        t->sums[t->row] += t->found;
        t->next_row = queries_of(++t->row);
    }
    return is_found;
}

/* False positives that an adversary finds, at most: repeating n of them takes n^2 REPEATS / 2. */
static size_t most_found(uint64_t queries)
{
    return (size_t)sqrt(2.0 * (double)queries / REPEATS) + 1;
}

static void attack(trial *t, uint64_t queries)
{
    size_t n = 0, most = most_found(queries);
    uint64_t *known = calloc(most, sizeof *known), next = 0;

    if (!known)
        fail("adversary", "out of memory");
    while (t->queries < queries && n < most) {
        uint64_t key = stranger(next++);
        if (!ask(t, key))
            continue;
        known[n++] = key;
        for (size_t i = 0; i < n * REPEATS && t->queries < queries; i++)
            ask(t, known[i % n]);
    }
    free(known);
}

static void follow(trial *t, uint64_t queries)
{
    zipf z = zipf_of(1, t->strangers, t->seed);

    while (t->queries < queries)
        ask(t, stranger(zipf_next(&z)));
}

/* ---- Rows -------------------------------------------------------------- */

static void print_rows(const trial *t)
{
    uint64_t queries = 0, found = 0;

    for (int i = 0; i < t->row; i++) {
        double more = (double)(t->sums[i] - found) / (double)(queries_of(i) - queries);
        printf("%s,%" PRIu64 ",%s,%.3f,%" PRIu64 ",%" PRIu64 ",%.1f,%.6g\n", t->stream,
               t->strangers, t->kind, t->bits, t->keys, queries_of(i), (double)t->sums[i] / SEEDS,
               more / SEEDS);
        queries = queries_of(i);
        found = t->sums[i];
    }
    fflush(stdout);
}

static void run(const char *stream, uint64_t keys, uint64_t queries, uint64_t strangers,
                tamis_kind kind)
{
    double expected = strangers ? (double)strangers : (double)most_found(queries) / RATE;
    tamis_plan plan = plan_of(kind, keys, (uint64_t)expected);
    trial t = { .stream = stream,
                .kind = tamis_kind_name(kind),
                .bits = bits_to_look_at(&plan) / (double)keys,
                .keys = keys,
                .strangers = strangers };

    for (t.seed = 1; t.seed <= SEEDS; t.seed++) {
        start(&t, plan);
        (strangers ? follow : attack)(&t, queries);
        end(&t);
    }
    print_rows(&t);
}

int main(int argc, char **argv)
{
    bool is_zipf = argc > 1 && strcmp(argv[1], "zipf") == 0;
    int first = is_zipf ? 5 : 4;

    if (argc < first || (!is_zipf && strcmp(argv[1], "adversary") != 0))
        fail("usage", "adversary KEYS QUERIES [KIND...], or zipf KEYS QUERIES STRANGERS [KIND...]");
    uint64_t keys = (uint64_t)strtod(argv[2], NULL), queries = (uint64_t)strtod(argv[3], NULL);
    uint64_t strangers = is_zipf ? (uint64_t)strtod(argv[4], NULL) : 0;
    for (int i = 0; i < (argc > first ? argc - first : N_KINDS); i++) {
        const char *name = argc > first ? argv[first + i] : KINDS[i];
        tamis_kind kind;

        if (!tamis_kind_find(&kind, name))
            fail(name, "no kind is called so");
        run(argv[1], keys, queries, strangers, kind);
    }
    return 0;
}
