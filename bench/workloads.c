#include "workloads.h"

#include <stdlib.h>
#include <unistd.h>

#include "threads.h"

static void must(const bench_trial *t, bool holds, const char *why)
{
    if (!holds)
        bench_die(t->subject->name, why);
}

/* ---- Lookups ----------------------------------------------------------- */

/* Each is timed the second time, so that what fits in the cache is in it. */

static size_t ask(const bench_trial *t, const uint64_t *keys, size_t n)
{
    return t->subject->has(t->self, t->hits, keys, n);
}

/* The number of set bits must be the number returned. */
static void check_hits(const bench_trial *t, size_t found, uint64_t wanted)
{
    size_t set = 0;

    for (size_t i = 0; i < t->queries / 64; i++) {
        set += (size_t)__builtin_popcountll(t->hits[i]);
        must(t, (t->hits[i] & wanted) == wanted, "a member was not found");
    }
    must(t, set == found, "its answers and their number differ");
}

static const uint64_t *keys_with(const bench_trial *t, unsigned percent_present)
{
    return percent_present == 0 ? t->strangers : percent_present == 100 ? t->members : t->mixed;
}

static void check_found(const bench_trial *t, unsigned percent_present, size_t found)
{
    must(t, percent_present != 0 || found == t->found_strangers, "answers differ between calls");
    must(t, found >= t->queries * percent_present / 100, "a member was not found");
}

static bench_time has(bench_trial *t, unsigned percent_present)
{
    const uint64_t *keys = keys_with(t, percent_present);

    ask(t, keys, t->queries);
    bench_time start = bench_start();
    size_t found = ask(t, keys, t->queries);
    bench_time time = bench_stop(start, t->queries);
    check_found(t, percent_present, found);
    /* Of the mixed keys, those with an even index are members. */
    check_hits(t, found,
               percent_present == 0     ? 0
               : percent_present == 100 ? ~UINT64_C(0)
                                        : 0x5555555555555555);
    return time;
}

static size_t ask_by(const bench_trial *t, size_t n, size_t batch)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i += batch)
        found += ask(t, t->strangers + i, batch < n - i ? batch : n - i);
    return found;
}

/* A quarter of the keys will do; but all are asked for first, lest the lines of a quarter stay in a
 * cache that is too small for all. So it is with dependent reads, the limit of has_chain(). */
static size_t ask_for_all(const bench_trial *t, size_t *expected)
{
    size_t n = t->queries / 4;

    *expected = ask(t, t->strangers, n);
    ask(t, t->strangers, t->queries);
    return n;
}

static bench_time has_batch(bench_trial *t, unsigned batch)
{
    size_t expected, n = ask_for_all(t, &expected);
    bench_time start = bench_start();
    size_t found = ask_by(t, n, batch);
    bench_time time = bench_stop(start, n);

    must(t, found == expected, "answers differ between calls");
    return time;
}

static bench_time has_each(bench_trial *t, unsigned percent_present)
{
    const uint64_t *keys = keys_with(t, percent_present);

    ask(t, keys, t->queries);
    bench_time start = bench_start();
    size_t found = t->subject->has_each(t->self, keys, t->queries);
    bench_time time = bench_stop(start, t->queries);
    check_found(t, percent_present, found);
    return time;
}

static bool can_each(const bench_subject *s)
{
    return s->has_each != NULL;
}

static bench_time has_chain(bench_trial *t, unsigned how)
{
    size_t expected, n = ask_for_all(t, &expected);

    (void)how;
    bench_time start = bench_start();
    size_t found = t->subject->has_chain(t->self, t->strangers, n);
    bench_time time = bench_stop(start, n);
    must(t, found == expected, "answers differ between calls");
    return time;
}

static bool can_chain(const bench_subject *s)
{
    return s->has_chain != NULL;
}

typedef struct {
    const bench_trial *trial;
    size_t each;
    size_t found[BENCH_MAX_THREADS];
} shares;

static void ask_share(void *ctx, unsigned i)
{
    shares *s = ctx;
    const bench_trial *t = s->trial;

    /* A multiple of 64, so that threads write to hits of their own. */
    for (int round = 0; round < bench_rounds(s->each); round++)
        s->found[i] = t->subject->has(t->self, t->hits + i * s->each / 64,
                                      t->strangers + i * s->each, s->each);
}

