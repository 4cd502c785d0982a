/* patch_limit.c - how large files may become that few bytes make. */
#include "patch_limit.h"

static uint64_t sum_of_times(uint64_t free_of_charge, uint64_t times, uint64_t received)
{
    uint64_t most;

    return __builtin_mul_overflow(received, times, &most) ||
                   __builtin_add_overflow(most, free_of_charge, &most)
               ? UINT64_MAX
               : most;
}

uint64_t growth_most(uint64_t old_size, uint64_t received)
{
    uint64_t both;

    return __builtin_add_overflow(old_size, received, &both)
               ? UINT64_MAX
               : sum_of_times(GROWTH_FREE, GROWTH_TIMES, both);
}

uint64_t growth_unpacked_most(uint64_t received)
{
    return sum_of_times(GROWTH_UNPACKED_FREE, GROWTH_UNPACKED_TIMES, received);
}
