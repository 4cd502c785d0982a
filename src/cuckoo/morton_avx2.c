/* morton_avx2.c - the kernels with instructions that count bits, and look at all bytes of a block
 * at once where fingerprints are bytes. */
#define MORTON_KERNELS tamis__morton_avx2
#include "cuckoo/morton_many.h"
