/* subsets.h - every set of a few keys, and what its filter answers. */
#ifndef TAMIS_APPS_SHOW_SUBSETS_H
#define TAMIS_APPS_SHOW_SUBSETS_H

#include "picture.h"

enum { SUBSETS_KEYS_MAX = 10 };

/* Prints a line for each of the 2^n sets: its keys, its cells, the answer for each key. False
 * positives are marked. */
void subsets_print(const tamis_plan *plan, const named_key *keys, size_t n);

#endif
