/* cmd_gen.c - tamis gen: keys for trials. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "trial.h"

enum { OPTION_EMAILS = OPTION_OWN, OPTION_URLS, OPTION_U64, OPTION_FIRST, OPTION_SEED };

/* Small enough for the second-level cache. */
enum { BLOCK = 1 << 18 };

/* The largest pipe that anyone may ask for: reader and writer then wait for each other less often.
 * If it cannot be had, the pipe stays as it is. */
static void widen_pipe(void)
{
#ifdef F_SETPIPE_SZ
    (void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 1 << 20);
#endif
}

static void print_keys(const trial *t, uint64_t first, uint64_t n)
{
    uint64_t i = first, end = first + n;
    char *block = malloc(BLOCK);

    if (!block)
        die(CODE_MEMORY, "out of memory for %d bytes of keys", BLOCK);
    widen_pipe();
    while (i < end) {
        const char *stop = trial_write(t, block, block + BLOCK, &i, end);

        output_write(block, (size_t)(stop - block));
        progress_show(i - first, n, "keys");
    }
    progress_erase();
    free(block);
}

static trial_form form_of(int letter)
{
    return letter == OPTION_EMAILS ? TRIAL_EMAILS
           : letter == OPTION_URLS ? TRIAL_URLS
                                   : TRIAL_NUMBERS;
}

static int run(args *a)
{
    trial t = { .end = '\n' };
    uint64_t n = 0, first = 0;
    int forms = 0;

    for (int letter; (letter = args_next(a)) != -1;)
        if (letter == 'z')
            t.end = 0;
        else if (letter == OPTION_FIRST)
            first = args_count(a, 0, UINT64_MAX);
        else if (letter == OPTION_SEED)
            t.seed = args_integer(a);
        else {
            t.form = form_of(letter);
            n = args_count(a, 0, trial_indexes(t.form));
            forms++;
        }
    args_operands(a, 0, 0, "nothing");
    if (forms != 1)
        args_refuse(a, "give one of --emails N, --urls N and --u64 N");
    if (first > trial_indexes(t.form) - n)
        die(CODE_LIMIT, "gen: there are %" PRIu64 " keys of that form, and --first leaves fewer",
            trial_indexes(t.form));
    print_keys(&t, first, n);
    return CODE_OK;
}

static const option_row options[] = {
    { OPTION_EMAILS, "emails", "N", "print N addresses: ada.smith42@river.example.org" },
    { OPTION_URLS, "urls", "N", "print N links: https://river.example.org/blog/red-fox-7" },
    { OPTION_U64, "u64", "N", "print N integers below 2^64, for '--hash raw'" },
    { OPTION_FIRST, "first", "I", "start with key number I (default: 0)" },
    { OPTION_SEED, "seed", "S", "other keys in another order (default: 0)" },
    { 'z', "null", NULL, "lines end with a NUL byte, not with a newline" },
    { 0 },
};

const command cmd_gen = {
    .name = "gen",
    .operands = "--emails N|--urls N|--u64 N [OPTION]...",
    .summary = "print made-up keys, to try filters with",
    .about =
        "Prints keys I, I + 1, ..., I + N - 1 of a long list, one per line. The list is the same\n"
        "on every machine, and no key comes twice. Ranges of one seed that do not overlap have no\n"
        "key in common, so '--first N' gives keys that are not among the first N. There are 2^40\n"
        "addresses and as many links; other seeds give the same ones in another order. All of\n"
        "them are in domains that are reserved for examples.",
    .options = { options },
    .when_ok = "done",
    .example = "  tamis gen --emails 10k | tamis build -k bloom -o users.tamis\n"
               "  tamis gen --emails 10k --first 10k | tamis query -c users.tamis",
    .run = run,
};
