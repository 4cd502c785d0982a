/* kernels.h - binary fuse filters on machines that have more than the portable instructions. */
#ifndef TAMIS_FUSE_KERNELS_H
#define TAMIS_FUSE_KERNELS_H

#include "filter.h"

extern const tamis_batch tamis__fuse_avx2, tamis__fuse4_avx2, tamis__fuse5_avx2;

/* As in tamis_solver. */
tamis_status tamis__fuse_solve_avx2(const tamis_plan *p, void *part, uint64_t *hashes, size_t *n,
                                    void *memory);
tamis_status tamis__fuse4_solve_avx2(const tamis_plan *p, void *part, uint64_t *hashes, size_t *n,
                                     void *memory);
tamis_status tamis__fuse5_solve_avx2(const tamis_plan *p, void *part, uint64_t *hashes, size_t *n,
                                     void *memory);

#endif
