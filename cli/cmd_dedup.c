/* cmd_dedup.c - tamis dedup: lines without those that came before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "message.h"
#include "number.h"
#include "output.h"

/* A window of time has a filter for the current interval and one for each of the seven before. */
enum { INTERVALS = 7 };

typedef struct dedup {
    tamis_spec spec;
    tamis_kind kind;
    uint64_t window;   /* how many of the latest lines count; 0: all */
    uint64_t interval; /* in nanoseconds; 0: no window of time */
    uint64_t begun;    /* when the current interval began */
    uint64_t held;     /* different lines that came in it */
    bool refreshes;    /* what is found is added again, so that it stays */
    bool fixed, counting;
    tamis *seen[INTERVALS + 1]; /* the newest first */
    unsigned n_seen;
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

static void begin(dedup *d)
{
    uint64_t keys = d->window ? d->window : d->spec.keys;

    d->begun = now();
    if (d->interval) {
        d->spec.fpr /= INTERVALS + 1;
        keys = (keys + INTERVALS - 1) / INTERVALS;
    }
    d->seen[d->n_seen++] = filter_for(d, keys);
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
            die_status("remember", "a line", status);
    }
    d->held += !in_newest;
    return !seen;
}

/* What a batch leaves in job.out: this struct, then the keys, then the offsets of its lines in
 * job.text and the offset where the last one ends. */
typedef struct kept {
    size_t n;
    uint64_t keyless[BATCH_LINES / 64];
} kept;

static void keep_batch(void *ctx, job *j)
{
    const batch *b = &j->batch;
    kept k = { .n = b->n };
    size_t start[BATCH_LINES + 1];

    (void)ctx;
    memcpy(k.keyless, b->keyless, sizeof k.keyless);
    for (size_t i = 0; i <= b->n; i++)
        start[i] = (size_t)(b->start[i] - j->text.bytes);
    buffer_append(&j->out, &k, sizeof k);
    buffer_append(&j->out, b->keys, b->n * sizeof *b->keys);
    buffer_append(&j->out, start, (b->n + 1) * sizeof *start);
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

static void finish_chunk(void *ctx, job *j)
{
    dedup *d = ctx;
    const char *at = j->out.bytes, *end = at + j->out.size;

    follow_the_clock(d);
    d->out.size = 0;
    while (at < end) {
        const kept *k = (const void *)at;
        const uint64_t *keys = (const void *)(k + 1);
        const size_t *start = (const void *)(keys + k->n);
        sift(d, j, k, keys, start);
        at = (const char *)(start + k->n + 1);
    }
    output_write(d->out.bytes, d->out.size);
}

/* ---- Command ----------------------------------------------------------- */

enum { OPTION_WINDOW = OPTION_OWN, OPTION_FIXED };

static const option_row options[] = {
    { 'n', "keys", "N", "room for that many different lines at first, 1000000 by default" },
    { 'p', "fpr", "RATE", "share of new lines dropped by mistake, 1e-6 by default" },
    { OPTION_WINDOW, "window", "N", "look at the latest N lines, or those of 90s, 10m, 2h, 7d" },
    { OPTION_FIXED, "fixed", NULL, "never take more memory than N lines need" },
    { 'c', "count", NULL, "say at the end how many lines there were, and how many dropped" },
    { 0 },
};

static uint64_t interval_of(const args *a, const char *text)
{
    static const char letters[] = "smhd";
    static const uint64_t seconds[] = { 1, 60, 3600, 86400 };
    size_t size = strlen(text);
    const char *unit = size > 1 ? strchr(letters, text[size - 1]) : NULL;
    uint64_t n, ns;

    if (!unit)
        return 0;
    if (!number_integer(&n, text, size - 1) || n == 0 ||
        __builtin_mul_overflow(n, seconds[unit - letters] * 1000000000, &ns))
        args_refuse(a, "--window is a number of lines, or a time such as 90s, 10m, 2h or 7d");
    return ns / INTERVALS;
}

static void choose_window(dedup *d, const args *a)
{
    d->refreshes = true;
    d->interval = interval_of(a, a->value);
    d->kind = d->interval ? TAMIS_SCALABLE : TAMIS_WINDOW;
    d->window = d->interval ? 0 : args_count(a, 1, UINT64_C(1) << 50);
}

static void take_option(dedup *d, source *s, const args *a)
{
    switch (a->letter) {
    case 'n':
        d->spec.keys = args_count(a, 1, UINT64_C(1) << 50);
        break;
    case 'p':
        d->spec.fpr = args_fpr(a);
        break;
    case 'c':
        d->counting = true;
        break;
    case OPTION_WINDOW:
        choose_window(d, a);
        break;
    case OPTION_FIXED:
        d->fixed = true;
        d->kind = TAMIS_BLOOM;
        break;
    default:
        source_option(s, a);
    }
}

static void end(dedup *d)
{
    while (d->n_seen)
        tamis_free(d->seen[--d->n_seen]);
    buffer_free(&d->out);
}

static void warn_if_crowded(const dedup *d)
{
    const tamis_plan *plan = tamis_plan_of(d->seen[0]);
    uint64_t kept_lines = d->lines - d->dropped;

    if (d->kind == TAMIS_BLOOM && kept_lines > plan->capacity)
        say("%" PRIu64 " different lines, %" PRIu64 " were planned: the rate went up to %.3g",
            kept_lines, plan->capacity, tamis_plan_rate(plan, kept_lines));
}

static int run(args *a)
{
    dedup d = { .kind = TAMIS_SCALABLE, .spec = TAMIS_SPEC(.keys = 1000000, .fpr = 1e-6) };
    pipeline p = { .take_batch = keep_batch, .finish_chunk = finish_chunk, .ctx = &d };
    source s;

    source_init(&s);
    while (args_next(a) != -1)
        take_option(&d, &s, a);
    if (d.fixed && d.refreshes)
        args_refuse(a, "--fixed and --window cannot be used together: a window of lines is fixed");
    source_inputs(&s, a, args_operands(a, 0, SIZE_MAX, NULL));
    s.format.hasher = d.spec.hasher;
    begin(&d);
    pipeline_run(&p, &s);
    if (d.counting)
        fprintf(stderr, "%" PRIu64 " lines, %" PRIu64 " dropped\n", d.lines, d.dropped);
    warn_if_crowded(&d);
    end(&d);
    return CODE_OK;
}

const command cmd_dedup = {
    .name = "dedup",
    .operands = "[OPTION]... [INPUT]...",
    .summary = "drop lines that came before",
    .about =
        "Reads lines from the INPUTs, or from standard input, and prints those whose key did not\n"
        "come before, in order. A filter remembers what came, in a few bytes for each different\n"
        "line however long it is. A repeated line is never printed. A new line is taken for an\n"
        "old one, and dropped, at the rate -p.\n"
        "\n"
        "The filter grows with the number of different lines. With --fixed it does not: if more\n"
        "than -n lines come, more are dropped by mistake, and a message at the end says so.\n"
        "\n"
        "With --window, the filter forgets. A line is dropped if its key came among the latest N\n"
        "lines, or within that time. It is printed again after 8/7 of the window at the latest:\n"
        "after that much time, or after that many lines with new keys, rounded up to a multiple\n"
        "of eight. M is a million, m stands for minutes. With a window of time, -n is the number\n"
        "of lines expected, and more may come.",
    .options = { options, key_options },
    .when_ok = "all lines were read",
    .example = "  printf '%s\\n' red green red | tamis dedup",
    .run = run,
};
