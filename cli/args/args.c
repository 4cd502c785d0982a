/* args.c - the options of a command, read by the rows of its tables. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "help.h"
#include "term/message.h"
#include "term/output.h"
#include "text/nearest.h"

const option_row help_options[] = {
    { 'h', "help", NULL, "show this help", .take = NULL },
    { 0 },
};

/* ---- Tables ------------------------------------------------------------ */

/* A row, and where the struct begins that its table is for. */
typedef struct place {
    const option_row *row; /* NULL: there is none */
    size_t base;
} place;

static bool is_row(const option_row *o)
{
    return o && (o->name || o->included);
}

/* The row that *i more come before, or else *i is less by all rows of the table. */
static place find_row(const option_row *table, size_t base, size_t *i)
{
    for (const option_row *row = table; is_row(row); row++) {
        place inner = { NULL, 0 };

        if (row->included)
            inner = find_row(row->included, base + row->at, i);
        else if ((*i)-- == 0)
            inner = (place){ row, base };
        if (inner.row)
            return inner;
    }
    return (place){ NULL, 0 };
}

static place place_at(const command *c, size_t i)
{
    place found = find_row(c->options, 0, &i);

    if (!found.row && i == 0)
        found.row = help_options;
    return found;
}

const option_row *command_option(const command *c, size_t i)
{
    return place_at(c, i).row;
}

static bool includes(const option_row *table, const option_row *wanted)
{
    bool found = table == wanted;

    for (; is_row(table) && !found; table++)
        found = table->included && includes(table->included, wanted);
    return found;
}

bool command_includes(const command *c, const option_row *wanted)
{
    return includes(c->options, wanted);
}

static const char *command_at(const void *ctx, size_t i)
{
    const command *const *commands = ctx;

    return commands[i] ? commands[i]->name : NULL;
}

const command *command_find(const command *const *commands, const char *name)
{
    char hint[HINT_SIZE];

    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    die(CODE_USAGE, "no command is called '%s'; 'tamis help' lists them.%s", name,
        nearest_hint(hint, name, command_at, commands));
}

/* ---- Options ----------------------------------------------------------- */

enum { OPTIONS_MAX = 64 }; /* bits of args.given */
enum { BY_PLACE = 256 };   /* above all letters */

bool option_is_optional(const option_row *o)
{
    return o->argument && o->argument[0] == '[';
}

/* getopt answers with the place of an option, or with its letter. */
static void add_row(struct option *longs, char **letters, const option_row *o, size_t i)
{
    int has_arg = option_is_optional(o) ? optional_argument
                  : o->argument         ? required_argument
                                        : no_argument;

    *longs = (struct option){ o->name, has_arg, NULL, BY_PLACE + (int)i };
    if (!o->letter)
        return;
    *(*letters)++ = o->letter;
    if (o->argument)
        *(*letters)++ = ':';
}

static int next_outcome(args *a)
{
    struct option longs[OPTIONS_MAX + 1] = { 0 };
    char letters[2 * OPTIONS_MAX + 2] = ":", *end = letters + 1;
    const option_row *row;

    for (size_t i = 0; i < OPTIONS_MAX && (row = command_option(a->command, i)); i++)
        add_row(&longs[i], &end, row, i);
    opterr = 0;
    return getopt_long(a->argc, a->argv, letters, longs, NULL);
}

/* Of the option that getopt means, or of the end of all. */
static size_t index_of(const command *c, int outcome)
{
    const option_row *row;
    size_t i = 0;

    if (outcome >= BY_PLACE)
        return (size_t)(outcome - BY_PLACE);
    while ((row = command_option(c, i)) && row->letter != outcome)
        i++;
    return i;
}

void args_refuse(const args *a, const char *why)
{
    die(CODE_USAGE, "%s: %s; see 'tamis help %s'", a->command->name, why, a->command->name);
}

static const char *option_at(const void *ctx, size_t i)
{
    const option_row *row = command_option(ctx, i);

    return row ? row->name : NULL;
}

/* "--kesy=10" as it was typed. */
static _Noreturn void refuse_long_option(const args *a, const char *typed)
{
    char name[80], hint[HINT_SIZE];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(typed + 2, "="), typed + 2);
    die(CODE_USAGE, "%s: unknown option --%s; see 'tamis help %s'.%s", a->command->name, name,
        a->command->name, nearest_hint(hint, name, option_at, a->command));
}

/* getopt leaves the option in optopt; 0 means an unknown long one. */
static _Noreturn void refuse_option(const args *a, int outcome)
{
    const option_row *known =
        optopt ? command_option(a->command, index_of(a->command, optopt)) : NULL;
    char why[80];

    if (known)
        snprintf(why, sizeof why, "option --%s %s", known->name,
                 outcome == ':' ? "needs an argument" : "takes no argument");
    else if (optopt)
        snprintf(why, sizeof why, "unknown option -%c", optopt);
    else
        refuse_long_option(a, a->argv[optind - 1]);
    args_refuse(a, why);
}

