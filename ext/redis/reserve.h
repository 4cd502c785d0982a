/* reserve.h - the words after a kind: what filter is wanted. */
#ifndef TAMIS_REDIS_RESERVE_H
#define TAMIS_REDIS_RESERVE_H

#include "command.h"
#include "filter_value.h"

typedef struct reserve_wish {
    tamis_kind kind;
    tamis_spec spec;
    uint64_t window_ms, since_ms; /* 0: not given */
    bool has_hash, has_secret;
} reserve_wish;

/* Takes the name of a kind, then options and their values. False after a reply that says why not.
 * Without HASH and SECRET, the hash is keyed and its secret is drawn here. */
bool reserve_parse(redis_ctx *ctx, reserve_wish *w, const redis_string *kind, redis_string **argv,
                   int argc);

extern redis_key_spec reserve_keys[];

int reserve_command(redis_ctx *ctx, redis_string **argv, int argc);

#endif
