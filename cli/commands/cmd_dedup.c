/* cmd_dedup.c - tamis dedup: lines without those that came before. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "files/exact.h"
#include "files/lock.h"
#include "filters/spec.h"
#include "filters/store.h"
#include "term/message.h"
#include "term/output.h"
#include "text/abilities.h"
#include "text/number.h"

/* A window of time has a filter for the current interval and one for each of the seven before. */
enum { INTERVALS = 7 };

typedef struct dedup {
    source source;
    tamis_spec spec;
    tamis_kind kind;
    uint64_t window;   /* how many of the latest lines count; 0: all */
    uint64_t interval; /* in nanoseconds; 0: no window of time */
    uint64_t begun;    /* when the current interval began */
    uint64_t held;     /* different lines that came in it */
    bool refreshes;    /* what is found is added again, so that it stays */
    bool fixed;
    stats_form stats;
    tamis *seen[INTERVALS + 1]; /* the newest first */
    unsigned n_seen;
    bool is_fresh;        /* nothing was saved there yet */
    const char *state;    /* where seen[0] is kept between runs, or NULL */
    pthread_mutex_t lock; /* held while lines are printed and remembered */
    bool is_exact, by_text;
    uint64_t memory;
    exact *exact;        /* instead of seen[], or NULL */
    tamis_hasher second; /* of the other hash for it */
    buffer joined;       /* a key of several columns */
    uint64_t lines, dropped;
    buffer out;
} dedup;

/* ---- What was seen ----------------------------------------------------- */

