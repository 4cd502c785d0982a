/* cqf_avx2.c - the kernels with instructions that count and find bits, and compare remainders by
 * the block. */
#include "quotient/cqf_many.h"

void tamis__cqf_use_avx2(tamis_ops *ops)
{
    ops->has = has;
    ops->count = count;
    ops->add = add;
    ops->remove = remove_key;
    ops->has_many = has_many;
    ops->count_many = count_many;
    ops->add_many = add_many;
    ops->remove_many = remove_many;
    ops->add_concurrent = add_concurrent;
}
