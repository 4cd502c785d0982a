/* fuse5_kernels.c - fuse_kernels.c, for five slots a key. */
#define FUSE_ARITY 5

#include "fuse_kernels.c"
