/* bench.c - every kind, every peer and the physical limit in one run.
 *
 * A trial is one subject at one size and rate. Each of its repetitions measures the limits of the
 * memory, in a table of the subject's size, and then all workloads in turn. What disturbs the
 * machine for a while disturbs both, so that their ratio is what counts. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bits.h"
#include "bench.h"
#include "keys.h"
#include "memory.h"
#include "os/pages.h"
#include "rows.h"
#include "workloads.h"

enum { MAX_SUBJECTS = 128, MAX_WORKLOADS = 64, MAX_NAMES = 32 };

static const double EIGHT_BITS = 0x1p-8;

typedef struct {
    bool quick, large;
    uint64_t keys; /* 0: the usual sizes */
    double fpr;    /* 0: the usual rates */
    double load;   /* 0: what each kind prefers */
    int runs;
    size_t queries;
    const char *names[MAX_NAMES]; /* subjects; none: all */
    int name_count;
    const char *csv_path, *commit;
} settings;

/* ---- Files ------------------------------------------------------------- */

static const char IMAGE_PATH[] = "tamis-bench.image", PAGES_PATH[] = "tamis-bench.pages";
static char csv_draft[4096]; /* beside the CSV; replaces it when complete */

static void remove_files(void)
{
    unlink(IMAGE_PATH);
    unlink(PAGES_PATH);
    if (csv_draft[0])
        unlink(csv_draft);
}

static void stop(int signal)
{
    remove_files();
    _exit(128 + signal);
}

static void leave_no_files(void)
{
    struct sigaction action = { .sa_handler = stop };

    atexit(remove_files);
    static const int SIGNALS[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT };
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
        sigaction(SIGNALS[i], &action, NULL);
}

void bench_die(const char *what, const char *why)
{
    fprintf(stderr, "tamis-bench: %s: %s\n", what, why);
    exit(1);
}

/* ---- Subjects ---------------------------------------------------------- */

#define BENCH_X(peer) extern const bench_subject *const bench_peer_##peer[];
BENCH_PEERS(BENCH_X)
#undef BENCH_X

static size_t all_subjects(bench_subject *subjects)
{
    static const bench_subject *const *const PEERS[] = {
#define BENCH_X(peer) bench_peer_##peer,
        BENCH_PEERS(BENCH_X)
#undef BENCH_X
    };
    size_t n = bench_tamis(subjects, MAX_SUBJECTS);

    for (size_t i = 0; i < sizeof PEERS / sizeof *PEERS; i++)
        for (const bench_subject *const *s = PEERS[i]; *s && n < MAX_SUBJECTS; s++)
            subjects[n++] = **s;
    return n;
}

static bool is_wanted(const settings *set, const char *name)
{
    for (int i = 0; i < set->name_count; i++)
        if (strcmp(set->names[i], name) == 0)
            return true;
    return set->name_count == 0;
}

static void check_names(const settings *set, const bench_subject *subjects, size_t n)
{
    for (int i = 0; i < set->name_count; i++) {
        bool known = false;
        for (size_t j = 0; j < n; j++)
            known |= strcmp(set->names[i], subjects[j].name) == 0;
        if (!known)
            bench_die(set->names[i], "no such kind or peer; --list names them");
    }
}

static size_t wanted_subjects(bench_subject *subjects, const settings *set)
{
    size_t n = all_subjects(subjects), kept = 0;

    check_names(set, subjects, n);
    for (size_t i = 0; i < n; i++)
        if (is_wanted(set, subjects[i].name))
            subjects[kept++] = subjects[i];
    return kept;
}

/* ---- Trials ------------------------------------------------------------ */

static uint64_t *new_words(uint64_t n)
{
    uint64_t *words = tamis__pages_new(n * sizeof *words);

    if (!words)
        bench_die("keys", "out of memory");
    return words;
}

static void free_words(const uint64_t *words, uint64_t n)
{
    tamis__pages_free((void *)(uintptr_t)words, n * sizeof *words);
}

static const uint64_t *all_members(const bench_trial *t)
{
    uint64_t *keys = new_words(t->of.keys);

    for (uint64_t i = 0; i < t->of.keys; i++)
        keys[i] = bench_member(t->subject, &t->of, i);
    return keys;
}

