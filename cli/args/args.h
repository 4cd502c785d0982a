/* args.h - commands: what they are called, the options they take, the help they give. */
#ifndef TAMIS_CLI_ARGS_ARGS_H
#define TAMIS_CLI_ARGS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/pipeline.h"

typedef struct option_row {
    int letter;           /* from LETTERLESS on: the option has only its long name */
    const char *name;     /* NULL in the last row */
    const char *argument; /* NULL: takes none; "[=WORD]" may be left out */
    const char *help;
} option_row;

enum { LETTERLESS = 256 };

typedef struct args args;

typedef struct command {
    const char *name;
    const char *operands;         /* as in the usage line */
    const char *summary;          /* one line */
    const char *about;            /* paragraphs */
    const option_row *options[5]; /* tables; NULL follows the last */
    const char *when_ok;          /* exit code 0 */
    const char *when_nothing;     /* exit code 1; NULL: never */
    const char *example;          /* lines for a shell */
    const char *verbs;            /* words that may come first, for completion; NULL: none */
    /* What a verb does as a command of its own, valid until the next call; NULL if it is none. */
    const struct command *(*part)(const char *verb);
    int (*run)(args *a);
} command;

struct args {
    const command *command;
    int argc;
    char **argv;
    const char *value; /* of the option at hand */
    int letter;
};

/* NULL follows the last command. Ends the program if none has that name. */
const command *command_find(const command *const *commands, const char *name);
/* The i-th option, of all tables; then --help, then NULL. */
const option_row *command_option(const command *c, size_t i);

extern const option_row help_options[]; /* of every command, after its own */
/* Whether its argument may be left out. */
bool option_is_optional(const option_row *o);

/* The letter of the next option, or -1. Answers --help, and refuses unknown options. */
int args_next(args *a);
/* Other arguments come next: begin with the first of them. */
void args_restart(void);
/* The operands, `min` to `max` of them; NULL follows the last. */
char **args_operands(const args *a, size_t min, size_t max, const char *what);
/* Which of the command's verbs it is, from 0. Another word ends the program. */
size_t args_verb(const args *a, const char *word);
_Noreturn void args_refuse(const args *a, const char *why);

/* The value of the option at hand, within its range. */
uint64_t args_count(const args *a, uint64_t min, uint64_t max);
uint64_t args_bytes(const args *a);
/* The same, of memory: no more than half of what the machine can address. */
size_t args_memory(const args *a);
uint64_t args_integer(const args *a);
double args_fpr(const args *a);
double args_load(const args *a);
double args_error(const args *a);
double args_share(const args *a);
/* Sets *is_time if it has a unit of time; it is in seconds then. */
double args_cost(const args *a, bool *is_time);
unsigned args_abilities(const args *a);

/* Options of every command that reads keys. */
enum {
    OPTION_FIELD = LETTERLESS,
    OPTION_DELIM,
    OPTION_FIELDS_BY,
    OPTION_CSV,
    OPTION_CRLF,
    OPTION_NO_DECOMPRESS,
    OPTION_PROGRESS,
    OPTION_NO_PROGRESS,
    OPTION_QUIET,
    OPTION_OWN
};

extern const option_row key_options[];
extern const option_row quiet_options[]; /* where --quiet means nothing else */

void source_init(source *s);
/* Takes one of key_options or quiet_options. */
void source_option(source *s, const args *a);
/* `names` are operands; none means standard input. */
void source_inputs(source *s, const args *a, char **names);

#endif
