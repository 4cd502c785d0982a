/* ordered.h - what can be done to kinds that are read and written in order of fingerprints. */
#ifndef TAMIS_CORE_ORDERED_H
#define TAMIS_CORE_ORDERED_H

#include "filter.h"

/* Whether fingerprints of both mean the same. */
bool tamis__ordered_fit(const tamis_plan *a, const tamis_plan *b);

tamis_status tamis__ordered_list(const tamis *f, tamis_visit *visit, void *ctx);
tamis_status tamis__ordered_merge(tamis *f, const tamis *g);
tamis_status tamis__ordered_merge_many(tamis **out, const tamis *const *filters, size_t n,
                                       const tamis_allocator *a);
uint64_t tamis__ordered_dot(const tamis *f, const tamis *g);
tamis_status tamis__ordered_resize(tamis *f, uint64_t keys);
/* The plan of the same fingerprints with room for that many keys, or for more than now. */
tamis_status tamis__plan_resized(tamis_plan *p, uint64_t keys);
tamis_status tamis__plan_doubled(tamis_plan *p);
/* The same fingerprints in another size. */
tamis_status tamis__ordered_copy(tamis **out, const tamis_plan *plan, const tamis *f);

#endif
