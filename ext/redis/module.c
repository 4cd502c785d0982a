/* module.c - where Redis begins: the module's name, settings, families and INFO section. */
#include "counted_memory.h"
#include "families.h"
#include "settings.h"
#include "tamis.h"

/* Not "bf", as RedisBloom calls itself: clients send the commands without asking for it, settings
 * have this name before theirs, and who reads MODULE LIST sees what is there. */
static const char NAME[] = "tamis";

static const family *const ALL[] = {
#define X(name) &name##_family,
    FAMILIES(X)
#undef X
};

/* INFO tamis, and INFO everything. */
static void module_info(redis_info *info, int for_crash)
{
    memory_total total = memory_in_use();

    (void)for_crash;
    redis.InfoAddSection(info, "");
    redis.InfoAddFieldCString(info, "version", tamis_version());
    redis.InfoAddFieldULongLong(info, "values", total.values);
    redis.InfoAddFieldULongLong(info, "used_bytes", total.used);
    redis.InfoAddFieldULongLong(info, "max_bytes", settings.max_bytes);
    redis.InfoAddFieldULongLong(info, "max_object_bytes", settings.max_object_bytes);
    redis.InfoAddFieldULongLong(info, "refused_allocations", total.refused);
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        if (ALL[i]->tell)
            ALL[i]->tell(info);
}

static bool module_start(redis_ctx *ctx, redis_string **argv, int argc)
{
    redis.SetModuleOptions(ctx, REDIS_HANDLES_IO_ERRORS | REDIS_SIGNALS_CHANGES |
                                    REDIS_HANDLES_ASYNC_LOAD);
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        if (!command_register(ctx, ALL[i]))
            return false;
    return settings_load(ctx, argv, argc) && redis.RegisterInfoFunc(ctx, module_info) == REDIS_OK;
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv,
                                                              int argc);

int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc)
{
    if (!redis_api_find(ctx) || redis.IsModuleNameBusy(NAME))
        return REDIS_ERR;
    redis.SetModuleAttribs(ctx, NAME, TAMIS_VERSION_NUMBER, REDIS_API_VERSION);
    return module_start(ctx, argv, argc) ? REDIS_OK : REDIS_ERR;
}
