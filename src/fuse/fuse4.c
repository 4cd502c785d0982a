/* fuse4.c - binary fuse filter with four slots a key.
 *
 * The fingerprint of a key is the xor of its slots, two in one block and two in a
 * block before it. They are found by peeling: see window.h for the layout and peel.h for how they
 * are filled. Half the slots to spare of three-wise filters, and as many lines to be read.
 *
 * Payload: parts of one size (base/parts.h), each with its slots and a tail. Zeros are the empty
 * filter.
 *
 * Graf, Lemire: Binary Fuse Filters: Fast and Smaller Than Xor Filters, 2022. Walzer: Peeling Close
 * to the Orientability Threshold - Spatial Coupling in Hashing-Based Data Structures, 2021. */
#define ARITY 4

/* Blocks of fewer than 64 slots would cost more room than four-wise filters save. */
enum { WIDE_HALVINGS = 0, STARTS_A_HALVING = 0 };

#include "base/cpu.h"
#include "fuse/kernels.h"
#include "fuse/peel.h"
#include "fuse/sizing.h"
#include "fuse/window_many.h"
#include "fuse/window_one.h"

static const sizing SIZES[] = {
    { 10, 3, 0, 1024 },      { 18, 4, 0, 600 },       { 32, 5, 0, 512 },
    { 56, 5, 0, 1000 },      { 100, 5, 0, 1200 },     { 178, 5, 0, 1330 },
    { 316, 6, 0, 1240 },     { 562, 6, 0, 1300 },     { 1000, 6, 1, 1240 },
    { 1778, 6, 1, 1280 },    { 3162, 6, 2, 1236 },    { 5623, 6, 2, 1256 },
    { 10000, 6, 3, 1212 },   { 17783, 6, 3, 1220 },   { 31623, 6, 4, 1180 },
    { 56234, 6, 5, 1150 },   { 100000, 6, 5, 1170 },  { 177828, 6, 6, 1144 },
    { 316228, 6, 7, 1124 },  { 562341, 6, 7, 1128 },  { 1000000, 6, 8, 1114 },
    { 1778279, 6, 8, 1114 }, { 3162278, 6, 9, 1104 }, { UINT64_MAX, 6, 10, 1097 },
};

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    return plan_by(p, spec, SIZES);
}

static void use_avx2(tamis_ops *ops)
{
#if defined(__x86_64__)
    tamis__fuse4_use_avx2(ops);
#else
    (void)ops;
#endif
}

const tamis_ops tamis__fuse4 = {
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
