/* command.c - tells the server of a family: commands, arity, keys and documentation. */
#include "command.h"

#include <stdio.h>
#include <string.h>

#include "word_parse.h"

/* The version of the library that had the commands first. */
static const char SINCE[] = "0.1.0";

static const redis_info_version INFO_VERSION = { .version = 1,
                                                 .history_size = sizeof(redis_history),
                                                 .key_spec_size = sizeof(redis_key_spec),
                                                 .arg_size = sizeof(redis_arg) };

/* ---- Arguments ---------------------------------------------------------- */

redis_arg args_key[] = { ARG_KEY, ARG_END };
redis_arg args_item[] = { ARG_KEY, ARG("item", STRING), ARG_END };
redis_arg args_items[] = { ARG_KEY, ARG_MANY("item", STRING), ARG_END };

static redis_arg pair[] = { ARG("item", STRING), ARG("increment", INTEGER), ARG_END };
redis_arg args_pairs[] = { ARG_KEY, ARG_OF("items", BLOCK, REDIS_ARG_MULTIPLE, pair), ARG_END };

/* ---- Where keys are ----------------------------------------------------- */

/* Where a spec begins to count; 0: nowhere. */
static int command_find_spec(const redis_key_spec *s, redis_string **argv, int argc)
{
    if (s->search == REDIS_SEARCH_INDEX)
        return s->begin.index.at;
    for (int at = s->begin.keyword.from; at + 1 < argc; at++)
        if (word_is(argv[at], s->begin.keyword.word))
            return at + 1;
    return 0;
}

/* A number of keys that cannot be is for the command to complain of. */
static void command_report_spec(redis_ctx *ctx, const redis_key_spec *s, redis_string **argv,
                                int argc)
{
    int at = command_find_spec(s, argv, argc);
    uint64_t n = at > 0 && at < argc;

    if (n && s->find == REDIS_FIND_NUMBER) {
        const redis_string *number = argv[at + s->keys.number.number];

        at += s->keys.number.first;
        if (!word_to_count(number, &n) || n > (uint64_t)(argc - at))
            return;
    }
    for (; n > 0; n--)
        redis.KeyAtPosWithFlags(ctx, at++, (int)s->flags);
}

bool command_reports_keys(redis_ctx *ctx, const redis_key_spec *specs, redis_string **argv,
                          int argc)
{
    if (!redis.IsKeysPositionRequest(ctx))
        return false;
    for (const redis_key_spec *s = specs; s->search; s++)
        command_report_spec(ctx, s, argv, argc);
    return true;
}

/* ---- Registering -------------------------------------------------------- */

static bool command_describe(redis_command *made, const command *c)
{
    redis_key_spec one[] = { KEY_AT(1, c->key), KEYS_END };
    redis_command_info info = { .version = &INFO_VERSION,
                                .summary = c->summary,
                                .complexity = c->complexity,
                                .since = SINCE,
                                .arity = c->arity,
                                .key_specs = c->keys ? c->keys : one,
                                .args = c->args };

    return redis.SetCommandInfo(made, &info) == REDIS_OK;
}

/* Rights of users: "read fast bloom". Redis 7.0 has no categories for commands of modules; 7.2 has
 * its own for them, and 7.4 also ours. */
static void command_categorize(redis_command *made, const command *c, const char *category)
{
    char names[64];

    if (!redis.SetCommandACLCategories)
        return;
    snprintf(names, sizeof names, "%s %s%s%s", strstr(c->flags, "readonly") ? "read" : "write",
             strstr(c->flags, "fast") ? "fast" : "slow", category ? " " : "",
             category ? category : "");
    (void)redis.SetCommandACLCategories(made, names);
}

static bool command_add(redis_ctx *ctx, const command *c, const char *category)
{
    redis_command *made;
    char flags[64];

    snprintf(flags, sizeof flags, "%s%s", c->flags, c->keys ? " getkeys-api" : "");
    if (redis.CreateCommand(ctx, c->name, c->run, flags, 1, 1, 1) != REDIS_OK)
        return false;
    made = redis.GetCommand(ctx, c->name);
    if (!made || !command_describe(made, c))
        return false;
    command_categorize(made, c, category);
    return true;
}

bool command_register(redis_ctx *ctx, const family *f)
{
    const char *category = NULL;

    if (redis.AddACLCategory && redis.AddACLCategory(ctx, f->category) == REDIS_OK)
        category = f->category;
    for (const command *c = f->commands; c->name; c++)
        if (!command_add(ctx, c, category)) {
            redis.Log(ctx, "warning", "cannot add the command %s; does another module have it?",
                      c->name);
            return false;
        }
    return value_register(ctx, f->type, f->load);
}
