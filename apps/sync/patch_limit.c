/* patch_limit.c - how large files may become that few bytes make. */
#include "patch_limit.h"

static uint64_t sum_of_times(uint64_t free_of_charge, uint64_t times, uint64_t received)
{
    return received > (UINT64_MAX - free_of_charge) / times ? UINT64_MAX
                                                            : free_of_charge + times * received;
}

uint64_t growth_most(uint64_t old_size, uint64_t received)
{
    return received > UINT64_MAX - old_size
               ? UINT64_MAX
               : sum_of_times(GROWTH_FREE, GROWTH_TIMES, old_size + received);
}

uint64_t growth_unpacked_most(uint64_t received)
{
    return sum_of_times(GROWTH_UNPACKED_FREE, GROWTH_UNPACKED_TIMES, received);
}
