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

    /* A second pass removes what other workloads left in the cache. */
    ask(t, keys, t->queries);
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

static size_t ask_by(const bench_trial *t, size_t batch)
{
    size_t found = 0;

    for (size_t i = 0; i < t->queries; i += batch)
        found += ask(t, t->strangers + i, batch < t->queries - i ? batch : t->queries - i);
    return found;
}

static bench_time has_batch(bench_trial *t, unsigned batch)
{
    ask(t, t->strangers, t->queries);
    bench_time start = bench_start();
    size_t found = ask_by(t, batch);
    bench_time time = bench_stop(start, t->queries);
    check_found(t, 0, found);
    return time;
}

static size_t ask_one_by_one(const bench_trial *t)
{
    size_t found = 0;

    for (size_t i = 0; i < t->queries; i++)
        found += t->subject->has_one(t->self, t->strangers[i]);
    return found;
}

static bench_time has_one(bench_trial *t, unsigned how)
{
    (void)how;
    ask(t, t->strangers, t->queries);
    bench_time start = bench_start();
    size_t found = ask_one_by_one(t);
    bench_time time = bench_stop(start, t->queries);
    check_found(t, 0, found);
    return time;
}

static bool can_one(const bench_subject *s)
{
    return s->has_one != NULL;
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
    for (int round = 0; round < BENCH_ROUNDS; round++)
        s->found[i] = t->subject->has(t->self, t->hits + i * s->each / 64,
                                      t->strangers + i * s->each, s->each);
}

static bench_time has_threads(bench_trial *t, unsigned threads)
{
    shares s = { .trial = t, .each = t->queries / threads / 64 * 64 };
    size_t found = 0;
    size_t n = s.each * threads, expected = ask(t, t->strangers, n);
    bench_time time = bench_threads(threads, ask_share, &s);
    double keys = (double)(n * BENCH_ROUNDS);

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

static bench_time build(bench_trial *t, unsigned how)
{
    (void)how;
    bench_time start = bench_start();
    void *made = t->subject->make(t->subject, &t->of, t->all, t->of.keys);
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

static bool add_all(const bench_trial *t, void *self, bool one_by_one)
{
    if (!one_by_one)
        return t->subject->add(self, t->all, t->of.keys);
    for (uint64_t i = 0; i < t->of.keys; i++)
        if (!t->subject->add_one(self, t->all[i]))
            return false;
    return true;
}

static bench_time add(bench_trial *t, unsigned one_by_one)
{
    void *made = t->subject->make(t->subject, &t->of, NULL, 0);

    must(t, made, "cannot be made empty");
    bench_time start = bench_start();
    must(t, add_all(t, made, one_by_one), "is full too early");
    bench_time time = bench_stop(start, t->of.keys);
    check_members(t, made);
    t->subject->drop(made);
    return time;
}

static bool can_add(const bench_subject *s)
{
    return s->add != NULL;
}

static bool can_add_one(const bench_subject *s)
{
    return s->add_one != NULL;
}

/* Keys are looked up first, so that the cache holds the same as when the limit is measured. Removed
 * keys are added again, so that the next workload finds the subject as it was. (Some kinds keep
 * marks, and then find more absent keys.) */
static bench_time take_out(bench_trial *t, unsigned how)
{
    size_t n = t->queries < t->of.keys / 2 ? t->queries : t->of.keys / 2;

    (void)how;
    must(t, t->subject->has(t->self, t->hits, t->all + n, n) == n, "has lost a member");
    bench_time start = bench_start();
    must(t, t->subject->remove(t->self, t->all, n), "does not let go of a member");
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

/* ---- Files ------------------------------------------------------------- */

enum { COLD_LOOKUPS = 200 };

/* Pages that are written to disk can be dropped and read again. */
static void forget(const bench_trial *t)
{
    must(t, bench_forget(t->path), "its file cannot be dropped from memory");
}

static bench_time map_cold(bench_trial *t, unsigned how)
{
    size_t n = t->queries < COLD_LOOKUPS ? t->queries : COLD_LOOKUPS, found = 0;

    (void)how;
    must(t, t->subject->save(t->self, t->path), "cannot be saved");
    forget(t);
    bench_time start = bench_start();
    void *mapped = t->subject->map(t->path);
    must(t, mapped, "cannot be mapped");
    for (size_t i = 0; i < n; i++)
        found += t->subject->has_one(mapped, t->members[i]);
    bench_time time = bench_stop(start, n);
    must(t, found == n, "a member was not found in the file");
    t->subject->drop(mapped);
    unlink(t->path);
    return time;
}

static bool can_map(const bench_subject *s)
{
    return s->save && s->map && s->has_one;
}

/* ---- All --------------------------------------------------------------- */

static bool always(const bench_subject *s)
{
    (void)s;
    return true;
}

const bench_workload BENCH_WORKLOADS[] = {
    { "has-0", READ_PREFETCHED_HUGE, false, always, has, 0 },
    { "has-50", READ_PREFETCHED_HUGE, false, always, has, 50 },
    { "has-100", READ_PREFETCHED_HUGE, false, always, has, 100 },
    { "has-one", READ_INDEPENDENT_HUGE, false, can_one, has_one, 0 },
    { "has-batch-1", READ_PREFETCHED_HUGE, false, always, has_batch, 1 },
    { "has-batch-4", READ_PREFETCHED_HUGE, false, always, has_batch, 4 },
    { "has-batch-16", READ_PREFETCHED_HUGE, false, always, has_batch, 16 },
    { "has-batch-64", READ_PREFETCHED_HUGE, false, always, has_batch, 64 },
    { "has-batch-256", READ_PREFETCHED_HUGE, false, always, has_batch, 256 },
    { "has-batch-1024", READ_PREFETCHED_HUGE, false, always, has_batch, 1024 },
    { "count", READ_PREFETCHED_HUGE, false, can_count, count, 0 },
    { "threads-1", READ_THREADS_1, true, always, has_threads, 1 },
    { "threads-2", READ_THREADS_2, true, always, has_threads, 2 },
    { "map-cold", COLD_PAGE_READ, true, can_map, map_cold, 0 },
    { "build", WRITE_PREFETCHED_HUGE, false, can_build, build, 0 },
    { "add-one", WRITE_INDEPENDENT_HUGE, false, can_add_one, add, true },
    { "add-many", WRITE_PREFETCHED_HUGE, false, can_add, add, false },
    { "remove", WRITE_PREFETCHED_HUGE, false, can_remove, take_out, 0 },
};
const size_t BENCH_WORKLOAD_COUNT = sizeof BENCH_WORKLOADS / sizeof *BENCH_WORKLOADS;
