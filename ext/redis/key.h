/* key.h - the key a command works on: what is there, and what is told to others when it changed. */
#ifndef TAMIS_REDIS_KEY_H
#define TAMIS_REDIS_KEY_H

#include "value.h"

typedef enum key_holds { KEY_NOTHING, KEY_OURS, KEY_OTHER } key_holds;

typedef struct key {
    redis_ctx *ctx;
    redis_string *name;
    redis_key *handle;
    key_holds holds;
    void *value; /* if it is ours */
} key;

/* What a command does with its key, and what it takes there beside its own type. */
enum {
    OPEN_READ = 0,
    OPEN_WRITE = 1 << 0,
    OPEN_NOTHING = 1 << 1, /* there may be nothing */
    OPEN_OTHER = 1 << 2,   /* or another type */
    OPEN_ANY = OPEN_WRITE | OPEN_NOTHING | OPEN_OTHER
};

/* Opens the key, the first word after the name of the command, and closes it after `work`; or
 * replies why the command does not take it. */
typedef void key_work(key *k, redis_string **argv, int argc);
int key_run(redis_ctx *ctx, redis_string **argv, int argc, const value_type *type, unsigned open,
            key_work *work);

/* A key is closed by key_close() whatever it holds. */
key key_read(redis_ctx *ctx, redis_string *name, const redis_type *type);
key key_write(redis_ctx *ctx, redis_string *name, const redis_type *type);
void key_close(key *k);

/* Puts a value where nothing was, or takes it for our own type. The key owns it then. */
void key_set(key *k, redis_type *type, void *value);
/* Why nothing can be created there, or NULL. */
const char *key_refuse_new(const key *k);
/* Why nothing can be added there, or NULL. */
const char *key_refuse_add(const key *k, bool must_exist);

/* Tells those who watch the key. Telling replicas and the file of commands is up to the command:
 * redis.ReplicateVerbatim(), unless what it did depends on this server. */
void key_changed(key *k, const char *event);

/* Ends a command that every server does alike: replies why it failed; or, if that is NULL, replies
 * OK and tells the others. */
void key_end(key *k, const char *why, const char *event);

#endif
