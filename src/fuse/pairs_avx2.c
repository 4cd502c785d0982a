/* pairs_avx2.c - values solved back eight columns at a time. */
#include "fuse/pairs.h"

#define PAIRS

#include "fuse/ribbon_avx2.h"

tamis_status tamis__pairs_solve_avx2(const shape *s, void *part, tamis_entry *pairs, size_t *n,
                                     void *room)
{
    return solve(s, part, pairs, n, room);
}
