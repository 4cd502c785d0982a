/* args.h - commands: what they are called, the options they take, the help they give. */
#ifndef TAMIS_CLI_ARGS_ARGS_H
#define TAMIS_CLI_ARGS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/pipeline.h"

/* Options are rows of tables. A row says how an option is called, what takes its value (its type),
 * where that goes, and the help. args_read() reads all options of a command into its request:
 *
 *     static const option_row options[] = {
 *         { 'o', "output", "FILE", "where to write", TO_TEXT(request, out) },
 *         { 0, "memory", "SIZE", "memory it may take", TO_SIZE(request, memory) },
 *         { 0, "by", "HOW", "order of rows", TO_WORD(request, order, orders) },
 *         { 0, "window", "N", "lines, or a time such as 90s", .take = choose_window },
 *         OPTIONS(key_options, request, source),
 *         { .take = refuse_contradictions },
 *     };
 *
 * A take function of the command's own gets the request. That of the last row, which has no name,
 * is called when all options were read; those of included tables before that of the table itself.
 */
typedef struct args args;

typedef struct word_row {
    const char *name; /* NULL in the last row */
    int value;
    const char *meaning;
} word_row;

typedef struct option_row {
    char letter;          /* 0: the option has only its long name */
    const char *name;     /* NULL in the last row, and where a table is included */
    const char *argument; /* NULL: takes none; "[=WORD]" may be left out */
    const char *help;
    void (*take)(void *into, const args *a); /* its value is in `a` */
    size_t at, size;                         /* of the member that it goes to */
    uint64_t min, max;                       /* of a count; the constant */
    double least, most;                      /* of a share */
    const word_row *words;                   /* one of them is the value */
    const char *verbs;                       /* of the command, that it is for; NULL: all */
    const struct option_row *included;       /* a table for the struct at that place */
} option_row;

/* Types of options. A member of another type than its option does not compile. */
#define OPTION_MEMBER(type, request, member) \
    .at = _Generic(((request *)0)->member, type : offsetof(request, member))
#define OPTION_NUMBER(request, member) \
    .at = offsetof(request, member), .size = sizeof(((request *)0)->member)

#define TO_FLAG(request, member) .take = option_flag, OPTION_MEMBER(bool, request, member)
/* The option stands for the constant, and takes no argument. */
#define TO_CONSTANT(request, member, constant) \
    .take = option_constant, OPTION_NUMBER(request, member), .min = (constant)
#define TO_TEXT(request, member) .take = option_text, OPTION_MEMBER(const char *, request, member)
/* 1000, 1e9, 10M; the member is an unsigned integer of any size. */
#define TO_COUNT(request, member, min_, max_) \
    .take = option_count, OPTION_NUMBER(request, member), .min = (min_), .max = (max_)
/* 4096, 64K, 1G, as uint64_t; of memory, as size_t, at most half of what can be addressed. */
#define TO_SIZE(request, member) .take = option_size, OPTION_MEMBER(uint64_t, request, member)
#define TO_MEMORY(request, member) .take = option_memory, OPTION_MEMBER(size_t, request, member)
/* 42, 0x2a */
#define TO_INTEGER(request, member) .take = option_integer, OPTION_MEMBER(uint64_t, request, member)
#define TO_FPR(request, member) .take = option_fpr, OPTION_MEMBER(double, request, member)
/* 0.02, 2% */
#define TO_SHARE(request, member, least_, most_) \
    .take = option_share, OPTION_MEMBER(double, request, member), .least = (least_), .most = (most_)
/* 500ms, 1us, 0.02 */
#define TO_COST(request, member) .take = option_cost, OPTION_MEMBER(cost_value, request, member)
/* One of a list, into an enum. */
#define TO_WORD(request, member, words_) \
    .take = option_word, OPTION_NUMBER(request, member), .words = (words_)
#define TO_BYTE(request, member) .take = option_byte, OPTION_MEMBER(unsigned char, request, member)
#define TO_KIND(request, member) .take = option_kind, OPTION_NUMBER(request, member)
/* add,remove: added to those that are there */
#define TO_ABILITIES(request, member) \
    .take = option_abilities, OPTION_MEMBER(unsigned, request, member)

