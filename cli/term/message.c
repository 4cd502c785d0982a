/* message.c - messages and exit codes.
 *
 * A message is one line: what happened, where, and what to do about it. It is written by one
 * write(), so that lines of parallel runs do not mix. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "progress.h"
#include "unicode.h"

/* Room for two of the longest paths. */
enum { LINE_MAX_SIZE = 9000 };

static void vsay(const char *format, va_list arguments)
{
    char line[LINE_MAX_SIZE] = "tamis: ";
    size_t prefix = strlen(line);

    vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
    size_t size = unicode_clean(line, strlen(line));
    line[size++] = '\n';
    progress_erase();
    /* If standard error is closed, there is nobody to tell. */
    if (write(STDERR_FILENO, line, size) < 0)
        return;
}

static bool is_quiet;

void say_errors_only(void)
{
    is_quiet = true;
}

void say(const char *format, ...)
{
    va_list arguments;

    if (is_quiet)
        return;
    va_start(arguments, format);
    vsay(format, arguments);
    va_end(arguments);
}

void say_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsay(format, arguments);
    va_end(arguments);
}

/* Calling exit() twice is undefined, so other threads wait here for ever. */
void leave(int code)
{
    static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&door);
    exit(code);
}

void die(int code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsay(format, arguments);
    va_end(arguments);
    leave(code);
}

void die_errno(const char *verb, const char *path)
{
    int code = errno == ENOMEM ? CODE_MEMORY : CODE_IO;

    die(code, "cannot %s %s: %s", verb, path, strerror(errno));
}

static const char *fault_text;

static void on_fault(int which)
{
    (void)which;
    if (write(STDERR_FILENO, fault_text, strlen(fault_text)) < 0)
        _exit(CODE_CORRUPT);
    _exit(CODE_CORRUPT);
}

void die_of_faults(const int *signals, const char *text)
{
    struct sigaction action = { .sa_handler = on_fault };

    fault_text = text;
    for (; *signals; signals++)
        sigaction(*signals, &action, NULL);
}

static const struct answer {
    int code;
    const char *advice;
} answers[] = {
    [TAMIS_OK] = { CODE_OK, "" },
    [TAMIS_NOMEM] = { CODE_MEMORY, "ask for a smaller filter, or use a larger machine" },
    [TAMIS_FULL] = { CODE_LIMIT, "build it with a larger -n, or with --grow if its kind can grow" },
    [TAMIS_RANGE] = { CODE_LIMIT, "'tamis plan' shows what fits" },
    [TAMIS_CANNOT] = { CODE_USAGE, "'tamis kinds' tells what each kind can do" },
    [TAMIS_READONLY] = { CODE_USAGE, "work on a copy" },
    [TAMIS_MISMATCH] = { CODE_USAGE, "'tamis info' shows both" },
    [TAMIS_ABSENT] = { CODE_NOTHING, "only what was added can be removed" },
    [TAMIS_FOREIGN] = { CODE_CORRUPT, "'tamis build' makes filters" },
    [TAMIS_CORRUPT] = { CODE_CORRUPT,
                        "'tamis verify' tells where; restore a copy or build it again" },
    [TAMIS_NEWER] = { CODE_CORRUPT, "install a newer tamis" },
    [TAMIS_DIRTY] = { CODE_CORRUPT, "run 'tamis verify --recover' on it" },
    [TAMIS_BUSY] = { CODE_IO, "try again when it has finished" },
    [TAMIS_IO] = { CODE_IO, "" },
    [TAMIS_UNSYNCED] = { CODE_IO, "save it again when the disk is well" },
    [TAMIS_STOPPED] = { CODE_IO, "run it again" },
    [TAMIS_CONFLICT] = { CODE_USAGE, "keep one line for each key" },
    [TAMIS_PRESENT] = { CODE_NOTHING, "what was added is no false positive" },
};

int report(const char *verb, const char *path, tamis_status status)
{
    const struct answer *answer = &answers[status];

    if (status == TAMIS_IO)
        say_error("cannot %s %s: %s", verb, path, strerror(errno));
    else if (status == TAMIS_UNSYNCED)
        say_error("%s: %s: %s; %s", path, tamis_status_text(status), strerror(errno),
                  answer->advice);
    else
        say_error("%s: %s; %s", path, tamis_status_text(status), answer->advice);
    return answer->code;
}

void die_status(const char *verb, const char *path, tamis_status status)
{
    leave(report(verb, path, status));
}
