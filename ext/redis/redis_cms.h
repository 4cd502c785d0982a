/* redis_cms.h - count-min sketches with the rows and hashes of RedisBloom, free of Redis.
 *
 * Each row counts every item in one of its cells; the smallest cell of an item is its estimate. */
#ifndef TAMIS_REDIS_CMS_H
#define TAMIS_REDIS_CMS_H

#include "tamis.h"

typedef struct redis_cms {
    tamis_allocator allocator;
    uint64_t width, depth; /* cells of a row, rows */
    uint64_t count;        /* all that was added; at most INT64_MAX */
    uint32_t *cells;       /* row after row */
} redis_cms;

/* Whether there are as many cells as bytes of them can be counted, and at least one. */
bool redis_cms_has_size(uint64_t width, uint64_t depth);
/* Sets both so that an estimate is too high by more than `error` of the count with this
 * probability. */
void redis_cms_plan(double error, double probability, uint64_t *width, uint64_t *depth);

/* TAMIS_NOMEM, or an empty sketch of a size that redis_cms_has_size(). */
tamis_status redis_cms_init(redis_cms *s, tamis_allocator allocator, uint64_t width,
                            uint64_t depth);
void redis_cms_clear(redis_cms *s);
size_t redis_cms_bytes(const redis_cms *s);

typedef struct redis_cms_item {
    const char *bytes;
    size_t size;
    uint64_t n; /* how often it came, for adding */
} redis_cms_item;

enum { REDIS_CMS_BATCH = 32 };

/* Both leave the estimate of each item; UINT32_MAX: that, or more. At most REDIS_CMS_BATCH items.
 */
void redis_cms_add(redis_cms *s, const redis_cms_item *items, size_t n, uint32_t *estimates);
void redis_cms_ask(const redis_cms *s, const redis_cms_item *items, size_t n, uint32_t *estimates);

/* Overwrites a sketch with the sum of others of its size, each times its weight. It may be one of
 * them. False if a cell or the count would be negative or too large: nothing has changed then. */
bool redis_cms_merge(redis_cms *to, const redis_cms *const *from, const long long *weights,
                     size_t n);

#endif