/* Members to ask for are taken from the whole set, in another order. */
static void draw_keys(bench_trial *t)
{
    for (size_t i = 0; i < t->queries; i++) {
        t->members[i] = t->all[scale64(mix64(i), t->of.keys)];
        t->strangers[i] = bench_stranger(t->subject, &t->of, i);
        t->mixed[i] = i % 2 ? t->strangers[i] : t->members[i];
    }
}

static void *make_full(const bench_trial *t)
{
    if (t->subject->builds_at_once)
        return t->subject->make(t->subject, &t->of, t->all, t->of.keys);
    void *self = t->subject->make(t->subject, &t->of, NULL, 0);
    if (self && !t->subject->add(self, t->all, t->of.keys))
        bench_die(t->subject->name, "is full too early");
    return self;
}

/* Every member must be found, also those that no workload asks for. */
static void check_all_members(const bench_trial *t)
{
    for (uint64_t from = 0; from < t->of.keys; from += t->queries) {
        size_t left = t->of.keys - from, n = left < t->queries ? left : t->queries;
        if (t->subject->has(t->self, t->hits, t->all + from, n) != n)
            bench_die(t->subject->name, "a member was not found");
    }
}

static void open_trial(bench_trial *t, const settings *set)
{
    t->queries = t->subject->slow ? set->queries / 16 : set->queries;
    t->all = all_members(t);
    t->self = make_full(t);
    t->members = new_words(t->queries);
    t->mixed = new_words(t->queries);
    t->strangers = new_words(t->queries);
    t->hits = new_words(t->queries / 64 + 1);
    draw_keys(t);
    t->path = IMAGE_PATH;
    if (!t->self)
        return;
    check_all_members(t);
    t->found_strangers = t->subject->has(t->self, t->hits, t->strangers, t->queries);
    if (t->subject->exact && t->found_strangers)
        bench_die(t->subject->name, "is said to be exact and is not");
    size_t size = t->subject->bytes(t->self);
    t->tables = bench_tables_new(size, t->subject->map ? size : 0, PAGES_PATH);
    if (!t->tables)
        bench_die("the table of the limits", "out of memory");
}

static void close_trial(bench_trial *t)
{
    if (t->self) {
        t->subject->drop(t->self);
        bench_tables_free(t->tables);
    }
    free_words(t->all, t->of.keys);
    free_words(t->members, t->queries);
    free_words(t->mixed, t->queries);
    free_words(t->strangers, t->queries);
    free_words(t->hits, t->queries / 64 + 1);
}

/* ---- Space and rate ---------------------------------------------------- */

/* Enough absent keys for about 400 false positives: the rate is then known to one in twenty. */
static uint64_t strangers_needed(const bench_trial *t, const settings *set)
{
    uint64_t enough = (uint64_t)(400 / t->of.fpr), most = set->quick ? 1 << 21 : 1 << 25;

    if (t->subject->exact || enough < t->queries)
        return t->queries;
    return enough < most ? enough : most;
}

static double measured_fpr(const bench_trial *t, const settings *set)
{
    uint64_t needed = strangers_needed(t, set), found = 0, asked = 0;
    uint64_t *keys = new_words(t->queries);

    while (asked < needed) {
        for (size_t i = 0; i < t->queries; i++)
            keys[i] = bench_stranger(t->subject, &t->of, asked + i);
        found += t->subject->has(t->self, t->hits, keys, t->queries);
        asked += t->queries;
    }
    free_words(keys, t->queries);
    return (double)found / (double)asked;
}

static bench_space space_of(const bench_trial *t, const settings *set)
{
    if (!t->self)
        return (bench_space){ NAN, NAN, NAN, 0 };
    size_t bytes = t->subject->bytes(t->self);
    return (bench_space){
        .bits_per_key = 8 * (double)bytes / (double)t->of.keys,
        .planned_fpr = t->subject->planned_fpr ? t->subject->planned_fpr(t->self) : NAN,
        .measured_fpr = measured_fpr(t, set),
        .bytes = bytes,
    };
}

