/* redis_bloom.h - the scalable Bloom filter of the BF commands: sizes, bits and dumps are those of
 * RedisBloom, so that filters can move in and out.
 *
 * It is a row of *links*, plain Bloom filters of which the last one takes new items. When an item
 * is in none of them and the last one is full, another is appended: `growth` times as large, at
 * half the rate, so that the rates of all links sum up to less than was asked for. Nothing here
 * calls Redis. */
#ifndef TAMIS_REDIS_BLOOM_H
#define TAMIS_REDIS_BLOOM_H

#include "tamis.h"

/* Bits of `options`; others are refused. */
enum {
    REDIS_BLOOM_EXACT_SIZE = 1, /* bits are not rounded up to a power of two */
    REDIS_BLOOM_HASH64 = 4,     /* without it, hashes have 32 bits: filters of the first versions */
    REDIS_BLOOM_FIXED = 8       /* no link is appended */
};

typedef struct redis_bloom_link {
    unsigned char *array;
    uint64_t bytes, bits;
    uint64_t size, capacity; /* items */
    double error, bits_per_item;
    uint32_t hashes;
    uint8_t power; /* if not 0, only the first 2^power bits are in use */
    /* These follow from the rest: the number of bits in use, and 2^64 - 1 divided by it. */
    uint64_t used, reciprocal;
} redis_bloom_link;

typedef struct redis_bloom {
    tamis_allocator memory;
    uint64_t size; /* items in all links */
    uint32_t options, growth;
    uint32_t n, room; /* links, and how many the array has room for */
    redis_bloom_link *links;
} redis_bloom;

typedef struct redis_bloom_hash {
    uint64_t first, step;
} redis_bloom_hash;

/* ---- Making ------------------------------------------------------------ */

/* Rates above 0.25 are taken for that. */
#define REDIS_BLOOM_ERROR_MAX 0.25

/* An empty filter for so many items; a growth of 0 is a filter that does not grow. TAMIS_RANGE: it
 * would be too large for any machine. */
tamis_status redis_bloom_init(redis_bloom *b, tamis_allocator memory, double error,
                              uint64_t capacity, uint32_t growth, bool fixed) TAMIS_CHECKED;
tamis_status redis_bloom_copy(redis_bloom *b, tamis_allocator memory,
                              const redis_bloom *from) TAMIS_CHECKED;
void redis_bloom_clear(redis_bloom *b);

/* ---- Items, many at a time ---------------------------------------------- */

enum { REDIS_BLOOM_BATCH = 64 };

redis_bloom_hash redis_bloom_hash_of(const redis_bloom *b, const void *item, size_t size);

/* At most REDIS_BLOOM_BATCH hashes. */
void redis_bloom_has_many(const redis_bloom *b, bool *found, const redis_bloom_hash *hashes,
                          size_t n);
/* Adds them in order, and tells of each whether it was new. Stops at the first that fails, and
 * *done items are in then: TAMIS_FULL, or TAMIS_NOMEM and TAMIS_RANGE if there is no larger link.
 */
tamis_status redis_bloom_add_many(redis_bloom *b, bool *added, size_t *done,
                                  const redis_bloom_hash *hashes, size_t n) TAMIS_CHECKED;

uint64_t redis_bloom_capacity(const redis_bloom *b);
uint64_t redis_bloom_bytes(const redis_bloom *b); /* of all bit arrays */

/* ---- Dumps ------------------------------------------------------------- */

/* A dump is a header of numbers and then the bit arrays, one after the other. Everything that is
 * loaded goes through redis_bloom_begin(), redis_bloom_append() and redis_bloom_is_whole(): the
 * header of a dump, and what RDB files hold. */

/* The most links: the smallest rate is halved from 1 no more than 1074 times. */
enum { REDIS_BLOOM_LINKS_MAX = 1080, REDIS_BLOOM_HEADER_MAX = 20 + 53 * REDIS_BLOOM_LINKS_MAX };

size_t redis_bloom_header_size(const redis_bloom *b);
void redis_bloom_write_header(const redis_bloom *b, unsigned char *header);
/* TAMIS_CORRUPT or TAMIS_NOMEM, and nothing is left then. All bits are 0 at first. */
tamis_status redis_bloom_read_header(redis_bloom *b, tamis_allocator memory,
                                     const unsigned char *header, size_t size) TAMIS_CHECKED;

/* The bits from byte `offset` of all arrays on, up to the end of their link; NULL if there are
 * none. */
unsigned char *redis_bloom_array(const redis_bloom *b, uint64_t offset, size_t *size);

/* A filter without links, which are then appended. */
void redis_bloom_begin(redis_bloom *b, tamis_allocator memory, uint32_t options, uint32_t growth);
/* Takes the numbers of `like`, and zeros as bits. TAMIS_CORRUPT if they make no sense. */
tamis_status redis_bloom_append(redis_bloom *b, const redis_bloom_link *like) TAMIS_CHECKED;
/* Whether a filter of so many items can be all of this. Sets b->size. */
bool redis_bloom_is_whole(redis_bloom *b, uint64_t size);

#endif
