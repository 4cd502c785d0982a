/* kernels.h - binary fuse filters on machines that have more than the portable instructions. */
#ifndef TAMIS_FUSE_KERNELS_H
#define TAMIS_FUSE_KERNELS_H

#include "filter.h"

void tamis__fuse_use_avx2(tamis_ops *ops);
void tamis__fuse4_use_avx2(tamis_ops *ops);
void tamis__fuse5_use_avx2(tamis_ops *ops);

#endif
