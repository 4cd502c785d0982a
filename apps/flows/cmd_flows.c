/* cmd_flows.c - tamis flows: what a capture of packets holds. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "commands.h"
#include "filters/spec.h"
#include "flows_report.h"
#include "term/message.h"
#include "term/progress.h"

enum { BLOCKS_MAX = 64 };

typedef struct request {
    tamis_spec spec; /* of the sketches; its hasher makes all keys */
    source source;
    tally_wish tally;
    flow_report report;
    const char *blocks[BLOCKS_MAX];
    size_t n_blocks;
    uint64_t k;
    uint64_t flows; /* expected: more may come */
    double fpr;
} request;

/* ---- Options ----------------------------------------------------------- */

/* A sketch of 3 rows and 0.3 MiB, which stays in the cache, and more candidates than are shown, so
 * that a mistake about the last of them does not matter. */
static const double CHANCE = 0.05;

enum { DEFAULT_K = 20, K_MAX = 1000000, SPARE = 1000, TIMES_K = 4 };

/* flow,port */
static void choose_ways(void *into, const args *a)
{
    request *r = into;
    const char *at = a->value;

    do {
        size_t size = strcspn(at, ","), w = 0;
        while (w < WAYS && (strlen(WAY_NAMES[w]) != size || memcmp(WAY_NAMES[w], at, size) != 0))
            w++;
        if (w == WAYS)
            args_refuse(a, "--by is flow, source, destination or port, or several: flow,port");
        r->tally.ways[w] = true;
        at += size;
    } while (*at++);
}

static void choose_window(void *into, const args *a)
{
    request *r = into;
    cost_value time;

    option_cost(&time, a);

    /* Up to a year, which is less than 2^55 nanoseconds: exact enough for whole ones. */
    if (!time.is_time || time.value < 1e-9 || time.value > 366 * 86400.0)
        args_refuse(a, "--window is a time from 1ns to 366d, such as 60s, 500ms or 10min");
    r->tally.window = (uint64_t)llround(time.value * 1e9);
}

static void add_block(void *into, const args *a)
{
    request *r = into;

    if (r->n_blocks == BLOCKS_MAX)
        args_refuse(a, "give --block 64 times at most");
    r->blocks[r->n_blocks++] = a->value;
}

static bool has_way(const request *r)
{
    for (int w = 0; w < WAYS; w++)
        if (r->tally.ways[w])
            return true;
    return false;
}

static void check_options(void *into, const args *a)
{
    request *r = into;

    if (r->spec.hasher.hash == TAMIS_RAW)
        args_refuse(a, "--hash is fast or keyed: flows are no integers");
    if (!has_way(r))
        r->tally.ways[WAY_FLOW] = true;
}

static void settle(request *r)
{
    r->spec.fpr = CHANCE;
    r->tally.sketch = r->spec;
    r->tally.seen =
        (tamis_spec)TAMIS_SPEC(.keys = r->flows, .fpr = r->fpr, .hasher = r->spec.hasher);
    r->tally.room = (size_t)r->k * TIMES_K + SPARE;
    r->tally.threads = r->source.threads;
    r->tally.print = report_interval;
    r->tally.ctx = &r->report;
    r->report.wish = &r->tally;
    r->report.shown = (size_t)r->k;
    if (r->n_blocks > 0)
        r->tally.blocked = blocklist_read(r->blocks, r->n_blocks);
}

/* ---- Captures ---------------------------------------------------------- */

/* A signal ends the reading. Then all is told, as at the end of the capture: whoever watches a live
 * one ends it so. A second signal ends the program. */
static volatile sig_atomic_t stopped;

static void stop(int which)
{
    stopped = which;
}

