#include "cuckoo/buckets_plain.h"

#define BUCKETS_KERNELS tamis__cuckoo_buckets_portable
#include "cuckoo/buckets_many.h"

#include "base/cpu.h"
#include "cuckoo/buckets_kind.h"

extern const tamis_batch tamis__cuckoo_buckets_avx2;

static const tamis_batch *batch(unsigned cpu)
{
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        return &tamis__cuckoo_buckets_avx2;
#endif
    (void)cpu;
    return &tamis__cuckoo_buckets_portable;
}

const tamis_ops tamis__cuckoo_buckets = { BUCKETS_OPS, .batch = batch };
