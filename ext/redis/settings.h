/* settings.h - what can be set when the module is loaded, in redis.conf, and by CONFIG SET.
 *
 * Redis 7 puts the module's name before each: bf-error-rate is tamis.bf-error-rate there. Words
 * after the path of the module take the names without it, and three older ones. */
#ifndef TAMIS_REDIS_SETTINGS_H
#define TAMIS_REDIS_SETTINGS_H

#include <stdatomic.h>

#include "redis_api.h"

/* Jobs look at limits in threads of their own, while the server's may set others. */
typedef struct settings_values {
    double bf_error_rate;
    _Atomic uint64_t bf_initial_size;
    _Atomic uint64_t bf_expansion_factor; /* 0: filters do not grow */
    _Atomic uint64_t cf_bucket_size;
    _Atomic uint64_t cf_initial_size;
    _Atomic uint64_t cf_max_iterations;
    _Atomic uint64_t cf_expansion_factor;
    _Atomic uint64_t cf_max_expansions;
    _Atomic uint64_t max_object_bytes; /* 0: no limit, here and below */
    _Atomic uint64_t max_bytes;
} settings_values;

extern settings_values settings;

/* Takes the words of the load command, then what redis.conf says. False if one is wrong. */
bool settings_load(redis_ctx *ctx, redis_string **argv, int argc);

#endif
