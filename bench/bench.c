/* bench.c - every kind, every peer and the physical limit in one run.
 *
 * A trial is one subject at one size and rate. Each of its repetitions measures the limits of the
 * memory, in a table of the subject's size, and then all workloads in turn. What disturbs the
 * machine for a while disturbs both, so that their ratio is what counts. What is noisy all the same
 * is measured again when all else is done. */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "bench.h"
#include "result_rows.h"
#include "resume.h"
#include "threads.h"
#include "trial.h"
#include "workloads.h"

enum { MAX_SUBJECTS = 128, MAX_NAMES = 32, MAX_LACKS = 4, MAX_JOBS = 64, PASSES = 3 };

static const double EIGHT_BITS = 0x1p-8;

typedef struct {
    const char *text;
    unsigned cpu;
} lack;

typedef struct {
    bench_effort effort;
    bool large, resumes;
    uint64_t keys;                /* 0: the usual sizes */
    double fpr;                   /* 0: the usual rates */
    double load;                  /* 0: what each kind prefers */
    const char *names[MAX_NAMES]; /* subjects; none: all */
    int name_count;
    lack lacks[MAX_LACKS]; /* --without */
    int lack_count;
    const char *csv_path, *commit;
} settings;

/* ---- Files ------------------------------------------------------------- */

static void remove_files(void)
{
    unlink(BENCH_IMAGE_PATH);
    unlink(BENCH_PAGES_PATH);
    bench_store_remove_draft();
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

/* ---- Output ------------------------------------------------------------ */

static const bench_job *job_of(const bench_job *jobs, size_t n, const char *workload,
                               const char *without)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(jobs[i].workload->name, workload) == 0 && strcmp(jobs[i].without, without) == 0)
            return &jobs[i];
    return NULL;
}

static void print_cell(const bench_job *job)
{
    if (!job || !job->planned)
        printf(" %15s", "");
    else if (job->series.n == 0)
        printf(" %15s", job->known ? "" : "cannot");
    else if (bench_is_absurd(job))
        printf(" %15s", "noisy");
    else
        printf(" %8.2f %5.2fx", bench_ns(job).median, bench_ratio(job).median);
}

static const char *const SHOWN[] = { "has-0", "has-100",  "has-one", "has-chain",
                                     "build", "add-many", "remove" };
enum { SHOWN_COUNT = sizeof SHOWN / sizeof *SHOWN };

static bool is_news(const bench_job *jobs, size_t n, const char *without)
{
    for (size_t i = 0; i < SHOWN_COUNT; i++) {
        const bench_job *job = job_of(jobs, n, SHOWN[i], without);
        if (job && job->planned && !job->known)
            return true;
    }
    return false;
}

static void print_line(const bench_trial *t, const bench_space *space, const bench_job *jobs,
                       size_t n, const char *without)
{
    if (!is_news(jobs, n, without))
        return;
    printf("%-16s %9" PRIu64 " ", t->subject->name, t->of.keys);
    if (without[0])
        printf("without %-10s", without);
    else
        printf("%8.2g", t->of.fpr);
    if (without[0])
        printf(" %7s", "");
    else if (space->bytes)
        printf(" %7.2f %9.3g", space->bits_per_key, space->measured_fpr);
    else
        printf(" %7s %9s", "cannot", "");
    for (size_t i = 0; space->bytes && i < SHOWN_COUNT; i++)
        print_cell(job_of(jobs, n, SHOWN[i], without));
    putchar('\n');
    fflush(stdout);
}

static void print_titles(void)
{
    printf("%-16s %9s %8s %7s %9s %15s %15s %15s %15s %15s %15s %15s\n", "ns per key, and", "", "",
           "bits", "measured", "has_many", "has_many", "lone has", "lone has", "build", "add_many",
           "remove_many");
    printf("%-16s %9s %8s %7s %9s %15s %15s %15s %15s %15s %15s %15s\n", "times the limit", "keys",
           "rate", "/key", "rate", "absent", "present", "absent", "in a chain", "at once",
           "until full", "when full");
}

static void show_progress(const bench_trial *t, size_t done, size_t of)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%zu of %zu: %s, %" PRIu64 " keys\r", done + 1, of,
                t->subject->name, t->of.keys);
}

/* ---- What is measured -------------------------------------------------- */

enum { MAX_CASES = 32, LARGE = 100000000 };

typedef struct {
    uint64_t keys;
    bool all_rates, quick, large; /* large: only if asked for */
} usual_size;

