/* fuse5_avx2.c - fuse5.c with eight keys at a time. */
#define FUSE_ARITY 5
#define FUSE_USE_AVX2 tamis__fuse5_use_avx2

#include "fuse/fuse_avx2_template.h"