static void watch_signals(void)
{
    struct sigaction action = { .sa_handler = stop, .sa_flags = (int)SA_RESETHAND };

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* False: what comes next is damaged, or not to be read. */
static bool take_capture(tally *t, capture *c, const char *path)
{
    bool has_more = capture_open(c, path);

    while (has_more && !stopped) {
        relay_chunk *chunk = tally_room(t);
        chunk->n = capture_read(c, chunk->packets, RELAY_CHUNK);
        has_more = chunk->n == RELAY_CHUNK;
        tally_take(t);
        progress_show(c->done, c->total, "bytes");
    }
    return c->code == 0;
}

static int end_by_signal(void)
{
    fflush(stdout); /* the signal is what ends it, whatever comes of this */
    signal(stopped, SIG_DFL);
    raise(stopped);
    return CODE_IO;
}

static void complain(const capture *c, uint64_t packets)
{
    if (packets > 0)
        say_error("%s; the %" PRIu64 " packets before that are counted", c->why, packets);
    else
        say_error("%s", c->why);
}

/* What could not be read does not keep the others from being counted. Returns the code of the first
 * that failed. */
static int take_each(tally *t, char **paths)
{
    int code = CODE_OK;

    for (; *paths && !stopped; paths++) {
        capture c;
        if (!take_capture(t, &c, *paths)) {
            complain(&c, tally_sum(t)->packets);
            code = code ? code : c.code;
        }
        capture_close(&c);
    }
    return code;
}

static int take_captures(request *r, tally *t, char **paths)
{
    int code = take_each(t, paths);

    progress_erase();
    tally_end(t);
    uint64_t packets = tally_sum(t)->packets;
    if (packets > 0 || code == CODE_OK || stopped)
        report_all(&r->report, t);
    if (stopped)
        return end_by_signal();
    if (code == CODE_OK && packets == 0)
        return CODE_NOTHING;
    return code;
}

static int run(args *a)
{
    request r = { .spec = TAMIS_SPEC(.error = 1e-4),
                  .source = source_default(),
                  .k = DEFAULT_K,
                  .flows = 1000000,
                  .fpr = 1e-4 };

    args_read(a, &r);
    char **paths = args_operands(a, 1, SIZE_MAX, "a capture, or - for standard input");
    capture_begin();
    settle(&r);
    watch_signals();
    if (r.tally.window)
        progress_make_way();
    tally *t = tally_new(&r.tally);
    int code = take_captures(&r, t, paths);
    tally_free(t);
    blocklist_free(r.tally.blocked);
    return code;
}

static const option_row options[] = {
    { 'n', "count", "N", "how many lines of each list to print (default: 20)",
      TO_COUNT(request, k, 1, K_MAX) },
    { 0, "by", "WHAT", "lists of: flow (default), source, destination, port; or several",
      .take = choose_ways },
    { 0, "bytes", NULL, "lists are of those with most bytes, not packets",
      TO_FLAG(request, tally.by_bytes) },
    { 0, "both-ways", NULL, "a flow and the packets back are one flow",
      TO_FLAG(request, tally.both_ways) },
    { 0, "window", "TIME", "a line for each interval: 60s, 500ms, 10min, 1h",
      .take = choose_window },
    { 0, "block", "FILE", "count packets from and to the addresses listed in FILE",
      .take = add_block },
    { 0, "keys", "N", "flows expected (default: 1000000); more take a little longer",
      TO_COUNT(request, flows, 1, UINT64_C(1) << 40) },
    { 'p', "fpr", "RATE", "share of new flows taken for known ones (default: 1e-4)",
      TO_FPR(request, fpr) },
    { 0, "error", "E", "how far a sketch may be off, as a share of all (1e-4)",
      TO_ERROR(request, spec.error) },
    { 0, "hash", "HASH", "how flows become keys: fast (default) or keyed",
      TO_HASH(request, spec.hasher) },
    { 0, "csv", NULL, "print CSV: one table, the first column says what a row is",
      TO_CONSTANT(request, report.form, REPORT_CSV) },
    { 0, "json", NULL, "print JSON", TO_CONSTANT(request, report.form, REPORT_JSON) },
    { 'j', "threads", "N", "threads to work with (default: one per CPU, at most 8)",
      TO_COUNT(request, source.threads, 1, THREADS_MAX) },
    { .included = progress_options },
    { .included = quiet_options },
    { .take = check_options },
};

const command cmd_flows = { "flows", help_flows, options, .run = run };
