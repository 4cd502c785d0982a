/* fuse5_avx2.c - fuse5.c with eight keys at a time. */
#define ARITY 5

#include "fuse/eight_avx2.h"
#include "fuse/kernels.h"
#include "fuse/peel.h"
#include "fuse/window_many.h"

void tamis__fuse5_use_avx2(tamis_ops *ops)
{
    ops->solve = solve;
    ops->has_many = has_many;
}
