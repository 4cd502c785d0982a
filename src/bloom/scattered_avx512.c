/* scattered_avx512.c - batches of lookups in bloom and partitioned, eight keys at a time. In a
 * payload that is near, present keys take a third to a half of the time, absent ones 0.7 to 0.9. In
 * one that is far the memory decides, and lines are asked for ahead, as in probes.h. */
#include "bloom/probes_avx512.h"
#include "bloom/scattered.h"

static size_t scattered_has_many_avx512(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                        size_t n)
{
    return probes_has_many_avx512(f, *probes_derived(f), hits, keys, n);
}

void tamis__scattered_use_avx512(tamis *f)
{
    if (probes_fit_avx512(f))
        f->ops.has_many = scattered_has_many_avx512;
}
