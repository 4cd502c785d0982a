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

/* One of a few filters of the same fingerprints that are read side by side. */
typedef struct order_side {
    tamis_cursor next;   /* behind the fingerprint at hand, */
    bool more;           /* if anything is there */
    uint64_t count;      /* of the fingerprint at hand */
    unsigned bits, told; /* as in tamis_cursor, if count is not 0 */
} order_side;

order_side tamis__order_side(const tamis *f);
/* The lowest fingerprint that any of them comes to next; false: all are at their end, and */
bool tamis__order_next(order_side *sides, size_t n, uint64_t *fingerprint);
/* this is why the first one ended before it. */
tamis_status tamis__order_failure(const order_side *sides, size_t n);

/* Slots in use, but no more than there are keys: what tells keys from others is not counted. */
uint64_t tamis__order_used(const tamis *f);

#endif
