/* sort.h - sorting hashes where they are, without memory for a second array. */
#ifndef TAMIS_BASE_SORT_H
#define TAMIS_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Ascending. */
void tamis__sort(uint64_t *x, size_t n);

/* Sorts and keeps one of each; returns how many are left. */
size_t tamis__sort_unique(uint64_t *x, size_t n);

enum { SORT_MOST_BITS = 11 };

/* Only groups, by at most SORT_MOST_BITS bits after the first `skip`, ascending: group i lies from
 * starts[i] to starts[i + 1]. */
void tamis__sort_group(uint64_t *x, size_t n, unsigned skip, unsigned bits, size_t *starts);

/* The same for pairs of words, in the order of the first ones. */
void tamis__sort_pairs(void *pairs, size_t n);
void tamis__sort_group_pairs(void *pairs, size_t n, unsigned skip, unsigned bits, size_t *starts);

#endif