static bench_time has_threads(bench_trial *t, unsigned threads)
{
    shares s = { .trial = t, .each = t->queries / threads / 64 * 64 };
    size_t found = 0;
    size_t n = s.each * threads, expected = ask(t, t->strangers, n);
    bench_time time = bench_threads(threads, ask_share, &s);
    double keys = (double)(n * (size_t)bench_rounds(s.each));

    for (unsigned i = 0; i < threads; i++)
        found += s.found[i];
    must(t, found == expected, "answers differ between threads");
    return (bench_time){ time.cpu / keys, time.wall / keys };
}

static bench_time count(bench_trial *t, unsigned how)
{
    (void)how;
    t->subject->count(t->self, t->mixed, t->queries);
    bench_time start = bench_start();
    uint64_t sum = t->subject->count(t->self, t->mixed, t->queries);
    bench_time time = bench_stop(start, t->queries);
    must(t, sum >= t->queries / 2, "a count is too low");
    return time;
}

static bool can_count(const bench_subject *s)
{
    return s->count != NULL;
}

/* ---- Changes ----------------------------------------------------------- */

static void check_members(const bench_trial *t, const void *self)
{
    must(t, t->subject->has(self, t->hits, t->members, t->queries) == t->queries,
         "a member was not found");
}

/* By threads, or by make() if there are 0. */
static bench_time build(bench_trial *t, unsigned threads)
{
    const bench_subject *s = t->subject;
    bench_time start = bench_start();
    void *made = threads ? s->make_shared(s, &t->of, t->all, t->of.keys, threads)
                         : s->make(s, &t->of, t->all, t->of.keys);
    bench_time time = bench_stop(start, t->of.keys);

    must(t, made, "cannot be built");
    check_members(t, made);
    t->subject->drop(made);
    return time;
}

static bool can_build(const bench_subject *s)
{
    return s->builds_at_once;
}

static void *make_empty(const bench_trial *t)
{
    void *made = t->subject->make(t->subject, &t->of, NULL, 0);

    must(t, made, "cannot be made empty");
    if (t->without)
        t->subject->use_without(made, t->without);
    return made;
}

static bench_time add(bench_trial *t, unsigned each)
{
    bool (*const go)(void *, const uint64_t *, size_t) =
        each ? t->subject->add_each : t->subject->add;
    void *made = make_empty(t);

    bench_time start = bench_start();
    must(t, go(made, t->all, t->of.keys), "is full too early");
    bench_time time = bench_stop(start, t->of.keys);
    check_members(t, made);
    t->subject->drop(made);
    return time;
}

static bool can_add(const bench_subject *s)
{
    return s->add != NULL;
}

static bool can_add_each(const bench_subject *s)
{
    return s->add_each != NULL;
}

typedef struct {
    const bench_trial *trial;
    void *made;
    unsigned threads;
    bool failed[BENCH_MAX_THREADS];
} adders;

static void add_share(void *ctx, unsigned i)
{
    adders *a = ctx;
    const bench_trial *t = a->trial;
    uint64_t each = t->of.keys / a->threads, from = i * each;
    uint64_t n = i + 1 < a->threads ? each : t->of.keys - from;

    a->failed[i] = !t->subject->add_shared(a->made, t->all + from, n);
}

static bench_time add_threads(bench_trial *t, unsigned threads)
{
    adders a = { .trial = t, .made = make_empty(t), .threads = threads };
    bench_time time = bench_threads(threads, add_share, &a);
    double keys = (double)t->of.keys;

    for (unsigned i = 0; i < threads; i++)
        must(t, !a.failed[i], "is full too early");
    check_members(t, a.made);
    t->subject->drop(a.made);
    return (bench_time){ time.cpu / keys, time.wall / keys };
}

static bool can_add_shared(const bench_subject *s)
{
    return s->add_shared != NULL;
}

static bool can_build_shared(const bench_subject *s)
{
    return s->make_shared != NULL;
}

/* Keys are looked up first, so that the cache holds the same as when the limit is measured. Removed
 * keys are added again, so that the next workload finds the subject as it was. (Some kinds keep
 * marks, and then find more absent keys.) */
static bench_time take_out(bench_trial *t, unsigned each)
{
    bool (*const go)(void *, const uint64_t *, size_t) =
        each ? t->subject->remove_each : t->subject->remove;
    size_t n = t->queries < t->of.keys / 2 ? t->queries : t->of.keys / 2;

    must(t, t->subject->has(t->self, t->hits, t->all + n, n) == n, "has lost a member");
    bench_time start = bench_start();
    must(t, go(t->self, t->all, n), "does not let go of a member");
    bench_time time = bench_stop(start, n);
    must(t, t->subject->has(t->self, t->hits, t->all + n, n) == n, "lost a member");
    must(t, t->subject->add(t->self, t->all, n), "does not take back a member");
    t->found_strangers = t->subject->has(t->self, t->hits, t->strangers, t->queries);
    return time;
}

