/* gcs_avx2.c - lookups on machines with BMI. */
#include "coded/gcs_template.h"

void tamis__gcs_use_avx2(tamis_ops *ops)
{
    ops->has = gcs_has;
    ops->has_many = gcs_has_many;
}
