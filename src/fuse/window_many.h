/* window_many.h - lookups of many keys, a template for the kernels.
 *
 * Keys go through in eights. The lines of one are asked for while those of the eights before it are
 * on their way; then those of the eight that was asked for first are looked at. Hashing, asking
 * and looking take turns, so that memory is never idle while something is being computed.
 *
 * What is `plain`, `is_single` or `has_stash` is known when this is compiled: there is one copy of
 * the code for each width that is plain, and of each one more for filters of a single part. */
#ifndef TAMIS_FUSE_WINDOW_MANY_H
#define TAMIS_FUSE_WINDOW_MANY_H

#include "fuse/eight.h"

/* Keys on their way, of which those of an eight are next to each other. */
typedef struct flight {
    places p;
    uint64_t g[PLACES];
    uint64_t part[PLACES]; /* where in the payload the part of each begins */
    uint64_t absent;       /* keys of parts without keys */
} flight;

/* What all keys of a call have in common. */
typedef struct query {
    const tamis *f;
    shape s;
    const uint64_t *keys;
    size_t n;
} query;

FUSE_INLINE const uint8_t *part_at(const flight *at, size_t i, const query *q, bool is_single)
{
    const uint8_t *first = q->f->payload;

    return is_single ? first : first + at->part[i];
}

/* ---- Places ------------------------------------------------------------ */

/* Few parts have another seed than 0, but of those that do, each may have its own. */
static inline void place_mixed(flight *to, size_t i, const query *q)
{
    const shape *s = &q->s;

    for (size_t end = i + EIGHT; i < end; i++) {
        uint64_t h = to->g[i];
        unsigned tries = part_at(to, i, q, false)[s->tail + TAIL_TRIES];
        unsigned skip = tries == 1 ? s->part_bits : 0;

        to->absent &= ~(UINT64_C(1) << i);
        to->absent |= (uint64_t)(tries == 0) << i;
        to->g[i] = tries > 1 ? seeded(h, tries - 1) : h;
        put_key(&to->p, i, s, to->g[i], near_of(s, to->g[i], skip));
    }
}

/* Eight keys from number `from` on; behind the last, any will do. */
FUSE_INLINE void place_keys(flight *to, const query *q, size_t from, bool is_single, bool is_mixed)
{
    uint64_t last[EIGHT] = { 0 };
    const uint64_t *keys = q->keys + from;
    size_t i = from % PLACES;

    if (q->n - from < EIGHT)
        keys = memcpy(last, keys, (q->n - from) * sizeof *keys);
    hash_eight(to->g + i, keys, q->f->salt);
    if (!is_single)
        part_eight(to->part + i, &q->s, to->g + i);
    if (is_mixed)
        place_mixed(to, i, q);
    else
        place_eight(&to->p, i, &q->s, to->g + i, is_single ? 0 : q->s.part_bits);
}

/* A plain block of 8 bits is one line; of others, slots may be in two. */
FUSE_INLINE void fetch_key(const flight *to, size_t i, const query *q, unsigned plain,
                           bool is_single)
{
    unsigned width = plain ? plain : q->s.width;
    const uint8_t *slots = part_at(to, i, q, is_single);

    for (unsigned j = 0; j < ARITY; j += width == 8 ? IN_NEAR : 1)
        __builtin_prefetch(slots + packed_byte(to->p.at[j][i], width));
}

FUSE_INLINE void fetch_eight(const flight *to, size_t i, const query *q, unsigned plain,
                             bool is_single)
{
    for (size_t end = i + EIGHT; i < end; i++)
        fetch_key(to, i, q, plain, is_single);
}

/* ---- Answers ----------------------------------------------------------- */

FUSE_INLINE unsigned maybe_stashed_eight(const flight *from, size_t i, const query *q,
                                         bool is_single)
{
    const shape *s = &q->s;
    const uint8_t *bitmap = (const uint8_t *)q->f->payload + s->tail + TAIL_BITMAP;

    if (is_single)
        return marked_eight(bitmap, s->bitmap, from->g + i);
    return marked_in_parts(bitmap, s->bitmap, from->g + i, from->part + i);
}

/* Keys that may be stashed are few. */
FUSE_INLINE unsigned stashed_eight(const flight *from, size_t i, const query *q, bool is_single)
{
    unsigned maybe = maybe_stashed_eight(from, i, q, is_single), found = 0;

    for (; __builtin_expect(maybe != 0, 0); maybe &= maybe - 1) {
        unsigned k = (unsigned)__builtin_ctz(maybe);
        const uint8_t *part = part_at(from, i + k, q, is_single);
        found |= (unsigned)is_stashed(&q->s, part + q->s.tail, from->g[i + k]) << k;
    }
    return found;
}

/* Slots of the keys, xored. For eight at once, bits of a part must be numbered in 32 bits.
 *
 * Where slots are looked at one by one, the lines of the eight that was placed last are asked for
 * between them, if it `fetches`: in one go, they would hold up all that comes after. */
