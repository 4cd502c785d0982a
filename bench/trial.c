#include "trial.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "key_sets.h"
#include "os/pages.h"

const char BENCH_IMAGE_PATH[] = "tamis-bench.image", BENCH_PAGES_PATH[] = "tamis-bench.pages";

/* ---- Keys and tables --------------------------------------------------- */

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

/* How long it takes to fill it counts: with many keys that is not done often. */
static void *make_full(bench_trial *t)
{
    const bench_subject *s = t->subject;
    void *self = s->builds_at_once ? NULL : s->make(s, &t->of, NULL, 0);

    if (!s->builds_at_once && !self)
        return NULL;
    bench_time start = bench_start();
    if (s->builds_at_once)
        self = s->make(s, &t->of, t->all, t->of.keys);
    else if (!s->add(self, t->all, t->of.keys))
        bench_die(s->name, "is full too early");
    t->filling = bench_stop(start, t->of.keys);
    return self;
}

/* Every member must be found, also those that no workload asks for. Of what takes microseconds a
 * lookup, one piece in sixty-four. */
static void check_all_members(const bench_trial *t)
{
    size_t step = t->subject->slow ? 64 * t->queries : t->queries;

    for (uint64_t from = 0; from < t->of.keys; from += step) {
        size_t left = t->of.keys - from, n = left < t->queries ? left : t->queries;
        if (t->subject->has(t->self, t->hits, t->all + from, n) != n)
            bench_die(t->subject->name, "a member was not found");
    }
}

/* The lines of all queries should not fit in the cache together if the filter does not. */
static size_t queries_for(const bench_trial *t, const bench_effort *effort)
{
    size_t n = effort->quick ? 1 << 17 : t->of.keys < 4000000 ? 1 << 18 : 1 << 19;

    return t->subject->slow ? n / 64 : n;
}

/* There are two of them, beside the subject and one that is filled anew. Memory is no slower where
 * there is more of it. */
static const size_t MOST_TABLE = (size_t)1 << 30;

static void open_trial(bench_trial *t, const bench_effort *effort)
{
    t->queries = queries_for(t, effort);
    t->all = all_members(t);
    t->self = make_full(t);
    t->members = new_words(t->queries);
    t->mixed = new_words(t->queries);
    t->strangers = new_words(t->queries);
    t->hits = new_words(t->queries / 64 + 1);
    draw_keys(t);
    t->path = BENCH_IMAGE_PATH;
    if (!t->self)
        return;
    check_all_members(t);
    t->found_strangers = t->subject->has(t->self, t->hits, t->strangers, t->queries);
    if (t->subject->exact && t->found_strangers)
        bench_die(t->subject->name, "is said to be exact and is not");
    size_t size = t->subject->bytes(t->self);
    size = size < MOST_TABLE ? size : MOST_TABLE;
    t->tables = bench_tables_new(size, t->subject->map ? size : 0, BENCH_PAGES_PATH);
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
static uint64_t strangers_needed(const bench_trial *t, const bench_effort *effort)
{
    uint64_t enough = (uint64_t)(400 / t->of.fpr);
    uint64_t most = t->subject->slow ? 1 << 18 : effort->quick ? 1 << 21 : 1 << 25;

    if (t->subject->exact || enough < t->queries)
        return t->queries;
    return enough < most ? enough : most;
}

static double measured_fpr(const bench_trial *t, const bench_effort *effort)
{
    uint64_t needed = strangers_needed(t, effort), found = 0, asked = 0;
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

static bench_space space_of(const bench_trial *t, const bench_effort *effort)
{
    if (!t->self)
        return (bench_space){ NAN, NAN, NAN, 0 };
    size_t bytes = t->subject->bytes(t->self);
    return (bench_space){
        .bits_per_key = 8 * (double)bytes / (double)t->of.keys,
        .planned_fpr = t->subject->planned_fpr ? t->subject->planned_fpr(t->self) : NAN,
        .measured_fpr = measured_fpr(t, effort),
        .bytes = bytes,
    };
}

/* ---- Repetitions ------------------------------------------------------- */

/* What takes long is not repeated as often. */
static const double ENOUGH_SECONDS = 1;
enum { TURNS = 3 };

static void note_time(bench_job *job, bench_time time, const double *limits)
{
    bench_series *s = &job->series;

    s->times[s->n] = time;
    memcpy(s->limits[s->n], limits, sizeof s->limits[s->n]);
    s->n++;
}

static void run_job(bench_trial *t, bench_job *job, const double *limits)
{
    double start = bench_clock(CLOCK_MONOTONIC);

    t->without = job->cpu;
    if (t->without)
        t->subject->use_without(t->self, t->without);
    bench_time time = job->workload->run(t, job->workload->how);
    if (t->without)
        t->subject->use_without(t->self, 0);
    t->without = 0;
    note_time(job, time, limits);
    job->seconds += (bench_clock(CLOCK_MONOTONIC) - start) / 1e9;
}

/* The first filter was filled as these do it. */
static bool is_filling(const bench_trial *t, const bench_job *job)
{
    return !job->cpu &&
           strcmp(job->workload->name, t->subject->builds_at_once ? "build" : "add-many") == 0;
}

static void note_filling(const bench_trial *t, bench_job *jobs, size_t n, const double *limits)
{
    for (size_t i = 0; i < n; i++)
        if (jobs[i].due && is_filling(t, &jobs[i])) {
            note_time(&jobs[i], t->filling, limits);
            jobs[i].seconds = t->filling.wall * (double)t->of.keys / 1e9;
        }
}

static void repeat_once(bench_trial *t, bench_job *jobs, size_t n, bool is_first)
{
    double limits[BENCH_LIMIT_COUNT];

    bench_limits_measure(limits, t->tables, t->strangers, t->queries);
    if (is_first)
        note_filling(t, jobs, n, limits);
    for (size_t i = 0; i < n; i++) {
        jobs[i].due &= jobs[i].series.n == 0 || jobs[i].seconds < ENOUGH_SECONDS;
        if (jobs[i].due)
            run_job(t, &jobs[i], limits);
    }
}

static bool is_possible(const bench_trial *t, const bench_job *job)
{
    const bench_workload *w = job->workload;

    return w->can(t->subject) && (w->limit != COLD_PAGE_READ || bench_tables_have_file(t->tables));
}

static bool find_absurd(bench_job *jobs, size_t n)
{
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        jobs[i].due = jobs[i].series.n && bench_is_absurd(&jobs[i]);
        jobs[i].seconds = 0;
        any |= jobs[i].due;
    }
    return any;
}

static bool is_any_due(const bench_job *jobs, size_t n)
{
    bool any = false;

    for (size_t i = 0; i < n; i++)
        any |= jobs[i].due;
    return any;
}

/* If figures differ too much, the repetitions are done again, up to twice. */
static void repeat(bench_trial *t, bench_job *jobs, size_t n, int runs)
{
    for (size_t i = 0; i < n; i++)
        jobs[i].due &= is_possible(t, &jobs[i]);
    for (int turn = 0; turn == 0 || (turn < TURNS && find_absurd(jobs, n)); turn++)
        for (int run = 0; run < runs && is_any_due(jobs, n); run++)
            repeat_once(t, jobs, n, turn + run == 0);
}

void bench_trial_run(bench_trial *t, bench_space *space, bench_job *jobs, size_t n,
                     const bench_effort *effort)
{
    open_trial(t, effort);
    *space = space_of(t, effort);
    if (t->self)
        repeat(t, jobs, n, effort->runs);
    close_trial(t);
}
