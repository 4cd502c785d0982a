/* lab_table.c - tamis lab table: hash tables, how many slots a search looks at, and a small one
 * typed by hand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"
#include "tables.h"
#include "text/number.h"

typedef enum step { PUT, GET, REMOVE } step;

typedef struct typed {
    step step;
    const char *text;
} typed;

enum { TYPED_MAX = 64 };

typedef struct table {
    lab lab;
    size_t slots;
    uint64_t tables;
    tables_way way; /* TABLES_N: all */
    typed typed[TYPED_MAX];
    size_t n_typed;
} table;

/* ---- Theory ------------------------------------------------------------ */

/* The formulas of Knuth, volume 3, section 6.4, for large tables at a load. */
static double textbook(tables_way way, bool is_hit, double load)
{
    double free = 1 - load;

    switch (way) {
    case TABLES_CHAINING:
        return is_hit ? 1 + load / 2 : load;
    case TABLES_LINEAR:
        return (1 + 1 / (is_hit ? free : free * free)) / 2;
    case TABLES_QUADRATIC:
        return is_hit ? 1 - log(free) - load / 2 : 1 / free - load - log(free);
    case TABLES_DOUBLE:
        return is_hit ? -log(free) / load : 1 / free;
    default:
        return (1 + 1 / free) / 2; /* sorted: a miss ends where the key would be */
    }
}

/* The sum of C(r + k, k) n (n - 1) ... (n - k + 1) / m^k over all k, for r = 0 or 1. */
static double knuth_q(int r, double m, double n)
{
    double sum = 0, term = 1;

    for (double k = 0; term > 0; k++) {
        sum += r ? (k + 1) * term : term;
        term *= (n - k) / m;
    }
    return sum;
}

/* The mean for n keys in m slots, and not for many. Sorting shares out the same steps to other
 * keys, so that hits in Robin Hood order are those of linear probing; a miss ends where its key
 * would be if it were the next of them. Double hashing is taken for probes of any slots. Of
 * quadratic probing, the textbook has no more than an approximation. */
static double exact_mean(tables_way way, bool is_hit, double m, double n)
{
    double sum = 0;

    switch (way) {
    case TABLES_CHAINING:
        return is_hit ? 1 + (n - 1) / (2 * m) : n / m;
    case TABLES_LINEAR:
        return (1 + (is_hit ? knuth_q(0, m, n - 1) : knuth_q(1, m, n))) / 2;
    case TABLES_DOUBLE:
        for (double i = m + 1 - n; is_hit && i < m + 1; i++)
            sum += 1 / (i + 1);
        return is_hit ? (m + 1) / n * sum : (m + 1) / (m + 1 - n);
    case TABLES_ROBIN_HOOD:
        return (1 + knuth_q(0, m, is_hit ? n - 1 : n)) / 2;
    default:
        return textbook(way, is_hit, n / m);
    }
}

/* Where the exact distribution is known: out[i] is the chance that a search for a key that is not
 * among n in m slots looks at i, up to m. */
static bool has_distribution(tables_way way)
{
    return way == TABLES_CHAINING || way == TABLES_LINEAR || way == TABLES_DOUBLE;
}

/* Of chaining: how many of n keys have that home. */
static void miss_in_list(double *out, size_t m, size_t n)
{
    for (size_t i = 0; i <= m; i++)
        out[i] = i <= n ? chance_binomial(i, n, 1 / (double)m) : 0;
}

/* log of the number of ways to put n keys in m slots so that the last stays free. */
static double log_free(double m, double n)
{
    return n == 0 ? 0 : log1p(-n / m) + n * log(m);
}

/* Of linear probing. k keys are exactly those of the run from the home on with the chance
 * C(n, k) f(k + 1, k) f(m - k - 1, n - k) / m^n; it may begin before. */
static void miss_in_runs(double *out, size_t m, size_t n)
{
    double slots = (double)m, keys = (double)n, sum = 0;

    memset(out, 0, (m + 1) * sizeof *out);
    for (size_t k = n + 1; k-- > 0;) {
        double of = (double)k, rest = slots - of - 1;
        double others = k == n ? 0 : log_free(rest, keys - of);
        sum += exp(lgamma(keys + 1) - lgamma(of + 1) - lgamma(keys - of + 1) +
                   log_free(of + 1, of) + others - keys * log(slots));
        out[k + 1] = sum;
    }
}

