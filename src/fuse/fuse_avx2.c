/* fuse_avx2.c - fuse.c with eight keys at a time. */
#define FUSE_ARITY 3
#define FUSE_USE_AVX2 tamis__fuse_use_avx2

#include "fuse/fuse_avx2_template.h"
