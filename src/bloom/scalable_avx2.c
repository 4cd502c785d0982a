/* scalable_avx2.c - the eight words of a block in one register. */
#include "bloom/split_avx2.h"

#include "bloom/scalable_many.h"

void tamis__scalable_use_avx2(tamis_ops *ops)
{
    ops->has = has;
    ops->has_many = has_many;
    ops->add_many = add_many;
    ops->add = add;
}
