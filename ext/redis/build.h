/* build.h - TAMIS.BUILD: a filter of what is in a set, hash, sorted set, list or stream. */
#ifndef TAMIS_REDIS_BUILD_H
#define TAMIS_REDIS_BUILD_H

#include "command.h"

extern redis_key_spec build_keys[];

int build_command(redis_ctx *ctx, redis_string **argv, int argc);

#endif
