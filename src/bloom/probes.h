/* probes.h - the slots of a key in kinds that scatter them: bits or, in kinds that count, counters.
 *
 * A key draws k positions. In the classic filter each lies anywhere in one array of m slots; in the
 * partitioned one, position i lies in row i of w slots. Both are one walk:
 *
 *   x = hash_key(key)           position i = i * step + scale64(x, range);  x = probes_next(x)
 *   classic:      range = m, step = 0
 *   partitioned:  range = w, step = w */
#ifndef TAMIS_BLOOM_PROBES_H
#define TAMIS_BLOOM_PROBES_H

#include "base/bits.h"
#include "base/hash.h"
#include "bloom/bitset.h"
#include "bloom/counters.h"
#include "bloom/rates.h"

enum { PROBES_MAX = RATES_MAX_HASHES };

/* ---- Positions of a key ------------------------------------------------ */

/* One multiplication: its high bits depend on all bits of x, and the shift carries them down for
 * the next round. The multiplier is odd, so that no x is lost. */
static inline uint64_t probes_next(uint64_t x)
{
    return (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
}

typedef struct probes_shape {
    uint64_t range, step;
    bool of_counters; /* known to the compiler */
    unsigned bits;    /* of a counter */
} probes_shape;

static inline bool probes_slot_is_set(const void *slots, probes_shape s, uint64_t pos)
{
    return s.of_counters ? counters_get(slots, s.bits, pos) != 0 : bitset_get(slots, pos);
}

static inline void probes_find(uint64_t *pos, const tamis *f, probes_shape s, uint64_t key)
{
    uint64_t x = hash_key(key, f->salt), base = 0;

    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        pos[i] = base + scale64(x, s.range);
        base += s.step;
        x = probes_next(x);
    }
}

static inline bool probes_has(const tamis *f, probes_shape s, uint64_t key)
{
    uint64_t x = hash_key(key, f->salt), base = 0;

    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        if (!probes_slot_is_set(f->payload, s, base + scale64(x, s.range)))
            return false;
        base += s.step;
        x = probes_next(x);
    }
    return true;
}

/* ---- Many keys --------------------------------------------------------- */

/* Keys that go through the probes side by side. A group must be large for the memory to stay busy
 * when most of its keys have dropped out, and small enough for the first-level cache. */
enum { PROBES_GROUP = 256 };

__attribute__((always_inline)) static inline void probes_fetch(const void *slots, probes_shape s,
                                                               uint64_t pos)
{
    uint64_t byte = s.of_counters ? counters_find(s.bits, pos).word * 8 : pos / 8;

    /* To the second cache: more requests fit on the way there than to the first. */
    __builtin_prefetch((const uint8_t *)slots + byte, 0, 2);
}

/* Probes the keys of one group round by round: a key that finds a clear slot drops out, the others
 * fetch their next line while the rest of the round is looked at. An absent key thus reads two
 * lines on average, not k. Bits of `hits` are only set. */
__attribute__((always_inline)) static inline void
probes_has_group(const tamis *f, probes_shape s, uint64_t *hits, const uint64_t *keys, size_t n)
{
    uint64_t x[PROBES_GROUP], pos[PROBES_GROUP], base = 0;
    uint16_t alive[PROBES_GROUP];
    const void *slots = f->payload;
    uint64_t salt = f->salt;

    for (size_t i = 0; i < n; i++) {
        alive[i] = (uint16_t)i;
        x[i] = hash_key(keys[i], salt);
        pos[i] = scale64(x[i], s.range);
        probes_fetch(slots, s, pos[i]);
    }
    for (uint32_t round = 1; round < f->plan.hashes; round++) {
        size_t left = 0;
        base += s.step;
        for (size_t i = 0; i < n; i++) {
            uint64_t next = probes_next(x[i]), next_pos = base + scale64(next, s.range);
            uint64_t now = pos[i], stays = probes_slot_is_set(slots, s, now);
            alive[left] = alive[i];
            x[left] = next;
            pos[left] = next_pos;
            /* Half of the keys would mispredict a branch: by arithmetic instead, those that drop
             * out fetch the line they have. */
            probes_fetch(slots, s, now ^ ((now ^ next_pos) & -stays));
            left += stays;
        }
        n = left;
    }
    for (size_t i = 0; i < n; i++)
        hits[alive[i] / 64] |= (uint64_t)probes_slot_is_set(slots, s, pos[i]) << (alive[i] % 64);
}

__attribute__((always_inline)) static inline size_t
probes_has_many(const tamis *f, probes_shape s, uint64_t *hits, const uint64_t *keys, size_t n)
{
    size_t found = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof *hits);
    for (size_t i = 0; i < n; i += PROBES_GROUP)
        probes_has_group(f, s, hits + i / 64, keys + i,
                         n - i < PROBES_GROUP ? n - i : PROBES_GROUP);
    for (size_t i = 0; i < (n + 63) / 64; i++)
        found += (size_t)__builtin_popcountll(hits[i]);
    return found;
}

#endif
