/* redis_cuckoo.h - the cuckoo filter of the CF commands: slots, sizes and dumps are those of
 * RedisBloom, so that filters can move in and out.
 *
 * An item has a fingerprint of 8 bits, which is in one of two buckets of a *table*. When both are
 * full, fingerprints move to their other bucket to make room; when that does not help, another
 * table is appended, `expansion` times as large as the last. Numbers of buckets are powers of two,
 * so that either bucket tells the other without the item. Nothing here calls Redis. */
#ifndef TAMIS_REDIS_CUCKOO_H
#define TAMIS_REDIS_CUCKOO_H

#include "tamis.h"

typedef struct redis_cuckoo {
    tamis_allocator memory;
    uint64_t buckets; /* of the first table */
    uint64_t items, deletes;
    uint32_t n, room; /* tables, and how many the array has room for */
    uint16_t bucket_size, max_iterations;
    uint16_t expansion; /* 0: no table is appended */
    unsigned char **tables;
} redis_cuckoo;

typedef struct redis_cuckoo_hash {
    uint64_t first, second; /* which bucket: modulo their number */
    unsigned char fingerprint;
} redis_cuckoo_hash;

/* The most tables a filter can have. */
enum { REDIS_CUCKOO_TABLES_MAX = 65536 };

/* ---- Making ------------------------------------------------------------ */

/* An empty filter. The expansion is rounded up to a power of two. */
tamis_status redis_cuckoo_init(redis_cuckoo *c, tamis_allocator memory, uint64_t capacity,
                               uint16_t bucket_size, uint16_t max_iterations,
                               uint16_t expansion) TAMIS_CHECKED;
tamis_status redis_cuckoo_copy(redis_cuckoo *c, tamis_allocator memory,
                               const redis_cuckoo *from) TAMIS_CHECKED;
void redis_cuckoo_clear(redis_cuckoo *c);

/* Slots of all tables, which is also their size in bytes. */
uint64_t redis_cuckoo_slots(const redis_cuckoo *c);

/* ---- Items ------------------------------------------------------------- */

redis_cuckoo_hash redis_cuckoo_hash_of(const void *item, size_t size);
/* Asks the memory for the buckets of items that will be looked for soon. */
void redis_cuckoo_prefetch(const redis_cuckoo *c, const redis_cuckoo_hash *hashes, size_t n);

bool redis_cuckoo_has(const redis_cuckoo *c, redis_cuckoo_hash h);
uint64_t redis_cuckoo_count(const redis_cuckoo *c, redis_cuckoo_hash h);
/* TAMIS_FULL: the filter does not grow. TAMIS_RANGE: it has max_tables. In these cases, and after
 * TAMIS_NOMEM, it is as it was. */
tamis_status redis_cuckoo_add(redis_cuckoo *c, redis_cuckoo_hash h,
                              uint32_t max_tables) TAMIS_CHECKED;
/* False if it was not there. From time to time, tables that are hardly used any more go. */
bool redis_cuckoo_remove(redis_cuckoo *c, redis_cuckoo_hash h);
/* Moves fingerprints to older tables, and frees tables at the end that are empty. */
void redis_cuckoo_compact(redis_cuckoo *c);

/* ---- Dumps ------------------------------------------------------------- */

/* Everything that is loaded, from dumps or RDB files, goes through redis_cuckoo_make(). */

enum { REDIS_CUCKOO_HEADER_SIZE = 38 };

typedef struct redis_cuckoo_header {
    uint64_t items, buckets, deletes, tables, bucket_size, max_iterations, expansion;
} redis_cuckoo_header;

redis_cuckoo_header redis_cuckoo_header_of(const redis_cuckoo *c);
void redis_cuckoo_write_header(const redis_cuckoo *c, unsigned char *bytes);
redis_cuckoo_header redis_cuckoo_read_header(const unsigned char *bytes);

/* A filter with these numbers and empty slots. TAMIS_CORRUPT if they make no sense, TAMIS_NOMEM. */
tamis_status redis_cuckoo_make(redis_cuckoo *c, tamis_allocator memory,
                               const redis_cuckoo_header *h) TAMIS_CHECKED;

/* The slots from `offset` on, up to the end of their table; NULL if there are none. */
unsigned char *redis_cuckoo_array(const redis_cuckoo *c, uint64_t offset, size_t *size);

#endif
