/* key.c - opens the key of a command. */
#include "key.h"

#include "memory.h"

static key key_open(redis_ctx *ctx, redis_string *name, const redis_type *type, int mode)
{
    key k = { .ctx = ctx, .name = name, .handle = redis.OpenKey(ctx, name, mode) };

    if (redis.KeyType(k.handle) == REDIS_KEY_EMPTY)
        k.holds = KEY_NOTHING;
    else if (redis.ModuleTypeGetType(k.handle) != type)
        k.holds = KEY_OTHER;
    else {
        k.holds = KEY_OURS;
        k.value = redis.ModuleTypeGetValue(k.handle);
    }
    return k;
}

key key_read(redis_ctx *ctx, redis_string *name, const redis_type *type)
{
    return key_open(ctx, name, type, REDIS_READ);
}

key key_write(redis_ctx *ctx, redis_string *name, const redis_type *type)
{
    memory_begin(ctx);
    return key_open(ctx, name, type, REDIS_READ | REDIS_WRITE);
}

void key_close(key *k)
{
    redis.CloseKey(k->handle);
}

void key_set(key *k, redis_type *type, void *value)
{
    redis.ModuleTypeSetValue(k->handle, type, value);
    k->holds = KEY_OURS;
    k->value = value;
}

void key_changed(key *k, const char *event)
{
    redis.SignalModifiedKey(k->ctx, k->name);
    redis.NotifyKeyspaceEvent(k->ctx, REDIS_NOTIFY_MODULE, event, k->name);
}
