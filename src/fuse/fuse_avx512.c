/* fuse_avx512.c - fuse.c with eight keys in a register. */
#define ARITY 3
#define FUSE_AVX2
#define FUSE_AVX512

#include "fuse/fuse.h"
#include "fuse/fuse_has_many_template.h"

void tamis__fuse_use_avx512(tamis_ops *ops)
{
    ops->has_many = fuse_has_many;
}
