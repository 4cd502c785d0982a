/* store.c - a filter in front of a slow store, which learns from its mistakes.
 *
 *     cc store.c -o store $(pkg-config --cflags --libs tamis sqlite3) -lm && ./store
 *     ./store 20000 1000000           so many names in the store, so many look-ups
 *     ./store 20000 1000000 1 10      with seed 1; one look-up of ten repeats one that was in vain
 *
 * The store is a table of blocked names in an SQLite file. Few names that are asked for are in it,
 * and some of the others come again and again: the r-th as often as 1/r. tamis_lookup() asks the
 * filter, and the store only if the filter says yes. If the store then says no, a filter that can
 * adapt takes its mistake back, and the next look-up of this name does not reach the store.
 *
 * To tell a key from others, an adaptive filter has to know it. It holds its keys beside what it
 * looks at, or it asks for them: the last line is of a filter that holds none, and asks the same
 * table. An index on the group of each name makes that quick. */
#define _POSIX_C_SOURCE 200809L /* with -std=c11, C libraries declare no more than C11 */

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis_adapt.h>
#include <time.h>
#include <unistd.h>

/* For each name in the store there are so many others; one look-up of so many is of a stored one.
 */
enum { OTHERS = 10, RARITY = 1000 };

typedef struct store {
    sqlite3 *db;
    sqlite3_stmt *find, *find_group;
    uint64_t names;   /* in the table: those with numbers below it */
    uint64_t seed;    /* of the filters and of the questions */
    uint64_t repeats; /* one look-up of so many repeats one that was in vain; 0: none */
    tamis *asker;     /* the filter that asks for them; NULL: the library has no such kind */
    char wanted[40];  /* the name that is being looked up */
    uint64_t asked, in_vain;
} store;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "store: %s\n", what);
    exit(1);
}

/* ---- Names ------------------------------------------------------------- */

static void write_name(char text[40], uint64_t i)
{
    snprintf(text, 40, "user%" PRIu64 "@example.org", i);
}

static uint64_t key_of(const tamis *f, const char *text)
{
    return tamis_key(f, text, strlen(text));
}

static double next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1;
    return (double)(*state >> 11) * 0x1p-53;
}

/* The number of the next name to look up. */
static uint64_t next_number(uint64_t *state, uint64_t names)
{
    double others = (double)(names * OTHERS);

    if (next_random(state) * RARITY < 1)
        return (uint64_t)(next_random(state) * (double)names);
    return names + (uint64_t)exp(next_random(state) * log(others)) - 1;
}

/* ---- The store --------------------------------------------------------- */

static void run_sql(const store *s, const char *sql)
{
    if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(s->db));
}

static sqlite3_stmt *prepare(const store *s, const char *sql)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(s->db));
    return statement;
}

static void open_store(store *s, const char *path)
{
    if (sqlite3_open(path, &s->db) != SQLITE_OK)
        die("cannot make a store here");
    run_sql(s, "CREATE TABLE blocked (name TEXT PRIMARY KEY, grp INTEGER) WITHOUT ROWID;"
               "CREATE INDEX by_group ON blocked (grp)");
    s->find = prepare(s, "SELECT 1 FROM blocked WHERE name = ?");
    s->find_group = prepare(s, "SELECT name FROM blocked WHERE grp = ?");
}

static void close_store(store *s)
{
    sqlite3_finalize(s->find);
    sqlite3_finalize(s->find_group);
    sqlite3_close(s->db);
}

/* The group of a name stays the same, whatever becomes of the filter: it can be a column. A filter
 * must not hear of keys that it does not hold: each is added as soon as it is in the table. */
static void put(const store *s, sqlite3_stmt *insert, const char *text)
{
    uint64_t key = s->asker ? key_of(s->asker, text) : 0;
    uint64_t group = s->asker ? tamis_group(s->asker, key) : 0;

    sqlite3_bind_text(insert, 1, text, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 2, (sqlite3_int64)group);
    if (sqlite3_step(insert) != SQLITE_DONE)
        die(sqlite3_errmsg(s->db));
    sqlite3_reset(insert);
    if (s->asker && tamis_add(s->asker, key))
        die("cannot add a key");
}

static void fill_store(const store *s)
{
    sqlite3_stmt *insert = prepare(s, "INSERT INTO blocked VALUES (?, ?)");
    char text[40];

    run_sql(s, "BEGIN");
    for (uint64_t i = 0; i < s->names; i++) {
        write_name(text, i);
        put(s, insert, text);
    }
    run_sql(s, "COMMIT");
    sqlite3_finalize(insert);
}

/* A tamis_store. It is asked for a key, and knows the name that it was made of. */
static tamis_status ask_store(void *ctx, bool *found, uint64_t key)
{
    store *s = ctx;

    (void)key;
    sqlite3_bind_text(s->find, 1, s->wanted, -1, SQLITE_STATIC);
    int row = sqlite3_step(s->find);
    sqlite3_reset(s->find);
    if (row != SQLITE_ROW && row != SQLITE_DONE)
        return TAMIS_IO;
    *found = row == SQLITE_ROW;
    s->asked++;
    s->in_vain += !*found;
    return TAMIS_OK;
}

