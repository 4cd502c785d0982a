/* help.c - help of commands, from their tables, and of what they have in common. */
#include <help_texts.h>
#include <stdio.h>
#include <string.h>

#include "complete.h"
#include "help.h"
#include "term/message.h"

/* ---- Parts ------------------------------------------------------------- */

const char *option_help(const option_row *o)
{
    static char text[160];
    size_t size = 0;

    for (const char *c = o->verbs; c && *c; c++)
        size += (size_t)snprintf(text + size, sizeof text - size, *c == ' ' ? ", " : "%c", *c);
    snprintf(text + size, sizeof text - size, "%s%s", o->verbs ? ": " : "", o->help);
    return text;
}

static void print_option(const option_row *o)
{
    char left[64];

    snprintf(left, sizeof left, "--%s%s%s", o->name,
             o->argument && !option_is_optional(o) ? " " : "", o->argument ? o->argument : "");
    if (o->letter)
        printf("  -%c, %-20s ", o->letter, left);
    else
        printf("      %-20s ", left);
    printf("%s\n", option_help(o));
}

static void print_options(const option_row *table, const option_row *without)
{
    if (table == without)
        return;
    for (; table->name || table->included; table++)
        if (table->included)
            print_options(table->included, without);
        else
            print_option(table);
}

static bool takes_keys(const command *c)
{
    return command_includes(c, key_options);
}

/* ---- Texts ------------------------------------------------------------- */

static const char CODES[] = "\nExit codes:\n", EXAMPLE[] = "\nExample:\n";

static const char *part_of_text(const char *help, const char *title)
{
    const char *part = strstr(help, title);

    return part ? part : help + strlen(help);
}

static void print_between(const char *from, const char *to)
{
    printf("%.*s", (int)(to - from), from);
}

const char *help_summary(const char *help)
{
    static char line[100];
    const char *start = strchr(help, '\n') + 1;

    snprintf(line, sizeof line, "%.*s", (int)strcspn(start, "\n"), start);
    return line;
}

span help_about(const char *help)
{
    const char *start = strstr(help, "\n\n") + 2;

    return (span){ start, (size_t)(part_of_text(help, CODES) - start) };
}

/* Those from 2 on, which mean the same for each command. */
static void print_common_codes(void)
{
    const char *start = strstr(help_exit, "  2  ");

    print_between(start, strstr(start, "\n\n") + 1);
}

/* ---- Commands ---------------------------------------------------------- */

static void print_command(const command *c, bool is_all)
{
    const char *codes = part_of_text(c->help, CODES), *example = part_of_text(c->help, EXAMPLE);

    print_between(c->help, codes);
    printf("%s\nOptions:\n", c->list ? c->list : "");
    if (c->options)
        print_options(c->options, is_all ? NULL : key_options);
    print_options(help_options, NULL);
    print_between(codes, example);
    if (is_all)
        print_common_codes();
    else if (takes_keys(c))
        printf("\nExit status and common input options: tamis help exit, tamis help input\n");
    else
        printf("\nExit status: tamis help exit\n");
    printf("%s", example);
}

void help_print(const command *c)
{
    print_command(c, false);
}

/* "lab fpr" is one command here, if there is such an experiment. */
static const command *part_of(const command *c, const char *verb)
{
    const command *part = c->part ? c->part(verb) : NULL;

    if (!part)
        die(CODE_USAGE, "help: '%s' is one operand too many; give one command", verb);
    return part;
}

static void print_named(const command *const *commands, char **words, bool is_all)
{
    const command *c = command_find(commands, words[0]);

    print_command(words[1] ? part_of(c, words[1]) : c, is_all);
}

/* ---- Overviews --------------------------------------------------------- */

/* Every command, in so few lines that a terminal shows them all. */
/* What `tamis help` says of the commands that most people need, two to a line. */
typedef struct overview_row {
    const char *group; /* NULL: that of the row before */
    const char *names, *what;
} overview_row;

static const overview_row overview[] = {
    { "Make and use a filter", "build", "make a filter from lines" },
    { NULL, "query", "print lines in a filter" },
    { NULL, "plan", "compare kinds and sizes" },
    { NULL, "info", "print size and error rate" },
    { NULL, "add, remove", "change its keys" },
    { NULL, "count, get", "print counts, values" },
    { NULL, "merge, resize, fold, convert", "derive" },
    { NULL, "verify", "check a file for damage" },
    { "No filter file needed", "dedup", "drop duplicate lines" },
    { NULL, "top", "print most frequent lines" },
    { NULL, "join", "join two tables by a key" },
    { NULL, "match", "find many fixed strings" },
    { "Two machines", "sync", "copy what changed" },
    { NULL, "reconcile, intersect", "compare sets" },
    { "Learn", "kinds", "list the kinds of filters" },
    { NULL, "show", "draw a filter, step by step" },
    { NULL, "gen", "print keys to try them with" },
    { NULL, "lab", "experiments of a course" },
};

enum { OVERVIEW_ROWS = sizeof overview / sizeof *overview, LEFT_WIDTH = 42, LINE_WIDTH = 79 };

