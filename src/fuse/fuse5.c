/* fuse5.c - binary fuse filter with five slots a key: fuse.c with four slots in one block and one
 * in a block before it. Divided like this, slots take fewer to spare than three and two or two and
 * two: two thirds of those of four-wise filters, and as many lines to be read. */
#include "fuse/fuse.h"

#define FUSE_ARITY 5
#define FUSE_OPS tamis__fuse5
#define FUSE_USE_AVX2 tamis__fuse5_use_avx2

/* Blocks of fewer than 64 slots would cost more room than five-wise filters save. */
enum { FUSE_WIDE_HALVINGS = 0, FUSE_HALVING_STARTS = 0 };

static const fuse_size FUSE_SIZES[] = {
    { 10, 3, 0, 512 },           { 18, 3, 0, 968 },       { 32, 3, 1, 1170 },
    { 56, 4, 0, 1190 },          { 88, 5, 0, 1000 },      { 100, 5, 0, 1120 },
    { 178, 5, 0, 1300 },         { 316, 6, 0, 1230 },     { 562, 6, 0, 1290 },
    { 1000, 6, 1, 1250 },        { 1778, 6, 2, 1228 },    { 3162, 6, 3, 1204 },
    { 5623, 6, 3, 1232 },        { 10000, 6, 4, 1180 },   { 17783, 6, 4, 1194 },
    { 31623, 6, 5, 1140 },       { 56234, 6, 5, 1148 },   { 100000, 6, 6, 1118 },
    { 177828, 6, 6, 1121 },      { 316228, 6, 7, 1101 },  { 562341, 6, 7, 1102 },
    { 1000000, 6, 8, 1085 },     { 1778279, 6, 9, 1074 }, { 5623413, 6, 9, 1078 },
    { UINT64_MAX, 6, 10, 1067 },
};

#include "fuse/fuse_template.h"
