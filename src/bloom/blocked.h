/* blocked.h - the kernels of the blocked filter. */
#ifndef TAMIS_BLOOM_BLOCKED_H
#define TAMIS_BLOOM_BLOCKED_H

#include "filter.h"

void tamis__blocked_use_avx2(tamis_ops *ops);
void tamis__blocked_use_neon(tamis_ops *ops);

#endif