/* A tamis_keys: the names of one group. */
static tamis_status visit_group(void *ctx, uint64_t group, tamis_visit *visit, void *to)
{
    store *s = ctx;
    int row;

    sqlite3_bind_int64(s->find_group, 1, (sqlite3_int64)group);
    while ((row = sqlite3_step(s->find_group)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(s->find_group, 0);
        if (!visit(to, key_of(s->asker, text), 1))
            break;
    }
    sqlite3_reset(s->find_group);
    return row == SQLITE_ROW || row == SQLITE_DONE ? TAMIS_OK : TAMIS_IO;
}

/* ---- Filters ----------------------------------------------------------- */

/* Those that adapt have the same rate, and room to be told of all names. Others get as many bytes
 * as the one that asks for its keys, and the lowest rate that these allow. In acf it takes no room
 * to adapt. */
static tamis *new_filter(const store *s, tamis_kind kind, unsigned can)
{
    tamis_spec spec = TAMIS_SPEC(.keys = s->names, .can = can, .hasher.seed = s->seed);
    tamis_plan plan;
    tamis *f;

    if (tamis_kind_can(kind) & TAMIS_CAN_ADAPT) {
        spec.fpr = 0.004;
        spec.universe = kind == TAMIS_ACF ? 0 : s->names * (OTHERS + 1);
    } else if (s->asker) {
        spec.max_bytes = tamis_plan_of(s->asker)->bytes;
    }
    return tamis_plan_kind(&plan, kind, &spec) || tamis_new(&f, &plan, NULL) ? NULL : f;
}

static void fill_filter(const store *s, tamis *f)
{
    char text[40];

    for (uint64_t i = 0; i < s->names; i++) {
        write_name(text, i);
        if (tamis_add(f, key_of(f, text)))
            die("cannot add a key");
    }
}

/* ---- Look-ups ---------------------------------------------------------- */

/* Without a filter, the store is asked every time. TAMIS_FULL: the answer is right, but there was
 * no room to adapt. */
static bool look_up(store *s, tamis *f)
{
    bool found = false;
    tamis_status status =
        f ? tamis_lookup(f, &found, key_of(f, s->wanted), ask_store, s) : ask_store(s, &found, 0);

    if (status && status != TAMIS_FULL)
        die(tamis_status_text(status));
    return found;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Somebody may have noticed which names take long, and ask for these again. */
typedef struct grudge {
    uint64_t names[256];
    size_t n;
} grudge;

static void bear(grudge *g, uint64_t i)
{
    if (g->n < sizeof g->names / sizeof *g->names)
        g->names[g->n++] = i;
}

/* All filters get the same questions, but for those of somebody with a grudge. */
static void look_up_all(store *s, const char *label, tamis *f, uint64_t n)
{
    grudge g = { .n = 0 };
    uint64_t state = s->seed;
    double start = seconds();

    s->asked = s->in_vain = 0;
    for (uint64_t k = 0; k < n; k++) {
        bool is_attack = s->repeats && k % s->repeats == 0 && g.n;
        uint64_t i = is_attack ? g.names[k / s->repeats % g.n] : next_number(&state, s->names);
        uint64_t before = s->in_vain;
        write_name(s->wanted, i);
        if (look_up(s, f) != (i < s->names))
            die("a wrong answer");
        if (s->in_vain > before && !is_attack)
            bear(&g, i);
    }
    printf("%-20s%10" PRIu64 "%12" PRIu64 "%12" PRIu64 "%12" PRIu64 "%10.2f\n", label,
           f ? tamis_plan_of(f)->bytes : 0, n - s->asked, s->asked, s->in_vain, seconds() - start);
    fflush(stdout);
}

static void try_kind(store *s, tamis_kind kind, uint64_t n)
{
    tamis *f = new_filter(s, kind, 0);

    if (!f)
        return;
    fill_filter(s, f);
    look_up_all(s, tamis_kind_name(kind), f, n);
    tamis_free(f);
}

static void try_all(store *s, uint64_t n)
{
    printf("%" PRIu64 " names in the store, %" PRIu64 " look-ups\n", s->names, n);
    printf("%-20s%10s%12s%12s%12s%10s\n", "filter", "bytes", "saved", "asked", "in vain",
           "seconds");
    look_up_all(s, "none", NULL, n);
    try_kind(s, TAMIS_BLOOM, n);
    try_kind(s, TAMIS_CQF, n);
    try_kind(s, TAMIS_ACF, n);
    try_kind(s, TAMIS_AQF, n);
    if (s->asker)
        look_up_all(s, "aqf, asks for keys", s->asker, n);
}

static uint64_t argument(int argc, char **argv, int i, uint64_t otherwise)
{
    return i < argc ? strtoull(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    store s = { .names = argument(argc, argv, 1, 2000),
                .seed = argument(argc, argv, 3, 1),
                .repeats = argument(argc, argv, 4, 0) };
    uint64_t lookups = argument(argc, argv, 2, 20000);
    char path[] = "store-XXXXXX";

    if (s.names == 0 || s.names > UINT32_MAX)
        die("usage: store [NAMES [LOOKUPS [SEED [REPEATS]]]]");
    int file = mkstemp(path);
    if (file < 0)
        die("cannot make a store here");
    open_store(&s, path);
    s.asker = new_filter(&s, TAMIS_AQF, TAMIS_CAN_ASK_KEYS);
    if (s.asker)
        tamis_set_keys(s.asker, visit_group, &s);
    fill_store(&s);
    try_all(&s, lookups);
    tamis_free(s.asker);
    close_store(&s);
    close(file);
    return unlink(path) != 0;
}
