/* batch.h - many keys at once, for kinds and machines without code of their own for it. */
#ifndef TAMIS_CORE_BATCH_H
#define TAMIS_CORE_BATCH_H

#include "filter.h"

/* Puts the loops of batch.c where a table has functions for one key and none for many. */
void tamis__batch_fill(tamis_ops *ops);

/* Up to this many keys, the processor finds by itself what it can fetch early, and the loops that
 * tell it take longer than the lookups. */
enum { TAMIS_FEW = 2 };

size_t tamis__batch_get(const tamis *f, uint64_t *values, uint64_t *hits, const uint64_t *keys,
                        size_t n);
/* In order: keys with their values or, if these are NULL, once each. On failure, *done of them are
 * in and the rest is not. */
tamis_status tamis__batch_put(tamis *f, size_t *done, const uint64_t *keys, const uint64_t *values,
                              size_t n);

#endif
