/* xor.h - xor filters on machines that have more instructions. */
#ifndef TAMIS_FUSE_XOR_H
#define TAMIS_FUSE_XOR_H

#include "filter.h"

/* These put the functions for the plan of f into its table. */
void tamis__xorplus_use_avx2(tamis *f);
void tamis__xor_use_avx512(tamis *f);
void tamis__xorplus_use_avx512(tamis *f);

#endif