static tamis *filter_for(const dedup *d, uint64_t keys)
{
    tamis_spec spec = d->spec;
    tamis_plan plan;
    tamis *f = NULL;
    tamis_status status;

    spec.keys = keys;
    if ((status = tamis_plan_kind(&plan, d->kind, &spec)) || (status = tamis_new(&f, &plan, NULL)))
        die_status("plan", "what was seen", status);
    return f;
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The next interval is planned for as many lines as the last one had. */
static void begin_interval(dedup *d)
{
    if (d->n_seen > INTERVALS)
        tamis_free(d->seen[--d->n_seen]);
    memmove(d->seen + 1, d->seen, d->n_seen * sizeof *d->seen);
    d->seen[0] = filter_for(d, d->held);
    d->n_seen++;
    d->held = 0;
}

/* After a long pause, INTERVALS + 1 new intervals are enough to forget everything. */
static void follow_the_clock(dedup *d)
{
    uint64_t passed = d->interval ? (now() - d->begun) / d->interval : 0;

    d->begun += passed * d->interval;
    for (uint64_t i = 0; i < passed && i <= INTERVALS; i++)
        begin_interval(d);
}

/* ---- Between runs ------------------------------------------------------ */

/* Whatever is remembered was printed. */
static void save_state(const dedup *d)
{
    if (d->state && (d->lines > d->dropped || d->refreshes || d->is_fresh))
        store_save(d->seen[0], d->state);
}

static void stop_signals(sigset_t *stops)
{
    sigemptyset(stops);
    sigaddset(stops, SIGINT);
    sigaddset(stops, SIGTERM);
    sigaddset(stops, SIGHUP);
}

/* Waits for a signal that ends the program, saves what was seen until then, and lets it end. */
static void *save_when_stopped(void *ctx)
{
    dedup *d = ctx;
    sigset_t stops;
    int which;

    stop_signals(&stops);
    if (sigwait(&stops, &which))
        return NULL;
    pthread_mutex_lock(&d->lock);
    save_state(d);
    signal(which, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &stops, NULL);
    raise(which);
    return NULL;
}

/* Threads that start later leave the signals to this one, too. */
static void watch_signals(dedup *d)
{
    sigset_t stops;
    pthread_t watcher;

    stop_signals(&stops);
    pthread_sigmask(SIG_BLOCK, &stops, NULL);
    if (pthread_create(&watcher, NULL, save_when_stopped, d))
        pthread_sigmask(SIG_UNBLOCK, &stops, NULL);
    else
        pthread_detach(watcher);
}

static void check_state(const dedup *d, const tamis_plan *plan)
{
    unsigned can = tamis_kind_can(plan->kind);

    abilities_require(plan->kind, TAMIS_CAN_ADD, d->state);
    if (can & TAMIS_IS_INDEXED)
        die(CODE_USAGE, "dedup: %s holds small integers, not lines; give another --state",
            d->state);
    if (plan->kind != d->kind && (d->fixed || d->refreshes))
        die(CODE_USAGE,
            "dedup: %s is a %s filter; leave out --fixed and --window, or give another --state",
            d->state, tamis_kind_name(plan->kind));
}

/* A file that is not there is made before it is locked, so that two programs that start at once
 * lock the same. It is empty until it is saved. */
static tamis *load_state(dedup *d, uint64_t keys)
{
    struct stat s;
    int fd = open(d->state, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);

    if (fd >= 0)
        close(fd); /* nothing was written */
    lock_filter(d->state);
    if (stat(d->state, &s))
        die_errno("read", d->state);
    d->is_fresh = s.st_size == 0;
    return d->is_fresh ? filter_for(d, keys) : store_load(d->state);
}

static void begin_state(dedup *d, uint64_t keys)
{
    store_check_target(d->state);
    d->seen[d->n_seen++] = load_state(d, keys);
    const tamis_plan *plan = tamis_plan_of(d->seen[0]);
    check_state(d, plan);
    d->kind = plan->kind;
    d->refreshes = (tamis_kind_can(d->kind) & TAMIS_CAN_ROTATE) != 0;
    d->spec.hasher = plan->hasher;
    d->spec.fpr = plan->fpr;
    watch_signals(d);
}

/* ---- Begin ------------------------------------------------------------- */

/* Nobody who does not know the secrets can make two lines with the same hashes. */
static void begin_exact(dedup *d)
{
    tamis_hasher *hasher = &d->source.format.hasher;

    hasher->hash = TAMIS_KEYED;
    draw_secret(hasher->secret);
    d->second.hash = TAMIS_KEYED;
    draw_secret(d->second.secret);
    d->exact = exact_open(source_memory(&d->source, d->memory, 1 << 20), d->by_text);
}

static void begin_filters(dedup *d)
{
    uint64_t keys = d->window ? d->window : d->spec.keys;

    d->begun = now();
    if (d->interval) {
        d->spec.fpr /= INTERVALS + 1;
        keys = (keys + INTERVALS - 1) / INTERVALS;
    }
    if (d->state)
        begin_state(d, keys);
    else
        d->seen[d->n_seen++] = filter_for(d, keys);
}

static void begin(dedup *d)
{
    if (d->is_exact) {
        begin_exact(d);
        return;
    }
    begin_filters(d);
    d->source.format.hasher = d->spec.hasher;
}

/* ---- Lines ------------------------------------------------------------- */

/* Whether the line goes out. */
static bool is_new(dedup *d, uint64_t key)
{
    bool in_newest = tamis_has(d->seen[0], key), seen = in_newest;

    for (unsigned i = 1; i < d->n_seen && !seen; i++)
        seen = tamis_has(d->seen[i], key);
    if (!seen || d->refreshes) {
        tamis_status status = tamis_add(d->seen[0], key);
        if (status)
            die_status("remember a line in", d->state ? d->state : "memory", status);
    }
    d->held += !in_newest;
    return !seen;
}

/* What a batch leaves in job.out: this struct, then the keys, then the offsets of its lines in
 * job.text and the offset where the last one ends, then if need be the other hashes. */
typedef struct kept {
    size_t n;
    uint64_t keyless[BATCH_LINES / 64];
} kept;

static void keep_other_hashes(const dedup *d, job *j)
{
    key_format second = d->source.format;
    batch *b = &j->batch;

    second.hasher = d->second;
    batch_take(b, &second, b->start[0], b->start[b->n]);
    buffer_append(&j->out, b->keys, b->n * sizeof *b->keys);
}

static void keep_batch(void *ctx, job *j)
{
    const dedup *d = ctx;
    const batch *b = &j->batch;
    kept k = { .n = b->n };
    size_t start[BATCH_LINES + 1];

    memcpy(k.keyless, b->keyless, sizeof k.keyless);
    for (size_t i = 0; i <= b->n; i++)
        start[i] = (size_t)(b->start[i] - j->text.bytes);
    buffer_append(&j->out, &k, sizeof k);
    buffer_append(&j->out, b->keys, b->n * sizeof *b->keys);
    buffer_append(&j->out, start, (b->n + 1) * sizeof *start);
    if (d->exact)
        keep_other_hashes(d, j);
}

/* Brings the memory that is_new() will read into the cache, for all keys at once. */
static void warm(const dedup *d, const uint64_t *keys, size_t n)
{
    uint64_t hits[BATCH_LINES / 64];

    for (unsigned i = 0; i < d->n_seen; i++)
        tamis_has_many(d->seen[i], hits, keys, n);
}

/* Lines without a key stay. Consecutive lines are written together. */
static void sift(dedup *d, const job *j, const kept *k, const uint64_t *keys, const size_t *start)
{
    size_t first = 0;

    warm(d, keys, k->n);
    for (size_t i = 0; i < k->n; i++) {
        bool keyless = k->keyless[i / 64] >> i % 64 & 1;
        if (keyless || is_new(d, keys[i]))
            continue;
        buffer_append(&d->out, j->text.bytes + start[first], start[i] - start[first]);
        first = i + 1;
        d->dropped++;
    }
    buffer_append(&d->out, j->text.bytes + start[first], start[k->n] - start[first]);
    d->lines += k->n;
}

static void sift_exactly(dedup *d, const job *j, const kept *k, const uint64_t *keys,
                         const size_t *start)
{
    const uint64_t *others = (const void *)(start + k->n + 1);

    for (size_t i = 0; i < k->n; i++) {
        bool keyless = k->keyless[i / 64] >> i % 64 & 1;
        const char *at = j->text.bytes + start[i], *end = j->text.bytes + start[i + 1];
        exact_line line = { { keys[i], others[i] }, !keyless, { at, (size_t)(end - at) }, { 0 } };

        if (d->by_text)
            (void)key_text(&line.key, &d->source.format, at, end, &d->joined);
        exact_answer answer = exact_look(d->exact, &line);
        if (answer == EXACT_NEW)
            buffer_append(&d->out, at, (size_t)(end - at));
        d->dropped += answer == EXACT_SEEN;
    }
    d->lines += k->n;
}

/* Returns where the next batch begins. */
static const char *finish_batch(dedup *d, const job *j, const char *at)
{
    const kept *k = (const void *)at;
    const uint64_t *keys = (const void *)(k + 1);
    const size_t *start = (const void *)(keys + k->n);
    const char *end = (const char *)(start + k->n + 1);

    if (!d->exact) {
        sift(d, j, k, keys, start);
        return end;
    }
    sift_exactly(d, j, k, keys, start);
    return end + k->n * sizeof *keys;
}

static void finish_chunk(void *ctx, job *j)
{
    dedup *d = ctx;
    const char *at = j->out.bytes, *end = at + j->out.size;

    pthread_mutex_lock(&d->lock);
    follow_the_clock(d);
    d->out.size = 0;
    while (at < end)
        at = finish_batch(d, j, at);
    output_write(d->out.bytes, d->out.size);
    pthread_mutex_unlock(&d->lock);
}

static void print_header(void *ctx, const char *line, size_t size)
{
    dedup *d = ctx;

    pthread_mutex_lock(&d->lock);
    output_write(line, size);
    pthread_mutex_unlock(&d->lock);
}

static void print_waiting(dedup *d)
{
    span text;

    d->out.size = 0;
    while (exact_next(d->exact, &text, &d->dropped)) {
        buffer_append(&d->out, text.at, text.size);
        output_gathered(&d->out, false);
    }
    output_gathered(&d->out, true);
}

/* ---- Command ----------------------------------------------------------- */

static uint64_t interval_of(const args *a, const char *text)
{
    static const char letters[] = "smhd";
    static const uint64_t seconds[] = { 1, 60, 3600, 86400 };
    size_t size = strlen(text);
    const char *unit = size > 1 ? strchr(letters, text[size - 1]) : NULL;
    uint64_t n, ns;

    if (!unit && number_count(&n, text))
        return 0;
    if (!unit || !number_integer(&n, text, size - 1) || n == 0 ||
        __builtin_mul_overflow(n, seconds[unit - letters] * 1000000000, &ns))
        args_refuse(a, "--window is a number of lines, or a time such as 90s, 10m, 2h or 7d");
    return ns / INTERVALS;
}

static void choose_window(void *into, const args *a)
{
    dedup *d = into;

    d->refreshes = true;
    d->interval = interval_of(a, a->value);
    d->kind = d->interval ? TAMIS_SCALABLE : TAMIS_WINDOW;
    d->window = d->interval ? 0 : args_count(a, 1, UINT64_C(1) << 50);
}

static void choose_exact(void *into, const args *a)
{
    dedup *d = into;

    if (a->value && strcmp(a->value, "lines") != 0)
        args_refuse(a, "--exact keeps hashes, and --exact=lines whole lines");
    d->is_exact = true;
    d->by_text = a->value != NULL;
}

static void check_options(void *into, const args *a)
{
    dedup *d = into;
    bool has_spec = args_given(a, "keys") || args_given(a, "fpr");

    if (d->fixed && d->refreshes)
        args_refuse(a, "--fixed and --window cannot be used together: a window of lines is fixed");
    if (d->memory && !d->is_exact)
        args_refuse(a, "--memory is for --exact; -n with --fixed bounds a filter");
    if (d->is_exact && (has_spec || d->fixed || d->refreshes || d->state))
        args_refuse(a, "--exact has no filter: it takes no -n, -p, --fixed, --window or --state");
    if (d->state && d->interval)
        args_refuse(a, "--state keeps one filter: give --window a number of lines, not a time");
    if (d->fixed)
        d->kind = TAMIS_BLOOM;
}

/* ---- End --------------------------------------------------------------- */

static void end(dedup *d)
{
    while (d->n_seen)
        tamis_free(d->seen[--d->n_seen]);
    if (d->exact)
        exact_close(d->exact);
    buffer_free(&d->joined);
    buffer_free(&d->out);
}

/* New lines that were dropped, on average and at most: each at the highest rate so far. */
static double mistakes(const dedup *d)
{
    uint64_t kept_lines = d->lines - d->dropped;
    double rate = d->spec.fpr;

    if (d->is_exact)
        return 0;
    if (d->kind == TAMIS_BLOOM)
        rate = fmax(rate, tamis_plan_rate(tamis_plan_of(d->seen[0]), kept_lines));
    return rate * (double)kept_lines;
}

static void report_counts(const dedup *d)
{
    if (d->stats == STATS_JSON)
        fprintf(stderr,
                "{\"lines\": %" PRIu64 ", \"dropped\": %" PRIu64 ", \"by_mistake\": %.3g}\n",
                d->lines, d->dropped, mistakes(d));
    else if (d->stats)
        fprintf(stderr,
                "%" PRIu64 " lines, %" PRIu64
                " dropped; expect at most %.2g new ones among these\n",
                d->lines, d->dropped, mistakes(d));
}

static void warn_if_crowded(const dedup *d)
{
    uint64_t kept_lines = d->lines - d->dropped;

    if (d->state)
        store_warn_if_crowded(d->seen[0], d->state);
    else if (d->kind == TAMIS_BLOOM && kept_lines > tamis_plan_of(d->seen[0])->capacity)
        say("%" PRIu64 " different lines, %" PRIu64 " were planned: the rate went up to %.3g",
            kept_lines, tamis_plan_of(d->seen[0])->capacity,
            tamis_plan_rate(tamis_plan_of(d->seen[0]), kept_lines));
}

static int run(args *a)
{
    dedup d = { .source = source_default(),
                .kind = TAMIS_SCALABLE,
                .spec = TAMIS_SPEC(.keys = 1000000, .fpr = 1e-9),
                .lock = PTHREAD_MUTEX_INITIALIZER };
    pipeline p = { .take_batch = keep_batch,
                   .finish_chunk = finish_chunk,
                   .take_header = print_header,
                   .ctx = &d };

    args_read(a, &d);
    source_operands(&d.source, a, NULL);
    begin(&d);
    pipeline_run(&p, &d.source);
    if (d.exact)
        print_waiting(&d);
    pthread_mutex_lock(&d.lock);
    save_state(&d);
    report_counts(&d);
    warn_if_crowded(&d);
    end(&d);
    return CODE_OK;
}

static const option_row options[] = {
    { 'n', "keys", "N", "room for that many different lines at first, 1000000 by default",
      TO_COUNT(dedup, spec.keys, 1, UINT64_C(1) << 50) },
    { 'p', "fpr", "RATE", "share of new lines dropped by mistake, 1e-9 by default",
      TO_FPR(dedup, spec.fpr) },
    { 0, "window", "N", "look at the latest N lines, or those of 90s, 10m, 2h, 7d",
      .take = choose_window },
    { 0, "fixed", NULL, "never take more memory than N lines need", TO_FLAG(dedup, fixed) },
    { 0, "exact", "[=lines]", "make no mistakes: keep hashes of 16 bytes, or the lines",
      .take = choose_exact },
    { 0, "memory", "SIZE", "with --exact, for everything: K, M, G; more waits on disk",
      TO_SIZE(dedup, memory) },
    { 0, "state", "FILE", "remember what was printed in FILE, for the next run",
      TO_TEXT(dedup, state) },
    { 0, "stats", "[=json]", "say at the end how many lines there were, and how many dropped",
      TO_STATS(dedup, stats) },
    OPTIONS(key_options, dedup, source),
    { .take = check_options },
};

const command cmd_dedup = { "dedup", help_dedup, options, .run = run };
