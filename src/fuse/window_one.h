/* window_one.h - lookups of one key.
 *
 * A lookup waits for memory. The fewer instructions it takes, the more of those that follow it are
 * begun meanwhile: so there is a copy of the code for each width that is plain, of each one more
 * for filters of a single part, and what the plan says is worked out when the filter is made. */
#ifndef TAMIS_FUSE_WINDOW_ONE_H
#define TAMIS_FUSE_WINDOW_ONE_H

#include "fuse/window.h"

/* A slot that is so many behind the first of the near block, or before it. */
FUSE_INLINE uint32_t get_beside(const uint8_t *near, uint32_t steps, unsigned plain)
{
    return packed_get(near + (ptrdiff_t)(int32_t)steps * (plain / 8), 0, plain);
}

/* Whether the slots of a key have its fingerprint. */
FUSE_INLINE bool fits(const uint8_t *part, const shape *s, uint64_t g, unsigned skip,
                      unsigned plain)
{
    uint32_t near = near_of(s, g, skip), x = print_of(g);
    spots to = spots_of(s, (uint32_t)g, plain ? 0 : near);

    for (unsigned j = 0; j < ARITY; j++)
        x ^= plain ? get_beside(part + packed_byte(near, plain), to.at[j], plain)
                   : packed_get_odd(part, to.at[j], s->width);
    return (x & packed_mask(plain ? plain : s->width)) == 0;
}

/* Any filter. Not to be inlined where it is rare, as that would make registers scarce. */
static __attribute__((noinline)) bool has(const tamis *f, uint64_t key)
{
    const shape s = *kept_shape(f);
    uint64_t h = hash_key(key, f->salt);
    const uint8_t *part = part_with(f, &s, h), *tail = part + s.tail;
    unsigned tries = tail[TAIL_TRIES], skip = tries == 1 ? s.part_bits : 0;

    if (tries == 0)
        return false;
    uint64_t g = seeded(h, tries - 1);
    bool found =
        packed_is_plain(s.width) ? fits(part, &s, g, skip, s.width) : fits(part, &s, g, skip, 0);
    return found || (may_be_stashed(&s, tail, g) && is_stashed(&s, tail, g));
}

/* In blocks of most filters of that width. */
FUSE_INLINE uint32_t plain_in_block(unsigned plain)
{
    return (UINT32_C(1) << (MOST_BLOCK_BITS - (plain > 8 ? WIDE_HALVINGS : 0))) - 1;
}

/* The same shape, of which the compiler knows some. Not a copy as a whole: it can leave out what is
 * not used. */
FUSE_INLINE shape shape_for(const shape *s, unsigned plain, bool is_single)
{
    uint32_t in_block = plain ? plain_in_block(plain) : s->in_block;

    return (shape){ .starts = s->starts,
                    .room = s->room,
                    .part_bytes = s->part_bytes,
                    .tail = s->tail,
                    .window = s->window,
                    .block_bits = s->block_bits,
                    .in_block = in_block,
                    .in_half = in_block >> 1,
                    .in_window = s->in_window,
                    .stash = s->stash,
                    .bitmap = s->bitmap,
                    .part_bits = is_single ? 0 : s->part_bits,
                    .width = s->width };
}

/* Nearly all parts have seed 0, and most have an empty stash: then there is nothing to look at but
 * slots. */
FUSE_INLINE bool has_plain(const tamis *f, uint64_t key, unsigned plain, bool is_single)
{
    const shape s = shape_for(kept_shape(f), plain, is_single);
    uint64_t h = hash_key(key, f->salt);
    const uint8_t *part = is_single ? f->payload : part_with(f, &s, h), *tail = part + s.tail;
    uint32_t luck = le32(tail + TAIL_TRIES);
    if (luck != 1 && ((uint8_t)luck != 1 || may_be_stashed(&s, tail, h)))
        return has(f, key);
    return fits(part, &s, h, s.part_bits, plain);
}

static bool has_8(const tamis *f, uint64_t key)
{
    return has_plain(f, key, 8, true);
}

static bool has_16(const tamis *f, uint64_t key)
{
    return has_plain(f, key, 16, true);
}

static bool has_32(const tamis *f, uint64_t key)
{
    return has_plain(f, key, 32, true);
}

static bool has_odd(const tamis *f, uint64_t key)
{
    return has_plain(f, key, 0, true);
}

static bool has_8_in_parts(const tamis *f, uint64_t key)
{
    return has_plain(f, key, 8, false);
}

static bool has_16_in_parts(const tamis *f, uint64_t key)
{
    return has_plain(f, key, 16, false);
}

static bool has_32_in_parts(const tamis *f, uint64_t key)
{
    return has_plain(f, key, 32, false);
}

static bool has_odd_in_parts(const tamis *f, uint64_t key)
{
    return has_plain(f, key, 0, false);
}

typedef bool has_one(const tamis *f, uint64_t key);

static has_one *has_for(const shape *s)
{
    if (!packed_is_plain(s->width))
        return s->part_bits ? has_odd_in_parts : has_odd;
    if (s->in_block != plain_in_block(s->width))
        return has;
    if (s->width == 8)
        return s->part_bits ? has_8_in_parts : has_8;
    if (s->width == 16)
        return s->part_bits ? has_16_in_parts : has_16;
    return s->part_bits ? has_32_in_parts : has_32;
}

/* The includer's: puts in the functions for AVX2. */
static void use_avx2(tamis_ops *ops);

static void for_cpu(tamis *f, unsigned cpu)
{
    const shape s = shape_of(&f->plan);

    memcpy(f->derived, &s, sizeof s);
    f->ops.has = has_for(&s);
    if (cpu & TAMIS_CPU_AVX2)
        use_avx2(&f->ops);
}

#endif
