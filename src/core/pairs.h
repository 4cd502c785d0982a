/* pairs.h - kinds that need more than keys: from keys and what belongs to them to a payload. */
#ifndef TAMIS_CORE_PAIRS_H
#define TAMIS_CORE_PAIRS_H

#include "filter.h"

/* Fills an empty filter of a kind that has a mapper. Values have at most the bits planned. */
tamis_status tamis__pairs_map(tamis *f, const uint64_t *keys, const uint64_t *values, size_t n);

/* Fills an empty filter of a kind that has a splitter. */
tamis_status tamis__pairs_split(tamis *f, const uint64_t *keys, size_t n, const uint64_t *others,
                                size_t m);

#endif
