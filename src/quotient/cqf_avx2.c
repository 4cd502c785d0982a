/* cqf_avx2.c - cqf with instructions that count and find bits, and move remainders by the block. */
#include "quotient/cqf_template.h"

void tamis__cqf_use_avx2(tamis_ops *ops, unsigned width)
{
    cqf_use(ops, width);
}
