/* radix.h - dealing items out to groups of equal leading bits, in one pass over memory. An item
 * is a key or a hash; of pairs of words, the first one is a hash.
 *
 * Each item is written straight to the end of its group. Up to a thousand groups, the lines that
 * are open stay in the caches next to the processor, and the lines after them are asked for; lines
 * that a program fills before it writes them take longer, since nobody can foresee when one is
 * full. */
#ifndef TAMIS_BASE_RADIX_H
#define TAMIS_BASE_RADIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct radix {
    unsigned skip, bits; /* a group is `bits` bits after the first `skip` */
    bool is_paired;      /* hashes with a word beside each */
    bool is_hashed;      /* else what comes in are keys, to be hashed with this salt */
    uint64_t salt;
} radix;

/* Adds to the numbers of the 2^bits groups. */
void tamis__radix_count(size_t *counts, const radix *r, const uint64_t *x, size_t n);

/* ends[i] is where group i goes; afterwards, where it ends. */
void tamis__radix_deal(uint64_t *out, size_t *ends, const radix *r, const uint64_t *x, size_t n);

#endif
