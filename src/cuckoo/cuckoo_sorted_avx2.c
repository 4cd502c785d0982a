/* cuckoo_sorted_avx2.c - the kernels with instructions that multiply and shift without flags. */
#include "cuckoo/buckets_sorted.h"

#define BUCKETS_KERNELS tamis__cuckoo_sorted_avx2
#include "cuckoo/buckets_many.h"
