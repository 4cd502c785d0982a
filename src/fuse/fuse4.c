/* fuse4.c - binary fuse filter with four slots a key.
 *
 * The fingerprint of a key is the xor of its slots, one in each of four neighbouring segments. The
 * slots are found by peeling: see segments.h for the layout and peel.h for how they are filled.
 * Half the slots to spare of three-wise filters, for one more line to be read.
 *
 * Payload: parts of one size (base/parts.h), each with a head and its slots. Zeros are the empty
 * filter.
 *
 * Graf, Lemire: Binary Fuse Filters: Fast and Smaller Than Xor Filters, 2022. Walzer: Peeling Close
 * to the Orientability Threshold - Spatial Coupling in Hashing-Based Data Structures, 2021. */
#define ARITY 4

#include "fuse/peel.h"

static const sizing SIZES[] = {
    { 10, 2, 512 },        { 18, 2, 720 },        { 32, 3, 800 },        { 56, 3, 1190 },
    { 100, 4, 1000 },      { 178, 4, 1210 },      { 316, 4, 1310 },      { 562, 5, 1236 },
    { 1000, 5, 1290 },     { 1778, 6, 1230 },     { 3162, 6, 1256 },     { 5623, 7, 1200 },
    { 10000, 7, 1204 },    { 17783, 8, 1160 },    { 31623, 8, 1172 },    { 56234, 9, 1136 },
    { 100000, 9, 1146 },   { 177828, 10, 1116 },  { 316228, 10, 1126 },  { 562341, 11, 1104 },
    { 1000000, 11, 1102 }, { 1778279, 12, 1090 }, { 3162278, 12, 1092 }, { UINT64_MAX, 13, 1090 },
};

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    return plan_by(p, spec, SIZES);
}

const tamis_ops tamis__fuse4 = {
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .verify = verify,
    .solver = &SOLVER,
    .batch = batch,
};
