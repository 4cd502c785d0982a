/* reply.h - answers to a client. Each returns what a command returns.
 *
 * Texts of errors are part of the interface: clients compare them. Some have a code before them and
 * some have none, as those of RedisBloom do. Redis itself sends booleans and maps to clients of
 * RESP2 as numbers and flat arrays. */
#ifndef TAMIS_REDIS_REPLY_H
#define TAMIS_REDIS_REPLY_H

#include "redis_api.h"

static const char REPLY_WRONG_TYPE[] =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
static const char REPLY_NOT_FOUND[] = "ERR not found";
static const char REPLY_EXISTS[] = "ERR item exists";

static inline int reply_ok(redis_ctx *ctx)
{
    return redis.ReplyWithSimpleString(ctx, "OK");
}

/* The whole line after the minus sign. */
static inline int reply_error(redis_ctx *ctx, const char *text)
{
    return redis.ReplyWithError(ctx, text);
}

static inline int reply_bool(redis_ctx *ctx, bool yes)
{
    return redis.ReplyWithBool(ctx, yes);
}

static inline int reply_count(redis_ctx *ctx, uint64_t n)
{
    return redis.ReplyWithLongLong(ctx, n > INT64_MAX ? INT64_MAX : (long long)n);
}

/* One entry of a map. */
static inline void reply_entry(redis_ctx *ctx, const char *name, uint64_t n)
{
    redis.ReplyWithSimpleString(ctx, name);
    reply_count(ctx, n);
}

static inline bool reply_is_resp3(redis_ctx *ctx)
{
    return redis.GetContextFlags(ctx) & REDIS_CTX_RESP3;
}

#endif
