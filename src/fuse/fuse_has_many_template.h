/* fuse_has_many_template.h - TEMPLATE, compiled once for each FUSE_ARITY and CPU: lookups of many
 * keys. The includer defines FUSE_ARITY, and FUSE_AVX2 for a CPU with it. What the compiler may use
 * does not matter: all files may be compiled for a newer CPU.
 *
 * What is `plain` or `is_single` is known when this is compiled: there is one copy of the code for
 * each width that is plain, and of each one more for filters of a single part. */
#include "base/ahead.h"
#include "base/many.h"
#include "fuse/fuse_eight_template.h"

/* What all keys of a call have in common. */
typedef struct fuse_query {
    const tamis *f;
    fuse_shape s;
    unsigned plain;
    bool is_single, is_mixed, has_stash;
    bool has_bits; /* slots that are not plain, up to PACKED_NARROW bits, are found by bits */
} fuse_query;

typedef struct fuse_group {
    fuse_batch batch;
    uint64_t g[FUSE_BATCH];
    uint64_t part[FUSE_BATCH]; /* where in the payload the part of each begins */
    uint64_t absent;           /* keys of parts without keys */
} fuse_group;

_Static_assert((int)FUSE_BATCH == (int)MANY, "");

FUSE_INLINE const uint8_t *fuse_part_at(const fuse_query *q, const fuse_group *at, size_t i)
{
    const uint8_t *first = q->f->payload;

    return q->is_single ? first : first + at->part[i];
}

/* Few parts have another seed than 0, but of those that do, each may have its own: their keys get
 * other slots than what they were given. */
static inline void fuse_reseed_some(const fuse_query *q, fuse_group *to, size_t n)
{
    const fuse_shape *s = &q->s;

    for (size_t i = 0; i < n; i++) {
        unsigned tries = fuse_part_at(q, to, i)[s->tail + FUSE_TAIL_TRIES];

        if (tries == 1)
            continue;
        to->absent |= (uint64_t)(tries == 0) << i;
        to->g[i] = fuse_seeded(to->g[i], tries - 1);
        fuse_put_key(&to->batch, i, s, to->g[i], fuse_near(s, to->g[i], 0));
    }
}

/* Keys go in eights; behind the last, any will do. */
MANY_INLINE void fuse_prepare(const void *self, void *group, const uint64_t *keys, size_t n)
{
    const fuse_query *q = self;
    fuse_group *to = group;

    for (size_t i = 0; i < n; i += FUSE_EIGHT) {
        uint64_t last[FUSE_EIGHT] = { 0 };
        const uint64_t *from = keys + i;
        if (n - i < FUSE_EIGHT)
            from = memcpy(last, from, (n - i) * sizeof *from);
        if (q->s.between)
            fuse_rehash_eight(to->g + i, from, q->f->salt, q->s.between);
        else
            fuse_hash_eight(to->g + i, from, q->f->salt);
        fuse_put_eight(&to->batch, i, &q->s, to->g + i, q->is_single ? 0 : q->s.part_bits);
        if (!q->is_single)
            fuse_part_eight(to->part + i, &q->s, to->g + i);
    }
    to->absent = 0;
    if (q->is_mixed)
        fuse_reseed_some(q, to, n);
    for (unsigned j = 0; q->has_bits && j < FUSE_ARITY; j++)
        for (size_t i = 0; i < MANY; i++)
            to->batch.at[j][i] *= q->s.width;
}

FUSE_INLINE uint64_t fuse_byte_of(const fuse_query *q, uint32_t at)
{
    return q->has_bits ? at / 8 : packed_byte(at, q->plain ? q->plain : q->s.width);
}

/* A plain block of 8 bits is one line; of others, slots may be in two. */
MANY_INLINE void fuse_fetch(const void *self, const void *group, size_t i)
{
    const fuse_query *q = self;
    const fuse_group *to = group;
    const uint8_t *slots = fuse_part_at(q, to, i);

    FUSE_EACH_SLOT
    for (unsigned j = 0; j < FUSE_ARITY; j += q->plain == 8 ? FUSE_IN_NEAR : 1)
        ahead_read(slots + fuse_byte_of(q, to->batch.at[j][i]), q->f->is_far);
}

/* Slots that are found by their bits have more above them, which are left for a mask. */
FUSE_INLINE uint32_t fuse_slot_at(const fuse_query *q, const uint8_t *part, uint32_t at)
{
    return q->has_bits ? le32(part + at / 8) >> at % 8
                       : fingerprint_get(part, at, q->s.width, q->plain);
}

MANY_INLINE uint64_t fuse_look(void *self, void *group, size_t i)
{
    const fuse_query *q = self;
    const fuse_group *from = group;
    const uint8_t *part = fuse_part_at(q, from, i);
    unsigned width = q->plain ? q->plain : q->s.width;
    uint32_t x = from->batch.fingerprint[i];

    FUSE_EACH_SLOT
    for (unsigned j = 0; j < FUSE_ARITY; j++)
        x ^= fuse_slot_at(q, part, from->batch.at[j][i]);
    bool found = (x & packed_mask(width)) == 0;
    if (q->has_stash && (!q->is_single || q->s.stashed >> from->g[i] % 64 & 1) &&
        fuse_may_be_stashed(&q->s, part, from->g[i]))
        found |= fuse_is_stashed(&q->s, part + q->s.tail, from->g[i]);
    return found & ~(q->is_single ? 0 : from->absent >> i);
}

FUSE_INLINE size_t fuse_has_many_of(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n,
                                    const fuse_tails *tails, bool is_single, bool has_bits,
                                    unsigned plain)
{
    fuse_query q = { .f = f,
                     .s = *fuse_shape_in(f),
                     .plain = plain,
                     .is_single = is_single,
                     .is_mixed = tails->are_mixed,
                     .has_stash = tails->are_mixed || tails->stashed,
                     .has_bits = has_bits };
    fuse_group groups[2];

    q.s.between = tails->between;
    q.s.stashed = tails->stashed;
    return many_lookups(&q, hits, keys, n, &groups[0], &groups[1], fuse_prepare, fuse_fetch,
                        fuse_look, NULL);
}

FUSE_INLINE size_t fuse_has_many_plain(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                       size_t n, const fuse_tails *tails, unsigned plain)
{
    if (fuse_shape_in(f)->part_bits || tails->are_mixed)
        return fuse_has_many_of(f, hits, keys, n, tails, false, !plain, plain);
    return fuse_has_many_of(f, hits, keys, n, tails, true, !plain, plain);
}

/* If there are many parts, a short call asks none for its seed: its keys wait for memory. */
static size_t fuse_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    unsigned width = f->plan.width, plain = packed_is_plain(width) ? width : 0;
    fuse_tails tails = fuse_ask_tails(f, fuse_shape_in(f), n / 8 ? n / 8 : 1);
    bool has_bits = width <= PACKED_NARROW && fuse_shape_in(f)->part_bytes < UINT32_MAX / 8;

    if (!plain && !has_bits)
        return fuse_has_many_of(f, hits, keys, n, &tails, false, false, 0);
    return FUSE_BY_WIDTH(width, fuse_has_many_plain, f, hits, keys, n, &tails);
}