static size_t rates_of(double *rates, const usual_size *size, const settings *set)
{
    static const double RATES[] = { 0.01, EIGHT_BITS, 0x1p-16 };
    size_t n = size->all_rates && !set->effort.quick && set->fpr == 0 ? 3 : 1;

    memcpy(rates, RATES, sizeof RATES);
    if (n == 1)
        rates[0] = set->fpr > 0 ? set->fpr : EIGHT_BITS;
    return n;
}

static size_t cases_of(bench_case *cases, const settings *set)
{
    static const usual_size SIZES[] = {
        { 10000, false, false, false },  { 100000, false, true, false },
        { 1000000, false, true, false }, { 10000000, true, false, false },
        { LARGE, false, false, true },
    };
    double rates[3];
    size_t n = 0;

    if (set->keys)
        cases[n++] = (bench_case){ set->keys, set->fpr > 0 ? set->fpr : EIGHT_BITS, set->load };
    for (size_t i = 0; !set->keys && i < sizeof SIZES / sizeof *SIZES; i++)
        if ((SIZES[i].quick || !set->effort.quick) && (set->large || !SIZES[i].large))
            for (size_t j = 0, m = rates_of(rates, &SIZES[i], set); j < m; j++)
                cases[n++] = (bench_case){ SIZES[i].keys, rates[j], set->load };
    return n;
}

/* Exact structures have no rate: one case is enough. */
static bool is_due(const bench_subject *s, const bench_case *c, const settings *set)
{
    return !s->exact || c->fpr == EIGHT_BITS || set->fpr > 0;
}

/* It takes long, and instruction sets matter less than memory there. */
static bool is_filling_by_cpu(const bench_job *job)
{
    return job->cpu & ~(unsigned)TAMIS_CPU_FAR && job->workload->limit == WRITE_PREFETCHED_HUGE;
}

/* A case that was asked for has everything. */
static bool is_planned(const bench_job *job, const bench_subject *s, const bench_case *c,
                       const settings *set)
{
    unsigned where = job->workload->where;

    if (job->without[0] && !(s->use_without && where & BY_CPU))
        return false;
    if (set->keys)
        return true;
    if (c->fpr != EIGHT_BITS && set->fpr == 0)
        return where & AT_ALL_RATES && !job->without[0];
    if (c->keys >= LARGE && (!(where & AT_LARGE) || is_filling_by_cpu(job)))
        return false;
    return (!job->without[0] || c->keys >= 1000000) &&
           (!(where & AT_MAIN_SIZE_ONLY) || c->keys == 10000000);
}

static size_t jobs_of(bench_job *jobs, const settings *set)
{
    size_t n = 0;

    for (int v = -1; v < set->lack_count; v++)
        for (size_t i = 0; i < BENCH_WORKLOAD_COUNT; i++)
            if (v < 0 || BENCH_WORKLOADS[i].where & BY_CPU)
                jobs[n++] = (bench_job){ .workload = &BENCH_WORKLOADS[i],
                                         .without = v < 0 ? "" : set->lacks[v].text,
                                         .cpu = v < 0 ? 0 : set->lacks[v].cpu };
    return n;
}

/* ---- The run ----------------------------------------------------------- */

typedef struct {
    const settings *set;
    bench_machine machine;
    bench_store *store;
    size_t done, trials;
} run;

static bool lacks_processors(const bench_workload *w, const bench_subject *s)
{
    return w->where & ON_THREADS && w->how > bench_processors() && w->can(s);
}

static bool plan_jobs(bench_job *jobs, size_t n, const bench_trial *t, const run *r)
{
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        jobs[i].planned = is_planned(&jobs[i], t->subject, &t->of, r->set);
        jobs[i].known = jobs[i].planned && bench_store_has(r->store, t, &jobs[i]);
        jobs[i].waits = lacks_processors(jobs[i].workload, t->subject);
        jobs[i].due = jobs[i].planned && !jobs[i].known && !jobs[i].waits;
        any |= jobs[i].due;
    }
    return any;
}

static void print_all(const bench_trial *t, const bench_space *space, const bench_job *jobs,
                      size_t n, const settings *set)
{
    print_line(t, space, jobs, n, "");
    for (int v = 0; v < set->lack_count && t->subject->use_without; v++)
        print_line(t, space, jobs, n, set->lacks[v].text);
}