/* Of double hashing, as if each probe were of any slot not seen before. */
static void miss_anywhere(double *out, size_t m, size_t n)
{
    double left = 1; /* the chance that all before were taken */

    memset(out, 0, (m + 1) * sizeof *out);
    for (size_t i = 0; i <= n && i < m; i++) {
        double taken = (double)(n - i) / (double)(m - i);
        out[i + 1] = left * (1 - taken);
        left *= taken;
    }
}

static void miss_of(double *out, tables_way way, size_t m, size_t n)
{
    if (way == TABLES_CHAINING)
        miss_in_list(out, m, n);
    else if (way == TABLES_LINEAR)
        miss_in_runs(out, m, n);
    else
        miss_anywhere(out, m, n);
}

/* A key is found where the search for it ended when it was put: any of n, with as many before it.
 * In a list, one more is looked at: the key itself. */
static void hit_of(double *out, tables_way way, size_t m, size_t n)
{
    double *miss = array_new(m + 2, sizeof *miss, "numbers");
    size_t more = way == TABLES_CHAINING;

    memset(out, 0, (m + 1) * sizeof *out);
    for (size_t before = 0; before < n; before++) {
        miss_of(miss, way, m, before);
        for (size_t i = 0; i + more <= m; i++)
            out[i + more] += miss[i] / (double)n;
    }
    free(miss);
}

/* ---- Measuring --------------------------------------------------------- */

/* The mean over many tables, of one key and one stranger each: these searches are independent. */
static void measure(const table *r, tables_way way, size_t n, double *hit, double *miss)
{
    lab_random random = lab_stream(&r->lab, (uint64_t)way << 32 | n);
    uint64_t hits = 0, misses = 0, *hashes = array_new(n, sizeof *hashes, "numbers");

    for (uint64_t i = 0; i < r->tables; i++) {
        tables t = tables_new(way, r->slots);
        for (size_t k = 0; k < n; k++) {
            hashes[k] = lab_draw(&random);
            if (!tables_put(&t, k, hashes[k], k))
                die(CODE_CORRUPT, "lab table: a key found no slot");
        }
        uint64_t key = lab_draw_below(&random, n);
        tables_place found = tables_get(&t, key, hashes[key]);
        if (!found.found || found.entry->value != key)
            die(CODE_CORRUPT, "lab table: a key is missing");
        hits += found.probes;
        misses += tables_get(&t, n, lab_draw(&random)).probes;
        tables_free(&t);
    }
    free(hashes);
    *hit = (double)hits / (double)r->tables;
    *miss = (double)misses / (double)r->tables;
}

/* ---- The experiment ---------------------------------------------------- */

static const double LOADS[] = { 0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95 };

enum { N_LOADS = sizeof LOADS / sizeof *LOADS };

static void show_row(const table *r, tables_way way, bool is_hit, size_t n, double measured,
                     chart_series *dots)
{
    double *chances = array_new(r->slots + 2, sizeof *chances, "numbers");
    double slots = (double)r->slots, load = (double)n / slots;
    chance_range range = CHANCE_UNKNOWN;

    if (has_distribution(way)) {
        (is_hit ? hit_of : miss_of)(chances, way, r->slots, n);
        range = chance_means(chances, r->slots + 1, r->tables);
    }
    free(chances);
    LAB_ROW(&r->lab, lab_text(tables_ways[way].name), lab_text(is_hit ? "hit" : "miss"),
            lab_real(load), lab_count(n), lab_real(textbook(way, is_hit, load)),
            lab_real(way == TABLES_QUADRATIC ? NAN : exact_mean(way, is_hit, slots, (double)n)),
            LAB_BOUNDS(range, measured));
    chart_put_range(dots, load, measured, range.low, range.high);
}

static void draw_theory(const table *r, tables_way way, bool is_hit, chart *c)
{
    chart_series *line = chart_add(c, tables_ways[way].name, CHART_LINE);
    double m = (double)r->slots;

    line->colour = svg_colour_at(way);
    for (double load = 0.04; load < 0.965; load += 0.02)
        chart_put(line, load, exact_mean(way, is_hit, m, fmax(1, round(load * m))));
}

