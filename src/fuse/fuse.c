/* fuse.c - binary fuse filter with three slots a key.
 *
 * The fingerprint of a key is the xor of its slots, two in one block and one in a
 * block before it. They are found by peeling: see window.h for the layout and peel.h for how they
 * are filled. Large sets take thirteen percent more slots than keys.
 *
 * Payload: parts of one size (base/parts.h), each with its slots and a tail. Zeros are the empty
 * filter.
 *
 * Graf, Lemire: Binary Fuse Filters: Fast and Smaller Than Xor Filters, 2022. Walzer: Peeling Close
 * to the Orientability Threshold - Spatial Coupling in Hashing-Based Data Structures, 2021. */
#define ARITY 3

/* Of slots above 8 bits, blocks are half as long, to be nearer to a line. They need a little more
 * room, in 1024ths. */
enum { WIDE_HALVINGS = 1, STARTS_A_HALVING = 4 };

#include "base/cpu.h"
#include "fuse/kernels.h"
#include "fuse/peel.h"
#include "fuse/sizing.h"
#include "fuse/window_many.h"
#include "fuse/window_one.h"

static const sizing SIZES[] = {
    { 10, 3, 0, 512 },       { 18, 4, 0, 512 },       { 32, 5, 0, 512 },
    { 56, 5, 0, 1000 },      { 100, 5, 0, 1200 },     { 178, 5, 0, 1330 },
    { 316, 6, 0, 1240 },     { 562, 6, 0, 1300 },     { 1000, 6, 1, 1270 },
    { 1778, 6, 1, 1320 },    { 3162, 6, 2, 1260 },    { 5623, 6, 2, 1275 },
    { 10000, 6, 3, 1236 },   { 17783, 6, 3, 1244 },   { 31623, 6, 4, 1214 },
    { 56234, 6, 5, 1190 },   { 100000, 6, 5, 1194 },  { 177828, 6, 6, 1176 },
    { 316228, 6, 6, 1182 },  { 562341, 6, 7, 1164 },  { 1000000, 6, 7, 1166 },
    { 1778279, 6, 8, 1156 }, { 3162278, 6, 8, 1158 }, { UINT64_MAX, 6, 9, 1150 },
};

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    return plan_by(p, spec, SIZES);
}

static void use_avx2(tamis_ops *ops)
{
#if defined(__x86_64__)
    tamis__fuse_use_avx2(ops);
#else
    (void)ops;
#endif
}

const tamis_ops tamis__fuse = {
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
