/* conversions.h - from one Bloom kind to another, without keys: see tamis_conversion in filter.h.
 */
#ifndef TAMIS_BLOOM_CONVERSIONS_H
#define TAMIS_BLOOM_CONVERSIONS_H

#include "filter.h"

tamis_status tamis__counting_to_bloom(tamis **out, tamis_kind to, const tamis *f,
                                      const tamis_allocator *a);
void tamis__counting_follow(tamis *to, const tamis *from, uint64_t key);
tamis_status tamis__compressed_to_bloom(tamis **out, tamis_kind to, const tamis *f,
                                        const tamis_allocator *a);
tamis_status tamis__bloom_to_compressed(tamis **out, tamis_kind to, const tamis *f,
                                        const tamis_allocator *a);

#endif