static void sweep(const table *r, tables_way way, chart *charts[2])
{
    chart_series *dots[2];

    for (int i = 0; i < 2; i++) {
        draw_theory(r, way, i == 0, charts[i]);
        dots[i] = chart_add(charts[i], NULL, CHART_DOTS);
        dots[i]->colour = svg_colour_at(way);
    }
    for (int l = 0; l < N_LOADS; l++) {
        size_t n = (size_t)fmax(1, round(LOADS[l] * (double)r->slots));
        double hit, miss;

        measure(r, way, n, &hit, &miss);
        show_row(r, way, true, n, hit, dots[0]);
        show_row(r, way, false, n, miss, dots[1]);
    }
}

static void sweep_all(const table *r)
{
    chart *charts[2];

    lab_columns(&r->lab, "table search load keys textbook exact low high measured inside");
    charts[0] = lab_chart(&r->lab, "Searches for keys that are there", "load, keys per slot",
                          "probes; lines are theory");
    charts[1] = lab_chart(&r->lab, "Searches for keys that are not there", "load, keys per slot",
                          "probes; lines are theory");
    charts[0]->y.is_log = charts[1]->y.is_log = true;
    for (tables_way way = 0; way < TABLES_N; way++) {
        if (r->way == TABLES_N || r->way == way)
            sweep(r, way, charts);
    }
    for (tables_way way = 0; way < TABLES_N; way++)
        lab_note(&r->lab, "%s: if the home of a key is taken, %s.", tables_ways[way].name,
                 tables_ways[way].meaning);
    lab_note(&r->lab,
             "Half full, all are fast. At nine tenths a miss looks at %.3g slots in linear "
             "probing, at %.3g in double hashing and at %.3g in Robin Hood order, by the textbook. "
             "'exact' is for %zu slots, which are fewer than the textbook has in mind.",
             textbook(TABLES_LINEAR, false, 0.9), textbook(TABLES_DOUBLE, false, 0.9),
             textbook(TABLES_ROBIN_HOOD, false, 0.9), r->slots);
}

/* ---- A table typed by hand --------------------------------------------- */

enum { NAME_MAX_SIZE = 24 };

/* NAME, NAME@HASH, NAME=VALUE or NAME=VALUE@HASH. */
typedef struct line {
    char name[NAME_MAX_SIZE + 1];
    uint64_t value, hash;
    bool has_hash;
} line;

static _Noreturn void refuse_line(const char *text)
{
    die(CODE_USAGE,
        "lab table: '%s' is not NAME=VALUE or NAME=VALUE@HASH, with a name of at most %d bytes "
        "and numbers",
        text, NAME_MAX_SIZE);
}

static line parse(const char *text)
{
    line l = { 0 };
    size_t name = strcspn(text, "=@");
    const char *at = text + name, *number = at + 1;
    size_t size = strcspn(number, "@");

    if (name == 0 || name > NAME_MAX_SIZE)
        refuse_line(text);
    memcpy(l.name, text, name);
    if (*at == '=') {
        if (!number_integer(&l.value, number, size))
            refuse_line(text);
        at = number + size;
    }
    l.has_hash = *at == '@';
    if (l.has_hash && !number_integer(&l.hash, at + 1, strlen(at + 1)))
        refuse_line(text);
    return l;
}

/* The names that were typed; a key is its number among them. */
typedef struct book {
    tables t;
    line lines[TYPED_MAX];
    size_t n;
} book;

/* A name that has no hash given has that which was given before, or one of its own. */
static size_t key_of(book *b, const line *l, uint64_t seed)
{
    const tamis_hasher hasher = { .hash = TAMIS_FAST, .seed = seed };

    for (size_t i = 0; i < b->n; i++)
        if (strcmp(b->lines[i].name, l->name) == 0)
            return i;
    b->lines[b->n] = *l;
    if (!l->has_hash)
        b->lines[b->n].hash = tamis_hasher_key(&hasher, l->name, strlen(l->name));
    return b->n++;
}

static void show_step(const lab *l, const book *b, const char *what, size_t key, bool done)
{
    tables_place p = tables_get(&b->t, key, b->lines[key].hash);

    LAB_ROW(l, lab_text(what), lab_text(b->lines[key].name),
            lab_count(b->lines[key].hash % b->t.slots), p.found ? lab_count(p.slot) : lab_none(),
            lab_count(p.probes), p.found ? lab_count(p.entry->value) : lab_none(),
            lab_text(done ? "yes" : "no"));
}

