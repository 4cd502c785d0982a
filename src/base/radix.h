/* radix.h - dealing hashes out to groups of equal leading bits, in one pass over memory.
 *
 * Written one by one, hashes would go to as many places as there are groups, and each would fetch a
 * line to change eight bytes of it. Instead, each group has a line of its own in the cache, which
 * goes to memory when it is full, past the caches where the machine can do that. */
#ifndef TAMIS_BASE_RADIX_H
#define TAMIS_BASE_RADIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct radix {
    unsigned skip, bits; /* a group is `bits` bits after the first `skip` */
    bool is_hashed;      /* else what comes in are keys, to be placed with this salt */
    uint64_t salt;
} radix;

/* Bytes of memory, 64-byte aligned, that dealing takes. */
size_t tamis__radix_scratch(unsigned bits);

/* Adds to the numbers of the 2^bits groups. */
void tamis__radix_count(size_t *counts, const radix *r, const uint64_t *x, size_t n);

/* ends[i] is where group i goes; afterwards, where it ends. `out` is 64-byte aligned. */
void tamis__radix_deal(uint64_t *out, size_t *ends, const radix *r, const uint64_t *x, size_t n,
                       void *scratch);

#endif
