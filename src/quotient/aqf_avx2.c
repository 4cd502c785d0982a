/* aqf_avx2.c - aqf with instructions that count and find bits, and move remainders by the block. */
#include "quotient/aqf_template.h"

void tamis__aqf_use_avx2(tamis_ops *ops)
{
    ops->has = aqf_has;
    ops->count = aqf_count;
    ops->add = aqf_add;
    ops->remove = aqf_remove;
    ops->touch = aqf_touch;
    ops->has_many = aqf_has_many;
    ops->adapt = aqf_adapt;
}
