/* make.h - filters from all their keys at once. */
#ifndef TAMIS_CORE_MAKE_H
#define TAMIS_CORE_MAKE_H

#include "filter.h"

/* What a filter is made of, in memory. */
typedef struct make_keys {
    const uint64_t *keys, *values; /* values: of kinds that take them, else NULL */
    size_t n;
    const uint64_t *excluded; /* of kinds that take others, else NULL */
    size_t m;
} make_keys;

/* Fills an empty filter. Its plan and payload become larger together if they must. */
tamis_status tamis__make(tamis *f, const make_keys *k);

#endif
