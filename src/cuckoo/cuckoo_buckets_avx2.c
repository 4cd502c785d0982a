/* cuckoo_buckets_avx2.c - the kernels with instructions that multiply and shift without flags. */
#include "cuckoo/buckets_plain.h"

#include "cuckoo/buckets_many.h"

void tamis__cuckoo_buckets_use_avx2(tamis_ops *ops);
void tamis__cuckoo_buckets_use_avx2(tamis_ops *ops)
{
    use_kernels(ops);
}
