/* fuse_explain_template.h - TEMPLATE, compiled once for each kind of binary fuse filter: what it
 * tells of itself. The includer defines FUSE_ARITY: see fuse_layout_template.h. */
#include "fuse/fuse_layout_template.h"
#include "fuse/tell.h"

/* ---- Cells ------------------------------------------------------------- */

static const uint8_t *fuse_tail_of(const tamis *f, uint64_t part)
{
    const fuse_shape *s = fuse_shape_in(f);

    return (const uint8_t *)f->payload + part * s->part_bytes + s->tail;
}

/* Blocks are numbered through all parts. */
static uint64_t fuse_block_of(const tamis *f, uint64_t part, uint64_t slot)
{
    unsigned bits = fuse_shape_in(f)->block_bits;

    return part * (f->plan.slots >> bits) + (slot >> bits);
}

static tamis_cell fuse_slot_cell(const tamis *f, uint64_t part, uint64_t slot)
{
    const fuse_shape *s = fuse_shape_in(f);
    const uint8_t *array = (const uint8_t *)f->payload + part * s->part_bytes;

    return (tamis_cell){ .array = "block",
                         .number = fuse_block_of(f, part, slot),
                         .index = slot & s->in_block,
                         .value = packed_get(array, slot, s->width),
                         .bits = s->width };
}

/* Places of the stash that are in use. */
static uint64_t fuse_stashed(const tamis *f, uint64_t part)
{
    uint64_t n = le16(fuse_tail_of(f, part) + FUSE_TAIL_STASHED), most = fuse_shape_in(f)->stash;

    return n < most ? n : most;
}

static tamis_cell fuse_stash_cell(const tamis *f, uint64_t part, uint64_t i)
{
    const uint8_t *stash = fuse_tail_of(f, part) + FUSE_TAIL_BITMAP + fuse_shape_in(f)->bitmap;

    return tell_stashed(stash, part, i, fuse_stashed(f, part));
}

static tamis_cell fuse_bitmap_cell(const tamis *f, uint64_t part, uint64_t i)
{
    return (tamis_cell){ .array = "bits of the stash",
                         .number = part,
                         .index = i,
                         .value = le64(fuse_tail_of(f, part) + FUSE_TAIL_BITMAP + 8 * i),
                         .bits = 64 };
}

static tamis_cell fuse_tries_cell(const tamis *f, uint64_t part, uint64_t i)
{
    (void)i;
    return tell_lone("seeds tried", part, fuse_tail_of(f, part)[FUSE_TAIL_TRIES], 8);
}

static tamis_cell fuse_keys_cell(const tamis *f, uint64_t part, uint64_t i)
{
    (void)i;
    return tell_lone("keys", part, le32(fuse_tail_of(f, part)), 32);
}

static void fuse_cells(const tamis *f, tamis_telling *t)
{
    const fuse_shape *s = fuse_shape_in(f);

    tell_array(f, t, fuse_slot_cell, f->plan.slots);
    tell_array(f, t, fuse_stash_cell, s->stash);
    tell_array(f, t, fuse_bitmap_cell, s->bitmap / 8);
    tell_array(f, t, fuse_tries_cell, 1);
    tell_array(f, t, fuse_keys_cell, 1);
}

/* ---- Steps ------------------------------------------------------------- */

static bool fuse_explain_slots(const tamis *f, tamis_telling *t, uint64_t part, uint64_t g,
                               unsigned skip)
{
    static const char *const roles[] = { "slot in its near block", "slot in its far block" };
    const fuse_shape *s = fuse_shape_in(f);
    uint32_t near = fuse_near(s, g, skip);
    fuse_slots to = fuse_slots_of(s, (uint32_t)g, near);
    const char *role[FUSE_ARITY];
    tamis_cell cells[FUSE_ARITY];

    for (unsigned j = 0; j < FUSE_ARITY; j++) {
        role[j] = roles[j >= FUSE_IN_NEAR];
        cells[j] = fuse_slot_cell(f, part, to.at[j]);
    }
    tamis__tell_number(t, "near block", fuse_block_of(f, part, near));
    tamis__tell_number(t, "far block", fuse_block_of(f, part, to.at[FUSE_IN_NEAR]));
    return tell_slots(t, role, cells, FUSE_ARITY, fuse_fingerprint(g) & packed_mask(s->width));
}

/* Places of the stash are looked at only if the key has its bit. */
static bool fuse_explain_stash(const tamis *f, tamis_telling *t, uint64_t part, uint64_t g)
{
    const fuse_shape *s = fuse_shape_in(f);
    bool may_be = fuse_may_be_stashed(s, fuse_tail_of(f, part) - s->tail, g);

    if (fuse_stashed(f, part) == 0)
        return false;
    tamis__tell_read(t, "word with its bit of the stash",
                     fuse_bitmap_cell(f, part, (fuse_stash_byte(s, g) - FUSE_TAIL_BITMAP) / 8),
                     may_be);
    return may_be && tell_stash(f, t, fuse_stash_cell, part, fuse_stashed(f, part), g);
}

static bool fuse_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    const fuse_shape *s = fuse_shape_in(f);
    uint64_t h = hash_key(key, f->salt), part = part_of(h, s->part_bits);
    tamis_cell tries = fuse_tries_cell(f, part, 0);
    unsigned skip = tries.value == 1 ? s->part_bits : 0;

    if (s->part_bits)
        tamis__tell_number(t, "part", part);
    tamis__tell_read(t, "seeds tried in its part", tries, tries.value != 0);
    if (tries.value == 0)
        return tamis__tell_answer(t, false, "its part has no keys");
    uint64_t g = fuse_seeded(h, (unsigned)tries.value - 1);
    if (tries.value > 1)
        tamis__tell_number(t, "hash with that seed", g);
    bool fits = fuse_explain_slots(f, t, part, g, skip);
    return tell_found(t, fits, fuse_explain_stash(f, t, part, g));
}
