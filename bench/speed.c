/* speed.c - how far is each kind from what the memory allows?
 *
 * Beside every filter, in the same run and in a table of exactly the same size on the same kind of
 * pages, two physical limits are measured with the same batches of keys:
 *
 *   P  ns per key to hash it and read one random line, fetched ahead of its use
 *   W  the same with a read-modify-write of the line
 *
 * Runs of filters and limits take turns, so that a noisy moment hits both; medians are compared.
 * The clock is the processor time of the thread. Answers are checked while being timed. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/pages.h"
#include "tamis.h"

enum { MAX_RUNS = 101, AHEAD = 64 };

typedef struct {
    uint64_t keys, queries;
    double fpr;
    int runs;
    bool csv;
    const char *kind; /* NULL: every kind */
} settings;

/* ---- Keys and time ----------------------------------------------------- */

/* Members are even before mixing, strangers odd: the two never meet. */
static uint64_t member(uint64_t i)
{
    return mix64(2 * i + 2);
}

static uint64_t stranger(uint64_t i)
{
    return mix64(2 * i + 1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct {
    double ns[MAX_RUNS];
    int n;
} sample;

static void record(sample *s, double start, uint64_t keys)
{
    s->ns[s->n++] = (now() - start) / (double)keys;
}

/* NaN, printed as nan, of what a kind cannot do. */
static double median(const sample *s)
{
    double sorted[MAX_RUNS];

    if (s->n == 0)
        return NAN;
    memcpy(sorted, s->ns, sizeof sorted);
    qsort(sorted, (size_t)s->n, sizeof *sorted, ascending);
    return s->n % 2 ? sorted[s->n / 2] : (sorted[s->n / 2 - 1] + sorted[s->n / 2]) / 2;
}

/* Half of the distance between the quartiles, as a share of the median. */
static double spread(const sample *s)
{
    double sorted[MAX_RUNS];

    memcpy(sorted, s->ns, sizeof sorted);
    qsort(sorted, (size_t)s->n, sizeof *sorted, ascending);
    return (sorted[s->n * 3 / 4] - sorted[s->n / 4]) / 2 / median(s);
}

static void die(const char *what)
{
    fprintf(stderr, "bench-speed: %s\n", what);
    exit(1);
}

/* ---- The limits -------------------------------------------------------- */

typedef struct {
    uint64_t words[8];
} line;

static uint64_t fetch(const line *lines, uint64_t n, uint64_t key, int for_writing)
{
    uint64_t i = scale64(mix64(key), n);

    if (for_writing)
        __builtin_prefetch(&lines[i], 1, 3);
    else
        __builtin_prefetch(&lines[i], 0, 3);
    return i;
}

static void read_lines(const line *lines, uint64_t n, const uint64_t *keys, size_t count)
{
    uint64_t ring[AHEAD], sum = 0;

    for (size_t i = 0; i < AHEAD && i < count; i++)
        ring[i] = fetch(lines, n, keys[i], 0);
    for (size_t i = 0; i < count; i++) {
        uint64_t at = ring[i % AHEAD];
        if (i + AHEAD < count)
            ring[i % AHEAD] = fetch(lines, n, keys[i + AHEAD], 0);
        sum += lines[at].words[0];
    }
    /* Who never looks at the sum need not read the lines: here it counts as looked at. */
    __asm__ volatile("" : : "r"(sum));
}

static void write_lines(line *lines, uint64_t n, const uint64_t *keys, size_t count)
{
    uint64_t ring[AHEAD];

    for (size_t i = 0; i < AHEAD && i < count; i++)
        ring[i] = fetch(lines, n, keys[i], 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t at = ring[i % AHEAD];
        if (i + AHEAD < count)
            ring[i % AHEAD] = fetch(lines, n, keys[i + AHEAD], 1);
        lines[at].words[0] |= keys[i];
    }
}

/* ---- One kind ---------------------------------------------------------- */

typedef struct {
    tamis *f;
    line *lines; /* a table of the payload's size */
    uint64_t line_count;
    uint64_t *members, *strangers, *hits; /* as many as are queried in a run */
    uint64_t found_strangers;
    sample read, write, absent, present, absent_single, add, add_single;
} trial;

/* Members in use come from all over the filter's keys. */
static void draw_keys(trial *t, const settings *s, uint64_t universe)
{
    uint64_t step = s->keys / s->queries ? s->keys / s->queries : 1;

    for (uint64_t i = 0; i < s->queries; i++) {
        t->members[i] =
            universe ? scale64(member(i * step % s->keys), universe) : member(i * step % s->keys);
        t->strangers[i] = universe ? universe + i : stranger(i);
    }
}

static void time_limits(trial *t, const settings *s)
{
    double start = now();

    read_lines(t->lines, t->line_count, t->strangers, s->queries);
    record(&t->read, start, s->queries);
    start = now();
    write_lines(t->lines, t->line_count, t->members, s->queries);
    record(&t->write, start, s->queries);
}

static void time_queries(trial *t, const settings *s)
{
    double start = now();
    uint64_t found = tamis_has_many(t->f, t->hits, t->strangers, s->queries), one_by_one = 0;

    record(&t->absent, start, s->queries);
    start = now();
    for (uint64_t i = 0; i < s->queries; i++)
        one_by_one += tamis_has(t->f, t->strangers[i]);
    record(&t->absent_single, start, s->queries);
    if (one_by_one != found)
        die("batch and single answers differ");
    t->found_strangers = found;
    start = now();
    found = tamis_has_many(t->f, t->hits, t->members, s->queries);
    record(&t->present, start, s->queries);
    if (found != s->queries)
        die("a member was not found");
}

/* Members again: the filter stays as it is, and the work is that of any add. */
static void time_adds(trial *t, const settings *s)
{
    size_t added;
    double start = now();

    if (tamis_add_many(t->f, &added, t->members, s->queries))
        die("cannot add");
    record(&t->add, start, s->queries);
    start = now();
    for (uint64_t i = 0; i < s->queries; i++)
        if (tamis_add(t->f, t->members[i]))
            die("cannot add");
    record(&t->add_single, start, s->queries);
}

static uint64_t *new_keys(uint64_t n)
{
    uint64_t *keys = tamis__pages_new(n * sizeof *keys);

    if (!keys)
        die("out of memory");
    return keys;
}

static tamis *build(const tamis_plan *plan, const settings *s, uint64_t universe)
{
    uint64_t *keys = new_keys(s->keys);
    tamis *f;

    for (uint64_t i = 0; i < s->keys; i++)
        keys[i] = universe ? scale64(member(i), universe) : member(i);
    if (tamis_build(&f, plan, keys, s->keys, NULL))
        die("cannot build the filter");
    tamis__pages_free(keys, s->keys * sizeof *keys);
    return f;
}

static void print_row(const trial *t, const settings *s)
{
    const tamis_plan *p = tamis_plan_of(t->f);
    double P = median(&t->read), W = median(&t->write), noise = spread(&t->absent);
    const char *format = s->csv ? "%s,%" PRIu64
                                  ",%g,%.3f,%.4g,%.4g,%.3f,%.3f,%.3f,%.2f,%.3f,%.2f,%.3f,%.2f,%.3f,"
                                  "%.2f,%.3f,%.2f,%.3f\n"
                                : "%-12s %10" PRIu64
                                  " %6g %6.2f %8.3g %8.3g %6.2f %6.2f | %6.2f %5.2f | %6.2f %5.2f "
                                  "| %6.2f %5.2f | %6.2f %5.2f | %6.2f %5.2f | %.2f\n";

    printf(format, tamis_kind_name(p->kind), s->keys, s->fpr,
           8.0 * (double)p->bytes / (double)s->keys, p->fpr,
           (double)t->found_strangers / (double)s->queries, P, W, median(&t->absent),
           median(&t->absent) / P, median(&t->present), median(&t->present) / P,
           median(&t->absent_single), median(&t->absent_single) / P, median(&t->add),
           median(&t->add) / W, median(&t->add_single), median(&t->add_single) / W, noise);
    fflush(stdout);
}

static void print_head(const settings *s)
{
    if (s->csv)
        puts("kind,keys,fpr,bits_per_key,planned,measured,P,W,absent_ns,absent_P,present_ns,"
             "present_P,"
             "single_ns,single_P,add_ns,add_W,add_single_ns,add_single_W,spread");
    else
        puts("                                 bits  planned measured    P      W   |  has_many    "
             "|  "
             "has_many    |     has      |   add_many   |     add      |\n"
             "kind               keys    fpr  /key     rate     rate   ns     ns   | absent    /P "
             "| present   /P | absent    /P |     ns    /W |     ns    /W | spread");
}

static void run_kind(tamis_kind kind, const settings *s)
{
    bool indexed = tamis_kind_can(kind) & TAMIS_IS_INDEXED;
    /* Integer keys are drawn from a universe eight times as large as the set. */
    uint64_t universe = indexed ? s->keys * 8 : 0;
    tamis_spec spec = { .keys = indexed ? universe : s->keys, .fpr = s->fpr };
    tamis_plan plan;
    trial t = { 0 };

    spec.hasher.hash = TAMIS_RAW;
    if (tamis_plan_kind(&plan, kind, &spec))
        die("cannot plan the filter");
    t.f = build(&plan, s, universe);
    t.line_count = plan.bytes / sizeof(line) + 1;
    t.lines = tamis__pages_new(t.line_count * sizeof(line));
    if (!t.lines)
        die("out of memory");
    memset(t.lines, 1, t.line_count * sizeof(line));
    t.members = new_keys(s->queries);
    t.strangers = new_keys(s->queries);
    t.hits = new_keys(s->queries / 64 + 1);
    draw_keys(&t, s, universe);
    for (int run = 0; run < s->runs; run++) {
        time_limits(&t, s);
        time_queries(&t, s);
        if (tamis_kind_can(kind) & TAMIS_CAN_ADD)
            time_adds(&t, s);
    }
    print_row(&t, s);
    tamis_free(t.f);
    tamis__pages_free(t.lines, t.line_count * sizeof(line));
    tamis__pages_free(t.members, s->queries * 8);
    tamis__pages_free(t.strangers, s->queries * 8);
    tamis__pages_free(t.hits, (s->queries / 64 + 1) * 8);
}

/* ---- Command line ------------------------------------------------------ */

static void usage(FILE *to)
{
    fputs("Usage: bench-speed [--keys N] [--fpr P] [--runs R] [--kind KIND] [--csv]\n"
          "Times lookups and adds of every kind beside the physical limit of the memory.\n"
          "  --keys N     keys in each filter (default: 10000000, then 100000000)\n"
          "  --fpr P      planned false positive rate (default 0.01)\n"
          "  --runs R     repetitions, of which the median counts (default 11)\n"
          "  --kind KIND  only this one\n"
          "  --csv        comma-separated values\n",
          to);
}

static settings parse(int argc, char **argv)
{
    static const struct option OPTIONS[] = {
        { "keys", required_argument, NULL, 'n' },
        { "fpr", required_argument, NULL, 'p' },
        { "runs", required_argument, NULL, 'r' },
        { "kind", required_argument, NULL, 'k' },
        { "csv", no_argument, NULL, 'c' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    settings s = { .keys = 0, .fpr = 0.01, .runs = 11 };

    for (int c; (c = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;)
        switch (c) {
        case 'n':
            s.keys = (uint64_t)strtod(optarg, NULL);
            break;
        case 'p':
            s.fpr = strtod(optarg, NULL);
            break;
        case 'r':
            s.runs = atoi(optarg);
            break;
        case 'k':
            s.kind = optarg;
            break;
        case 'c':
            s.csv = true;
            break;
        case 'h':
            usage(stdout);
            exit(0);
        default:
            usage(stderr);
            exit(2);
        }
    if ((s.keys && s.keys < 1000) || s.runs < 1 || s.runs > MAX_RUNS)
        die("needs at least 1000 keys and 1 to 101 runs");
    return s;
}

static void run_size(settings s, uint64_t keys)
{
    s.keys = keys;
    s.queries = keys < 4000000 ? keys : 4000000;
    for (tamis_kind k = TAMIS_NO_KIND; (k = tamis_kind_next(k)) != TAMIS_NO_KIND;)
        if (!s.kind || strcmp(s.kind, tamis_kind_name(k)) == 0)
            run_kind(k, &s);
}

int main(int argc, char **argv)
{
    settings s = parse(argc, argv);

    print_head(&s);
    if (s.keys) {
        run_size(s, s.keys);
    } else {
        run_size(s, 10000000);
        run_size(s, 100000000);
    }
    return 0;
}
