/* cqf_avx2.c - the kernels with instructions that count and find bits. Chosen wherever it runs:
 * every step of a lookup is a rank or a select. */
#include "quotient/cqf_many.h"

const tamis_batch tamis__cqf_avx2 = CQF_BATCH;

tamis_status tamis__cqf_build_avx2(tamis *f, const uint64_t *keys, size_t n)
{
    return build(f, keys, n);
}
