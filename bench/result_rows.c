#include "result_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Statistics -------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the values. */
static bench_figures figures(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, ascending);
    return (bench_figures){ (values[(n - 1) / 2] + values[n / 2]) / 2, values[0], values[n - 1] };
}

static double chosen(const bench_workload *w, bench_time t)
{
    return w->by_wall ? t.wall : t.cpu;
}

bench_figures bench_ns(const bench_job *job)
{
    double values[BENCH_MAX_RUNS];

    for (int i = 0; i < job->series.n; i++)
        values[i] = chosen(job->workload, job->series.times[i]);
    return figures(values, job->series.n);
}

/* Each repetition is divided by the limit that was measured in it. */
static int ratios(double *values, const bench_job *job)
{
    const bench_series *s = &job->series;
    const bench_workload *w = job->workload;

    for (int i = 0; i < s->n; i++)
        values[i] = chosen(w, s->times[i]) / s->limits[i][w->limit];
    return s->n;
}

bench_figures bench_ratio(const bench_job *job)
{
    double values[BENCH_MAX_RUNS];
    int n = ratios(values, job);

    return figures(values, n);
}

static double median_limit(const bench_series *s, bench_limit limit)
{
    double values[BENCH_MAX_RUNS];

    for (int i = 0; i < s->n; i++)
        values[i] = s->limits[i][limit];
    return figures(values, s->n).median;
}

/* Two threads on one free processor say nothing about the subject. Then the limit does not scale
 * either. */
static bool lacks_processors(const bench_job *job)
{
    const bench_series *s = &job->series;

    return job->workload->limit == READ_THREADS_2 &&
           median_limit(s, READ_THREADS_2) > 0.7 * median_limit(s, READ_THREADS_1);
}

bool bench_is_absurd(const bench_job *job)
{
    double values[BENCH_MAX_RUNS];
    int n = ratios(values, job);
    double median = figures(values, n).median; /* and sorts */

    return values[n - 1 - n / 4] - values[n / 4] > median / 2 || lacks_processors(job);
}

static double median_time(const bench_series *s, bool wall)
{
    double values[BENCH_MAX_RUNS];

    for (int i = 0; i < s->n; i++)
        values[i] = wall ? s->times[i].wall : s->times[i].cpu;
    return figures(values, s->n).median;
}

/* ---- Machine ----------------------------------------------------------- */

static void find_processor(char *name, size_t size)
{
    char text[256];
    FILE *info = fopen("/proc/cpuinfo", "r");

    snprintf(name, size, "unknown processor");
    while (info && fgets(text, sizeof text, info)) {
        char *value = strstr(text, ": ");
        if (strncmp(text, "model name", 10) != 0 || !value)
            continue;
        value[strcspn(value, "\n")] = '\0';
        snprintf(name, size, "%s", value + 2);
        break;
    }
    if (info)
        fclose(info);
}

/* As the system tells of its first processor: "32K", "1024K". */
static void append_cache(char *text, size_t size, int index, const char *label)
{
    char path[96], value[32] = "";

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    FILE *in = fopen(path, "r");
    if (!in)
        return;
    if (fgets(value, sizeof value, in)) {
        value[strcspn(value, "\n")] = '\0';
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", label, value);
    }
    fclose(in);
}

void bench_machine_find(bench_machine *m, const char *commit)
{
    time_t now = time(NULL);

    *m = (bench_machine){ .cores = sysconf(_SC_NPROCESSORS_ONLN), .commit = commit };
    find_processor(m->name, sizeof m->name);
    append_cache(m->caches, sizeof m->caches, 0, "L1d");
    append_cache(m->caches, sizeof m->caches, 2, "L2");
    append_cache(m->caches, sizeof m->caches, 3, "L3");
    strftime(m->date, sizeof m->date, "%Y-%m-%d", gmtime(&now));
}

/* ---- Rows -------------------------------------------------------------- */

