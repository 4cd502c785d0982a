#ifndef TAMIS_CORE_BATCH_H
#define TAMIS_CORE_BATCH_H

#include "filter.h"

/* Up to this many keys, the processor finds by itself what it can fetch early, and the loops that
 * tell it take longer than the lookups. */
enum { TAMIS_FEW = 2 };
size_t tamis__batch_has_few(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n);

/* For kinds and machines without a kernel of their own. */
size_t tamis__batch_has(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n);
size_t tamis__batch_get(const tamis *f, uint64_t *values, uint64_t *hits, const uint64_t *keys,
                        size_t n);
size_t tamis__batch_remove(tamis *f, const uint64_t *keys, size_t n);
void tamis__batch_count(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n);
tamis_status tamis__batch_add(tamis *f, size_t *added, const uint64_t *keys, size_t n);

#endif
