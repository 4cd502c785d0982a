/* args.c - options and help, both from the same table. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "help.h"
#include "term/message.h"
#include "term/output.h"
#include "term/progress.h"
#include "text/abilities.h"
#include "text/nearest.h"
#include "text/number.h"

const option_row help_options[] = {
    { 'h', "help", NULL, "show this help" },
    { 0 },
};

const option_row *command_option(const command *c, size_t i)
{
    for (const option_row *const *table = c->options; *table; table++)
        for (const option_row *row = *table; row->name; row++)
            if (i-- == 0)
                return row;
    return i == 0 ? help_options : NULL;
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

/* NULL if the command has no such option. */
static const option_row *row_of(const command *c, int letter)
{
    const option_row *row;

    for (size_t i = 0; (row = command_option(c, i)); i++)
        if (row->letter == letter)
            break;
    return row;
}

/* ---- Options ----------------------------------------------------------- */

enum { OPTIONS_MAX = 64 };

bool option_is_optional(const option_row *o)
{
    return o->argument && o->argument[0] == '[';
}

static void add_row(struct option *longs, char **letters, const option_row *o)
{
    int has_arg = option_is_optional(o) ? optional_argument
                  : o->argument         ? required_argument
                                        : no_argument;

    *longs = (struct option){ o->name, has_arg, NULL, o->letter };
    if (o->letter >= LETTERLESS)
        return;
    *(*letters)++ = (char)o->letter;
    if (o->argument)
        *(*letters)++ = ':';
}

