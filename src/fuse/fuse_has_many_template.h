/* fuse_has_many_template.h - TEMPLATE, compiled once for each ARITY and CPU: lookups of many keys.
 * The includer defines ARITY, FUSE_AVX2 for a CPU with it. What the compiler may use does not
 * matter: all files may be compiled for a newer CPU.
 *
 * Keys go through in eights. The lines of one are asked for while those of the eights before it are
 * on their way; then those of the eight that was asked for first are looked at. Hashing, asking and
 * looking take turns, so that memory is never idle while something is being computed.
 *
 *   flight   | eight | eight | eight | eight | eight | eight | eight | eight |
 *              looked at first; the next eight keys take its place, and their lines are asked for.
 *              Then the same with the eight to the right, and so on, round and round.
 *
 * What is `plain`, `is_single` or `has_stash` is known when this is compiled: there is one copy of
 * the code for each width that is plain, and of each one more for filters of a single part. */
#include "base/ahead.h"
#include "fuse/fuse_eight_template.h"

/* Hashes of eight keys, to g[i] and behind, and their slots. */
static inline void fuse_hash_and_put_eight(fuse_batch *to, uint64_t *g, size_t i,
                                           const fuse_shape *s, const uint64_t *keys, uint64_t salt,
                                           unsigned skip)
{
    fuse_hash_eight(g + i, keys, salt);
    fuse_put_eight(to, i, s, g + i, skip);
}

/* Keys on their way, of which those of an eight are next to each other. */
typedef struct fuse_flight {
    fuse_batch batch;
    _Alignas(64) uint64_t g[BATCH];
    uint64_t part[BATCH]; /* where in the payload the part of each begins */
    uint64_t absent;      /* keys of parts without keys */
} fuse_flight;

/* What all keys of a call have in common. */
typedef struct fuse_query {
    const tamis *f;
    fuse_shape s;
    const uint64_t *keys;
    size_t n;
    bool is_far;
} fuse_query;

FUSE_INLINE const uint8_t *fuse_part_at(const fuse_flight *at, size_t i, const fuse_query *q,
                                        bool is_single)
{
    const uint8_t *first = q->f->payload;

    return is_single ? first : first + at->part[i];
}

/* ---- Keys join --------------------------------------------------------- */

/* Few parts have another seed than 0, but of those that do, each may have its own. */
static inline void fuse_put_mixed(fuse_flight *to, size_t i, const fuse_query *q)
{
    const fuse_shape *s = &q->s;

    for (size_t end = i + EIGHT; i < end; i++) {
        uint64_t h = to->g[i];
        unsigned tries = fuse_part_at(to, i, q, false)[s->tail + TAIL_TRIES];
        unsigned skip = tries == 1 ? s->part_bits : 0;

        to->absent &= ~(UINT64_C(1) << i);
        to->absent |= (uint64_t)(tries == 0) << i;
        to->g[i] = tries > 1 ? fuse_seeded(h, tries - 1) : h;
        fuse_put_key(&to->batch, i, s, to->g[i], fuse_near(s, to->g[i], skip));
    }
}

/* Eight keys from number `from` on; behind the last, any will do. */
FUSE_INLINE void fuse_join(fuse_flight *to, const fuse_query *q, size_t from, bool is_single,
                           bool is_mixed)
{
    uint64_t last[EIGHT] = { 0 };
    const uint64_t *keys = q->keys + from;
    size_t i = from % BATCH;

    if (q->n - from < EIGHT)
        keys = memcpy(last, keys, (q->n - from) * sizeof *keys);
    if (is_mixed)
        fuse_hash_eight(to->g + i, keys, q->f->salt);
    else
        fuse_hash_and_put_eight(&to->batch, to->g, i, &q->s, keys, q->f->salt,
                                is_single ? 0 : q->s.part_bits);
    if (!is_single)
        fuse_part_eight(to->part + i, &q->s, to->g + i);
    if (is_mixed)
        fuse_put_mixed(to, i, q);
}

/* A plain block of 8 bits is one line; of others, slots may be in two. */
FUSE_INLINE void fuse_fetch_key(const fuse_flight *to, size_t i, const fuse_query *q,
                                unsigned plain, bool is_single)
{
    unsigned width = plain ? plain : q->s.width;
    const uint8_t *slots = fuse_part_at(to, i, q, is_single);

    FUSE_EACH_SLOT
    for (unsigned j = 0; j < ARITY; j += width == 8 ? IN_NEAR : 1)
        ahead_read(slots + packed_byte(to->batch.at[j][i], width), q->is_far);
}

FUSE_INLINE void fuse_fetch_eight(const fuse_flight *to, size_t i, const fuse_query *q,
                                  unsigned plain, bool is_single)
{
    for (size_t end = i + EIGHT; i < end; i++)
        fuse_fetch_key(to, i, q, plain, is_single);
}

/* ---- Keys are looked at ------------------------------------------------ */

/* Keys that may be stashed are few. */
FUSE_INLINE unsigned fuse_stashed_eight(const fuse_flight *from, size_t i, const fuse_query *q,
                                        bool is_single)
{
    const uint8_t *bitmap = (const uint8_t *)q->f->payload + q->s.tail + TAIL_BITMAP;
    unsigned found = 0, maybe = fuse_marked_eight(bitmap, q->s.bitmap, from->g + i,
                                                  is_single ? NULL : from->part + i);

    for (; __builtin_expect(maybe != 0, 0); maybe &= maybe - 1) {
        unsigned k = (unsigned)__builtin_ctz(maybe);
        const uint8_t *part = fuse_part_at(from, i + k, q, is_single);
        found |= (unsigned)fuse_is_stashed(&q->s, part + q->s.tail, from->g[i + k]) << k;
    }
    return found;
}

