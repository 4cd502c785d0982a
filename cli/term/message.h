/* message.h - what is said on standard error, and the code the program exits with. */
#ifndef TAMIS_CLI_TERM_MESSAGE_H
#define TAMIS_CLI_TERM_MESSAGE_H

#include <inttypes.h>

#include "tamis.h"

enum {
    CODE_OK = 0,      /* done, or something matched */
    CODE_NOTHING = 1, /* nothing matched */
    CODE_USAGE = 2,   /* usage or bad argument */
    CODE_IO = 3,      /* input/output */
    CODE_CORRUPT = 4, /* not a filter, or damaged: a file, or what another machine sent */
    CODE_LIMIT = 5,   /* full, or over a limit */
    CODE_MEMORY = 6,  /* out of memory */
};

#define LIKE_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* One line, whatever bytes the arguments hold. */
void say(const char *format, ...) LIKE_PRINTF(1, 2);
/* The same of an error that does not end the program. */
void say_error(const char *format, ...) LIKE_PRINTF(1, 2);
/* From now on, say() is silent; errors are not. */
void say_errors_only(void);
/* Exits, from any thread. */
_Noreturn void leave(int code);
/* Says it and exits, from any thread. Nothing has to be undone, because a filter is written beside
 * its file and then renamed. */
_Noreturn void die(int code, const char *format, ...) LIKE_PRINTF(2, 3);
/* As die, because errno says so: "cannot read words.txt: No such file or directory". */
_Noreturn void die_errno(const char *verb, const char *path);

/* From now on, each of these signals, up to 0, ends the program with that text: memory that is a
 * file is not as it should be. */
void die_of_faults(const int *signals, const char *text);

/* Says what went wrong with the filter at `path`, and returns the exit code for it. */
int report(const char *verb, const char *path, tamis_status status);
_Noreturn void die_status(const char *verb, const char *path, tamis_status status);

#endif
