/* grow.h - filters that make room by themselves. */
#ifndef TAMIS_CORE_GROW_H
#define TAMIS_CORE_GROW_H

#include "filter.h"

/* Adds to a filter that is full, with twice the room or more if it grows; else TAMIS_FULL. n is
 * what add() of the kind takes; in adaptive kinds 0 is as tamis_adapt(). */
tamis_status tamis__grow(tamis *f, uint64_t key, uint64_t n);
/* Adapts to those of these keys that are found and not in f. In kinds where one adaptation may undo
 * another it takes several rounds, until none sets *is_done to false: TAMIS_FULL if these are not
 * enough. */
enum { EXCLUDE_ROUNDS = 16 };
tamis_status tamis__exclude(tamis *f, const uint64_t *excluded, size_t m, bool *is_done);
/* The union, by a kind's own merge(), in a larger filter if it is full and grows. */
tamis_status tamis__grow_merge(tamis *f, const tamis *g);

#endif