static void run_trial(run *r, const bench_subject *s, bench_case c)
{
    static bench_job jobs[MAX_JOBS];
    bench_trial t = { .subject = s, .of = c };
    bench_space space;
    size_t n = jobs_of(jobs, r->set);

    show_progress(&t, r->done++, r->trials);
    if (!plan_jobs(jobs, n, &t, r))
        return;
    bench_trial_run(&t, &space, jobs, n, &r->set->effort);
    print_all(&t, &space, jobs, n, r->set);
    for (size_t i = 0; i < n; i++)
        if (jobs[i].planned && !jobs[i].known)
            bench_store_put(r->store, &r->machine, &t, &space, &jobs[i]);
    if (r->set->resumes)
        bench_store_write(r->store);
}

static void run_all(const settings *set)
{
    bench_subject subjects[MAX_SUBJECTS];
    bench_case cases[MAX_CASES];
    run r = { .set = set };
    size_t n = wanted_subjects(subjects, set), case_count = cases_of(cases, set);

    bench_machine_find(&r.machine, set->commit);
    r.store = bench_store_new(set->csv_path, set->resumes, &r.machine);
    r.trials = PASSES * n * case_count;
    print_titles();
    /* What is noisy is due again in the next pass. */
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < case_count; i++)
            for (size_t j = 0; j < n; j++)
                if (is_due(&subjects[j], &cases[i], set))
                    run_trial(&r, &subjects[j], cases[i]);
    bench_store_write(r.store);
    bench_store_free(r.store);
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
        "  --csv FILE      writes every figure there, when it is done\n"
        "  --resume FILE   writes them as they come, and measures only what is not there yet\n"
        "  --subject NAME  only this kind or peer; may be repeated\n"
        "  --list          names the subjects and the workloads\n"
        "  --keys N        only this size\n"
        "  --fpr P         only this rate\n"
        "  --without LIST  measures lookups and adds also without these: avx512, avx2, neon (or\n"
        "                  what stands on them), far (hints for lines beyond the cache); may be\n"
        "                  repeated\n"
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

static unsigned cpu_of(const char *name, size_t size)
{
    static const struct {
        const char *name;
        unsigned cpu;
    } PARTS[] = {
        { "avx512", TAMIS_CPU_AVX512 },
        { "avx2", TAMIS_CPU_AVX2 | TAMIS_CPU_AVX512 },
        { "neon", TAMIS_CPU_NEON },
        { "far", TAMIS_CPU_FAR },
    };

    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        if (strlen(PARTS[i].name) == size && memcmp(PARTS[i].name, name, size) == 0)
            return PARTS[i].cpu;
    bench_die("--without", "takes avx512, avx2, neon and far");
}

static void add_without(settings *set, const char *list)
{
    lack l = { list, 0 };

    if (set->lack_count == MAX_LACKS)
        bench_die("--without", "too many");
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        l.cpu |= cpu_of(at, strcspn(at, ","));
    set->lacks[set->lack_count++] = l;
}

static settings parse(int argc, char **argv)
{
    static const struct option OPTIONS[] = {
        { "quick", no_argument, NULL, 'q' },        { "large", no_argument, NULL, 'l' },
        { "csv", required_argument, NULL, 'o' },    { "subject", required_argument, NULL, 's' },
        { "list", no_argument, NULL, 'L' },         { "keys", required_argument, NULL, 'n' },
        { "fpr", required_argument, NULL, 'p' },    { "load", required_argument, NULL, 'a' },
        { "runs", required_argument, NULL, 'r' },   { "commit", required_argument, NULL, 'c' },
        { "resume", required_argument, NULL, 'R' }, { "without", required_argument, NULL, 'w' },
        { "help", no_argument, NULL, 'h' },         { NULL, 0, NULL, 0 },
    };
    settings set = { .commit = "unknown" };

    for (int c; (c = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;)
        switch (c) {
        case 'q':
            set.effort.quick = true;
            break;
        case 'l':
            set.large = true;
            break;
        case 'o':
            set.csv_path = optarg;
            break;
        case 'R':
            set.csv_path = optarg;
            set.resumes = true;
            break;
        case 'w':
            add_without(&set, optarg);
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
            set.effort.runs = (int)number("--runs", optarg, 5, BENCH_MAX_RUNS / 3);
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
    if (optind < argc || (set.effort.quick && set.large)) {
        usage(stderr);
        exit(2);
    }
    if (!set.effort.runs)
        set.effort.runs = 5;
    return set;
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
    run_all(&set);
    if (fflush(stdout) || ferror(stdout))
        bench_die("standard output", "cannot be written");
    return 0;
}