/* --stats or --stats=json, where standard output is for data. */
#define TO_STATS(request, member) .take = option_stats, OPTION_MEMBER(stats_form, request, member)

/* Includes a table whose rows go to a member. { .included = table } has them go to the request. */
#define OPTIONS(table, request, member)                      \
    {                                                        \
        .included = (table), .at = offsetof(request, member) \
    }

typedef enum stats_form { STATS_NONE, STATS_TEXT, STATS_JSON } stats_form;

/* A number of seconds if it has a unit of time. */
typedef struct cost_value {
    double value;
    bool is_time;
} cost_value;

/*     const command cmd_join = { "join", help_join, options, .run = run }; */
typedef struct command {
    const char *name;
    const char *help;          /* NAME.help: usage, summary, paragraphs, own exit codes, example */
    const option_row *options; /* for the request; NULL: it takes none */
    const char *list;          /* lines that follow the paragraphs; NULL: none */
    const char *verbs;         /* words that may come first, for completion; NULL: none */
    /* What a verb does as a command of its own, valid until the next call; NULL if it is none. */
    const struct command *(*part)(const char *verb);
    int (*run)(args *a);
} command;

struct args {
    const command *command;
    int argc;
    char **argv;
    const option_row *option; /* at hand */
    const char *value;        /* of it; NULL: it has none */
    uint64_t given;           /* options so far, by their place */
};

/* NULL follows the last command. Ends the program if none has that name. */
const command *command_find(const command *const *commands, const char *name);
/* The i-th option; then --help, then NULL. */
const option_row *command_option(const command *c, size_t i);
/* Whether its options include that table. */
bool command_includes(const command *c, const option_row *table);

extern const option_row help_options[]; /* of every command, after its own */
/* Whether its argument may be left out. */
bool option_is_optional(const option_row *o);

/* Reads all options into `request`, whose members hold the defaults, and calls the checks of their
 * tables. Answers --help, and refuses unknown options. */
void args_read(args *a, void *request);
/* Whether the option of that name was among them. */
bool args_given(const args *a, const char *name);
/* Whether one of the table was. */
bool args_given_any(const args *a, const option_row *table);
/* The operands, `min` to `max` of them; NULL follows the last. */
char **args_operands(const args *a, size_t min, size_t max, const char *what);
/* Which of the command's verbs it is, from 0. Another word ends the program, and so does an option
 * that is for other verbs. */
size_t args_verb(const args *a, const char *word);
_Noreturn void args_refuse(const args *a, const char *why);

/* Ends the program: "--NAME 'VALUE' is not `expected`". */
_Noreturn void args_refuse_value(const args *a, const char *expected);

/* The value of the option at hand, for take functions, within its range. */
uint64_t args_count(const args *a, uint64_t min, uint64_t max);
uint64_t args_bytes(const args *a);
double args_share(const args *a, double least, double most);
tamis_kind args_kind(const args *a);
int args_word(const args *a, const word_row *words);

/* What the types above do with it. */
void option_flag(void *into, const args *a);
void option_constant(void *into, const args *a);
void option_text(void *into, const args *a);
void option_count(void *into, const args *a);
void option_size(void *into, const args *a);
void option_memory(void *into, const args *a);
void option_integer(void *into, const args *a);
void option_fpr(void *into, const args *a);
void option_share(void *into, const args *a);
void option_cost(void *into, const args *a);
void option_word(void *into, const args *a);
void option_stats(void *into, const args *a);
void option_byte(void *into, const args *a);
void option_kind(void *into, const args *a);
void option_abilities(void *into, const args *a);

extern const option_row key_options[];      /* for a source: of every command that reads keys */
extern const option_row value_options[];    /* for a source: --values-field */
extern const option_row input_options[];    /* those of them that are not about keys */
extern const option_row progress_options[]; /* for no struct; input_options include them */
extern const option_row quiet_options[];    /* for no struct: where --quiet means nothing else */

source source_default(void);
/* Takes the operands: a FILE, which is returned, and INPUTs; without `what`, INPUTs only. */
const char *source_operands(source *s, const args *a, const char *what);
/* `names` are operands; none means standard input. */
void source_inputs(source *s, char **names);

#endif
