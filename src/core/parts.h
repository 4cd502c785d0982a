/* parts.h - static kinds: from keys in memory to a payload, part by part. */
#ifndef TAMIS_CORE_PARTS_H
#define TAMIS_CORE_PARTS_H

#include "filter.h"

/* As in base/parts.h, for a plan: kinds that are whole have one part. */
unsigned tamis__part_bits(const tamis_plan *p);
uint64_t tamis__part_room(const tamis_plan *p);

/* Fills an empty filter of a kind that has a solver, on that many threads. */
tamis_status tamis__parts_build(tamis *f, const uint64_t *keys, size_t n, unsigned threads);

/* The same filter, empty and larger: plan and payload are replaced together. */
tamis_status tamis__parts_grow(tamis *f, void (*enlarge)(tamis_plan *p));

#endif
