/* cmd_dedup.c - tamis dedup: lines without those that came before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "message.h"
#include "number.h"
#include "output.h"

/* A filter of seven intervals of time, and of the one at hand (tamis_rotate). When more lines come
 * in an interval than it has room for, a larger one goes on, and this fades. */
typedef struct pane {
    tamis *filter;
    uint64_t added, room; /* in the interval at hand */
    unsigned age;         /* intervals since a larger one took over */
    struct pane *older;
} pane;

enum { INTERVALS = 7 };

typedef struct dedup {
    tamis_spec spec;
    tamis_kind kind;
    uint64_t window;   /* latest lines to look at; 0: all */
    uint64_t interval; /* nanoseconds between rotations; 0: none */
    uint64_t rotated;  /* when */
    bool refreshes;    /* what is found is added again, so that it stays */
    bool fixed, counting;
    pane *panes; /* the newest first */
    uint64_t lines, dropped;
    buffer out;
} dedup;

/* ---- Panes ------------------------------------------------------------- */

static pane *pane_new(const dedup *d, uint64_t keys, pane *older)
{
    pane *p = malloc(sizeof *p);
    tamis_spec spec = d->spec;
    tamis_plan plan;
    tamis_status status;

    if (!p)
        die(CODE_MEMORY, "out of memory");
    *p = (pane){ .room = (keys + INTERVALS - 1) / INTERVALS, .older = older };
    spec.keys = keys;
    if ((status = tamis_plan_kind(&plan, d->kind, &spec)) ||
        (status = tamis_new(&p->filter, &plan, NULL)))
        die_status("plan", "what was seen", status);
    return p;
}

static void drop_faded(pane *p)
{
    while (p->older) {
        pane *older = p->older;
        if (older->age <= INTERVALS) {
            p = older;
            continue;
        }
        p->older = older->older;
        tamis_free(older->filter);
        free(older);
    }
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void rotate_all(dedup *d)
{
    for (pane *p = d->panes; p; p = p->older) {
        tamis_status status = tamis_rotate(p->filter);
        if (status)
            die_status("rotate", "what was seen", status);
        p->added = 0;
        p->age += p != d->panes;
    }
    drop_faded(d->panes);
}

/* After a long pause, no more rotations than make everything fade. */
static void follow_the_clock(dedup *d)
{
    uint64_t passed = d->interval ? (now() - d->rotated) / d->interval : 0;

    d->rotated += passed * d->interval;
    for (uint64_t i = 0; i < passed && i <= INTERVALS; i++)
        rotate_all(d);
}

/* ---- Lines ------------------------------------------------------------- */

static bool was_seen(const dedup *d, uint64_t key)
{
    for (const pane *p = d->panes; p; p = p->older)
        if (tamis_has(p->filter, key))
            return true;
    return false;
}

static void see(dedup *d, uint64_t key)
{
    pane *p = d->panes;

    if (d->interval && p->added >= p->room)
        d->panes = p = pane_new(d, p->room * INTERVALS * 2, p);
    tamis_status status = tamis_add(p->filter, key);
    if (status)
        die_status("remember", "a line", status);
    p->added++;
}

/* Whether the line goes out. */
static bool is_new(dedup *d, uint64_t key)
{
    bool seen = was_seen(d, key);

    if (!seen || d->refreshes)
        see(d, key);
    return !seen;
}

/* What a batch leaves in job.out: this, then the keys, then where the lines start in job.text, and
 * where the last one ends. */
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

/* Asks for the lines of memory that is_new() will read: all at once, not one after the other. */
static void warm(const dedup *d, const uint64_t *keys, size_t n)
{
    uint64_t hits[BATCH_LINES / 64];

    for (const pane *p = d->panes; p; p = p->older)
        tamis_has_many(p->filter, hits, keys, n);
}

/* Lines without the key stay. Neighbours go out together: they stand together in the text. */
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
    d->kind = TAMIS_WINDOW;
    d->interval = interval_of(a, a->value);
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
    while (d->panes) {
        pane *p = d->panes;
        d->panes = p->older;
        tamis_free(p->filter);
        free(p);
    }
    buffer_free(&d->out);
}

static void warn_if_crowded(const dedup *d)
{
    const tamis_plan *plan = tamis_plan_of(d->panes->filter);
    uint64_t kept_lines = d->lines - d->dropped;

    if (d->kind == TAMIS_BLOOM && kept_lines > plan->capacity)
        say("%" PRIu64 " different lines, %" PRIu64 " were planned: the rate went up to %.3g",
            kept_lines, plan->capacity, tamis_plan_rate(plan, kept_lines));
}

static int run(args *a)
{
    dedup d = { .kind = TAMIS_SCALABLE, .spec = { .keys = 1000000, .fpr = 1e-6 } };
    pipeline p = { .take_batch = keep_batch, .finish_chunk = finish_chunk, .ctx = &d };
    source s;

    source_init(&s);
    while (args_next(a) != -1)
        take_option(&d, &s, a);
    if (d.fixed && d.refreshes)
        args_refuse(a, "--fixed and --window exclude each other: a window of lines is fixed");
    source_inputs(&s, a, args_operands(a, 0, SIZE_MAX, NULL));
    s.format.hasher = d.spec.hasher;
    d.panes = pane_new(&d, d.window ? d.window : d.spec.keys, NULL);
    d.rotated = now();
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
        "come before, in order. What came is kept as a filter, a few bytes for each different\n"
        "line however long it is; so a new line is taken for an old one, and dropped, at the\n"
        "rate of -p. A repeated line is never printed.\n"
        "\n"
        "The filter grows with the number of different lines. With --fixed it does not: of more\n"
        "than -n, more are dropped by mistake, which is said at the end. With --window it\n"
        "forgets: a line is dropped if its key came among the latest N lines, or in that time,\n"
        "and is printed again after 8/7 of it: so many lines with a key that is new by then,\n"
        "rounded up to a multiple of eight, or so much time. M is a million, m are minutes. In\n"
        "a window of time, -n lines are expected, and more may come.",
    .options = { options, key_options },
    .when_ok = "all lines were read",
    .example = "  printf '%s\\n' red green red | tamis dedup",
    .run = run,
};
