/* fuse5_avx2.c - fuse5.c with eight keys at a time. */
#define ARITY 5

#include "fuse/eight_avx2.h"
#include "fuse/kernels.h"
#include "fuse/peel.h"
#include "fuse/window_many.h"

tamis_status tamis__fuse5_solve_avx2(const tamis_plan *p, void *part, uint64_t *hashes, size_t *n,
                                     void *memory)
{
    return solve(p, part, hashes, n, memory);
}

const tamis_batch tamis__fuse5_avx2 = { .has_many = has_many };
