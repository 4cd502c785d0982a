/* xor_template.h - TEMPLATE, compiled once for each kind of xor filter: its sizes and its table.
 * The includer defines xor_name(), which makes a name its own, and
 *
 *   XOR_OPS              name of the table
 *   XOR_THIRD            how many times longer the third block is than the others
 *   XOR_SLOTS_FOR_2_16   slots for 2^16 keys
 *   XOR_SLOTS_FOR_LUCK   more slots for each 16 of the root of the number of keys
 *
 * With fewer slots a key than a threshold, a large set cannot be peeled; with more, it can. The
 * smaller the set, the more luck it has, good or bad: in proportion to the root of its size. */
#include "fuse/xor_blocks.h"

static uint64_t xor_name(bytes)(const tamis_plan *p)
{
    return tamis__xor_bytes(p, XOR_THIRD);
}

static tamis_status xor_name(plan)(tamis_plan *p, const tamis_spec *spec)
{
    uint64_t n = part_room(spec->keys), luck = (uint64_t)sqrt((double)n) * XOR_SLOTS_FOR_LUCK >> 4;
    uint64_t lengths = 2 + XOR_THIRD, slots = (n * XOR_SLOTS_FOR_2_16 >> 16) + luck + 2;

    p->width = fingerprint_width(spec);
    p->hashes = XOR_ARITY;
    p->slots = (slots + lengths - 1) / lengths * lengths;
    return p->width > PACKED_WIDEST || spec->keys >= XOR_MOST_KEYS ? TAMIS_RANGE : TAMIS_OK;
}

/* One slot in sixteen more. */
static tamis_status xor_name(resize)(tamis_plan *p, uint64_t keys)
{
    uint64_t lengths = 2 + XOR_THIRD, length = p->slots / lengths;

    (void)keys;
    p->slots = (length + length / 16 + 1) * lengths;
    return TAMIS_OK;
}

static uint64_t xor_name(scratch)(const tamis_plan *p, enum tamis_stage stage, uint64_t n,
                                  unsigned workers)
{
    (void)stage, (void)n, (void)workers;
    return tamis__xor_scratch(p, XOR_THIRD);
}

static void xor_name(for_cpu)(tamis *f, unsigned cpu)
{
    const xor_shape s = xor_shape_of(&f->plan, XOR_THIRD);

    (void)cpu;
    memcpy(f->derived, &s, sizeof s);
}

const tamis_ops XOR_OPS = {
    .traits = TAMIS_TRAIT_TAG_BITS | TAMIS_TRAIT_IS_PEELED | TAMIS_TRAIT_TO_STUDY,
    .plan = xor_name(plan),
    .bytes = xor_name(bytes),
    .rate = fingerprint_rate,
    .resize = xor_name(resize),
    .for_cpu = xor_name(for_cpu),
    .verify = tamis__xor_verify,
    .has = tamis__xor_has,
    .has_many = tamis__xor_has_many,
    .solve = tamis__xor_solve,
    .scratch = xor_name(scratch),
    .cells = tamis__xor_cells,
    .explain = tamis__xor_explain,
};

#undef xor_name
#undef XOR_OPS
#undef XOR_THIRD
#undef XOR_SLOTS_FOR_2_16
#undef XOR_SLOTS_FOR_LUCK
