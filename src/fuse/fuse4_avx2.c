/* fuse4_avx2.c - fuse4.c with eight keys at a time. */
#define ARITY 4

#include "fuse/eight_avx2.h"
#include "fuse/kernels.h"
#include "fuse/peel.h"
#include "fuse/window_many.h"

void tamis__fuse4_use_avx2(tamis_ops *ops)
{
    ops->solve = solve;
    ops->has_many = has_many;
}
