/* fuse4.c - binary fuse filter with four slots a key: fuse.c with two slots in one block and two in
 * a block before it. Half the slots to spare of three-wise filters, and as many lines to be read.
 */
#include "fuse/fuse.h"

#define FUSE_ARITY 4
#define FUSE_OPS tamis__fuse4
#define FUSE_USE_AVX2 tamis__fuse4_use_avx2

/* Blocks of fewer than 64 slots would cost more room than four-wise filters save. */
enum { FUSE_WIDE_HALVINGS = 0, FUSE_HALVING_STARTS = 0 };

static const fuse_size FUSE_SIZES[] = {
    { 10, 3, 0, 1024 },      { 18, 4, 0, 600 },       { 32, 5, 0, 512 },
    { 56, 5, 0, 1000 },      { 100, 5, 0, 1200 },     { 178, 5, 0, 1330 },
    { 316, 6, 0, 1240 },     { 562, 6, 0, 1300 },     { 1000, 6, 1, 1240 },
    { 1778, 6, 1, 1280 },    { 3162, 6, 2, 1236 },    { 5623, 6, 2, 1256 },
    { 10000, 6, 3, 1212 },   { 17783, 6, 3, 1220 },   { 31623, 6, 4, 1180 },
    { 56234, 6, 5, 1150 },   { 100000, 6, 5, 1170 },  { 177828, 6, 6, 1144 },
    { 316228, 6, 7, 1124 },  { 562341, 6, 7, 1128 },  { 1000000, 6, 8, 1114 },
    { 1778279, 6, 8, 1114 }, { 3162278, 6, 9, 1104 }, { UINT64_MAX, 6, 10, 1097 },
};

#include "fuse/fuse_template.h"
