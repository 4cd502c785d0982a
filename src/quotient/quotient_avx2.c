/* quotient_avx2.c - lookups with the instructions that count and select ones. */
#include "quotient/quotient_template.h"

void tamis__quotient_use_avx2(tamis_ops *ops)
{
    ops->has = quotient_has;
    ops->has_many = quotient_has_many;
}
