/* main.c - the table of commands. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "complete.h"
#include "message.h"
#include "nearest.h"
#include "output.h"

static const command *const commands[] = {
    &cmd_kinds,   &cmd_plan,    &cmd_build,    &cmd_add,       &cmd_remove,     &cmd_adapt,
    &cmd_query,   &cmd_dedup,   &cmd_top,      &cmd_get,       &cmd_count,      &cmd_list,
    &cmd_hist,    &cmd_info,    &cmd_merge,    &cmd_dot,       &cmd_resize,     &cmd_fold,
    &cmd_convert, &cmd_verify,  &cmd_gen,      &cmd_kmers,     &cmd_collection, &cmd_budget,
    &cmd_show,    &cmd_lab,     &cmd_delta,    &cmd_intersect, &cmd_reconcile,  &cmd_sync,
    &cmd_join,    &cmd_digest,  &cmd_replicas, &cmd_guard,     &cmd_spell,      &cmd_match,
    &cmd_flows,   &cmd_similar,
};

enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const char *name_at(const void *ctx, size_t i)
{
    (void)ctx;
    return i < N_COMMANDS ? commands[i]->name : NULL;
}

static const command *find_command(const char *name)
{
    char hint[HINT_SIZE];

    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    die(CODE_USAGE, "no command is called '%s'; 'tamis help' lists them.%s", name,
        nearest_hint(hint, name, name_at, NULL));
}

/* ---- Help -------------------------------------------------------------- */

static void print_names(void)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        printf("%s\n", commands[i]->name);
}

static void print_overview(void)
{
    printf("Usage: tamis COMMAND [OPTION]... [FILE]...\n"
           "       tamis help [COMMAND]\n"
           "Filters that tell whether a key is in a set, in a few bits per key.\n"
           "\n"
           "Commands:\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("\n"
           "Options:\n"
           "  -h, --help     show this help; with a command, its own\n"
           "  -V, --version  show the version\n"
           "\n"
           "Example:\n"
           "  seq 1000 | tamis build -o numbers.tamis\n"
           "  printf '%%s\\n' 7 seven | tamis query numbers.tamis\n");
}

/* "lab fpr" is one command here, if there is such an experiment. */
static void help_part(const command *c, const char *verb)
{
    const command *part = c->part ? c->part(verb) : NULL;

    if (!part)
        die(CODE_USAGE, "help: '%s' is one operand too many; give one command", verb);
    help_print(part);
}

static int help(char **words)
{
    if (!words[0])
        print_overview();
    else if (strcmp(words[0], "--complete") == 0)
        return complete_print(commands, N_COMMANDS, words + 1);
    else if (words[1])
        help_part(find_command(words[0]), words[1]);
    else if (strcmp(words[0], "--names") == 0)
        print_names();
    else
        help_print(find_command(words[0]));
    return CODE_OK;
}

/* ---- Start ------------------------------------------------------------- */

/* A file opened by the program must not become one of the standard three. Those that are closed are
 * opened in the wrong direction, so that using them fails. */
static void occupy_standard_files(void)
{
    static const int modes[] = { O_WRONLY, O_RDONLY, O_WRONLY };

    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            die_errno("open", "/dev/null");
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static int run(int argc, char **argv)
{
    args a = { .argc = argc - 1, .argv = argv + 1 };

    if (argc < 2)
        die(CODE_USAGE, "give a command; 'tamis help' lists them");
    if (is_one_of(argv[1], "-V", "--version")) {
        printf("tamis %s\n", tamis_version());
        return CODE_OK;
    }
    if (is_one_of(argv[1], "-h", "--help") || strcmp(argv[1], "help") == 0)
        return help(argv + 2);
    a.command = find_command(argv[1]);
    return a.command->run(&a);
}

int main(int argc, char **argv)
{
    int code;

    occupy_standard_files();
    /* Reaching a limit on file sizes is an error to report, not a signal to die of. */
    signal(SIGXFSZ, SIG_IGN);
    code = run(argc, argv);
    output_end();
    return code;
}
