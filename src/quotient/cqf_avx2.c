/* cqf_avx2.c - the kernels with instructions that count and find bits. Chosen wherever it runs:
 * every step of a lookup is a rank or a select. */
#define CQF_KERNELS tamis__cqf_avx2
#include "quotient/cqf_many.h"
