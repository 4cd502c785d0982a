/* complete.h - what may come next on a command line, for the completion of shells. */
#ifndef TAMIS_CLI_ARGS_COMPLETE_H
#define TAMIS_CLI_ARGS_COMPLETE_H

#include "args.h"

/* Prints what the last of the words, begun or empty, may become: each in a line with a TAB and what
 * it means. NULL follows the last command. CODE_NOTHING, and nothing is printed, if it is the name
 * of a file. */
int complete_print(const command *const *commands, char **words);

#endif
