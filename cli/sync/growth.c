/* growth.c - how large a file may become that few bytes make of another one. */
#include "growth.h"

uint64_t growth_most(uint64_t old_size, uint64_t received)
{
    uint64_t both, most;

    return __builtin_add_overflow(old_size, received, &both) ||
                   __builtin_mul_overflow(both, (uint64_t)GROWTH_TIMES, &most) ||
                   __builtin_add_overflow(most, (uint64_t)GROWTH_FREE, &most)
               ? UINT64_MAX
               : most;
}
