/* fastest.h - of the kernels of a binary fuse filter, those that are best on this machine. The
 * includer names the ones for AVX2: SOLVE_AVX2 and BATCH_AVX2. */
#ifndef TAMIS_FUSE_FASTEST_H
#define TAMIS_FUSE_FASTEST_H

#include "base/cpu.h"
#include "fuse/kernels.h"
#include "fuse/peel.h"
#include "fuse/window_many.h"
#include "fuse/window_one.h"

static tamis_status solve_best(const tamis_plan *p, void *part, uint64_t *hashes, size_t *n,
                               void *memory)
{
#if defined(__x86_64__)
    if (tamis__cpu() & TAMIS_CPU_AVX2)
        return SOLVE_AVX2(p, part, hashes, n, memory);
#endif
    return solve(p, part, hashes, n, memory);
}

static const tamis_solver SOLVER = { scratch, solve_best, enlarge };

static const tamis_batch *batch(unsigned cpu)
{
    static const tamis_batch PORTABLE = { .has_many = has_many };

#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        return &BATCH_AVX2;
#endif
    (void)cpu;
    return &PORTABLE;
}

#endif
