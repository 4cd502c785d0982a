/* scattered.h - kernels of bloom and partitioned, whose f->derived is a probes_shape. */
#ifndef TAMIS_BLOOM_SCATTERED_H
#define TAMIS_BLOOM_SCATTERED_H

#include "filter.h"

void tamis__scattered_use_avx512(tamis *f);

#endif
