/* fuse_has_template.h - TEMPLATE, compiled once for each kind of binary fuse filter: lookups of one
 * key. The includer defines FUSE_ARITY and FUSE_WIDE_HALVINGS: see fuse_template.h.
 *
 * A lookup waits for memory. The fewer instructions it takes, the more of those that follow it are
 * begun meanwhile: so there are copies of the code for each width that is plain, and what the plan
 * and the tails say is asked when the filter is made. Then there is nothing to look at but slots
 * and, if a single part has a stash, a word with bits for its keys. */
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

/* The shape is not copied as a whole, so that the compiler can leave out what is not used. */
FUSE_INLINE bool fuse_fits_usual(const tamis *f, const uint8_t *part, uint64_t g, unsigned skip,
                                 unsigned plain)
{
    const fuse_shape *all = fuse_shape_in(f);
    const uint32_t in_block = plain ? fuse_usual_in_block(plain) : all->in_block;
    const fuse_shape s = { .room = all->room,
                           .window = all->window,
                           .in_window = all->in_window,
                           .in_block = in_block,
                           .in_half = in_block >> 1,
                           .width = all->width };

    return plain ? fuse_fits(part, &s, g, skip, plain) : fuse_fits_odd(part, &s, g, skip);
}

/* Each part has its own seed and its own stash. */
FUSE_INLINE bool fuse_has_in_parts(const tamis *f, uint64_t key, unsigned plain)
{
    const fuse_shape *s = fuse_shape_in(f);
    uint64_t h = hash_key(key, f->salt), g = h;
    const uint8_t *part = (const uint8_t *)f->payload + part_of(h, s->part_bits) * s->part_bytes;
    unsigned tries = part[s->tail + FUSE_TAIL_TRIES], skip = s->part_bits;

    if (tries != 1) {
        g = fuse_seeded(h, tries - 1);
        skip = 0;
    }
    if (tries == 0 || fuse_may_be_stashed(s, part, g))
        return fuse_has_hash(f, h);
    return fuse_fits_usual(f, part, g, skip, plain);
}

/* One seed is that of all keys. Those that may be in the stash are asked for as if there were more
 * parts. */
FUSE_INLINE bool fuse_has_single(const tamis *f, uint64_t key, unsigned plain, bool is_first,
                                 bool (*may_be_stashed)(const tamis *f, uint64_t key))
{
    const fuse_shape *s = fuse_shape_in(f);
    uint64_t g = is_first ? hash_key(key, f->salt) : fuse_rehash(key, f->salt, s->between);

    if (may_be_stashed && s->stashed >> g % 64 & 1)
        return may_be_stashed(f, key);
    return fuse_fits_usual(f, f->payload, g, 0, plain);
}

#define FUSE_HAS(width, plain)                                                     \
    static bool fuse_has_##width##_in_parts(const tamis *f, uint64_t key)          \
    {                                                                              \
        return fuse_has_in_parts(f, key, plain);                                   \
    }                                                                              \
    static bool fuse_has_##width(const tamis *f, uint64_t key)                     \
    {                                                                              \
        return fuse_has_single(f, key, plain, true, NULL);                         \
    }                                                                              \
    static bool fuse_has_##width##_stashed(const tamis *f, uint64_t key)           \
    {                                                                              \
        return fuse_has_single(f, key, plain, true, fuse_has_##width##_in_parts);  \
    }                                                                              \
    static bool fuse_has_##width##_reseeded(const tamis *f, uint64_t key)          \
    {                                                                              \
        return fuse_has_single(f, key, plain, false, fuse_has_##width##_in_parts); \
    }

FUSE_HAS(8, 8)
FUSE_HAS(16, 16)
FUSE_HAS(32, 32)
FUSE_HAS(odd, 0)

/* For a filter whose payload is there to be asked, as it was for its shape. */
static bool (*fuse_has_for(const tamis *f, const fuse_tails *tails))(const tamis *f, uint64_t key)
{
    const fuse_shape *s = fuse_shape_in(f);
    unsigned width = s->width;

    if (packed_is_plain(width) ? s->in_block != fuse_usual_in_block(width) : width > PACKED_NARROW)
        return fuse_has;
    if (s->part_bits || tails->are_mixed)
        return FUSE_PICK(width, fuse_has, _in_parts);
    if (tails->between)
        return FUSE_PICK(width, fuse_has, _reseeded);
    return tails->stashed ? FUSE_PICK(width, fuse_has, _stashed) : FUSE_PICK(width, fuse_has, );
}
