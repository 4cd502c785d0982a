/* sort.h - sorting items by their hashes, where they are, without memory for a second array. An
 * item is a hash, or two words of which the first is the hash. */
#ifndef TAMIS_BASE_SORT_H
#define TAMIS_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Ascending. */
void tamis__sort(uint64_t *x, size_t n);
void tamis__sort_pairs(void *pairs, size_t n);

/* Sorts and keeps one of each; returns how many are left. */
size_t tamis__sort_unique(uint64_t *x, size_t n);

/* Items of so many words, only into 2^bits groups, ascending, by the bits after the first `skip`.
 * Group i then begins at starts[i]. */
void tamis__sort_group(uint64_t *x, size_t n, unsigned words, unsigned skip, unsigned bits,
                       size_t *starts);

/* Sorts items that are in groups by their first `bits` bits. Three times as fast as tamis__sort():
 * groups are dealt out to a second array and back. It has room for `room` items; larger groups are
 * sorted where they are. */
void tamis__sort_groups(uint64_t *x, size_t n, unsigned bits, uint64_t *spare, size_t room);

#endif
