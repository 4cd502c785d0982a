/* redis_api.c - finds the server's functions by their names. */
#include "redis_api.h"

redis_functions redis;

typedef int redis_api_get(const char *name, void *out);

bool redis_api_find(redis_ctx *ctx)
{
    redis_api_get *get = *(redis_api_get **)(void *)ctx;

#define X(name, result, takes)                              \
    if (get("RedisModule_" #name, &redis.name) != REDIS_OK) \
        return false;
    REDIS_API_NEEDED(X)
#undef X
#define X(name, result, takes)                              \
    if (get("RedisModule_" #name, &redis.name) != REDIS_OK) \
        redis.name = NULL;
    REDIS_API_OPTIONAL(X)
#undef X
    return true;
}
