/* command.h - what a family of commands tells the module: one row for each command, and its type.
 *
 * A family is a file (bf.c) that ends with its table, and a line in module.c. */
#ifndef TAMIS_REDIS_COMMAND_H
#define TAMIS_REDIS_COMMAND_H

#include "value.h"

/* What commands do to their key; every one of ours has the first word after its name as key. Those
 * with `keys` begin with command_reports_keys(). */
enum {
    KEY_READ = REDIS_KEY_RO | REDIS_KEY_ACCESS,
    KEY_ADD = REDIS_KEY_RW | REDIS_KEY_INSERT,
    KEY_CHANGE = REDIS_KEY_RW | REDIS_KEY_ACCESS | REDIS_KEY_UPDATE,
    KEY_REMOVE = REDIS_KEY_RW | REDIS_KEY_DELETE,
    KEY_REPLACE = REDIS_KEY_OW | REDIS_KEY_UPDATE /* whatever it held before */
};

typedef struct command {
    const char *name; /* lower case; NULL ends a table */
    redis_run *run;
    const char *flags;
    int arity; /* as Redis counts: with the name, and negative for "at least" */
    uint64_t key;
    const char *summary;
    const char *complexity;
    redis_arg *args;
    redis_key_spec *keys; /* NULL: the one key */
} command;

typedef struct family {
    const char *category; /* of access control lists, where the server lets us add one */
    const command *commands;
    const value_type *type;                    /* the data type */
    void *(*load)(redis_io *io, int encoding); /* its method: value_load() of that type */
    void (*tell)(redis_info *info);            /* adds fields to INFO tamis; NULL: none */
} family;

/* Rows of arguments for COMMAND DOCS. */
#define ARG_KEY                              \
    {                                        \
        .name = "key", .type = REDIS_ARG_KEY \
    }
#define ARG(text, kind)                                        \
    {                                                          \
        .name = text, .type = REDIS_ARG_##kind, .key_spec = -1 \
    }
#define ARG_MANY(text, kind)                                                                \
    {                                                                                       \
        .name = text, .type = REDIS_ARG_##kind, .key_spec = -1, .flags = REDIS_ARG_MULTIPLE \
    }
/* A word, and all values after it. */
#define ARG_MANY_AFTER(text, kind, word)                                       \
    {                                                                          \
        .name = text, .type = REDIS_ARG_##kind, .key_spec = -1, .token = word, \
        .flags = REDIS_ARG_MULTIPLE                                            \
    }
/* A word and a value after it, both of which may be left out; or the word alone. */
#define ARG_OPTION(text, kind, word)                                           \
    {                                                                          \
        .name = text, .type = REDIS_ARG_##kind, .key_spec = -1, .token = word, \
        .flags = REDIS_ARG_OPTIONAL                                            \
    }
#define ARG_WORD(text, word) ARG_OPTION(text, TOKEN, word)
/* Several in one: a block of them, or one of them. */
#define ARG_OF(text, kind, options, some)                                                         \
    {                                                                                             \
        .name = text, .type = REDIS_ARG_##kind, .key_spec = -1, .flags = (options), .parts = some \
    }
/* One of the words of a one-of. */
#define ARG_TOKEN(text, word)                                                \
    {                                                                        \
        .name = text, .type = REDIS_ARG_TOKEN, .key_spec = -1, .token = word \
    }
/* Where keys are: one; or a number of them, and then so many; and the end of that list. */
#define KEY_AT(at, what)                                                             \
    {                                                                                \
        .flags = (what), .search = REDIS_SEARCH_INDEX, .begin = { .index = { at } }, \
        .find = REDIS_FIND_ONE                                                       \
    }
#define KEYS_COUNTED_AT(at, what)                                                    \
    {                                                                                \
        .flags = (what), .search = REDIS_SEARCH_INDEX, .begin = { .index = { at } }, \
        .find = REDIS_FIND_NUMBER, .keys = {                                         \
            .number = { 0, 1, 1 }                                                    \
        }                                                                            \
    }
#define KEYS_END                   \
    {                              \
        .search = REDIS_SEARCH_END \
    }
#define ARG_END      \
    {                \
        .name = NULL \
    }

/* Arguments that many commands take: a key, and an item, items, or pairs of an item and a number.
 */
extern redis_arg args_key[], args_item[], args_items[], args_pairs[];

/* Whether the server does not run the command, but asks for the positions of its keys. They were
 * reported then, as the specs say; in a cluster, the server looks at no others. */
bool command_reports_keys(redis_ctx *ctx, const redis_key_spec *specs, redis_string **argv,
                          int argc);

/* False if the server refused something; the log says what. */
bool command_register(redis_ctx *ctx, const family *f);

#endif
