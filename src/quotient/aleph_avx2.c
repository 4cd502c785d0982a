/* aleph_avx2.c - the kernels with instructions that count and find bits. */
#include "quotient/aleph_many.h"

void tamis__aleph_use_avx2(tamis_ops *ops)
{
    ops->has = has;
    ops->add = add;
    ops->remove = remove_key;
    ops->has_many = has_many;
    ops->add_many = add_many;
    ops->remove_many = remove_many;
}
