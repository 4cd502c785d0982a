/* fuse5.c - binary fuse filter with five slots a key.
 *
 * The fingerprint of a key is the xor of its slots, four in one block and one in a block before it.
 * They are found by peeling: see window.h for the layout and peel.h for how they are filled.
 * Divided like this, slots take fewer to spare than three and two or two and two: two thirds of
 * those of four-wise filters, and as many lines to be read.
 *
 * Payload: parts of one size (base/parts.h), each with its slots and a tail. Zeros are the empty
 * filter.
 *
 * Graf, Lemire: Binary Fuse Filters: Fast and Smaller Than Xor Filters, 2022. Walzer: Peeling Close
 * to the Orientability Threshold - Spatial Coupling in Hashing-Based Data Structures, 2021. */
#define ARITY 5

/* Blocks of fewer than 64 slots would cost more room than five-wise filters save. */
enum { WIDE_HALVINGS = 0, STARTS_A_HALVING = 0 };

#include "base/cpu.h"
#include "fuse/kernels.h"
#include "fuse/peel.h"
#include "fuse/sizing.h"
#include "fuse/window_many.h"
#include "fuse/window_one.h"

static const sizing SIZES[] = {
    { 10, 3, 0, 512 },       { 18, 3, 0, 968 },       { 32, 3, 1, 1170 },
    { 56, 4, 0, 1190 },      { 100, 5, 0, 1000 },     { 178, 5, 0, 1300 },
    { 316, 6, 0, 1230 },     { 562, 6, 0, 1290 },     { 1000, 6, 1, 1250 },
    { 1778, 6, 2, 1228 },    { 3162, 6, 3, 1204 },    { 5623, 6, 3, 1232 },
    { 10000, 6, 4, 1180 },   { 17783, 6, 4, 1194 },   { 31623, 6, 5, 1140 },
    { 56234, 6, 5, 1148 },   { 100000, 6, 6, 1118 },  { 177828, 6, 6, 1121 },
    { 316228, 6, 7, 1101 },  { 562341, 6, 7, 1102 },  { 1000000, 6, 8, 1085 },
    { 1778279, 6, 9, 1074 }, { 5623413, 6, 9, 1078 }, { UINT64_MAX, 6, 10, 1067 },
};

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    return plan_by(p, spec, SIZES);
}

static void use_avx2(tamis_ops *ops)
{
#if defined(__x86_64__)
    tamis__fuse5_use_avx2(ops);
#else
    (void)ops;
#endif
}

const tamis_ops tamis__fuse5 = {
    .plan = plan,
    .bytes = bytes,
    .rate = rate,
    .resize = resize,
    .for_cpu = for_cpu,
    .verify = verify,
    .has = has,
    .has_many = has_many,
    .solve = solve,
    .scratch = scratch,
};