/* ---- Repetitions ------------------------------------------------------- */

static void repeat_once(bench_trial *t, bench_series *series, const bool *due)
{
    double limits[BENCH_LIMIT_COUNT];

    bench_limits_measure(limits, t->tables, t->strangers, t->queries);
    for (size_t i = 0; i < BENCH_WORKLOAD_COUNT; i++) {
        const bench_workload *w = &BENCH_WORKLOADS[i];
        bench_series *s = &series[i];
        if (!due[i])
            continue;
        s->times[s->n] = w->run(t, w->how);
        memcpy(s->limits[s->n], limits, sizeof limits);
        s->n++;
    }
}

static bool is_possible(const bench_trial *t, const bench_workload *w)
{
    return w->can(t->subject) && (w->limit != COLD_PAGE_READ || bench_tables_have_file(t->tables));
}

static bool find_absurd(bool *due, const bench_series *series)
{
    bool any = false;

    for (size_t i = 0; i < BENCH_WORKLOAD_COUNT; i++) {
        due[i] = series[i].n && bench_is_absurd(&series[i], &BENCH_WORKLOADS[i]);
        any |= due[i];
    }
    return any;
}

/* If figures differ too much, the repetitions are done again, up to twice. */
static void repeat(bench_trial *t, bench_series *series, const settings *set)
{
    bool due[MAX_WORKLOADS];

    for (size_t i = 0; i < BENCH_WORKLOAD_COUNT; i++)
        due[i] = is_possible(t, &BENCH_WORKLOADS[i]);
    for (int turn = 0; turn < 3; turn++) {
        for (int run = 0; run < set->runs; run++)
            repeat_once(t, series, due);
        if (!find_absurd(due, series))
            return;
    }
}

/* ---- Output ------------------------------------------------------------ */

static const bench_series *series_of(const bench_series *series, const char *workload)
{
    for (size_t i = 0; i < BENCH_WORKLOAD_COUNT; i++)
        if (strcmp(BENCH_WORKLOADS[i].name, workload) == 0)
            return &series[i];
    return NULL;
}

static void print_cell(const bench_series *series, const char *workload)
{
    const bench_series *s = series_of(series, workload);
    const bench_workload *w = &BENCH_WORKLOADS[s - series];

    if (s->n == 0)
        printf(" %15s", "cannot");
    else if (bench_is_absurd(s, w))
        printf(" %15s", "noisy");
    else
        printf(" %8.2f %5.2fx", bench_ns(s, w).median, bench_ratio(s, w).median);
}

static void print_line(const bench_trial *t, const bench_space *space, const bench_series *series)
{
    static const char *const SHOWN[] = { "has-0", "has-100",  "has-one",
                                         "build", "add-many", "remove" };

    printf("%-16s %9" PRIu64 " %8.2g", t->subject->name, t->of.keys, t->of.fpr);
    if (t->self)
        printf(" %7.2f %9.3g", space->bits_per_key, space->measured_fpr);
    else
        printf(" %7s %9s", "cannot", "");
    for (size_t i = 0; t->self && i < sizeof SHOWN / sizeof *SHOWN; i++)
        print_cell(series, SHOWN[i]);
    putchar('\n');
    fflush(stdout);
}

static void print_titles(void)
{
    printf("%-16s %9s %8s %7s %9s %15s %15s %15s %15s %15s %15s\n", "ns per key, and", "", "",
           "bits", "measured", "has_many", "has_many", "lone has", "build", "add_many",
           "remove_many");
    printf("%-16s %9s %8s %7s %9s %15s %15s %15s %15s %15s %15s\n", "times the limit", "keys",
           "rate", "/key", "rate", "absent", "present", "absent", "at once", "until full",
           "when full");
}

static void show_progress(const bench_trial *t, size_t done, size_t of)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%zu of %zu: %s, %" PRIu64 " keys\r", done + 1, of,
                t->subject->name, t->of.keys);
}

/* ---- The run ----------------------------------------------------------- */