/* The option at hand is the next one. False: there is none. */
static bool next_place(args *a, place *next)
{
    int outcome = next_outcome(a);

    if (outcome == -1)
        return false;
    if (outcome == '?' || outcome == ':')
        refuse_option(a, outcome);
    size_t i = index_of(a->command, outcome);
    *next = place_at(a->command, i);
    a->option = next->row;
    a->value = optarg;
    a->given |= UINT64_C(1) << i;
    if (a->option == help_options) {
        help_print(a->command);
        output_end();
        exit(CODE_OK);
    }
    return true;
}

static void take(const args *a, const option_row *row, void *base)
{
    row->take((char *)base + row->at, a);
}

/* What the last rows say of all options. */
static void check_table(const option_row *table, void *base, const args *a)
{
    for (; is_row(table); table++)
        if (table->included)
            check_table(table->included, (char *)base + table->at, a);
    if (table->take)
        table->take(base, a);
}

void args_read(args *a, void *request)
{
    place next;

    optind = 0; /* begins with the first argument, whatever was read before */
    while (next_place(a, &next))
        take(a, next.row, (char *)request + next.base);
    if (a->command->options)
        check_table(a->command->options, request, a);
}

bool args_given(const args *a, const char *name)
{
    const option_row *row;
    size_t i = 0;

    while ((row = command_option(a->command, i)) && strcmp(row->name, name) != 0)
        i++;
    return row && a->given >> i & 1;
}

bool args_given_any(const args *a, const option_row *table)
{
    bool given = false;

    for (; is_row(table) && !given; table++)
        given = table->included ? args_given_any(a, table->included) : args_given(a, table->name);
    return given;
}

char **args_operands(const args *a, size_t min, size_t max, const char *what)
{
    size_t n = (size_t)(a->argc - optind);

    if (n < min)
        die(CODE_USAGE, "%s: give %s; see 'tamis help %s'", a->command->name, what,
            a->command->name);
    if (n > max)
        die(CODE_USAGE, "%s: '%s' is one operand too many; see 'tamis help %s'", a->command->name,
            a->argv[(size_t)optind + max], a->command->name);
    return a->argv + optind;
}

/* ---- Verbs ------------------------------------------------------------- */

enum { VERBS_MAX = 16, VERBS_TEXT = 128 };

typedef struct verb_list {
    char text[VERBS_TEXT];
    const char *names[VERBS_MAX + 1]; /* NULL follows the last */
    size_t n;
} verb_list;

static const char *verb_at(const void *ctx, size_t i)
{
    return ((const verb_list *)ctx)->names[i];
}

static void split_verbs(verb_list *l, const char *verbs)
{
    char *rest = l->text;

    snprintf(l->text, sizeof l->text, "%s", verbs);
    for (l->n = 0; rest && l->n < VERBS_MAX;)
        l->names[l->n++] = strsep(&rest, " ");
    l->names[l->n] = NULL;
}

static _Noreturn void refuse_verb(const args *a, const verb_list *l, const char *word)
{
    char hint[HINT_SIZE], all[2 * VERBS_TEXT];
    size_t size = 0;

    for (size_t i = 0; i < l->n; i++)
        size += (size_t)snprintf(all + size, sizeof all - size, "%s%s",
                                 i == 0          ? ""
                                 : i == l->n - 1 ? " and "
                                                 : ", ",
                                 l->names[i]);
    die(CODE_USAGE, "%s: '%s' is none of %s.%s", a->command->name, word, all,
        nearest_hint(hint, word, verb_at, l));
}

static bool has_verb(const char *verbs, const char *verb)
{
    verb_list l;
    size_t i = 0;

    split_verbs(&l, verbs);
    while (i < l.n && strcmp(l.names[i], verb) != 0)
        i++;
    return i < l.n;
}

static void check_verb(const args *a, const char *verb)
{
    const option_row *row;

    for (size_t i = 0; (row = command_option(a->command, i)); i++)
        if (a->given >> i & 1 && row->verbs && !has_verb(row->verbs, verb))
            die(CODE_USAGE, "%s: %s does not take --%s; see 'tamis help %s'", a->command->name,
                verb, row->name, a->command->name);
}

size_t args_verb(const args *a, const char *word)
{
    verb_list l;

    split_verbs(&l, a->command->verbs);
    for (size_t i = 0; i < l.n; i++)
        if (strcmp(l.names[i], word) == 0) {
            check_verb(a, word);
            return i;
        }
    refuse_verb(a, &l, word);
}
