/* fuse4_kernels.c - fuse_kernels.c, for four slots a key. */
#define FUSE_ARITY 4

#include "fuse_kernels.c"
