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
#include "base/cpu.h"
#include "fuse/levels.h"
#include "fuse/ribbon_solve_template.h"

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t ribbon_bytes(const tamis_plan *p)
{
    ribbon_shape s = ribbon_shape_of(p);

    if (p->slots > RIBBON_MOST_ROOM || p->width < 1 || p->width > RIBBON_MOST_WIDTH || p->flags ||
        p->load || s.first_hash > RIBBON_MOST_FIRST_HASH ||
        (p->hashes & RIBBON_BELOW_FIRST_HASH) != ribbon_last_level(&s).number + 1 - s.first_hash)
        return 0;
    return bytes_of_parts(p->capacity, round_up(ribbon_last_level(&s).end, 64));
}

/* plan.hashes is the number of levels and, above it, the first hash. */
static void ribbon_set_levels(tamis_plan *p)
{
    ribbon_shape s = ribbon_shape_of(p);

    p->hashes =
        (s.first_hash << RIBBON_FIRST_HASH_AT) + ribbon_last_level(&s).number + 1 - s.first_hash;
}

static tamis_status ribbon_plan(tamis_plan *p, const tamis_spec *spec)
{
    p->width = fingerprint_width(spec);
    if (p->width > RIBBON_MOST_WIDTH)
        return TAMIS_RANGE;
    p->slots = part_room(spec->keys);
    ribbon_set_levels(p);
    return TAMIS_OK;
}

static tamis_status ribbon_resize(tamis_plan *p, uint64_t keys)
{
    tamis_status status = ribbon_step(&p->hashes, &p->slots);

    (void)keys;
    ribbon_set_levels(p);
    return status;
}

/* ---- Lookup ------------------------------------------------------------ */

FUSE_INLINE bool ribbon_holds(const uint8_t *slots, const ribbon_equation *e, unsigned width)
{
    for (unsigned j = 0; j < width; j++) {
        uint64_t window = ribbon_window(slots + 8 * j, e->start, width);
        if (ribbon_parity(window & e->row) != (e->sum >> j & 1))
            return false;
    }
    return true;
}

#include "fuse/ribbon_lookup_template.h"

/* ---- Pictures and words ------------------------------------------------ */

static const levels_names RIBBON_NAMES = { "level", "level thresholds", "seeds tried", false };

static void ribbon_cells(const tamis *f, tamis_telling *t)
{
    const retrieval r = { ribbon_derived_in(f)->shape, 0 };

    tamis__levels_cells(f, &r, &RIBBON_NAMES, t);
}

static bool ribbon_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    const retrieval r = { ribbon_derived_in(f)->shape, 0 };
    uint64_t value, h = hash_key(key, f->salt);
    const char *why_not = tamis__levels_explain(f, &r, &RIBBON_NAMES, h, &value, t);

    return tamis__tell_answer(t, !why_not,
                              why_not ? why_not : "the xor of its slots is its fingerprint");
}

/* ---- The table --------------------------------------------------------- */

static uint64_t ribbon_scratch(const tamis_plan *p, enum tamis_stage stage, uint64_t n,
                               unsigned workers)
{
    ribbon_shape s = ribbon_shape_of(p);

    (void)stage;
    return ribbon_scratch_for(&s, n, workers);
}

static const char *ribbon_verify(const tamis *f)
{
    const ribbon_shape *s = &ribbon_derived_in(f)->shape;
    bool is_whole = ribbon_ends_in_zeros(f, s, 0, f->plan.bytes >> s->part_bits);

    return is_whole ? NULL : "bytes after the last level are set";
}

static void ribbon_for_cpu(tamis *f, unsigned cpu)
{
    ribbon_derived d = { .shape = ribbon_shape_of(&f->plan) };

    d.first = ribbon_first_level(&d.shape);
    memcpy(f->derived, &d, sizeof d);
    ribbon_use(f);
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        tamis__ribbon_use_avx2(f);
#endif
    (void)cpu;
}

const tamis_ops tamis__ribbon = {
    .traits = TAMIS_TRAIT_TAG_BITS | TAMIS_TRAIT_IS_ELIMINATED,
    .plan = ribbon_plan,
    .bytes = ribbon_bytes,
    .rate = fingerprint_rate,
    .resize = ribbon_resize,
    .for_cpu = ribbon_for_cpu,
    .verify = ribbon_verify,
    .has = ribbon_has,
    .has_many = ribbon_has_many,
    .solve = ribbon_solve,
    .scratch = ribbon_scratch,
    .cells = ribbon_cells,
    .explain = ribbon_explain,
};