static void take_step(const lab *l, book *b, const typed *t)
{
    line given = parse(t->text);
    size_t key = key_of(b, &given, l->seed);
    uint64_t hash = b->lines[key].hash;
    bool is_there = tables_get(&b->t, key, hash).found;

    if (t->step == PUT)
        show_step(l, b, is_there ? "update" : "put", key,
                  tables_put(&b->t, key, hash, given.value));
    else if (t->step == GET)
        show_step(l, b, "get", key, is_there);
    else
        show_step(l, b, "remove", key, tables_remove(&b->t, key, hash));
}

/* Cells of the picture: the slots in use, from the first to the last. */
static void paint_book(const void *ctx, svg *s, chart_box box)
{
    const book *b = ctx;
    const svg_font mono = { .colour = SVG_INK, .is_mono = true };
    const svg_font dim = { .colour = SVG_DIM, .is_mono = true, .anchor = 'e' };
    size_t at = 0;
    double y = box.y + 8;

    for (const tables_entry *e; (e = tables_next(&b->t, &at)); y += 26) {
        tables_place p = tables_get(&b->t, e->key, e->hash);
        bool is_home = p.slot == e->hash % b->t.slots;
        char text[64];

        snprintf(text, sizeof text, "%zu", p.slot);
        svg_text(s, box.x + 90, y + 17, dim, text);
        svg_rect(s, box.x + 100, y, 320, 24, is_home ? SVG_TINT0 : SVG_TINT1, SVG_FAINT);
        snprintf(text, sizeof text, "%s  %" PRIu64, b->lines[e->key].name, e->value);
        svg_text(s, box.x + 110, y + 17, mono, text);
        snprintf(text, sizeof text, is_home ? "at home" : "home %zu, %zu probes",
                 (size_t)(e->hash % b->t.slots), p.probes);
        svg_text(s, box.x + 432, y + 17, mono, text);
    }
}

static void type_table(const table *r)
{
    static book b;
    const tables_entry *e;
    size_t at = 0;

    b = (book){ .t = tables_new(r->way == TABLES_N ? TABLES_LINEAR : r->way, r->slots) };
    lab_columns(&r->lab, "step key home slot probes value done");
    for (size_t i = 0; i < r->n_typed; i++)
        take_step(&r->lab, &b, &r->typed[i]);
    while ((e = tables_next(&b.t, &at)))
        show_step(&r->lab, &b, "list", (size_t)e->key, true);
    lab_note(&r->lab, "%s: if the home of a key is taken, %s. %zu of %zu slots are in use.",
             tables_ways[b.t.way].name, tables_ways[b.t.way].meaning, b.t.n, b.t.slots);
    chart *c = lab_chart(&r->lab, "The table, without its empty slots", "", "");
    c->paint = paint_book;
    c->ctx = &b;
    c->height = 60 + 26 * (double)b.t.n;
}

/* ---- Options ----------------------------------------------------------- */

/* The row's `min` is the step. */
static void take_typed(void *into, const args *a)
{
    table *r = into;

    if (r->n_typed == TYPED_MAX)
        args_refuse(a, "there are too many of --put, --get and --remove");
    r->typed[r->n_typed++] = (typed){ (step)a->option->min, a->value };
}

static void run(void *request)
{
    table *r = request;
    const lab *l = &r->lab;

    if (!r->slots)
        r->slots = r->n_typed ? 1000 : 256;
    r->tables = lab_choice(l, r->tables, 5000, 300);
    if (r->n_typed) {
        type_table(r);
        return;
    }
    if (r->slots & (r->slots - 1) || r->slots < 32 || r->slots > 4096)
        args_refuse(l->args, "without --put, --slots is a power of two, 32 to 4096");
    sweep_all(r);
}

static const option_row options[] = {
    { 0, "slots", "M", "of a table (default: 256, and 1000 with --put)",
      TO_COUNT(table, slots, 1, 1000000) },
    { 0, "tables", "N", "that are filled and asked, of each sort (default: 5000)",
      TO_COUNT(table, tables, 1, 100000) },
    { 0, "way", "W", "chaining, linear, quadratic, double or robin-hood (default: all)",
      TO_WORD(table, way, tables_ways) },
    { 0, "put", "K=V@H", "put the name K with the value V; its home is H modulo M",
      .take = take_typed, .min = PUT },
    { 0, "get", "K", "look for a name", .take = take_typed, .min = GET },
    { 0, "remove", "K", "remove a name", .take = take_typed, .min = REMOVE },
    { 0 },
};

LAB_EXPERIMENT(table, LAB_NEEDS(TAMIS_NO_KIND), .way = TABLES_N);
