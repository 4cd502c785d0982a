/* aleph_avx2.c - the kernels with instructions that count and find bits. */
#define ALEPH_KERNELS tamis__aleph_avx2
#include "quotient/aleph_many.h"