static void run_trial(const bench_subject *s, bench_case c, const settings *set,
                      const bench_machine *m, FILE *csv)
{
    static bench_series series[MAX_WORKLOADS];
    bench_trial t = { .subject = s, .of = c };

    memset(series, 0, sizeof series);
    open_trial(&t, set);
    bench_space space = space_of(&t, set);
    if (t.self)
        repeat(&t, series, set);
    print_line(&t, &space, series);
    for (size_t i = 0; csv && i < BENCH_WORKLOAD_COUNT; i++)
        bench_print_row(csv, m, &t, &space, &BENCH_WORKLOADS[i], &series[i]);
    close_trial(&t);
}

enum { MAX_CASES = 32 };

typedef struct {
    uint64_t keys;
    bool all_rates, quick, large; /* large: only if asked for */
} usual_size;

static size_t rates_of(double *rates, const usual_size *size, const settings *set)
{
    static const double RATES[] = { 0.01, EIGHT_BITS, 0x1p-16 };
    size_t n = size->all_rates && !set->quick && set->fpr == 0 ? 3 : 1;

    memcpy(rates, RATES, sizeof RATES);
    if (n == 1)
        rates[0] = set->fpr > 0 ? set->fpr : EIGHT_BITS;
    return n;
}

static size_t cases_of(bench_case *cases, const settings *set)
{
    static const usual_size SIZES[] = {
        { 10000, false, false, false },   { 100000, true, true, false },
        { 1000000, false, true, false },  { 10000000, true, false, false },
        { 100000000, true, false, true },
    };
    double rates[3];
    size_t n = 0;

    if (set->keys)
        cases[n++] = (bench_case){ set->keys, set->fpr > 0 ? set->fpr : EIGHT_BITS, set->load };
    for (size_t i = 0; !set->keys && i < sizeof SIZES / sizeof *SIZES; i++)
        if ((SIZES[i].quick || !set->quick) && (set->large || !SIZES[i].large))
            for (size_t j = 0, m = rates_of(rates, &SIZES[i], set); j < m; j++)
                cases[n++] = (bench_case){ SIZES[i].keys, rates[j], set->load };
    return n;
}

/* Exact structures have no rate: one case is enough. */
static bool is_due(const bench_subject *s, const bench_case *c, const settings *set)
{
    return !s->exact || c->fpr == EIGHT_BITS || set->fpr > 0;
}

static size_t count_trials(const bench_subject *subjects, size_t n, const bench_case *cases,
                           size_t case_count, const settings *set)
{
    size_t trials = 0;

    for (size_t i = 0; i < case_count; i++)
        for (size_t j = 0; j < n; j++)
            trials += is_due(&subjects[j], &cases[i], set);
    return trials;
}

static void run_all(const settings *set, FILE *csv)
{
    bench_subject subjects[MAX_SUBJECTS];
    bench_case cases[MAX_CASES];
    bench_machine machine;
    size_t n = wanted_subjects(subjects, set), case_count = cases_of(cases, set);
    size_t done = 0, trials = count_trials(subjects, n, cases, case_count, set);

    bench_machine_find(&machine, set->commit);
    print_titles();
    for (size_t i = 0; i < case_count; i++)
        for (size_t j = 0; j < n; j++)
            if (is_due(&subjects[j], &cases[i], set)) {
                bench_trial t = { .subject = &subjects[j], .of = cases[i] };
                show_progress(&t, done++, trials);
                run_trial(&subjects[j], cases[i], set, &machine, csv);
            }
}

/* ---- Command line ------------------------------------------------------ */

static void usage(FILE *to)
{
    fputs(
        "Usage: tamis-bench [--quick | --large] [--csv FILE] [OPTION]...\n"
        "Times every kind of filter and every other library that was found, beside the limits of\n"
        "the memory, on workloads that have names. bench/report makes a page of the CSV.\n"
        "  --quick         100,000 and 1,000,000 keys at one rate: a minute or two\n"
        "  --large         100,000,000 keys too\n"
        "  --csv FILE      writes every figure there\n"
        "  --subject NAME  only this kind or peer; may be repeated\n"
        "  --list          names the subjects and the workloads\n"
        "  --keys N        only this size\n"
        "  --fpr P         only this rate\n"
        "  --load L        share of slots taken, in kinds that have them\n"
        "  --runs R        repetitions, at least 5 (default 5)\n"
        "  --commit TEXT   what was measured, for the CSV\n"
        "Files for the workload map-cold are written to the folder it is run in.\n",
        to);
}

