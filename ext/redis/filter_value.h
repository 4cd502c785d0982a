/* filter_value.h - the value that TAMIS commands work on: a filter of any kind. */
#ifndef TAMIS_REDIS_FILTER_VALUE_H
#define TAMIS_REDIS_FILTER_VALUE_H

#include <stdatomic.h>

#include "key.h"
#include "value.h"

/* The key holds a filter, and threads that read it do; who comes last frees it. While others hold
 * it, nothing changes it. */
typedef struct filter {
    tamis *tamis;
    uint64_t window_ms; /* it forgets what is older than this; 0: it does not look at the clock */
    uint64_t turned_ms; /* when it forgot last, since 1970; 0 without a window */
    uint64_t state;     /* a number that no other filter has, nor this one after a change */
    uint64_t dumped;    /* the state when the last dump began; 0: none did */
    uint64_t *sums; /* of tamis_image_part(), until the dump ends or the filter changes; or NULL */
    atomic_uint holders;
} filter;

extern redis_type *filter_type;
extern const value_type FILTER_VALUE;
void *filter_rdb_load(redis_io *io, int encoding);

/* A value without a filter in it, or NULL. */
filter *filter_new(void);
void filter_hold(filter *f);
void filter_drop(filter *f);

unsigned filter_can(const filter *f);

/* The filter of a key, or NULL after a reply that says why there is none. What is older than the
 * window is forgotten before, if this server decides about that. */
filter *filter_of(key *k);
/* The same for a command that changes it. */
filter *filter_to_change(key *k);
/* NULL for a key that holds nothing; *replied tells it from an error. */
filter *filter_maybe(key *k, bool *replied);

/* The checksums of the image, or those that are known of it; NULL: no memory. filter_drop_sums()
 * frees them. */
uint64_t *filter_sums(filter *f);
void filter_drop_sums(filter *f);

/* Forgets so many generations, the last of them at that time. */
tamis_status filter_turn(filter *f, uint64_t turns, uint64_t at_ms);

/* Whether what a file or a client says of its window can be. */
bool filter_may_have_window(const filter *f);

/* What is told of a failure: "ERR the filter is full". */
int filter_reply_status(redis_ctx *ctx, tamis_status status);

/* The key of an item. False: it takes integers, and this is none. */
bool filter_key(const tamis_hasher *hasher, uint64_t *to, const redis_string *item);

/* Bytes of an image that are sent at a time. */
enum { FILTER_CHUNK = 1 << 20 };

/* Tells replicas, and the file of commands, all that is in a filter. */
void filter_replicate(key *k, const filter *f);

#endif
