/* sort.h - sorting large arrays of hashes where they are, without memory for a second one. */
#ifndef TAMIS_BASE_SORT_H
#define TAMIS_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Puts words with the same leading byte together, in ascending order of that byte; those that start
 * with i lie from starts[i] to starts[i + 1]. */
void tamis__sort_group(uint64_t *words, size_t n, size_t starts[257]);

void tamis__sort(uint64_t *words, size_t n);

/* How many different words there are in a sorted array. */
size_t tamis__sorted_distinct(const uint64_t *words, size_t n);

/* Sorts, and leaves one of each word. Returns how many are left. */
size_t tamis__sort_distinct(uint64_t *words, size_t n);

#endif
