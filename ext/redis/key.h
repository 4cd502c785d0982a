/* key.h - the key a command works on: what is there, and what is told to others when it changed. */
#ifndef TAMIS_REDIS_KEY_H
#define TAMIS_REDIS_KEY_H

#include "redis_api.h"

typedef enum key_holds { KEY_NOTHING, KEY_OURS, KEY_OTHER } key_holds;

typedef struct key {
    redis_ctx *ctx;
    redis_string *name;
    redis_key *handle;
    key_holds holds;
    void *value; /* if it is ours */
} key;

/* A key is closed by key_close() whatever it holds. */
key key_read(redis_ctx *ctx, redis_string *name, const redis_type *type);
key key_write(redis_ctx *ctx, redis_string *name, const redis_type *type);
void key_close(key *k);

/* Puts a value where nothing was, or takes it for our own type. The key owns it then. */
void key_set(key *k, redis_type *type, void *value);

/* Tells those who watch the key. Telling replicas and the file of commands is up to the command:
 * redis.ReplicateVerbatim(), unless what it did depends on this server. */
void key_changed(key *k, const char *event);

#endif
