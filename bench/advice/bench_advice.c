/* bench_advice.c - tamis-bench-advice: is what tamis_advise() predicts what happens?
 *
 *   tamis-bench-advice FIRST LAST SPEEDS     settings with these numbers
 *
 * A setting is a table of SQLite with a delay added to each lookup, a number of keys, of queries, a
 * share of members and a price for memory, all random. The advice is followed: the filter is built
 * and all queries go through it, those that pass to the table. Then every kind is tried at every
 * rate of a list: what it costs is added up from its own lookups, mistakes and build, as they were
 * measured. Writes rows; bench/advice/run has their names. The speed of the machine is measured, or
 * read from the file SPEEDS if that is there, and written to it if not. All times are CPU time. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../clock.h"
#include "base/hash.h"
#include "tamis_advice.h"

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "tamis-bench-advice: %s: %s\n", what, why);
    exit(1);
}

static double now(void *ctx)
{
    (void)ctx;
    return bench_clock(CLOCK_THREAD_CPUTIME_ID) * 1e-9;
}

/* ---- Settings ---------------------------------------------------------- */

enum { NAME = 24 };

typedef struct setting {
    uint64_t keys, queries;
    double members;     /* share of the queries */
    double delay;       /* of a lookup in the table */
    double rate;        /* that memory is so dear for */
    double store;       /* what a lookup takes in all, measured */
    double memory_cost; /* of a GiB */
} setting;

static double random_real(uint64_t *state, double low, double high)
{
    *state += HASH_GOLDEN;
    return low + (high - low) * (double)(mix64(*state) >> 11) * 0x1p-53;
}

static double random_power(uint64_t *state, double low, double high)
{
    return exp(random_real(state, log(low), log(high)));
}

static setting setting_of(uint64_t number)
{
    uint64_t state = mix64(number);
    setting s = { .keys = (uint64_t)random_power(&state, 2e3, 3e5) };

    s.members = random_real(&state, 0, 1) < 0.25 ? 0 : random_real(&state, 0, 0.6);
    s.delay = random_power(&state, 1e-6, 1e-3);
    s.rate = random_power(&state, 1e-5, 0.3);
    return s;
}

/* Half a second of lookups in the table, or two million queries. */
static void settle(setting *s)
{
    double passing = s->members + (1 - s->members) * s->rate;

    s->queries = (uint64_t)fmin(2e6, 0.5 / (passing * s->store + 1e-9));
    s->memory_cost = s->rate * 0x1p33 * log(2) * (double)s->queries * (1 - s->members) * s->store /
                     (double)s->keys;
}

/* Names of even numbers are in the table. */
static void write_name(char name[NAME], uint64_t number)
{
    snprintf(name, NAME, "user%019llu", (unsigned long long)mix64(number) % 10000000000000000000u);
}

static char *names_of(const setting *s, uint64_t n, double members, uint64_t seed)
{
    char *names = malloc(n * NAME);

    if (!names)
        fail("names", "out of memory");
    for (uint64_t i = 0; i < n; i++) {
        bool is_member = random_real(&seed, 0, 1) < members;
        uint64_t which = (uint64_t)random_real(&seed, 0, (double)s->keys);
        write_name(names + i * NAME, is_member ? 2 * which : 2 * (seed % (UINT64_C(1) << 60)) + 1);
    }
    return names;
}

/* ---- The store --------------------------------------------------------- */

typedef struct store {
    sqlite3 *db;
    sqlite3_stmt *find;
    double delay;
} store;

static void run_sql(const store *s, const char *sql)
{
    if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(sql, sqlite3_errmsg(s->db));
}

static sqlite3_stmt *prepare(const store *s, const char *sql)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail(sql, sqlite3_errmsg(s->db));
    return statement;
}

