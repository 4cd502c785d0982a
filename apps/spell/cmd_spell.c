/* cmd_spell.c - tamis spell: a spelling checker whose dictionary is a filter. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "dictionary.h"
#include "filters/store.h"
#include "personal.h"
#include "proof.h"
#include "term/message.h"
#include "term/output.h"
#include "text/json.h"
#include "text/reader.h"
#include "token.h"

enum { TEXTS_MAX = 16 };

typedef struct request {
    const char *out, *personal;
    const char *texts[TEXTS_MAX]; /* for frequencies */
    size_t n_texts;
    double fpr;
    proof_form form; /* of build, too: JSON or none */
    bool talks, suggests;
    char **words; /* after the verb; NULL follows the last */
    size_t n;
} request;

/* ---- Building ---------------------------------------------------------- */

/* It may be compressed: en_US.aff.gz. */
static bool is_called(const char *path, const char *suffix)
{
    const char *slash = strrchr(path, '/'), *at = strstr(slash ? slash : path, suffix);

    return at && (!at[strlen(suffix)] || at[strlen(suffix)] == '.');
}

static bool has_rules(const request *r)
{
    return r->n == 2 && is_called(r->words[0], ".aff");
}

static void check_files(const request *r, const args *a)
{
    for (char **path = r->words; *path && !has_rules(r); path++)
        if (is_called(*path, ".aff") || is_called(*path, ".dic"))
            args_refuse(a, "a hunspell dictionary is two files: give the .aff and then the .dic");
}

/* What a dictionary is made of: a .aff and a .dic, or lists of words. */
static expand_totals expand(const request *r, affixes *a, expand_take *take, void *ctx)
{
    expand_totals all = { 0 };

    if (has_rules(r)) {
        affixes_read(a, r->words[0]);
        return expand_dictionary(a, r->words[1], take, ctx);
    }
    affixes_none(a, r->words[0]);
    for (char **path = r->words; *path; path++) {
        expand_totals one = expand_list(a, *path, take, ctx);
        all.roots += one.roots;
        all.forms += one.forms;
    }
    return all;
}

static void say_unsupported(const request *r, const affixes *a)
{
    if (a->compounding)
        say("%s: words may be put together here (%s); such words are unknown unless they are "
            "listed",
            r->words[0], a->compounding);
    if (a->unsupported)
        say("%s: %s is not supported; some words will be unknown", r->words[0], a->unsupported);
}

/* Words are found as in any text, so that a dictionary without rules finds them too. */
typedef struct counter {
    gathering *g;
    dictionary d;
} counter;

static void count_line(void *ctx, char *line, size_t size)
{
    counter *c = ctx;
    tokens t = tokens_of(&c->d, line, size);
    word w;

    for (span token; token_next(&t, &token);)
        if (word_set(&w, token.at, token.size) && affixes_convert(&c->d.settings.in, &w))
            gather_count(c->g, &w);
}

static void count_texts(const request *r, gathering *g, const affixes *a)
{
    counter c = { .g = g };

    if (r->n_texts == 0)
        return;
    dictionary_set(&c.d, &a->kept);
    for (size_t i = 0; i < r->n_texts; i++)
        reader_each_line(r->texts[i], count_line, &c);
    dictionary_close(&c.d);
}

static void print_making(const expand_totals *totals, const making *m, const char *path)
{
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_text(&j, "file", path);
    json_count(&j, "roots", totals->roots);
    json_count(&j, "words", m->words);
    json_count(&j, "suggested", m->suggested);
    json_real(&j, "fpr", m->fpr);
    json_real(&j, "suggestion_fpr", m->fpr * m->suggest_fpr);
    json_count(&j, "word_bytes", m->bytes[0]);
    json_count(&j, "suggestion_bytes", m->bytes[1]);
    json_count(&j, "file_bytes", m->file);
    json_close(&j, '}');
}

static int run_build(const request *r, const args *a)
{
    making m = { .fpr = r->fpr, .suggest_fpr = 1.0 / 4096 };
    gathering *g = gather_begin();
    affixes rules;

    check_files(r, a);
    if (!r->out)
        args_refuse(a, "give -o FILE");
    if (strcmp(r->out, "-") == 0)
        args_refuse(a, "a dictionary is mapped from its file: -o cannot be standard output");
    store_check_target(r->out);
    expand_totals totals = expand(r, &rules, gather_form, g);
    say_unsupported(r, &rules);
    count_texts(r, g, &rules);
    gather_save(g, &m, &rules, r->out);
    if (r->form == PROOF_JSON)
        print_making(&totals, &m, r->out);
    affixes_free(&rules);
    return CODE_OK;
}

