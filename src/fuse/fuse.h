/* fuse.h - binary fuse filters: what their files share beside the templates. */
#ifndef TAMIS_FUSE_FUSE_H
#define TAMIS_FUSE_FUSE_H

#include "filter.h"

/* Parts of up to `keys` keys get blocks of 2^block slots, a window of 2^window blocks and near
 * blocks of `starts` / 1024 slots a key. The last row has no upper end.
 *
 * Rows began as the fewest slots with which nine in ten of 300 simulated sets (40 above 100,000
 * keys, a few above a million) were peeled at the first attempt, and were then evened out by hand.
 * A row that is too tight costs time, for another seed, and no key. */
typedef struct fuse_size {
    uint64_t keys;
    uint32_t block, window, starts;
} fuse_size;

void tamis__fuse_use_avx2(tamis_ops *ops);
void tamis__fuse4_use_avx2(tamis_ops *ops);
void tamis__fuse5_use_avx2(tamis_ops *ops);

#endif