static void list(void)
{
    bench_subject subjects[MAX_SUBJECTS];
    size_t n = all_subjects(subjects);

    for (size_t i = 0; i < n; i++)
        printf("subject   %-16s %s\n", subjects[i].name, subjects[i].library);
    for (size_t i = 0; i < BENCH_WORKLOAD_COUNT; i++)
        printf("workload  %-16s %s\n", BENCH_WORKLOADS[i].name,
               bench_limit_name(BENCH_WORKLOADS[i].limit));
}

static double number(const char *option, const char *text, double low, double high)
{
    char *end;
    double x = strtod(text, &end);

    if (end == text || *end || !(x >= low && x <= high))
        bench_die(option, "not a number it can take");
    return x;
}

static void add_name(settings *set, const char *name)
{
    if (set->name_count == MAX_NAMES)
        bench_die("--subject", "too many");
    set->names[set->name_count++] = name;
}

static settings parse(int argc, char **argv)
{
    static const struct option OPTIONS[] = {
        { "quick", no_argument, NULL, 'q' },      { "large", no_argument, NULL, 'l' },
        { "csv", required_argument, NULL, 'o' },  { "subject", required_argument, NULL, 's' },
        { "list", no_argument, NULL, 'L' },       { "keys", required_argument, NULL, 'n' },
        { "fpr", required_argument, NULL, 'p' },  { "load", required_argument, NULL, 'a' },
        { "runs", required_argument, NULL, 'r' }, { "commit", required_argument, NULL, 'c' },
        { "help", no_argument, NULL, 'h' },       { NULL, 0, NULL, 0 },
    };
    settings set = { .commit = "unknown" };

    for (int c; (c = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;)
        switch (c) {
        case 'q':
            set.quick = true;
            break;
        case 'l':
            set.large = true;
            break;
        case 'o':
            set.csv_path = optarg;
            break;
        case 's':
            add_name(&set, optarg);
            break;
        case 'n':
            set.keys = (uint64_t)number("--keys", optarg, 1000, 1e9);
            break;
        case 'p':
            set.fpr = number("--fpr", optarg, 0x1p-32, 0.5);
            break;
        case 'a':
            set.load = number("--load", optarg, 0.01, 1);
            break;
        case 'r':
            set.runs = (int)number("--runs", optarg, 5, BENCH_MAX_RUNS / 3);
            break;
        case 'c':
            set.commit = optarg;
            break;
        case 'L':
            list();
            exit(0);
        case 'h':
            usage(stdout);
            exit(0);
        default:
            usage(stderr);
            exit(2);
        }
    if (optind < argc || (set.quick && set.large)) {
        usage(stderr);
        exit(2);
    }
    if (!set.runs)
        set.runs = 5;
    set.queries = set.quick ? 1 << 17 : 1 << 18;
    return set;
}

static FILE *open_draft(const char *path)
{
    int length = snprintf(csv_draft, sizeof csv_draft, "%s.new", path);
    FILE *csv = length < (int)sizeof csv_draft ? fopen(csv_draft, "w") : NULL;

    if (!csv)
        bench_die(path, "cannot be written");
    bench_print_head(csv);
    return csv;
}

/* Peers that use malloc() get huge pages too, as tamis does: structures are compared, not
 * allocators. The C library reads this setting when the program starts. */
static void ask_for_huge_pages(char **argv)
{
    if (!getenv("GLIBC_TUNABLES") && setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 0) == 0)
        execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    settings set = parse(argc, argv);

    ask_for_huge_pages(argv);
    leave_no_files();
    FILE *csv = set.csv_path ? open_draft(set.csv_path) : NULL;
    run_all(&set, csv);
    if (csv && (fclose(csv) || rename(csv_draft, set.csv_path)))
        bench_die(set.csv_path, "cannot be written");
    if (fflush(stdout) || ferror(stdout))
        bench_die("standard output", "cannot be written");
    return 0;
}
