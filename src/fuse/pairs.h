/* pairs.h - keys with values: the equations of a ribbon filter, with bits of one's own to add up
 * to.
 *
 * The slots of a key give its value and then its fingerprint. Kinds that hold values are made of
 * one or more of these; where they lie in the part is for the kind to say. */
#ifndef TAMIS_FUSE_PAIRS_H
#define TAMIS_FUSE_PAIRS_H

#include "fuse/ribbon.h"

/* As in tamis_pair_solver. */
size_t tamis__pairs_scratch(const shape *s, size_t n);
tamis_status tamis__pairs_solve(const shape *s, void *part, tamis_entry *pairs, size_t *n,
                                void *room);
tamis_status tamis__pairs_solve_avx2(const shape *s, void *part, tamis_entry *pairs, size_t *n,
                                     void *room);

/* False: there is no key in the part, or the fingerprint is another's. */
bool tamis__pairs_get(uint64_t *value, const shape *s, const uint8_t *part, uint64_t h);
/* Prefetches what that reads first. */
void tamis__pairs_touch(const shape *s, const uint8_t *part, uint64_t h);

#endif
