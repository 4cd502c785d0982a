/* merge.h - TAMIS.MERGE and TAMIS.INTERSECT: one filter of many. */
#ifndef TAMIS_REDIS_MERGE_H
#define TAMIS_REDIS_MERGE_H

#include "command.h"

/* Of both commands. */
extern redis_key_spec merge_keys[];

int merge_command(redis_ctx *ctx, redis_string **argv, int argc);
int merge_intersect_command(redis_ctx *ctx, redis_string **argv, int argc);

#endif
