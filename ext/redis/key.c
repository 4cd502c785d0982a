/* key.c - opens the key of a command. */
#include "key.h"

#include "reply.h"

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

int key_run(redis_ctx *ctx, redis_string **argv, int argc, const value_type *type, unsigned open,
            key_work *work)
{
    key k = open & OPEN_WRITE ? key_write(ctx, argv[1], *type->made)
                              : key_read(ctx, argv[1], *type->made);

    if (k.holds == KEY_OTHER && !(open & OPEN_OTHER))
        reply_error(ctx, REPLY_WRONG_TYPE);
    else if (k.holds == KEY_NOTHING && !(open & OPEN_NOTHING))
        reply_error(ctx, type->missing);
    else
        work(&k, argv, argc);
    key_close(&k);
    return REDIS_OK;
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

void key_end(key *k, const char *why, const char *event)
{
    if (why) {
        reply_error(k->ctx, why);
        return;
    }
    redis.ReplicateVerbatim(k->ctx);
    key_changed(k, event);
    reply_ok(k->ctx);
}

const char *key_refuse_new(const key *k)
{
    if (k->holds == KEY_OTHER)
        return REPLY_WRONG_TYPE;
    return k->holds == KEY_OURS ? REPLY_EXISTS : NULL;
}

const char *key_refuse_add(const key *k, bool must_exist)
{
    if (k->holds == KEY_OTHER)
        return REPLY_WRONG_TYPE;
    return k->holds == KEY_NOTHING && must_exist ? REPLY_NOT_FOUND : NULL;
}
