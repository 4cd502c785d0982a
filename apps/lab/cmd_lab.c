/* cmd_lab.c - tamis lab: experiments with filters, each with a table, a CSV and a picture. */
#include <stdio.h>

#include "args/help.h"
#include "commands.h"
#include "lab.h"
#include "term/message.h"
#include "text/nearest.h"

typedef struct request {
    const char *folder;
    uint64_t seed;
    bool is_all, is_quick;
} request;

static const char *name_at(const void *ctx, size_t i)
{
    const experiment *e = lab_at(i);

    (void)ctx;
    return e ? e->name : NULL;
}

static void print_list(void)
{
    const experiment *e;

    for (size_t i = 0; (e = lab_at(i)); i++)
        printf("%-10s %s\n", e->name, help_summary(e->help));
}

/* An experiment as a command of its own, for its options and its help. */
static const command *part(const char *word)
{
    static char name[32];
    static option_row options[3]; /* the last ends it */
    static command made;
    const experiment *e = lab_find(word);

    if (!e)
        return NULL;
    snprintf(name, sizeof name, "lab %s", e->name);
    options[0] = (option_row){ .included = lab_options };
    options[1] = (option_row){ .included = e->options };
    made = (command){ .name = name, .help = e->help, .options = options };
    return &made;
}

static int run_one(const args *a, const char *word)
{
    char hint[HINT_SIZE];
    args own = { .command = part(word), .argc = a->argc - 1, .argv = a->argv + 1 };

    if (!own.command)
        die(CODE_USAGE, "lab: no experiment is called '%s'; 'tamis lab' lists them.%s", word,
            nearest_hint(hint, word, name_at, NULL));
    lab_run(lab_find(word), &own);
    return CODE_OK;
}

static int run(args *a)
{
    request r = { .seed = 1 };

    if (a->argc > 1 && a->argv[1][0] != '-')
        return run_one(a, a->argv[1]);
    args_read(a, &r);
    char **operands = args_operands(a, 0, 1, "an EXPERIMENT");
    if (operands[0])
        args_refuse(a, "give the EXPERIMENT first, then its options");
    if (r.is_all != (r.folder != NULL))
        args_refuse(a, "--all and -o DIR go together");
    if (r.is_all)
        lab_run_all(r.folder, r.seed, r.is_quick);
    else
        print_list();
    return CODE_OK;
}

static const option_row options[] = {
    { 0, "all", NULL, "run every experiment", TO_FLAG(request, is_all) },
    { 'o', "output", "DIR", "with --all: where to write index.html, tables and pictures",
      TO_TEXT(request, folder) },
    { 0, "seed", "N", "other keys and hashes (default: 1); the same seed, the same output",
      TO_INTEGER(request, seed) },
    { 0, "quick", NULL, "fewer keys: a fraction of the time, and wider bounds",
      TO_FLAG(request, is_quick) },
    { 0 },
};

#define LAB_X(name) #name " "

const command cmd_lab = {
    .name = "lab",
    .help = help_lab,
    .options = options,
    .verbs = LAB_EXPERIMENTS(LAB_X),
    .part = part,
    .run = run,
};

#undef LAB_X
