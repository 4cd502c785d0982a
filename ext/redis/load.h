/* load.h - TAMIS.DUMP and TAMIS.LOAD: images of filters, out and in, in chunks. */
#ifndef TAMIS_REDIS_LOAD_H
#define TAMIS_REDIS_LOAD_H

#include "redis_api.h"

int load_dump_command(redis_ctx *ctx, redis_string **argv, int argc);
int load_command(redis_ctx *ctx, redis_string **argv, int argc);

/* Loads that are under way, for INFO. */
void load_tell(redis_info *info);

#endif
