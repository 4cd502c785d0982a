/* hashes.h - hash functions as lectures have them: simple ones, universal families, good ones. */
#ifndef TAMIS_APPS_LAB_HASHES_H
#define TAMIS_APPS_LAB_HASHES_H

#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

/* What functions are made of that are drawn at random, or depend on the number of buckets. Of keys
 * that are longer, numbers are used again. */
enum { HASHES_WORDS = 64, HASHES_BYTES = 32 };

typedef struct hashes_family {
    uint64_t buckets;                       /* a prime */
    uint64_t multipliers[HASHES_WORDS + 1]; /* of multiply-shift */
    uint64_t point, a, b;                   /* of carter-wegman, below 2^61 - 1 */
    uint64_t tables[HASHES_BYTES][256];     /* of tabulation */
    tamis_hasher fast, keyed;               /* of the library */
} hashes_family;

/* Fills it with numbers of `draw`; the secret of the library's keyed hash is 00 01 .. 0f, as in its
 * test vectors. */
void hashes_draw(hashes_family *f, uint64_t buckets, uint64_t draw(void *ctx), void *ctx);

typedef uint64_t hashes_function(const hashes_family *f, const void *data, size_t size);

typedef struct hashes_row {
    const char *name;
    unsigned bits; /* of a hash, but for those that are buckets: 0 */
    hashes_function *hash;
} hashes_row;

enum { HASHES_N = 11 };

extern const hashes_row hashes_table[HASHES_N];

uint64_t hashes_bucket(const hashes_family *f, const hashes_row *row, uint64_t hash);
/* Bits that a hash has. */
unsigned hashes_bits(const hashes_family *f, const hashes_row *row);

#endif
