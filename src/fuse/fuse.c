/* fuse.c - binary fuse filter with three slots a key.
 *
 * The fingerprint of a key is the xor of its slots, two in one block and one in a block before it
 * (fuse_layout_template.h). They are filled by peeling (fuse_peel_template.h). Large sets take
 * thirteen percent more slots than keys.
 *
 * Payload: parts of one size (base/parts.h), each with its slots and a tail. Zeros are the empty
 * filter.
 *
 * Graf, Lemire: Binary Fuse Filters: Fast and Smaller Than Xor Filters, 2022. Walzer: Peeling Close
 * to the Orientability Threshold - Spatial Coupling in Hashing-Based Data Structures, 2021. */
#include "fuse/fuse.h"

#define FUSE_ARITY 3
#define FUSE_OPS tamis__fuse
#define FUSE_USE_AVX2 tamis__fuse_use_avx2

/* Of slots above 8 bits, blocks are half as long, to be nearer to a line. They need a little more
 * room, in 1024ths. */
enum { FUSE_WIDE_HALVINGS = 1, FUSE_HALVING_STARTS = 4 };

static const fuse_size FUSE_SIZES[] = {
    { 10, 3, 0, 512 },       { 18, 4, 0, 512 },       { 32, 5, 0, 512 },
    { 56, 5, 0, 1000 },      { 100, 5, 0, 1200 },     { 178, 5, 0, 1330 },
    { 316, 6, 0, 1240 },     { 562, 6, 0, 1300 },     { 1000, 6, 1, 1270 },
    { 1778, 6, 1, 1320 },    { 3162, 6, 2, 1260 },    { 5623, 6, 2, 1275 },
    { 10000, 6, 3, 1236 },   { 17783, 6, 3, 1244 },   { 31623, 6, 4, 1214 },
    { 56234, 6, 5, 1190 },   { 100000, 6, 5, 1194 },  { 177828, 6, 6, 1176 },
    { 316228, 6, 6, 1182 },  { 562341, 6, 7, 1164 },  { 1000000, 6, 7, 1166 },
    { 1778279, 6, 8, 1156 }, { 3162278, 6, 8, 1158 }, { UINT64_MAX, 6, 9, 1150 },
};

#include "fuse/fuse_template.h"
