/* fuse_eight_template.h - TEMPLATE, compiled once for each FUSE_ARITY and CPU: slots of eight keys
 * at a time. These are the portable steps; with FUSE_AVX2 defined, those of
 * fuse_eight_avx2_template.h take their place. */
#ifndef TAMIS_FUSE_FUSE_EIGHT_TEMPLATE_H
#define TAMIS_FUSE_FUSE_EIGHT_TEMPLATE_H

#include "fuse/fuse_layout_template.h"

enum { FUSE_EIGHT = 8, FUSE_BATCH = 64 };

/* Slots and fingerprints of a batch of keys. */
typedef struct fuse_batch {
    _Alignas(32) uint32_t at[FUSE_ARITY][FUSE_BATCH];
    uint32_t fingerprint[FUSE_BATCH];
} fuse_batch;

static inline void fuse_put_key(fuse_batch *to, size_t i, const fuse_shape *s, uint64_t g,
                                uint32_t near)
{
    fuse_slots slots = fuse_slots_of(s, (uint32_t)g, near);

    FUSE_EACH_SLOT
    for (unsigned j = 0; j < FUSE_ARITY; j++)
        to->at[j][i] = slots.at[j];
    to->fingerprint[i] = fuse_fingerprint(g);
}

#ifdef FUSE_AVX2
#include "fuse/fuse_eight_avx2_template.h"
#else

static inline void fuse_hash_eight(uint64_t *g, const uint64_t *keys, uint64_t salt)
{
    for (unsigned i = 0; i < FUSE_EIGHT; i++)
        g[i] = hash_key(keys[i], salt);
}

static inline void fuse_rehash_eight(uint64_t *g, const uint64_t *keys, uint64_t salt,
                                     uint64_t between)
{
    for (unsigned i = 0; i < FUSE_EIGHT; i++)
        g[i] = fuse_rehash(keys[i], salt, between);
}

/* Slots of keys number i to i + 7 of the batch. */
static inline void fuse_put_eight(fuse_batch *to, size_t i, const fuse_shape *s, const uint64_t *g,
                                  unsigned skip)
{
    for (unsigned k = 0; k < FUSE_EIGHT; k++)
        fuse_put_key(to, i + k, s, g[k], fuse_near(s, g[k], skip));
}

/* The other slots of key number i, in their order: all but one that is its own. */
static inline void fuse_drop_slot(fuse_batch *to, size_t i, uint32_t own)
{
    bool is_behind = false;

    FUSE_EACH_SLOT
    for (unsigned j = 0; j < FUSE_ARITY - 1; j++) {
        is_behind |= to->at[j][i] == own;
        to->at[j][i] = to->at[j + is_behind][i];
    }
}

/* Other slots of eight keys from what is left in slots that have one key each. */
static inline void fuse_put_eight_of_states(fuse_batch *to, size_t i, const fuse_shape *s,
                                            const uint32_t *slots, const uint64_t *states)
{
    for (unsigned k = 0; k < FUSE_EIGHT; k++) {
        fuse_put_key(to, i + k, s, states[k], fuse_near_of_state(s, slots[k], states[k]));
        fuse_drop_slot(to, i + k, slots[k]);
    }
}

/* Where the parts of eight keys begin. */
static inline void fuse_part_eight(uint64_t *to, const fuse_shape *s, const uint64_t *g)
{
    for (unsigned k = 0; k < FUSE_EIGHT; k++)
        to[k] = part_of(g[k], s->part_bits) * s->part_bytes;
}

/* Whether all have their near slots before `stop`. */
static inline bool fuse_are_before(const fuse_batch *b, size_t i, uint32_t stop)
{
    bool before = true;

    for (unsigned k = 0; k < FUSE_EIGHT; k++)
        before &= b->at[0][i + k] < stop;
    return before;
}

#endif

#endif
