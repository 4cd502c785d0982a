/* retrieval_avx2.c - values solved back eight columns at a time. */
#define RIBBON_AVX2

#include "base/target.h"
#include "fuse/retrieval.h"

TARGET_AVX2

#include "fuse/retrieval_solve_template.h"

void tamis__retrieval_use_avx2(tamis_ops *ops)
{
    ops->solve = retrieval_solve;
}

TARGET_END