static int next_letter(args *a)
{
    struct option longs[OPTIONS_MAX + 1] = { 0 };
    char letters[2 * OPTIONS_MAX + 2] = ":", *end = letters + 1;
    const option_row *row;

    for (size_t i = 0; i < OPTIONS_MAX && (row = command_option(a->command, i)); i++)
        add_row(&longs[i], &end, row);
    opterr = 0;
    return getopt_long(a->argc, a->argv, letters, longs, NULL);
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

/* getopt leaves the letter in optopt; 0 means an unknown long option. */
static _Noreturn void refuse_option(const args *a, int outcome)
{
    const option_row *known = optopt ? row_of(a->command, optopt) : NULL;
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

int args_next(args *a)
{
    a->letter = next_letter(a);
    a->value = optarg;
    if (a->letter == '?' || a->letter == ':')
        refuse_option(a, a->letter);
    if (a->letter == help_options->letter) {
        help_print(a->command);
        output_end();
        exit(CODE_OK);
    }
    return a->letter;
}

void args_restart(void)
{
    optind = 0;
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

size_t args_verb(const args *a, const char *word)
{
    verb_list l;

    split_verbs(&l, a->command->verbs);
    for (size_t i = 0; i < l.n; i++)
        if (strcmp(l.names[i], word) == 0)
            return i;
    refuse_verb(a, &l, word);
}

/* ---- Values ------------------------------------------------------------ */

static _Noreturn void refuse_value(const args *a, const char *expected)
{
    die(CODE_USAGE, "%s: --%s '%s' is not %s", a->command->name,
        row_of(a->command, a->letter)->name, a->value, expected);
}

uint64_t args_count(const args *a, uint64_t min, uint64_t max)
{
    char expected[120];
    uint64_t value;

    if (number_count(&value, a->value) && value >= min && value <= max)
        return value;
    snprintf(expected, sizeof expected,
             "a number from %" PRIu64 " to %" PRIu64 "; write it as 1000, 1e9 or 10M", min, max);
    refuse_value(a, expected);
}

uint64_t args_bytes(const args *a)
{
    uint64_t value;

    if (number_bytes(&value, a->value) && value > 0)
        return value;
    refuse_value(a, "a size from 1 to 18446744073709551615 bytes; write it as 4096, 64K or 1G");
}

size_t args_memory(const args *a)
{
    uint64_t bytes = args_bytes(a);

    return bytes < SIZE_MAX / 2 ? (size_t)bytes : SIZE_MAX / 2;
}

uint64_t args_integer(const args *a)
{
    uint64_t value;

    if (number_integer(&value, a->value, strlen(a->value)))
        return value;
    refuse_value(a, "an integer from 0 to 18446744073709551615; write it as 42 or 0x2a");
}

double args_fpr(const args *a)
{
    double value;

    /* Written so that NaN fails. */
    if (number_share(&value, a->value) && value >= 0x1p-64 && value < 1)
        return value;
    refuse_value(a, "a false positive rate from 2^-64 (5.4e-20) to below 1; write it as 0.01, 1% "
                    "or 1e-3");
}

double args_load(const args *a)
{
    double value;

    if (number_share(&value, a->value) && value >= 0.01 && value <= 1)
        return value;
    refuse_value(a, "a share from 0.01 to 1; write it as 0.9");
}

double args_error(const args *a)
{
    double value;

    if (number_share(&value, a->value) && value >= 1e-12 && value <= 0.5)
        return value;
    refuse_value(a, "a share from 1e-12 to 0.5; write it as 0.001 or 1e-4");
}

double args_share(const args *a)
{
    double value;

    if (number_share(&value, a->value) && value >= 0 && value <= 1)
        return value;
    refuse_value(a, "a share from 0 to 1; write it as 0.02 or 2%");
}

double args_cost(const args *a, bool *is_time)
{
    double value;
    bool has_unit;

    if (number_cost(&value, &has_unit, a->value) && value >= 0 && value <= 1e12) {
        *is_time = *is_time || has_unit;
        return value;
    }
    refuse_value(a, "a cost from 0 to 1e12; write it as 500ms, 1us or 0.02");
}

unsigned args_abilities(const args *a)
{
    char expected[400] = "a list of abilities; choose from ";
    size_t size = strlen(expected);
    unsigned can;

    if (abilities_parse(&can, a->value))
        return can;
    for (const ability *b = abilities; b->name; b++)
        size += (size_t)snprintf(expected + size, sizeof expected - size, "%s%s", b->name,
                                 b[1].name ? "," : "");
    refuse_value(a, expected);
}

/* ---- Sources of keys --------------------------------------------------- */

const option_row key_options[] = {
    { 'z', "null", NULL, "lines end with a NUL byte, not with a newline" },
    { OPTION_CRLF, "crlf", NULL, "lines end with CR and LF: the CR is not part of the key" },
    { OPTION_FIELD, "field", "N", "the key is column N, from 1, or columns N,M,... joined" },
    { OPTION_DELIM, "delim", "C", "columns are separated by the byte C (default: TAB)" },
    { OPTION_FIELDS_BY, "fields-by", "HOW",
      "columns are separated by delim (default), blanks or csv" },
    { OPTION_CSV, "csv", NULL, "as --fields-by csv: columns may be quoted, C is a comma" },
    { OPTION_NO_DECOMPRESS, "no-decompress", NULL,
      "take compressed inputs as they are (default: read gzip, zstd and xz)" },
    { 'j', "threads", "N", "threads to work with (default: one per CPU, at most 8)" },
    { OPTION_PROGRESS, "progress", NULL, "show how far it is, wherever standard error goes" },
    { OPTION_NO_PROGRESS, "no-progress", NULL, "never show it (default: on a terminal)" },
    { 0 },
};

const option_row quiet_options[] = {
    { OPTION_QUIET, "quiet", NULL, "say nothing but errors" },
    { 0 },
};

static unsigned default_threads(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online < 1 ? 1 : online > 8 ? 8 : (unsigned)online;
}

void source_init(source *s)
{
    *s = (source){ .format = { .end = '\n', .delim = '\t' }, .threads = default_threads() };
}

static unsigned char one_byte(const args *a)
{
    if (strcmp(a->value, "\\t") == 0)
        return '\t';
    if (strlen(a->value) != 1)
        refuse_value(a, "one byte, or \\t for TAB");
    return (unsigned char)a->value[0];
}

/* 3, or 1,3: none may be missing between two commas. */
static void choose_fields(key_format *format, const args *a)
{
    const char *at = a->value;

    format->n_fields = 0;
    do {
        size_t size = strcspn(at, ",");
        uint64_t *field = &format->fields[format->n_fields++];
        if (!number_integer(field, at, size) || *field == 0 || *field > UINT32_MAX)
            refuse_value(a, "a column from 1 to 4294967295, or several: 3 or 1,3");
        at += size;
    } while (*at++ && format->n_fields < KEY_FIELDS_MAX);
    if (at[-1])
        refuse_value(a, "so few columns that they make a key: give 16 at most");
}

static key_columns columns_by(const args *a)
{
    static const char *const names[] = {
        [COLUMNS_BY_DELIM] = "delim", [COLUMNS_BY_BLANKS] = "blanks", [COLUMNS_BY_CSV] = "csv"
    };

    for (int i = 0; i <= COLUMNS_BY_CSV; i++)
        if (strcmp(a->value, names[i]) == 0)
            return (key_columns)i;
    refuse_value(a, "delim, blanks or csv");
}

void source_option(source *s, const args *a)
{
    switch (a->letter) {
    case 'z':
        s->format.end = 0;
        break;
    case OPTION_FIELD:
        choose_fields(&s->format, a);
        break;
    case OPTION_DELIM:
        s->format.delim = one_byte(a);
        s->has_delim = true;
        break;
    case OPTION_FIELDS_BY:
        s->format.columns = columns_by(a);
        break;
    case OPTION_CSV:
        s->format.columns = COLUMNS_BY_CSV;
        break;
    case OPTION_CRLF:
        s->format.strips_cr = true;
        break;
    case OPTION_PROGRESS:
    case OPTION_NO_PROGRESS:
        progress_choose(a->letter == OPTION_PROGRESS);
        break;
    case OPTION_QUIET:
        say_errors_only();
        progress_choose(false);
        break;
    case OPTION_NO_DECOMPRESS:
        s->takes_packed = true;
        break;
    case 'j':
        s->threads = (unsigned)args_count(a, 1, THREADS_MAX);
        break;
    }
}

/* What follows from how columns are parted. */
static void settle_columns(source *s)
{
    key_format *f = &s->format;

    if (f->columns == COLUMNS_BY_BLANKS)
        f->delim = ' ';
    if (f->columns == COLUMNS_BY_CSV && !s->has_delim)
        f->delim = ',';
    if (f->columns == COLUMNS_BY_CSV)
        f->strips_cr = true;
}

void source_inputs(source *s, const args *a, char **names)
{
    static char dash[] = "-", *standard_input[] = { dash, NULL };

    /* Where there are values, the key is a column. */
    if (s->format.value_field > 0 && s->format.n_fields == 0)
        s->format.fields[s->format.n_fields++] = 1;
    if (s->has_delim && s->format.n_fields == 0)
        args_refuse(a, "--delim means nothing without --field");
    if (s->format.columns && s->format.n_fields == 0)
        args_refuse(a, "--csv and --fields-by mean nothing without --field");
    if (s->has_delim && s->format.columns == COLUMNS_BY_BLANKS)
        args_refuse(a, "--delim and --fields-by blanks cannot be used together");
    settle_columns(s);
    s->names = names[0] ? names : standard_input;
}
