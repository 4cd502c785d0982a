/* sorted.h - the fingerprints of many keys in ascending order, a group at a time.
 *
 *   keys -> hashes -> groups of equal leading bits -> each group, sorted in the cache
 *
 * A fingerprint is scale64(hash, slots << width). Each group has an equal range of them, and none
 * is in two groups: groups one after the other are sorted as a whole. */
#ifndef TAMIS_QUOTIENT_SORTED_H
#define TAMIS_QUOTIENT_SORTED_H

#include "base/bits.h"
#include "filter.h"

typedef struct sorted_keys {
    uint64_t salt, fingerprints; /* fingerprints are below that */
    unsigned bits;               /* there are 2^bits groups */
    uint64_t range;              /* fingerprints of group i: from i * range on, so many */
    bool is_narrow;   /* they are stored as 32-bit numbers above the first of the group */
    uint64_t *hashes; /* of the keys, group by group; or those numbers, in its first half */
    size_t *starts;   /* of groups, and the end of the last one */
    uint32_t *digits; /* to sort with */
    uint8_t *extra;   /* for the caller */
    void *block;
    uint64_t bytes;
} sorted_keys;

/* Memory for n keys, and `extra` bytes for the caller; false: there is none. */
bool tamis__sorted_new(sorted_keys *s, const tamis *f, size_t n, uint64_t extra);
void tamis__sorted_free(const tamis *f, sorted_keys *s);

/* Counts the keys of each group, and of each of 2^bits ranges of hashes besides. */
void tamis__sorted_count(sorted_keys *s, size_t *counts, unsigned bits, const uint64_t *keys,
                         size_t n);
/* Once they are counted: their fingerprints go to the groups. */
void tamis__sorted_deal(sorted_keys *s, const uint64_t *keys, size_t n);

typedef struct sorted_group {
    const uint32_t *narrow; /* NULL: there are hashes */
    const uint64_t *hashes;
    size_t n;
    uint64_t fingerprints, least;
} sorted_group;

/* Sorts a group, in place, by all but the lowest `loose` bits; 64 leaves it in the order of keys.
 */
sorted_group tamis__sorted_group(const sorted_keys *s, size_t group, unsigned loose);

static inline uint64_t sorted_at(const sorted_group *g, size_t i)
{
    return g->narrow ? g->least + g->narrow[i] : scale64(g->hashes[i], g->fingerprints);
}

#endif
