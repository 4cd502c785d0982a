/* fuse_has_template.h - TEMPLATE, compiled once for each kind of binary fuse filter: lookups of one
 * key. The includer defines FUSE_ARITY and FUSE_WIDE_HALVINGS: see fuse_template.h.
 *
 * A lookup waits for memory. The fewer instructions it takes, the more of those that follow it are
 * begun meanwhile: so there are copies of the code for each width that is plain, and what the plan
 * and the tails say is asked when the filter is made. */
#include "fuse/fuse_layout_template.h"

/* Slot j of a key whose slots are numbered from the first one of its near block on, where `near`
 * is: those of the far one are before it, and their numbers below 0. */
FUSE_INLINE uint32_t fuse_get_from(const uint8_t *near, const fuse_slots *to, unsigned j,
                                   unsigned plain)
{
    ptrdiff_t i = j < FUSE_IN_NEAR ? (ptrdiff_t)to->at[j] : ~(ptrdiff_t)~to->at[j];

    return packed_get(near + i * (ptrdiff_t)(plain / 8), 0, plain);
}

/* Whether the slots of a key have its fingerprint. */
FUSE_INLINE bool fuse_fits(const uint8_t *part, const fuse_shape *s, uint64_t g, unsigned skip,
                           unsigned plain)
{
    const bool is_narrow = plain == 8 || plain == 16;
    uint32_t near = fuse_near(s, g, skip);
    uint32_t x = is_narrow ? fuse_narrow_fingerprint(g) : fuse_fingerprint(g);
    fuse_slots to = fuse_slots_of(s, (uint32_t)g, plain ? 0 : near);

    FUSE_EACH_SLOT
    for (unsigned j = 0; j < FUSE_ARITY; j++)
        x ^= plain ? fuse_get_from(part + packed_byte(near, plain), &to, j, plain)
                   : packed_get_odd(part, to.at[j], s->width);
    return (x & packed_mask(plain ? plain : s->width)) == 0;
}

/* The same for up to PACKED_NARROW bits that are not plain: what is above them is masked once. */
FUSE_INLINE bool fuse_fits_odd(const uint8_t *part, const fuse_shape *s, uint64_t g, unsigned skip)
{
    uint32_t x = fuse_narrow_fingerprint(g);
    fuse_slots to = fuse_slots_of(s, (uint32_t)g, fuse_near(s, g, skip));

    FUSE_EACH_SLOT
    for (unsigned j = 0; j < FUSE_ARITY; j++) {
        uint64_t bit = (uint64_t)to.at[j] * s->width;
        x ^= le32(part + bit / 8) >> bit % 8;
    }
    return (x & packed_mask(s->width)) == 0;
}

/* Any filter. Not to be inlined where it is rare, as that would make registers scarce. */
__attribute__((noinline)) static bool fuse_has_hash(const tamis *f, uint64_t h)
{
    const fuse_shape *s = fuse_shape_in(f);
    const uint8_t *part = (const uint8_t *)f->payload + part_of(h, s->part_bits) * s->part_bytes;
    const uint8_t *tail = part + s->tail;
    unsigned tries = tail[FUSE_TAIL_TRIES], skip = tries == 1 ? s->part_bits : 0;

    if (tries == 0)
        return false;
    uint64_t g = fuse_seeded(h, tries - 1);
    bool found = packed_is_plain(s->width) ? fuse_fits(part, s, g, skip, s->width)
                                           : fuse_fits(part, s, g, skip, 0);
    return found || (fuse_may_be_stashed(s, part, g) && fuse_is_stashed(s, tail, g));
}

static bool fuse_has(const tamis *f, uint64_t key)
{
    return fuse_has_hash(f, hash_key(key, f->salt));
}

/* In blocks of most filters of that width. */
FUSE_INLINE uint32_t fuse_usual_in_block(unsigned plain)
{
    return (UINT32_C(1) << (FUSE_MOST_BLOCK_BITS - (plain > 8 ? FUSE_WIDE_HALVINGS : 0))) - 1;
}

/* A filter is usual if all its parts have seed 0, as nearly all have: then there is nothing to look
 * at but slots and, if there is one, the stash. The shape is not copied as a whole, so that the
 * compiler can leave out what is not used. */
FUSE_INLINE bool fuse_has_usual(const tamis *f, uint64_t key, unsigned plain, bool is_single,
                                bool has_stash)
{
    const fuse_shape *all = fuse_shape_in(f);
    const uint32_t in_block = plain ? fuse_usual_in_block(plain) : all->in_block;
    const fuse_shape s = { .room = all->room,
                           .window = all->window,
                           .in_window = all->in_window,
                           .in_block = in_block,
                           .in_half = in_block >> 1,
                           .part_bits = is_single ? 0 : all->part_bits,
                           .width = all->width };
    uint64_t h = hash_key(key, f->salt);
    const uint8_t *part = f->payload;

    if (!is_single)
        part += part_of(h, s.part_bits) * all->part_bytes;
    if (has_stash && fuse_may_be_stashed(all, part, h))
        return fuse_has_hash(f, h);
    return plain ? fuse_fits(part, &s, h, s.part_bits, plain)
                 : fuse_fits_odd(part, &s, h, s.part_bits);
}

#define FUSE_HAS(name, plain, is_single, has_stash)                 \
    static bool name(const tamis *f, uint64_t key)                  \
    {                                                               \
        return fuse_has_usual(f, key, plain, is_single, has_stash); \
    }

FUSE_HAS(fuse_has_8, 8, true, false)
FUSE_HAS(fuse_has_16, 16, true, false)
FUSE_HAS(fuse_has_32, 32, true, false)
FUSE_HAS(fuse_has_odd, 0, true, false)
FUSE_HAS(fuse_has_8_stashed, 8, true, true)
FUSE_HAS(fuse_has_16_stashed, 16, true, true)
FUSE_HAS(fuse_has_32_stashed, 32, true, true)
FUSE_HAS(fuse_has_odd_stashed, 0, true, true)
FUSE_HAS(fuse_has_8_in_parts, 8, false, true)
FUSE_HAS(fuse_has_16_in_parts, 16, false, true)
FUSE_HAS(fuse_has_32_in_parts, 32, false, true)
FUSE_HAS(fuse_has_odd_in_parts, 0, false, true)

/* For a filter whose payload is there to be asked. */
static bool (*fuse_has_for(const tamis *f))(const tamis *f, uint64_t key)
{
    const fuse_shape *s = fuse_shape_in(f);
    bool is_plain = packed_is_plain(s->width);
    fuse_tails tails = fuse_ask_tails(f, s, FUSE_MOST_PARTS_ASKED);

    if (tails.are_mixed ||
        (is_plain ? s->in_block != fuse_usual_in_block(s->width) : s->width > PACKED_NARROW))
        return fuse_has;
    if (s->part_bits)
        return FUSE_PICK(s->width, fuse_has, _in_parts);
    return tails.has_stash ? FUSE_PICK(s->width, fuse_has, _stashed)
                           : FUSE_PICK(s->width, fuse_has, );
}
