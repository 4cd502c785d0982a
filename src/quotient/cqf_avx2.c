/* cqf_avx2.c - cqf with instructions that count and find bits, and move remainders by the block. */
#include "quotient/cqf_template.h"

void tamis__cqf_use_avx2(tamis_ops *ops, unsigned width)
{
    cqf_use(ops, width);
}

size_t tamis__cqf_has_few(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return f->plan.width == 8 ? cqf_has_many_bytes(f, hits, keys, n)
                              : cqf_has_many(f, hits, keys, n);
}
