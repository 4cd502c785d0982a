/* xor_blocks_explain.c - what xor filters tell of themselves. */
#include "fuse/tell.h"
#include "fuse/xor_blocks.h"

/* ---- Cells ------------------------------------------------------------- */

static const uint8_t *xor_part(const tamis *f, uint64_t part)
{
    return (const uint8_t *)f->payload + part * xor_shape_in(f)->part_bytes;
}

static const uint8_t *xor_head(const tamis *f, uint64_t part)
{
    return xor_part(f, part) + xor_shape_in(f)->head;
}

/* Blocks are numbered through all parts. One that is left out is empty, and zero. */
static tamis_cell xor_slot_cell(const tamis *f, uint64_t part, uint64_t slot)
{
    const xor_shape *s = xor_shape_in(f);
    unsigned block = slot < s->length ? 0 : slot < 2 * s->length ? 1 : 2;
    xor_third_slot at = { (uint32_t)slot, UINT32_MAX };

    if (block == 2)
        at = xor_find_third(xor_part(f, part), s, (uint32_t)slot);
    const uint8_t *array = xor_head(f, part) + XOR_HEAD_BYTES;
    return (tamis_cell){ .array = "block",
                         .number = part * XOR_ARITY + block,
                         .index = slot - block * s->length,
                         .value = packed_get(array, at.slot, s->width) & at.mask,
                         .bits = s->width,
                         .marks = at.mask ? 0 : TAMIS_MARK_EMPTY };
}

/* Places of the stash that are in use. */
static uint64_t xor_stashed(const tamis *f, uint64_t part)
{
    unsigned n = xor_head(f, part)[XOR_HEAD_STASHED];

    return n < XOR_STASH ? n : XOR_STASH;
}

static tamis_cell xor_stash_cell(const tamis *f, uint64_t part, uint64_t i)
{
    return tell_stashed(xor_head(f, part) + XOR_HEAD_STASH, part, i, xor_stashed(f, part));
}

static tamis_cell xor_seed_cell(const tamis *f, uint64_t part, uint64_t i)
{
    (void)i;
    return tell_lone("seed", part, xor_head(f, part)[XOR_HEAD_SEED], 8);
}

static tamis_cell xor_keys_cell(const tamis *f, uint64_t part, uint64_t i)
{
    (void)i;
    return tell_lone("keys", part, le32(xor_head(f, part)), 32);
}

/* ---- What finds the slots of the third block --------------------------- */

/* A bit for each slot of the third block: whether it is kept. */
static tamis_cell xor_bit_cell(const tamis *f, uint64_t part, uint64_t i)
{
    const xor_shape *s = xor_shape_in(f);
    uint32_t slot = (uint32_t)(2 * s->length + i);

    return (tamis_cell){ .array = "bits of block 2",
                         .number = part,
                         .index = i,
                         .value = xor_find_third(xor_part(f, part), s, slot).mask != 0,
                         .bits = 1 };
}

/* The four counts of each line: ones in the lines before, then in its first 2, 4 and 6 words. */
enum { XOR_LINE_COUNTS = 4 };

static uint64_t xor_lines(const xor_shape *s)
{
    return (s->head + XOR_LINE_BYTES - 1) / XOR_LINE_BYTES;
}

static tamis_cell xor_count_cell(const tamis *f, uint64_t part, uint64_t i)
{
    uint64_t line = i / XOR_LINE_COUNTS, counts = le64(xor_part(f, part) + line * XOR_LINE_BYTES);
    unsigned which = i % XOR_LINE_COUNTS;

    return (tamis_cell){ .array = "ones before",
                         .number = part * xor_lines(xor_shape_in(f)) + line,
                         .index = which,
                         .value = which == 0 ? counts & UINT32_MAX : xor_pair_count(counts, which),
                         .bits = which == 0 ? 32 : XOR_COUNT_BITS,
                         .marks = TAMIS_MARK_COUNT };
}

/* If the slot is kept, also what its place among those that are is counted from. */
static void xor_explain_third(const tamis *f, tamis_telling *t, uint64_t part, uint32_t slot)
{
    const xor_shape *s = xor_shape_in(f);
    uint64_t i = slot - 2 * s->length, line = i / XOR_LINE_BITS * XOR_LINE_COUNTS;
    uint64_t pair = i % XOR_LINE_BITS / 128;
    tamis_cell bit = xor_bit_cell(f, part, i);

    tamis__tell_read(t, "bit of its third slot", bit, true);
    if (bit.value == 0)
        return;
    tamis__tell_read(t, "ones in the lines before", xor_count_cell(f, part, line), true);
    if (pair > 0)
        tamis__tell_read(t, "ones in the words before", xor_count_cell(f, part, line + pair), true);
    tamis__tell_number(t, "place of its third slot among those kept",
                       xor_find_third(xor_part(f, part), s, slot).slot - 2 * s->length);
}

/* ---- All of it --------------------------------------------------------- */

void tamis__xor_cells(const tamis *f, tamis_telling *t)
{
    const xor_shape *s = xor_shape_in(f);

    tell_array(f, t, xor_slot_cell, f->plan.slots);
    tell_array(f, t, xor_bit_cell, s->omits_zeros ? s->third : 0);
    tell_array(f, t, xor_count_cell, xor_lines(s) * XOR_LINE_COUNTS);
    tell_array(f, t, xor_stash_cell, XOR_STASH);
    tell_array(f, t, xor_seed_cell, 1);
    tell_array(f, t, xor_keys_cell, 1);
}

static bool xor_explain_slots(const tamis *f, tamis_telling *t, uint64_t part, uint64_t mark)
{
    static const char *const roles[] = { "slot in block 0", "slot in block 1", "slot in block 2" };
    const xor_shape *s = xor_shape_in(f);
    tamis_cell seed = xor_seed_cell(f, part, 0), cells[XOR_ARITY];
    xor_slots slots = xor_slots_of(s, mark, xor_spread_seed(seed.value));

    tamis__tell_read(t, "seed of its part", seed, true);
    if (s->omits_zeros)
        xor_explain_third(f, t, part, slots.at[2]);
    for (unsigned j = 0; j < XOR_ARITY; j++)
        cells[j] = xor_slot_cell(f, part, slots.at[j]);
    return tell_slots(t, roles, cells, XOR_ARITY, (uint32_t)mark & packed_mask(s->width));
}

bool tamis__xor_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    const xor_shape *s = xor_shape_in(f);
    uint64_t h = hash_key(key, f->salt), part = part_of(h, s->part_bits), mark = xor_mark(s, h);
    tamis_cell keys = xor_keys_cell(f, part, 0);

    if (s->part_bits)
        tamis__tell_number(t, "part", part);
    tamis__tell_read(t, "keys of its part", keys, keys.value != 0);
    if (keys.value == 0)
        return tamis__tell_answer(t, false, "its part has no keys");
    tamis__tell_number(t, "mark", mark);
    bool fits = xor_explain_slots(f, t, part, mark);
    return tell_found(t, fits, tell_stash(f, t, xor_stash_cell, part, xor_stashed(f, part), mark));
}
