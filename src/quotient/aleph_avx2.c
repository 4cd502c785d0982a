/* aleph_avx2.c - aleph with instructions that count and find bits. */
#include "quotient/aleph_template.h"

void tamis__aleph_use_avx2(tamis_ops *ops)
{
    ops->has = aleph_has;
    ops->add = aleph_add;
    ops->remove = aleph_remove;
    ops->has_many = aleph_has_many;
    ops->add_many = aleph_add_many;
    ops->remove_many = aleph_remove_many;
}
