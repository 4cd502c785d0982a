/* nothing.c - a module whose commands do nothing: what a command costs beside the filter.
 *
 *     NOTHING.OK key item...       OK
 *     NOTHING.ARRAY key item...    0 for each item
 *
 * The first is what the server takes to read a command, the second also what it takes to reply as
 * BF.MADD does. */
#include <stddef.h>

typedef struct ctx ctx;
typedef int run(ctx *c, void **argv, int argc);
typedef int get_function(const char *name, void *to);

/* The functions of the server that are used, by their names there. */
static struct {
    void (*SetModuleAttribs)(ctx *c, const char *name, int version, int api);
    int (*CreateCommand)(ctx *c, const char *name, run *f, const char *flags, int first, int last,
                         int step);
    int (*ReplyWithSimpleString)(ctx *c, const char *text);
    int (*ReplyWithArray)(ctx *c, long n);
    int (*ReplyWithBool)(ctx *c, int yes);
} redis;

static int nothing_ok(ctx *c, void **argv, int argc)
{
    (void)argv;
    (void)argc;
    return redis.ReplyWithSimpleString(c, "OK");
}

static int nothing_array(ctx *c, void **argv, int argc)
{
    (void)argv;
    redis.ReplyWithArray(c, argc - 2);
    for (int i = 2; i < argc; i++)
        redis.ReplyWithBool(c, 0);
    return 0;
}

/* The first word of a context finds functions. */
static int nothing_find(ctx *c)
{
    get_function *get = *(get_function **)(void *)c;

    return get("RedisModule_SetModuleAttribs", &redis.SetModuleAttribs) ||
           get("RedisModule_CreateCommand", &redis.CreateCommand) ||
           get("RedisModule_ReplyWithSimpleString", &redis.ReplyWithSimpleString) ||
           get("RedisModule_ReplyWithArray", &redis.ReplyWithArray) ||
           get("RedisModule_ReplyWithBool", &redis.ReplyWithBool);
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(ctx *c, void **argv, int argc);

int RedisModule_OnLoad(ctx *c, void **argv, int argc)
{
    (void)argv;
    (void)argc;
    if (nothing_find(c))
        return 1;
    redis.SetModuleAttribs(c, "nothing", 1, 1);
    return redis.CreateCommand(c, "nothing.ok", nothing_ok, "readonly fast", 1, 1, 1) ||
           redis.CreateCommand(c, "nothing.array", nothing_array, "readonly fast", 1, 1, 1);
}
