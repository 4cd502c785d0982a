/* cqf_avx2.c - cqf with instructions that count and find bits, and move remainders by the block. */
#include "quotient/cqf_template.h"

void tamis__cqf_use_avx2(tamis_ops *ops)
{
    ops->has = cqf_has;
    ops->count = cqf_count;
    ops->add = cqf_add;
    ops->remove = cqf_remove;
    ops->has_many = cqf_has_many;
    ops->count_many = cqf_count_many;
    ops->add_many = cqf_add_many;
    ops->remove_many = cqf_remove_many;
    ops->add_concurrent = cqf_add_concurrent;
}
