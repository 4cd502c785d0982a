/* morton_avx2.c - bits counted by an instruction, and blocks changed eight words at a time. */
#include "cuckoo/morton_template.h"

void tamis__morton_use_avx2(tamis_ops *ops)
{
    ops->has = morton_has;
    ops->count = morton_count;
    ops->add = morton_add;
    ops->remove = morton_remove;
    ops->has_many = morton_has_many;
    ops->count_many = morton_count_many;
    ops->add_many = morton_add_many;
    ops->remove_many = morton_remove_many;
}
