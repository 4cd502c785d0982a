/* fuse.c - binary fuse filter with three slots a key.
 *
 * The fingerprint of a key is the xor of its slots, one in each of three neighbouring segments. The
 * slots are found by peeling: see segments.h for the layout and peel.h for how they are filled.
 * Large sets take twelve percent more slots than keys.
 *
 * Payload: parts of one size (base/parts.h), each with a head and its slots. Zeros are the empty
 * filter.
 *
 * Graf, Lemire: Binary Fuse Filters: Fast and Smaller Than Xor Filters, 2022. Walzer: Peeling Close
 * to the Orientability Threshold - Spatial Coupling in Hashing-Based Data Structures, 2021. */
#define ARITY 3

#include "fuse/peel.h"

static const sizing SIZES[] = {
    { 10, 2, 512 },        { 18, 3, 512 },        { 32, 3, 1056 },       { 56, 4, 900 },
    { 100, 4, 1160 },      { 178, 4, 1300 },      { 316, 5, 1256 },      { 562, 5, 1350 },
    { 1000, 6, 1260 },     { 1778, 6, 1300 },     { 3162, 7, 1256 },     { 5623, 7, 1270 },
    { 10000, 8, 1216 },    { 17783, 8, 1230 },    { 31623, 9, 1200 },    { 56234, 9, 1210 },
    { 100000, 10, 1180 },  { 177828, 10, 1186 },  { 316228, 11, 1174 },  { 562341, 11, 1172 },
    { 1000000, 12, 1156 }, { 1778279, 12, 1156 }, { 3162278, 12, 1160 }, { UINT64_MAX, 13, 1148 },
};

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    return plan_by(p, spec, SIZES);
}

const tamis_ops tamis__fuse = {
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .verify = verify,
    .solver = &SOLVER,
    .batch = batch,
};
