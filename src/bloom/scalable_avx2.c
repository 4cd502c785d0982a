/* scalable_avx2.c - the scalable filter with a block in one register. */
#define SCALABLE_HAS split_block_has_avx2
#define SCALABLE_ADD split_block_add_avx2
#include "bloom/scalable_template.h"

void tamis__scalable_use_avx2(tamis_ops *ops)
{
    ops->has = scalable_has;
    ops->has_many = scalable_has_many;
    ops->add = scalable_add;
    ops->add_many = scalable_add_many;
}
