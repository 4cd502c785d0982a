/* main.c - the table of commands. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args/help.h"
#include "commands.h"
#include "term/message.h"
#include "term/output.h"

static const command *const commands[] = {
    &cmd_kinds, &cmd_plan,   &cmd_build, &cmd_add,     &cmd_remove, &cmd_adapt,      &cmd_query,
    &cmd_dedup, &cmd_get,    &cmd_count, &cmd_list,    &cmd_hist,   &cmd_info,       &cmd_merge,
    &cmd_dot,   &cmd_resize, &cmd_fold,  &cmd_convert, &cmd_verify, &cmd_collection,
#define X(application) &application,
#include <applications.h>
#undef X
    NULL,
};

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
        return help_run(commands, argv + 2);
    a.command = command_find(commands, argv[1]);
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
