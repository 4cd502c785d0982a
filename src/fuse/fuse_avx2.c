/* fuse_avx2.c - fuse.c with eight keys at a time. */
#define ARITY 3

#include "fuse/eight_avx2.h"
#include "fuse/kernels.h"
#include "fuse/peel.h"
#include "fuse/window_many.h"

void tamis__fuse_use_avx2(tamis_ops *ops)
{
    ops->solve = solve;
    ops->has_many = has_many;
}
