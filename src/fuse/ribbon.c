/* ribbon.c - ribbon filter with bumping: within half a percent of the least space there can be.
 *
 * Every key asks for one linear equation over bits: of the 64 slots from its start on, those that
 * its row picks shall add up (exclusive or) to its fingerprint of plan.width bits. A solved system
 * answers yes for its keys, and for strangers at a rate of 2^-width.
 *
 * Solving is cheap because each equation touches a narrow band. Rows are taken in the order of
 * their buckets; a row that finds the slot of its first one taken is added to the row that is
 * there, which clears that one, and goes on to its next one, until it finds a slot that is free.
 * There are more keys than slots, so that hardly a slot stays free. A key that finds none is bumped
 * to a smaller filter of the same form, together with all keys of its bucket that start below one
 * of three cuts: two bits in a bucket tell which keys live on the next level. The last level is
 * small, has a little more slots than keys, and tries seeds until its system has a solution.
 *
 *   slots   . . . . . . . . . . . . .        bucket of 128: starts below the cut are bumped
 *   key a     1 0 1 1 0 1
 *   key b         1 1 0 0 1 1                rows of 64, the first one at the start
 *   key c         1 0 1 1 0 1
 *
 * Which slots become the first ones of rows follows from the set of equations alone, and slots that
 * stay free are zero: the bytes depend on the set of keys, not on the order of elimination.
 *
 * Payload: parts (base/parts.h), each a chain of levels (fuse/ribbon.h). Slots lie in groups of 64:
 * one word for each bit of the fingerprint, so that a lookup reads plan.width pairs of neighbouring
 * words. Zeros are the empty filter.
 *
 * Dillinger, Walzer: Ribbon Filter: Practically Smaller Than Bloom and Xor, 2021.
 * Dillinger, Huebschle-Schneider, Sanders, Walzer: Fast Succinct Retrieval and Approximate
 * Membership Using Ribbon, 2022. */
#include "fuse/ribbon.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "fuse/ribbon_window.h"

/* ---- Sizing ------------------------------------------------------------ */

static level last_level_of(const tamis_plan *p)
{
    shape s = shape_of(p);

    return last_level(&s);
}

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->slots <= MOST_ROOM && p->width >= 1 && p->width <= MOST_WIDTH && p->flags == 0 &&
              p->load == 0;

    if (!ok || p->hashes != last_level_of(p).number + 1)
        return 0;
    return bytes_of_parts(p->capacity, round_up(last_level_of(p).end, 64));
}

static void set_room(tamis_plan *p, uint64_t keys)
{
    p->slots = keys;
    p->hashes = last_level_of(p).number + 1;
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    p->width = fingerprint_bits(spec->fpr);
    if (p->width > MOST_WIDTH)
        return TAMIS_RANGE;
    set_room(p, part_room(spec->keys));
    return TAMIS_OK;
}

static double rate(const tamis_plan *p, double n)
{
    return fingerprint_rate(p, n, p->width);
}

/* ---- Lookup ------------------------------------------------------------ */

static inline bool holds(const uint8_t *slots, const equation *e, unsigned width)
{
    for (unsigned j = 0; j < width; j++)
        if (parity(window(slots + 8 * j, e->start, width) & e->row) != (e->fingerprint >> j & 1))
            return false;
    return true;
}

#include "fuse/ribbon_many.h"

/* ---- Building ---------------------------------------------------------- */

#include "fuse/ribbon_back.h"

static tamis_status resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    set_room(p, p->slots + p->slots / 16 + 8);
    return TAMIS_OK;
}

static tamis_status solve_part(const tamis *f, enum tamis_stage stage, void *part, void *items,
                               size_t *n, void *room)
{
    shape s = shape_of(&f->plan);

    (void)stage;
    return solve(&s, part, items, n, room);
}

static size_t scratch(const tamis_plan *p, enum tamis_stage stage, size_t n)
{
    shape s = shape_of(p);

    (void)stage;
    return scratch_for(&s, n);
}

/* ---- The whole filter -------------------------------------------------- */

static const char *verify(const tamis *f)
{
    uint64_t used = last_level_of(&f->plan).end - LAST_STATE + 1;

    return parts_have_zeros(f, used, part_size(f)) ? NULL : "bytes after the last level are set";
}

static void for_cpu(tamis *f, unsigned cpu)
{
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        tamis__ribbon_use_avx2(&f->ops);
#endif
    (void)f, (void)cpu;
}

const tamis_ops tamis__ribbon = {
    .plan = plan,
    .bytes = bytes,
    .rate = rate,
    .resize = resize,
    .for_cpu = for_cpu,
    .verify = verify,
    .has = has,
    .has_many = has_many,
    .solve = solve_part,
    .scratch = scratch,
};