/* Quoted if need be, so that other programs can read it. */
static void put_text(FILE *csv, const char *text)
{
    fputs(",\"", csv);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', csv);
        fputc(*text, csv);
    }
    fputc('"', csv);
}

static void put_number(FILE *csv, double x)
{
    if (isfinite(x))
        fprintf(csv, ",%.6g", x);
    else
        fputc(',', csv);
}

static void put_nothing(FILE *csv, int columns)
{
    while (columns-- > 0)
        fputc(',', csv);
}

void bench_print_head(FILE *csv)
{
    fputs(
        "subject,library,source,integers,workload,without,keys,fpr,status,ns,low,high,cpu_ns,wall_"
        "ns,"
        "limit,limit_ns,ratio,ratio_low,ratio_high,bits_per_key,planned_fpr,measured_fpr,overhead,"
        "bytes,runs",
        csv);
    for (int i = 0; i < BENCH_LIMIT_COUNT; i++)
        fprintf(csv, ",%s", bench_limit_name((bench_limit)i));
    fputs(",machine,cores,caches,compiler,commit,date\n", csv);
}

static void put_figures(FILE *csv, bench_figures f)
{
    put_number(csv, f.median);
    put_number(csv, f.low);
    put_number(csv, f.high);
}

static void put_measured(FILE *csv, const bench_job *job)
{
    const bench_workload *w = job->workload;
    const bench_series *s = &job->series;

    put_figures(csv, bench_ns(job));
    put_number(csv, median_time(s, false));
    put_number(csv, median_time(s, true));
    fprintf(csv, ",%s", bench_limit_name(w->limit));
    put_number(csv, median_limit(s, w->limit));
    put_figures(csv, bench_ratio(job));
}

/* Bits beyond the least for a filter of this rate. */
static double overhead(const bench_space *space)
{
    return space->measured_fpr > 0 ? space->bits_per_key / -log2(space->measured_fpr) - 1 : NAN;
}

static void put_space(FILE *csv, const bench_space *space)
{
    put_number(csv, space->bits_per_key);
    put_number(csv, space->planned_fpr);
    put_number(csv, space->measured_fpr);
    put_number(csv, overhead(space));
    if (space->bytes)
        fprintf(csv, ",%zu", space->bytes);
    else
        put_nothing(csv, 1);
}

static void put_limits(FILE *csv, const bench_series *s)
{
    for (int i = 0; i < BENCH_LIMIT_COUNT; i++) {
        double ns = s->n ? median_limit(s, (bench_limit)i) : NAN;
        put_number(csv, ns > 0 ? ns : NAN);
    }
}

void bench_print_place(FILE *csv, const bench_machine *m)
{
    put_text(csv, m->name);
    fprintf(csv, ",%ld", m->cores);
    put_text(csv, m->caches);
    put_text(csv, BENCH_COMPILER);
    put_text(csv, m->commit);
}

static const char *status_of(const bench_job *job)
{
    if (job->series.n == 0)
        return job->waits ? "noisy" : "cannot";
    return bench_is_absurd(job) ? "noisy" : "ok";
}

void bench_print_row(FILE *csv, const bench_machine *m, const bench_trial *t,
                     const bench_space *space, const bench_job *job)
{
    const bench_subject *s = t->subject;
    int n = job->series.n;

    fprintf(csv, "%s", s->name);
    put_text(csv, s->library);
    fprintf(csv, ",%s,%d,%s", s->kind ? "tamis" : "peer", s->indexed, job->workload->name);
    put_text(csv, job->without);
    fprintf(csv, ",%" PRIu64 ",%.17g,%s", t->of.keys, t->of.fpr, status_of(job));
    if (n && !bench_is_absurd(job))
        put_measured(csv, job);
    else
        put_nothing(csv, 10);
    put_space(csv, space);
    fprintf(csv, ",%d", n);
    put_limits(csv, &job->series);
    bench_print_place(csv, m);
    put_text(csv, m->date);
}
