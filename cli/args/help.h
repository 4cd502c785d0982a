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

/* Where a help text ends its paragraphs: "\nExample:\n" and the rest. */
const char *help_example(const char *help);
/* What a command prints for --help: all but what the topics hold. */
void help_print(const command *c);
/* tamis help WORD...; NULL follows the last command, and the last word. */
int help_run(const command *const *commands, char **words);

#endif