static bool is_among(const char *names, const char *name)
{
    const size_t length = strlen(name);

    while (strncmp(names, name, length) || (names[length] && names[length] != ',')) {
        names = strchr(names, ' ');
        if (!names++)
            return false;
    }
    return true;
}

/* Applications can be left out of the program. */
static bool is_built(const overview_row *row, const command *const *commands)
{
    while (*commands && !is_among(row->names, (*commands)->name))
        commands++;
    return *commands;
}

static int print_row(const overview_row *row)
{
    const char *gap = strchr(row->names, ',') ? "   " : " ";

    return printf("%-8s%s%s", row->names, gap, row->what);
}

/* Prints the rows of a group, and moves on to the next one. */
static void print_group(const overview_row **row, const command *const *commands)
{
    const char *title = (*row)->group;
    int left = 0; /* characters of the row that waits for another beside it */

    do {
        if (!is_built(*row, commands))
            continue;
        if (title)
            printf("%s\n", title);
        title = NULL;
        printf("%*s", left ? LEFT_WIDTH - left : 2, "");
        if (left) {
            print_row(*row);
            printf("\n");
            left = 0;
        } else {
            left = print_row(*row);
        }
    } while (++*row < overview + OVERVIEW_ROWS && !(*row)->group);
    if (left)
        printf("\n");
}

static bool is_in_overview(const command *c)
{
    for (size_t i = 0; i < OVERVIEW_ROWS; i++)
        if (is_among(overview[i].names, c->name))
            return true;
    return false;
}

static void print_more(const command *const *commands)
{
    int column = printf("More:");

    for (; *commands; commands++)
        if (!is_in_overview(*commands)) {
            if (column + (int)strlen((*commands)->name) >= LINE_WIDTH)
                column = printf("\n     ") - 1;
            column += printf(" %s", (*commands)->name);
        }
    printf("\n");
}

static void print_overview(const command *const *commands)
{
    printf("Usage: tamis COMMAND [OPTION]... [FILE]...\n"
           "Approximate membership filters: is this key in the set?\n"
           "\n");
    for (const overview_row *row = overview; row < overview + OVERVIEW_ROWS;)
        print_group(&row, commands);
    print_more(commands);
    printf("\n"
           "tamis help COMMAND   one command            tamis help --all   a line for each\n"
           "tamis help input     columns, compression   tamis help exit    exit codes\n"
           "\n"
           "Example: seq 1000 | tamis build -o n.tamis; echo 7 | tamis query n.tamis\n");
}

static void print_all(const command *const *commands)
{
    printf("Usage: tamis COMMAND [OPTION]... [FILE]...\n"
           "       tamis help [--all] [COMMAND | TOPIC]\n"
           "\n"
           "Commands:\n");
    for (; *commands; commands++)
        printf("  %-10s %s\n", (*commands)->name, help_summary((*commands)->help));
    printf("\nTopics of help:\n");
    for (const topic *t = topics; t->name; t++)
        printf("  %-10s %s\n", t->name, t->summary);
    printf("\n"
           "Options:\n"
           "  -h, --help     show the commands; with a command, its help\n"
           "  -V, --version  show the version\n"
           "\n"
           "With --all, the help of a command repeats what the topics hold, as its manual page "
           "does.\n");
}

static void print_names(const command *const *commands)
{
    for (; *commands; commands++)
        printf("%s\n", (*commands)->name);
}

/* ---- Topics ------------------------------------------------------------ */

static void print_takers(const command *const *commands)
{
    printf("Commands with these options:\n ");
    for (; *commands; commands++)
        if (takes_keys(*commands))
            printf(" %s", (*commands)->name);
    printf("\n");
}

static void print_input(const command *const *commands)
{
    const char *example = part_of_text(help_input, EXAMPLE);

    print_between(help_input, example);
    printf("\nOptions:\n");
    print_options(key_options, NULL);
    printf("\n");
    print_takers(commands);
    printf("%s", example);
}

static void print_exit(const command *const *commands)
{
    (void)commands;
    printf("%s", help_exit);
}

const topic topics[] = {
    { "input", "columns, line ends, compression and threads", print_input },
    { "exit", "exit codes", print_exit },
    { 0 },
};

static const topic *find_topic(const char *name)
{
    const topic *t = topics;

    while (t->name && strcmp(t->name, name) != 0)
        t++;
    return t->name ? t : NULL;
}

/* ---- tamis help -------------------------------------------------------- */

int help_run(const command *const *commands, char **words)
{
    const topic *t = words[0] && !words[1] ? find_topic(words[0]) : NULL;

    if (!words[0])
        print_overview(commands);
    else if (t)
        t->print(commands);
    else if (strcmp(words[0], "--complete") == 0)
        return complete_print(commands, words + 1);
    else if (strcmp(words[0], "--names") == 0)
        print_names(commands);
    else if (strcmp(words[0], "--all") != 0)
        print_named(commands, words, false);
    else if (words[1])
        print_named(commands, words + 1, true);
    else
        print_all(commands);
    return CODE_OK;
}