static void store_open(store *s, const setting *t, const char *path)
{
    char name[NAME];

    unlink(path);
    s->delay = t->delay;
    if (sqlite3_open(path, &s->db) != SQLITE_OK)
        fail(path, "cannot be made");
    run_sql(s, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
               "CREATE TABLE users (name TEXT PRIMARY KEY) WITHOUT ROWID; BEGIN");
    sqlite3_stmt *insert = prepare(s, "INSERT OR IGNORE INTO users VALUES (?)");
    for (uint64_t i = 0; i < t->keys; i++) {
        write_name(name, 2 * i);
        sqlite3_bind_text(insert, 1, name, NAME - 1, SQLITE_STATIC);
        sqlite3_step(insert);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    run_sql(s, "COMMIT");
    s->find = prepare(s, "SELECT 1 FROM users WHERE name = ?");
}

static void store_close(store *s, const char *path)
{
    sqlite3_finalize(s->find);
    sqlite3_close(s->db);
    unlink(path);
}

static bool store_has(const store *s, const char *name)
{
    double end = now(NULL) + s->delay;

    sqlite3_bind_text(s->find, 1, name, NAME - 1, SQLITE_STATIC);
    bool found = sqlite3_step(s->find) == SQLITE_ROW;
    sqlite3_reset(s->find);
    while (now(NULL) < end)
        ;
    return found;
}

/* What whoever asks for advice would measure: some hundred lookups. */
static double store_cost(const store *s, const setting *t)
{
    const uint64_t n = 2000;
    char *names = names_of(t, n, 0.5, 77);
    uint64_t done = 0;
    double start = now(NULL);

    while (done < n && (done < 200 || now(NULL) - start < 0.1))
        store_has(s, names + NAME * done++);
    free(names);
    return (now(NULL) - start) / (double)done;
}

/* ---- Running ----------------------------------------------------------- */

static uint64_t *keys_of(const setting *t)
{
    const tamis_hasher hasher = { .hash = TAMIS_FAST };
    uint64_t *keys = malloc(t->keys * sizeof *keys);
    char name[NAME];

    if (!keys)
        fail("keys", "out of memory");
    for (uint64_t i = 0; i < t->keys; i++) {
        write_name(name, 2 * i);
        keys[i] = tamis_hasher_key(&hasher, name, NAME);
    }
    return keys;
}

/* NULL: there is no filter. Returns what building took. */
static double build(tamis **f, const tamis_plan *plan, const uint64_t *keys, uint64_t n)
{
    double start = now(NULL);

    *f = NULL;
    if (plan->kind && tamis_build(f, plan, keys, n, NULL))
        fail(tamis_kind_name(plan->kind), "cannot be built");
    return now(NULL) - start;
}

/* All of it, as the advice was. */
static double follow(const tamis_advice *advice, const store *s, const setting *t,
                     const uint64_t *keys)
{
    char *names = names_of(t, t->queries, t->members, 1);
    uint64_t found = 0;
    tamis *f;
    double built = build(&f, &advice->plan, keys, t->keys), start = now(NULL);

    for (const char *name = names; name < names + t->queries * NAME; name += NAME)
        if (!f || tamis_has(f, tamis_key(f, name, NAME)))
            found += store_has(s, name);
    double took = built + now(NULL) - start;
    double expected = t->members * (double)t->queries;
    if (fabs((double)found - expected) > 6 * sqrt(expected + 1) + 1)
        fail("members", "are missing");
    free(names);
    tamis_free(f);
    return took + advice->memory;
}

/* A lookup of such names; *passed is how many of them the filter let pass. */
static double time_lookups(const tamis *f, const char *names, uint64_t n, uint64_t *passed)
{
    double start = now(NULL);
    uint64_t yes = 0;

    for (uint64_t i = 0; i < n; i++)
        yes += tamis_has(f, tamis_key(f, names + i * NAME, NAME));
    *passed = yes;
    return (now(NULL) - start) / (double)n;
}

typedef struct crowd {
    char *absent, *present;
    uint64_t *keys;
    uint64_t n;
} crowd;

/* What a plan costs, added up from its parts. */
static double try(const tamis_plan *plan, const setting *t, const crowd *c)
{
    uint64_t wrong, right, n = plan->kind == TAMIS_COMPRESSED ? c->n / 10 : c->n;
    tamis *f;

    if (!plan->kind)
        return (double)t->queries * t->store;
    double built = build(&f, plan, c->keys, t->keys);
    time_lookups(f, c->absent, n / 4, &wrong);
    double absent = time_lookups(f, c->absent, n, &wrong);
    double present = time_lookups(f, c->present, n, &right);
    double rate = (double)wrong / (double)n, queries = (double)t->queries;
    if (right != n)
        fail(tamis_kind_name(plan->kind), "has lost a key");
    /* Where few strangers pass, the plan knows better than this sample. */
    if (wrong < 100)
        rate = plan->fpr;
    tamis_free(f);
    return built + ldexp((double)plan->bytes, -30) * t->memory_cost +
           queries *
               (t->members * (present + t->store) + (1 - t->members) * (absent + rate * t->store));
}

typedef struct trial {
    const char *name;
    double rate, cost;
} trial;

static const char *name_of(tamis_kind kind)
{
    return kind ? tamis_kind_name(kind) : "none";
}

static void try_all(trial *best, const setting *t, const crowd *c)
{
    static const double bits[] = { 0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20 };
    const unsigned odd = TAMIS_CAN_ROTATE | TAMIS_IS_INDEXED;
    const tamis_plan nothing = { .kind = TAMIS_NO_KIND };

    *best = (trial){ "none", 1, try(&nothing, t, c) };
    for (tamis_kind k = TAMIS_NO_KIND; (k = tamis_kind_next(k)) != TAMIS_NO_KIND;)
        for (size_t i = 0; i < sizeof bits / sizeof *bits && !(tamis_kind_can(k) & odd); i++) {
            tamis_spec spec = TAMIS_SPEC(.keys = t->keys, .fpr = exp2(-bits[i]));
            tamis_plan p;
            if (!(tamis_kind_can(k) & TAMIS_CAN_BUILD) || tamis_plan_kind(&p, k, &spec))
                continue;
            double cost = try(&p, t, c);
            if (cost < best->cost)
                *best = (trial){ name_of(k), p.fpr, cost };
        }
}

/* ---- Rows -------------------------------------------------------------- */

static crowd crowd_of(const setting *t)
{
    const uint64_t n = 40000;
    crowd c = { .n = n, .keys = keys_of(t) };

    c.absent = names_of(t, n, 0, 5);
    c.present = names_of(t, n, 1, 6);
    return c;
}

static void write_row(uint64_t number, const tamis_machine *machine)
{
    const char *path = "advice.sqlite";
    setting t = setting_of(number);
    tamis_advice options[TAMIS_SPEEDS_MAX + 1];
    store s;

    store_open(&s, &t, path);
    t.store = store_cost(&s, &t);
    settle(&t);
    tamis_spec spec = TAMIS_SPEC(.keys = t.keys);
    tamis_use use =
        TAMIS_USE(.queries = (double)t.queries, .member_share = t.members, .store_cost = t.store,
                  .memory_cost = t.memory_cost, .builds = 1, .machine = machine);
    if (!tamis_advise(options, TAMIS_SPEEDS_MAX + 1, &spec, &use))
        fail("advice", "is none");
    crowd c = crowd_of(&t);
    double took = follow(options, &s, &t, c.keys), cost = try(&options->plan, &t, &c);
    trial best;
    try_all(&best, &t, &c);
    /* The choice is a trial too. */
    if (cost < best.cost)
        best = (trial){ name_of(options->plan.kind), options->plan.fpr, cost };
    printf(
        "%llu,%llu,%llu,%.4f,%.4g,%.4g,%s,%.4g,%llu,%.6g,%.6g,%.4f,%s,%.4g,%.6g,%.6g,%.4f,%.4g\n",
        (unsigned long long)number, (unsigned long long)t.keys, (unsigned long long)t.queries,
        t.members, t.store * 1e6, t.memory_cost, name_of(options->plan.kind),
        options->plan.kind ? options->plan.fpr : 1, (unsigned long long)options->plan.bytes,
        options->total, took, options->total / took, best.name, best.rate, best.cost, cost,
        cost / best.cost, (double)t.queries * t.store);
    fflush(stdout);
    free(c.keys);
    free(c.absent);
    free(c.present);
    store_close(&s, path);
}

/* As it was measured by an earlier run, or anew. */
static void measure(tamis_machine *m, const char *path)
{
    FILE *file = fopen(path, "rb");

    if (file && fread(m, sizeof *m, 1, file) == 1 && m->size == sizeof *m) {
        fclose(file);
        return;
    }
    m->size = sizeof *m;
    if (tamis_calibrate(m, now, NULL, NULL))
        fail("the machine", "cannot be measured");
    if (!(file = fopen(path, "wb")) || fwrite(m, sizeof *m, 1, file) != 1 || fclose(file))
        fail(path, "cannot be written");
}

int main(int argc, char **argv)
{
    static tamis_machine machine;

    if (argc != 4)
        fail("usage", "tamis-bench-advice FIRST LAST SPEEDS");
    measure(&machine, argv[3]);
    for (uint64_t i = strtoull(argv[1], NULL, 10); i <= strtoull(argv[2], NULL, 10); i++)
        write_row(i, &machine);
    return 0;
}
