/* order.h - what can be done to kinds that are read and written in order of fingerprints. */
#ifndef TAMIS_CORE_ORDER_H
#define TAMIS_CORE_ORDER_H

#include "filter.h"

tamis_status tamis__order_merge(tamis *f, const tamis *g);
tamis_status tamis__order_merge_many(tamis **out, const tamis *const *filters, size_t n,
                                     const tamis_allocator *a);
tamis_status tamis__order_reduce(tamis *f, const tamis *g, tamis_operation op);
tamis_status tamis__order_dot(const tamis *f, uint64_t *product, const tamis *g);
tamis_status tamis__order_resize(tamis *f, uint64_t keys);
/* The same fingerprints in another size. */
tamis_status tamis__order_copy(tamis **out, const tamis_plan *plan, const tamis *f);

/* Slots in use, but no more than there are keys: what tells keys from others is not counted. */
uint64_t tamis__order_used(const tamis *f);

#endif
