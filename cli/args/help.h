/* help.h - what the program prints of itself. */
#ifndef TAMIS_CLI_ARGS_HELP_H
#define TAMIS_CLI_ARGS_HELP_H

#include "args.h"

typedef struct topic {
    const char *name;
    const char *summary; /* one line */
    void (*print)(const command *const *commands);
} topic;

extern const topic topics[]; /* the last has no name */

/* What an option does, after "write, ask: " if it is for these verbs only; until the next call. */
const char *option_help(const option_row *o);
/* The second line of a help text, which tells what the command does; until the next call. */
const char *help_summary(const char *help);
/* Its paragraphs. */
span help_about(const char *help);
/* What a command prints for --help: all but what the topics hold. */
void help_print(const command *c);
/* tamis help WORD...; NULL follows the last command, and the last word. */
int help_run(const command *const *commands, char **words);

#endif