static bool can_remove(const bench_subject *s)
{
    return s->remove && s->add;
}

static bool can_remove_each(const bench_subject *s)
{
    return s->remove_each && s->add;
}

/* ---- Files ------------------------------------------------------------- */

enum { COLD_LOOKUPS = 200 };

/* Pages that are written to disk can be dropped and read again. */
static void forget(const bench_trial *t)
{
    must(t, bench_forget(t->path), "its file cannot be dropped from memory");
}

static bench_time map_cold(bench_trial *t, unsigned how)
{
    size_t n = t->queries < COLD_LOOKUPS ? t->queries : COLD_LOOKUPS, found;

    (void)how;
    must(t, t->subject->save(t->self, t->path), "cannot be saved");
    forget(t);
    bench_time start = bench_start();
    void *mapped = t->subject->map(t->path);
    must(t, mapped, "cannot be mapped");
    found = t->subject->has_each(mapped, t->members, n);
    bench_time time = bench_stop(start, n);
    must(t, found == n, "a member was not found in the file");
    t->subject->drop(mapped);
    unlink(t->path);
    return time;
}

static bool can_map(const bench_subject *s)
{
    return s->save && s->map && s->has_each;
}

/* ---- All --------------------------------------------------------------- */

static bool always(const bench_subject *s)
{
    (void)s;
    return true;
}

enum { R = AT_ALL_RATES, L = AT_LARGE, M = AT_MAIN_SIZE_ONLY, C = BY_CPU, T = ON_THREADS };

const bench_workload BENCH_WORKLOADS[] = {
    { "has-0", READ_PREFETCHED_HUGE, false, always, has, 0, R | L | C },
    { "has-50", READ_PREFETCHED_HUGE, false, always, has, 50, 0 },
    { "has-100", READ_PREFETCHED_HUGE, false, always, has, 100, R | L | C },
    { "has-one", READ_INDEPENDENT_HUGE, false, can_each, has_each, 0, R | L | C },
    { "has-one-100", READ_INDEPENDENT_HUGE, false, can_each, has_each, 100, L },
    { "has-chain", READ_DEPENDENT_HUGE, false, can_chain, has_chain, 0, L },
    { "has-batch-1", READ_PREFETCHED_HUGE, false, always, has_batch, 1, M },
    { "has-batch-4", READ_PREFETCHED_HUGE, false, always, has_batch, 4, M },
    { "has-batch-16", READ_PREFETCHED_HUGE, false, always, has_batch, 16, M },
    { "has-batch-64", READ_PREFETCHED_HUGE, false, always, has_batch, 64, M },
    { "has-batch-256", READ_PREFETCHED_HUGE, false, always, has_batch, 256, M },
    { "has-batch-1024", READ_PREFETCHED_HUGE, false, always, has_batch, 1024, M },
    { "count", READ_PREFETCHED_HUGE, false, can_count, count, 0, L },
    { "threads-1", READ_THREADS_1, true, always, has_threads, 1, L | T },
    { "threads-2", READ_THREADS_2, true, always, has_threads, 2, L | T },
    { "map-cold", COLD_PAGE_READ, true, can_map, map_cold, 0, 0 },
    { "build", WRITE_PREFETCHED_HUGE, false, can_build, build, 0, R | L },
    { "build-threads-1", WRITE_PREFETCHED_HUGE, true, can_build_shared, build, 1, T },
    { "build-threads-2", WRITE_PREFETCHED_HUGE, true, can_build_shared, build, 2, T },
    { "add-one", WRITE_INDEPENDENT_HUGE, false, can_add_each, add, true, L },
    { "add-many", WRITE_PREFETCHED_HUGE, false, can_add, add, false, R | L | C },
    { "add-threads-1", WRITE_PREFETCHED_HUGE, true, can_add_shared, add_threads, 1, T },
    { "add-threads-2", WRITE_PREFETCHED_HUGE, true, can_add_shared, add_threads, 2, T },
    { "remove", WRITE_PREFETCHED_HUGE, false, can_remove, take_out, false, L },
    { "remove-one", WRITE_INDEPENDENT_HUGE, false, can_remove_each, take_out, true, L },
};
const size_t BENCH_WORKLOAD_COUNT = sizeof BENCH_WORKLOADS / sizeof *BENCH_WORKLOADS;
