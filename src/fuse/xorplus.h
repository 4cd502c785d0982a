/* xorplus.h - xor filters without zeros, on machines that count ones by themselves. */
#ifndef TAMIS_FUSE_XORPLUS_H
#define TAMIS_FUSE_XORPLUS_H

#include "filter.h"

/* Puts the functions for the plan of f into its table. */
void tamis__xorplus_use_avx2(tamis *f);

#endif
