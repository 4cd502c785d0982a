/* sort.h - sorting hashes in place, without an allocation. */
#ifndef TAMIS_BASE_SORT_H
#define TAMIS_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Ascending. */
void tamis__sort(uint64_t *x, size_t n);

/* Sorts and keeps one of each; returns how many are left. */
size_t tamis__sort_unique(uint64_t *x, size_t n);

#endif
