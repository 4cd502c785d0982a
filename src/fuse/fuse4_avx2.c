/* fuse4_avx2.c - fuse4.c with eight keys at a time. */
#define FUSE_ARITY 4
#define FUSE_USE_AVX2 tamis__fuse4_use_avx2

#include "fuse/fuse_avx2_template.h"
