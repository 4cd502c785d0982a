/* digest.h - cache digests of Squid, version 5: which URLs a cache has, as a Bloom filter.
 *
 *   2 bytes   version, 5
 *   2 bytes   the oldest version that can read it, 3
 *   4 bytes   capacity: entries that it was made for
 *   4 bytes   count: entries that were added
 *   4 bytes   deletes: entries that went since then, and are still in it
 *   4 bytes   bytes of the mask: capacity * bits per entry / 8, rounded up
 *   1 byte    bits per entry
 *   1 byte    hash functions, 4
 *   106 bytes zeros
 *   the mask  bit i is bit i % 8 of byte i / 8
 *
 * Numbers are big-endian. An entry is the MD5 of a byte for the method and the URL; its four words,
 * modulo the bits of the mask, are its bits. */
#ifndef TAMIS_APPS_DIGEST_DIGEST_H
#define TAMIS_APPS_DIGEST_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/keys.h"
#include "text/md.h"

enum { DIGEST_VERSION = 5, DIGEST_READABLE_BY = 3, DIGEST_HEADER = 128, DIGEST_HASHES = 4 };

typedef struct digest {
    const char *name; /* of its file */
    uint32_t version, readable_by, capacity, count, deletes;
    uint32_t bits_per_entry, size; /* of the mask, in bytes */
    uint8_t *mask;
} digest;

/* What is set in one mask, or in both of two together. */
typedef struct digest_fill {
    double share; /* of bits that are set */
    double n;     /* estimated entries; infinite if all are set */
    double error; /* standard error of that */
    double rate;  /* of URLs that seem to be there and are not */
} digest_fill;

/* "-" is standard input; headers of HTTP may come first. What is no digest, or damaged, ends the
 * program. */
digest digest_read(const char *path);
/* An empty one. False: Squid can have none of that size. */
bool digest_make(digest *d, uint64_t capacity, uint32_t bits_per_entry);
void digest_write(const digest *d, const char *path);
void digest_free(digest *d);

/* The method as Squid counts them; 0: it knows none of that name. */
uint8_t digest_method(const char *name);
void digest_key(uint8_t key[MD5_SIZE], uint8_t method, span url);

void digest_add(digest *d, const uint8_t key[MD5_SIZE]);
bool digest_has(const digest *d, const uint8_t key[MD5_SIZE]);

/* Of `a`, or of `a` and `b`, which has as many bits, together. */
digest_fill digest_fill_of(const digest *a, const digest *b);
/* A Squid does not use digests that are fuller. */
extern const double DIGEST_FULL;

#endif
