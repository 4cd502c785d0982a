/* cuckoo_sorted.c - cuckoo filter with sorted buckets: one bit less for each key.
 *
 * As cuckoo_buckets.c, but that a bucket of four tags of plan.width = w bits takes 4 (w - 1) bits
 * (cuckoo/buckets_sorted.h). Lookups of strangers hardly ever decode a bucket; changes do, and sort
 * it again.
 *
 * Payload: plan.slots / 4 buckets, then the stash. plan.hashes is 2. Zeros are the empty filter.
 *
 * Fan, Andersen, Kaminsky, Mitzenmacher: Cuckoo Filter: Practically Better Than Bloom, 2014. */
#include "cuckoo/buckets_sorted.h"

#define BUCKETS_KERNELS tamis__cuckoo_sorted_portable
#include "cuckoo/buckets_many.h"

#include "base/cpu.h"
#include "cuckoo/buckets_kind.h"

extern const tamis_batch tamis__cuckoo_sorted_avx2;

static const tamis_batch *batch(unsigned cpu)
{
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        return &tamis__cuckoo_sorted_avx2;
#endif
    (void)cpu;
    return &tamis__cuckoo_sorted_portable;
}

const tamis_ops tamis__cuckoo_sorted = { BUCKETS_OPS, .batch = batch };
