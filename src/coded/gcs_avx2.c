/* gcs_avx2.c - the same code on machines that find and clear the lowest one by themselves. */
#include "coded/gcs.h"

void tamis__gcs_use_avx2(tamis_ops *ops)
{
    ops->has = has;
    ops->has_many = has_many;
}