static void print_form(void *ctx, const word *form, unsigned what)
{
    (void)ctx;
    if (what & (FORM_FORBIDDEN | FORM_IN_CAPITALS))
        return;
    fwrite(form->text, 1, form->size, stdout);
    putchar('\n');
}

static int run_expand(const request *r, const args *a)
{
    affixes rules;

    check_files(r, a);
    expand(r, &rules, print_form, NULL);
    say_unsupported(r, &rules);
    affixes_free(&rules);
    return CODE_OK;
}

/* ---- Checking ---------------------------------------------------------- */

static int run_check(const request *r, const args *a)
{
    static char *standard[] = { "-", NULL };
    dictionary d;
    uint64_t wrong = 0;

    if (r->talks && (r->form || r->suggests || r->n > 1))
        args_refuse(a, "-a talks with an editor over standard input and output, in its own way");
    if (args_given(a, "json") && args_given(a, "lines"))
        args_refuse(a, "--json has the lines");
    dictionary_open(&d, r->words[0]);
    if (r->personal)
        personal_open(&d, r->personal);
    if (r->talks)
        proof_talk(&d, r->personal);
    else
        wrong =
            proof_read(&(proof){ &d, r->form, r->suggests }, r->n > 1 ? r->words + 1 : standard);
    dictionary_close(&d);
    return wrong ? CODE_NOTHING : CODE_OK;
}

static int edit(const request *r, const args *a, personal_change how)
{
    if (!r->personal)
        args_refuse(a, "give --personal FILE, where the words of the user are");
    personal_edit(r->personal, r->words, how);
    return CODE_OK;
}

static int run_add(const request *r, const args *a)
{
    return edit(r, a, PERSONAL_ADD);
}

static int run_remove(const request *r, const args *a)
{
    return edit(r, a, PERSONAL_REMOVE);
}

/* ---- Command ----------------------------------------------------------- */

/* In the order of the command's verbs. */
static const struct verb {
    int (*run)(const request *r, const args *a);
    const char *operands; /* if there are none */
} VERBS[] = {
    { run_build, "give a .aff and a .dic file, or lists of words" },
    { run_expand, "give a .aff and a .dic file, or lists of words" },
    { run_check, "give a DICTIONARY that 'tamis spell build' made" },
    { run_add, "give the WORDs that are right" },
    { run_remove, "give the WORDs that are wrong" },
};

static void add_text(void *into, const args *a)
{
    request *r = into;

    if (r->n_texts == TEXTS_MAX)
        args_refuse(a, "give at most 16 --frequencies");
    r->texts[r->n_texts++] = a->value;
}

static int run(args *a)
{
    request r = { .fpr = 1.0 / 4096 };

    args_read(a, &r);
    r.words = args_operands(a, 1, SIZE_MAX, "build, expand, check, add or remove") + 1;
    const struct verb *verb = &VERBS[args_verb(a, r.words[-1])];
    while (r.words[r.n])
        r.n++;
    if (r.n == 0)
        args_refuse(a, verb->operands);
    return verb->run(&r, a);
}

static const option_row options[] = {
    { 'o', "output", "FILE", "where the dictionary goes", TO_TEXT(request, out), .verbs = "build" },
    { 'p', "fpr", "RATE", "share of wrong words that pass as right; 1/4096 by default",
      TO_FPR(request, fpr), .verbs = "build" },
    { 0, "frequencies", "TEXT", "rank words by how often TEXT has them", .take = add_text,
      .verbs = "build" },
    { 0, "personal", "FILE", "words of the user", TO_TEXT(request, personal),
      .verbs = "check add remove" },
    { 'a', "pipe", NULL, "talk with an editor, as 'ispell -a' does", TO_FLAG(request, talks),
      .verbs = "check" },
    { 0, "lines", NULL, "print file, line and column before each word",
      TO_CONSTANT(request, form, PROOF_LINES), .verbs = "check" },
    { 0, "suggest", NULL, "print what may have been meant after each word",
      TO_FLAG(request, suggests), .verbs = "check" },
    { 0, "json", NULL, "print JSON", TO_CONSTANT(request, form, PROOF_JSON),
      .verbs = "build check" },
    { .included = quiet_options },
    { .included = progress_options },
    { 0 },
};

const command cmd_spell = {
    .name = "spell",
    .help = help_spell,
    .options = options,
    .verbs = "build expand check add remove",
    .run = run,
};
