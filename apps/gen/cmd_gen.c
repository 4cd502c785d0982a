/* cmd_gen.c - tamis gen: keys for trials. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "gen_traffic.h"
#include "gen_trial.h"
#include "term/array.h"
#include "term/message.h"
#include "term/output.h"
#include "term/progress.h"

/* Small enough for the second-level cache. */
enum { BLOCK = 1 << 18 };

typedef struct request {
    trial trial;
    traffic traffic;
    uint64_t n, first, seed;
    int forms; /* of what is printed, that were given */
} request;

/* The row's `min` is the form. */
static void take_form(void *into, const args *a)
{
    request *r = into;

    r->trial.form = (trial_form)a->option->min;
    r->n = args_count(a, 0, trial_indexes(r->trial.form));
    r->forms++;
}

static void take_packets(void *into, const args *a)
{
    request *r = into;

    r->n = args_count(a, 0, UINT64_C(1) << 40);
    r->forms++;
}

static void check_options(void *into, const args *a)
{
    const request *r = into;
    bool is_packets = args_given(a, "packets");

    if (r->forms != 1)
        args_refuse(a, "give one of --emails N, --urls N, --u64 N and --packets N");
    if (is_packets && (args_given(a, "first") || args_given(a, "null")))
        args_refuse(a, "--packets takes no --first and no --null: it prints no lines");
    if (!is_packets && args_given(a, "flows"))
        args_refuse(a, "--flows is for --packets");
    if (!is_packets && r->first > trial_indexes(r->trial.form) - r->n)
        die(CODE_LIMIT, "gen: there are %" PRIu64 " keys of that form, and --first leaves fewer",
            trial_indexes(r->trial.form));
    if (is_packets && isatty(STDOUT_FILENO))
        args_refuse(a, "packets are no text: send them to a file");
}

/* ---- What is printed --------------------------------------------------- */

/* The largest pipe that anyone may ask for: reader and writer then wait for each other less often.
 * If it cannot be had, the pipe stays as it is. */
static void widen_pipe(void)
{
#ifdef F_SETPIPE_SZ
    (void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 1 << 20);
#endif
}

static void print_keys(const request *r, char *block)
{
    const uint64_t end = r->first + r->n;

    for (uint64_t i = r->first; i < end;) {
        const char *stop = trial_write(&r->trial, block, block + BLOCK, &i, end);
        output_write(block, (size_t)(stop - block));
        progress_show(i - r->first, r->n, "keys");
    }
}

static void print_packets(request *r, unsigned char *block)
{
    traffic *t = &r->traffic;
    unsigned char *at = traffic_begin(t, block, r->n);

    do {
        while (t->left > 0 && at < block + BLOCK - TRAFFIC_ROOM)
            at = traffic_packet(t, at);
        output_write(block, (size_t)(at - block));
        progress_show(r->n - t->left, r->n, "packets");
        at = block;
    } while (t->left > 0);
}

static int run(args *a)
{
    request r = { .trial.end = '\n', .traffic.flows = 100000 };

    args_read(a, &r);
    args_operands(a, 0, 0, "nothing");
    r.trial.seed = r.traffic.seed = r.seed;
    void *block = array_new(1, BLOCK, "bytes");
    widen_pipe();
    if (args_given(a, "packets"))
        print_packets(&r, block);
    else
        print_keys(&r, block);
    progress_erase();
    free(block);
    return CODE_OK;
}

static const option_row options[] = {
    { 0, "emails", "N", "print N addresses: ada.smith42@river.example.org", .take = take_form,
      .min = TRIAL_EMAILS },
    { 0, "urls", "N", "print N links: https://river.example.org/blog/red-fox-7", .take = take_form,
      .min = TRIAL_URLS },
    { 0, "u64", "N", "print N integers below 2^64, for '--hash raw'", .take = take_form,
      .min = TRIAL_NUMBERS },
    { 0, "packets", "N", "print a capture of N packets, for 'tamis flows'", .take = take_packets },
    { 0, "flows", "F", "of that many flows (default: 100000)",
      TO_COUNT(request, traffic.flows, 1, UINT64_C(1) << 40) },
    { 0, "first", "I", "start with key number I (default: 0)",
      TO_COUNT(request, first, 0, UINT64_MAX) },
    { 0, "seed", "S", "other keys in another order (default: 0)", TO_INTEGER(request, seed) },
    { 'z', "null", NULL, "lines end with a NUL byte, not with a newline",
      TO_CONSTANT(request, trial.end, 0) },
    { .take = check_options },
};

const command cmd_gen = { "gen", help_gen, options, .run = run };
