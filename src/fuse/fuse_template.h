/* fuse_template.h - TEMPLATE, compiled once for each kind of binary fuse filter: its sizes and its
 * table. The includer defines FUSE_ARITY (see fuse_layout_template.h), and
 *
 *   FUSE_OPS             name of the table
 *   FUSE_USE_AVX2        name of the function for AVX2, in fuse.h
 *   FUSE_SIZES           array of fuse_size
 *   FUSE_WIDE_HALVINGS   how often blocks of slots above 8 bits are halved in large filters,
 *   FUSE_HALVING_STARTS  and what each halving adds to fuse_size.starts */
#include "base/cpu.h"
#include "fuse/fuse.h"
#include "fuse/fuse_explain_template.h"
#include "fuse/fuse_has_many_template.h"
#include "fuse/fuse_has_template.h"
#include "fuse/fuse_solve_template.h"

/* ---- Sizing ------------------------------------------------------------ */

/* Beyond this, slots would share too many bits: those of the part, 21 of the block, 34 others. */
#define FUSE_MOST_KEYS (UINT64_C(1) << 40)

/* From this many keys on, the filter is larger than the cache next to the processor, and lines
 * count more than a little room. */
enum { FUSE_MANY_KEYS = 100001 };

/* Slots are numbered in 31 bits. */
static uint64_t fuse_bytes(const tamis_plan *p)
{
    unsigned block = fuse_block_bits(p), window = p->hashes >> FUSE_WINDOW_BITS_AT;

    if (p->width < 1 || p->width > PACKED_WIDEST || block < FUSE_LEAST_BLOCK_BITS ||
        block > FUSE_MOST_BLOCK_BITS || window > FUSE_MOST_WINDOW_BITS ||
        p->slots >= UINT64_C(1) << 31 || p->slots % (UINT64_C(1) << block) ||
        p->slots >> block <= UINT64_C(1) << window || p->capacity >= FUSE_MOST_KEYS || p->flags ||
        p->load)
        return 0;
    return bytes_of_parts(p->capacity, fuse_shape_of(p).part_bytes);
}

/* The row for n keys, as it is for that width. */
static fuse_size fuse_size_for(const fuse_size *row, uint64_t n, unsigned width)
{
    fuse_size fit;

    while (row->keys < n)
        row++;
    fit = *row;
    if (n >= FUSE_MANY_KEYS && width > 8) {
        fit.block -= FUSE_WIDE_HALVINGS;
        fit.window += FUSE_WIDE_HALVINGS;
        fit.starts += FUSE_WIDE_HALVINGS * FUSE_HALVING_STARTS;
    }
    return fit;
}

static uint64_t fuse_slots_for(const fuse_size *row, uint64_t n)
{
    uint64_t length = UINT64_C(1) << row->block;
    uint64_t starts = (n * row->starts / 1024 + length - 1) / length;

    return ((starts ? starts : 1) + (UINT64_C(1) << row->window)) * length;
}

/* More keys never get fewer slots: a row begins where the one before it ends. */
static tamis_status fuse_plan(tamis_plan *p, const tamis_spec *spec)
{
    uint64_t n = part_room(spec->keys), least = 0;

    p->width = fingerprint_width(spec);
    if (p->width > PACKED_WIDEST || spec->keys >= FUSE_MOST_KEYS)
        return TAMIS_RANGE;
    for (const fuse_size *row = FUSE_SIZES; row->keys < n; row++) {
        fuse_size before = fuse_size_for(row, row->keys, p->width);
        least = fuse_slots_for(&before, row->keys);
    }
    fuse_size fit = fuse_size_for(FUSE_SIZES, n, p->width);
    p->hashes = fit.block | fit.window << FUSE_WINDOW_BITS_AT;
    p->slots = fuse_slots_for(&fit, n);
    if (p->slots < least)
        p->slots = round_up(least, UINT64_C(1) << fit.block);
    return TAMIS_OK;
}

/* One block in sixteen more. */
static tamis_status fuse_resize(tamis_plan *p, uint64_t keys)
{
    uint64_t blocks = p->slots >> fuse_block_bits(p);

    (void)keys;
    p->slots = (blocks + blocks / 16 + 1) << fuse_block_bits(p);
    return TAMIS_OK;
}

/* ---- The table --------------------------------------------------------- */

static const char *fuse_verify(const tamis *f)
{
    const fuse_shape *s = fuse_shape_in(f);
    uint64_t keys = 0;

    for (uint64_t at = s->tail; at < f->plan.bytes; at += s->part_bytes) {
        const uint8_t *tail = (const uint8_t *)f->payload + at;
        if (le16(tail + FUSE_TAIL_STASHED) > s->stash)
            return "a stash of more keys than fit";
        if ((tail[FUSE_TAIL_TRIES] == 0) != (le32(tail) == 0))
            return "keys and no seed, or a seed and no keys";
        keys += le32(tail);
    }
    return keys == f->count ? NULL : "the keys of the parts are not the count";
}

static void fuse_for_cpu(tamis *f, unsigned cpu)
{
    fuse_shape s = fuse_shape_of(&f->plan);
    fuse_tails tails = { .are_mixed = true };

    if (f->payload)
        tails = fuse_ask_tails(f, &s, FUSE_MOST_PARTS_ASKED);
    s.between = tails.between;
    s.stashed = tails.stashed;
    memcpy(f->derived, &s, sizeof s);
    f->ops.has = fuse_has_for(f, &tails);
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        FUSE_USE_AVX2(&f->ops);
#endif
    (void)cpu;
}

const tamis_ops FUSE_OPS = {
    .traits = TAMIS_TRAIT_TAG_BITS | TAMIS_TRAIT_IS_PEELED,
    .plan = fuse_plan,
    .bytes = fuse_bytes,
    .rate = fingerprint_rate,
    .resize = fuse_resize,
    .for_cpu = fuse_for_cpu,
    .verify = fuse_verify,
    .has = fuse_has,
    .has_many = fuse_has_many,
    .solve = fuse_solve,
    .scratch = fuse_scratch,
    .cells = fuse_cells,
    .explain = fuse_explain,
};