FUSE_INLINE void look_at_slots(uint32_t *x, const flight *from, size_t i, const query *q,
                               unsigned plain, bool is_single, bool fetches)
{
    unsigned width = q->s.width;

    if (!plain && width <= PACKED_NARROW && q->s.part_bytes < UINT32_MAX / 8) {
        if (is_single)
            odd_eight(x, &from->p, i, q->f->payload, width);
        else
            odd_in_parts(x, &from->p, i, q->f->payload, from->part + i, width);
        return;
    }
    for (unsigned k = 0; k < EIGHT; k++) {
        const uint8_t *slots = part_at(from, i + k, q, is_single);
        if (plain && fetches)
            fetch_key(from, (i + PLACES - EIGHT) % PLACES + k, q, plain, is_single);
        x[k] = get(slots, from->p.at[0][i + k], width, plain);
        for (unsigned j = 1; j < ARITY; j++)
            x[k] ^= get(slots, from->p.at[j][i + k], width, plain);
    }
}

FUSE_INLINE uint64_t look_at_eight(const flight *from, size_t i, const query *q, unsigned plain,
                                   bool is_single, bool has_stash, bool fetches)
{
    _Alignas(32) uint32_t x[EIGHT];

    look_at_slots(x, from, i, q, plain, is_single, fetches);
    unsigned found = fits_eight(&from->p, i, x, packed_mask(plain ? plain : q->s.width));
    if (has_stash)
        found |= stashed_eight(from, i, q, is_single);
    return (uint64_t)found << i;
}

/* ---- Loops ------------------------------------------------------------- */

/* The keys of the flight are looked at, eight by eight, and make room for those from number `from`
 * on. */
FUSE_INLINE uint64_t look_and_place(flight *at, const query *q, size_t from, unsigned plain,
                                    bool is_single, bool is_mixed, bool has_stash)
{
    uint64_t found = 0, absent = at->absent;

    for (size_t i = 0; i < PLACES; i += EIGHT) {
        found |= look_at_eight(at, i, q, plain, is_single, has_stash, true);
        if (from + i < q->n) {
            place_keys(at, q, from + i, is_single, is_mixed);
            if (!plain)
                fetch_eight(at, i, q, plain, is_single);
        }
    }
    return found & ~absent;
}

/* The last keys, at least one of them; none comes after. */
FUSE_INLINE uint64_t look_at_last(const flight *at, const query *q, size_t n, unsigned plain,
                                  bool is_single, bool has_stash)
{
    uint64_t found = 0;

    for (size_t i = 0; i < n; i += EIGHT)
        found |= look_at_eight(at, i, q, plain, is_single, has_stash, false);
    return found & ~at->absent & UINT64_MAX >> (PLACES - n);
}

FUSE_INLINE size_t has_many_of(const query *q, uint64_t *hits, unsigned plain, bool is_single,
                               bool is_mixed, bool has_stash)
{
    flight at;
    size_t i = 0, found = 0, n = q->n;

    at.absent = 0;
    for (size_t k = 0; k < n && k < PLACES; k += EIGHT) {
        place_keys(&at, q, k, is_single, is_mixed);
        fetch_eight(&at, k, q, plain, is_single);
    }
    for (; i + PLACES < n; i += PLACES) {
        uint64_t word = look_and_place(&at, q, i + PLACES, plain, is_single, is_mixed, has_stash);
        hits[i / PLACES] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    if (i > 0)
        fetch_eight(&at, PLACES - EIGHT, q, plain, is_single);
    if (i == n)
        return found;
    hits[i / PLACES] = look_at_last(&at, q, n - i, plain, is_single, has_stash);
    return found + (size_t)__builtin_popcountll(hits[i / PLACES]);
}

/* What all parts are like. */
typedef struct parts_kind {
    bool is_mixed, has_stash;
} parts_kind;

/* If keys are few, it would take longer to find out than to assume the worst. */
static parts_kind kind_of_parts(const query *q)
{
    size_t parts = (size_t)1 << q->s.part_bits;
    parts_kind kind = { parts > 1 && q->n / 8 < parts, parts > 1 && q->n / 8 < parts };

    for (size_t i = 0; i < parts && !kind.is_mixed; i++) {
        const uint8_t *tail = (const uint8_t *)q->f->payload + i * q->s.part_bytes + q->s.tail;
        kind.is_mixed |= tail[TAIL_TRIES] != 1;
        kind.has_stash |= le16(tail + TAIL_STASHED) != 0;
    }
    return kind;
}

FUSE_INLINE size_t has_many_plain(const query *q, uint64_t *hits, unsigned plain)
{
    parts_kind kind = kind_of_parts(q);

    if (kind.is_mixed)
        return has_many_of(q, hits, plain, false, true, true);
    if (q->s.part_bits)
        return has_many_of(q, hits, plain, false, false, kind.has_stash);
    if (kind.has_stash)
        return has_many_of(q, hits, plain, true, false, true);
    return has_many_of(q, hits, plain, true, false, false);
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const query q = { f, *kept_shape(f), keys, n };

    switch (q.s.width) {
    case 8:
        return has_many_plain(&q, hits, 8);
    case 16:
        return has_many_plain(&q, hits, 16);
    case 32:
        return has_many_plain(&q, hits, 32);
    default:
        return has_many_plain(&q, hits, 0);
    }
}

#endif