/* Slots of the keys, xored. For eight at once, bits of a part must be numbered in 32 bits.
 *
 * Where slots are looked at one by one, the lines of the eight that joined last are asked for
 * between them, if it `fetches`: in one go, they would hold up all that comes after. */
FUSE_INLINE void fuse_xor_slots(uint32_t *x, const fuse_flight *from, size_t i, const fuse_query *q,
                                unsigned plain, bool is_single, bool fetches)
{
    unsigned width = q->s.width;

    if (!plain && width <= PACKED_NARROW && q->s.part_bytes < UINT32_MAX / 8) {
        fuse_xor_eight_odd(x, &from->batch, i, q->f->payload, is_single ? NULL : from->part + i,
                           width);
        return;
    }
    for (unsigned k = 0; k < EIGHT; k++) {
        const uint8_t *slots = fuse_part_at(from, i + k, q, is_single);
        if (plain && fetches)
            fuse_fetch_key(from, (i + BATCH - EIGHT) % BATCH + k, q, plain, is_single);
        x[k] = fingerprint_get(slots, from->batch.at[0][i + k], width, plain);
        FUSE_EACH_SLOT
        for (unsigned j = 1; j < ARITY; j++)
            x[k] ^= fingerprint_get(slots, from->batch.at[j][i + k], width, plain);
    }
}

FUSE_INLINE uint64_t fuse_look_at_eight(const fuse_flight *from, size_t i, const fuse_query *q,
                                        unsigned plain, bool is_single, bool has_stash,
                                        bool fetches)
{
    _Alignas(32) uint32_t x[EIGHT];

    fuse_xor_slots(x, from, i, q, plain, is_single, fetches);
    unsigned found = fuse_fits_eight(&from->batch, i, x, packed_mask(plain ? plain : q->s.width));
    if (has_stash)
        found |= fuse_stashed_eight(from, i, q, is_single);
    return (uint64_t)found << i;
}

/* ---- Loops ------------------------------------------------------------- */

/* The keys of the flight are looked at, eight by eight, and make room for those from number `from`
 * on. */
FUSE_INLINE uint64_t fuse_look_and_join(fuse_flight *at, const fuse_query *q, size_t from,
                                        unsigned plain, bool is_single, bool is_mixed,
                                        bool has_stash)
{
    uint64_t found = 0, absent = at->absent;

    for (size_t i = 0; i < BATCH; i += EIGHT) {
        found |= fuse_look_at_eight(at, i, q, plain, is_single, has_stash, true);
        if (from + i < q->n) {
            fuse_join(at, q, from + i, is_single, is_mixed);
            if (!plain)
                fuse_fetch_eight(at, i, q, plain, is_single);
        }
    }
    return found & ~absent;
}

FUSE_INLINE size_t fuse_has_many_of(const fuse_query *q, uint64_t *hits, bool is_single,
                                    bool is_mixed, bool has_stash, unsigned plain)
{
    fuse_flight at;
    size_t i = 0, found = 0, n = q->n;
    uint64_t last = 0;

    at.absent = 0;
    for (size_t k = 0; k < n && k < BATCH; k += EIGHT) {
        fuse_join(&at, q, k, is_single, is_mixed);
        fuse_fetch_eight(&at, k, q, plain, is_single);
    }
    for (; i + BATCH < n; i += BATCH) {
        uint64_t word =
            fuse_look_and_join(&at, q, i + BATCH, plain, is_single, is_mixed, has_stash);
        hits[i / BATCH] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    if (i > 0)
        fuse_fetch_eight(&at, BATCH - EIGHT, q, plain, is_single);
    if (i == n)
        return found;
    for (size_t k = 0; k < n - i; k += EIGHT)
        last |= fuse_look_at_eight(&at, k, q, plain, is_single, has_stash, false);
    hits[i / BATCH] = last & ~at.absent & UINT64_MAX >> (BATCH - (n - i));
    return found + (size_t)__builtin_popcountll(hits[i / BATCH]);
}

/* Filters whose parts have seeds of their own, or stashes that were not looked for. One copy serves
 * all widths: the keys of a short call wait for memory, and other seeds are rare. */
static size_t fuse_has_many_mixed(const fuse_query *q, uint64_t *hits)
{
    unsigned plain = packed_is_plain(q->s.width) ? q->s.width : 0;

    return fuse_has_many_of(q, hits, false, true, true, plain);
}

FUSE_INLINE size_t fuse_has_many_plain(const fuse_query *q, uint64_t *hits, bool has_stash,
                                       unsigned plain)
{
    if (q->s.part_bits)
        return fuse_has_many_of(q, hits, false, false, has_stash, plain);
    return fuse_has_many_of(q, hits, true, false, has_stash, plain);
}

static size_t fuse_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const fuse_query q = { f, *fuse_shape_in(f), keys, n, f->is_far };
    fuse_tails tails = fuse_ask_tails(f, &q.s, n / 8 ? n / 8 : 1);

    if (tails.are_mixed)
        return fuse_has_many_mixed(&q, hits);
    return FUSE_BY_WIDTH(q.s.width, fuse_has_many_plain, &q, hits, tails.has_stash);
}
