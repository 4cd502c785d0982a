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

#include "base/ahead.h"
#include "base/bits.h"
#include "base/hash.h"
#include "bloom/bitset.h"
#include "bloom/counters.h"
#include "bloom/rates.h"

enum { PROBES_MAX = RATES_MAX_HASHES };

/* ---- Positions of a key ------------------------------------------------ */

/* One multiplication: its high bits depend on all bits of x, and the shift carries them down for
 * the next round. The multiplier is odd, so that no x is lost. */
#define PROBES_FACTOR UINT64_C(0xD6E8FEB86659FD93)

static inline uint64_t probes_next(uint64_t x)
{
    return (x ^ x >> 32) * PROBES_FACTOR;
}

/* Also f->derived, from where each call takes it: the plan is further away. */
typedef struct probes_shape {
    uint64_t range, step;
    uint32_t hashes;
    bool of_counters; /* known to the compiler */
    unsigned bits;    /* of a counter */
} probes_shape;

static inline const probes_shape *probes_derived(const tamis *f)
{
    return (const probes_shape *)(const void *)f->derived;
}

/* Kinds of counters. Those of the usual width are the ones that kernels know. */
enum { PROBES_USUAL_BITS = 4 };

static inline probes_shape probes_of_counters(const tamis *f, unsigned bits)
{
    const probes_shape *s = probes_derived(f);

    return (probes_shape){ s->range, 0, s->hashes, .of_counters = true, .bits = bits };
}

static inline bool probes_slot_is_set(const void *slots, probes_shape s, uint64_t pos)
{
    return s.of_counters ? counters_get(slots, s.bits, pos) != 0 : bitset_get(slots, pos);
}

static inline void probes_find(uint64_t *pos, const tamis *f, probes_shape s, uint64_t key)
{
    uint64_t x = hash_key(key, f->salt), base = 0;

    for (uint32_t i = 0; i < s.hashes; i++) {
        pos[i] = base + scale64(x, s.range);
        base += s.step;
        x = probes_next(x);
    }
}

/* Where a walk through the slots of a key is. */
typedef struct probes_walk {
    const void *slots;
    uint64_t x, base;
} probes_walk;

/* Whether the next n slots are set, n being a constant. All are read: whether one is clear cannot
 * be guessed, and to ask for a line too many is cheaper than to guess wrong. */
__attribute__((always_inline)) static inline bool probes_are_set(probes_walk *w, probes_shape s,
                                                                 unsigned n)
{
    bool are_set = true;

#pragma GCC unroll 4
    for (unsigned i = 0; i < n; i++) {
        are_set &= probes_slot_is_set(w->slots, s, w->base + scale64(w->x, s.range));
        w->base += s.step;
        w->x = probes_next(w->x);
    }
    return are_set;
}

/* After three slots, seven strangers of eight are gone. Answers are constants, which callers get
 * before the lines have come, as long as they are what the processor guesses.
 *
 * probes_has_first() looks at these three, and leaves what is left to a function of the kind, for
 * probes_has_rest(): together they would need registers that each call had to save. */
typedef bool probes_rest(const tamis *f, uint64_t x, uint64_t base, uint32_t left);

__attribute__((always_inline)) static inline bool probes_has_first(const tamis *f, probes_shape s,
                                                                   uint64_t key, probes_rest *rest)
{
    probes_walk w = { f->payload, hash_key(key, f->salt), 0 };
    uint32_t left = s.hashes;

    if (left < 3)
        return rest(f, w.x, 0, left);
    return probes_are_set(&w, s, 3) && rest(f, w.x, w.base, left - 3);
}

__attribute__((always_inline)) static inline bool
probes_has_rest(const tamis *f, probes_shape s, uint64_t x, uint64_t base, uint32_t left)
{
    probes_walk w = { f->payload, x, base };

    for (; left >= 4; left -= 4)
        if (!probes_are_set(&w, s, 4))
            return false;
    for (; left > 0; left--)
        if (!probes_are_set(&w, s, 1))
            return false;
    return true;
}

/* ---- Many keys --------------------------------------------------------- */

/* Keys that go through the probes side by side. A group must be large for the memory to stay busy
 * when most of its keys have dropped out, and small enough for the first-level cache. */
enum { PROBES_GROUP = 256 };

static inline const uint8_t *probes_line(const void *slots, probes_shape s, uint64_t pos)
{
    return (const uint8_t *)slots + (s.of_counters ? counters_find(s.bits, pos).word * 8 : pos / 8);
}

/* Probes the keys of one group round by round: a key that finds a clear slot drops out, the others
 * fetch their next line while the rest of the round is looked at. An absent key thus reads two
 * lines on average, not k. Bits of `hits` are only set. */
__attribute__((always_inline)) static inline void
probes_sift_group(const tamis *f, probes_shape s, uint64_t *hits, const uint64_t *keys, size_t n)
{
    uint64_t x[PROBES_GROUP], pos[PROBES_GROUP], base = 0;
    uint16_t alive[PROBES_GROUP];
    const void *slots = f->payload;
    uint64_t salt = f->salt;
    bool is_far = f->is_far;

    for (size_t i = 0; i < n; i++) {
        alive[i] = (uint16_t)i;
        x[i] = hash_key(keys[i], salt);
        pos[i] = scale64(x[i], s.range);
        ahead_read(probes_line(slots, s, pos[i]), is_far);
    }
    for (uint32_t round = 1; round < s.hashes; round++) {
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
            ahead_read(probes_line(slots, s, now ^ ((now ^ next_pos) & -stays)), is_far);
            left += (size_t)stays;
        }
        n = left;
    }
    for (size_t i = 0; i < n; i++)
        hits[alive[i] / 64] |= (uint64_t)probes_slot_is_set(slots, s, pos[i]) << (alive[i] % 64);
}

/* Keys that are likely to be there, side by side, and the slot of each that is asked for. */
enum { PROBES_ABREAST = 64 };

typedef struct probes_row {
    uint64_t x[PROBES_ABREAST], pos[PROBES_ABREAST];
} probes_row;

static inline size_t probes_abreast(size_t n)
{
    return n < PROBES_ABREAST ? n : PROBES_ABREAST;
}

static inline uint64_t probes_start(probes_row *r, size_t i, uint64_t h, uint64_t range)
{
    r->x[i] = h;
    return r->pos[i] = scale64(h, range);
}

static inline uint64_t probes_step(probes_row *r, size_t i, uint64_t base, uint64_t range)
{
    r->x[i] = probes_next(r->x[i]);
    return r->pos[i] = base + scale64(r->x[i], range);
}

/* Drops none of them, which takes less time for each probe, until more than a third of a row is
 * not there. Returns how many keys it went through. */
__attribute__((always_inline)) static inline size_t
probes_confirm(const tamis *f, probes_shape s, uint64_t *hits, const uint64_t *keys, size_t n)
{
    uint64_t salt = f->salt, there;
    const void *slots = f->payload;
    bool is_far = f->is_far;
    size_t here = probes_abreast(n), done = 0, coming;
    probes_row r;

    for (size_t i = 0; i < here; i++)
        ahead_read(probes_line(slots, s, probes_start(&r, i, hash_key(keys[i], salt), s.range)),
                   is_far);
    do {
        uint64_t base = 0, set = 0;
        there = UINT64_MAX;
        for (uint32_t round = 1; round < s.hashes; round++, there &= set, set = 0) {
            base += s.step;
            for (size_t i = 0; i < here; i++) {
                uint64_t now = r.pos[i];
                ahead_read(probes_line(slots, s, probes_step(&r, i, base, s.range)), is_far);
                set |= (uint64_t)probes_slot_is_set(slots, s, now) << i;
            }
        }
        done += here;
        coming = probes_abreast(n - done);
        for (size_t i = 0; i < here; i++) {
            uint64_t now = r.pos[i];
            if (i < coming)
                ahead_read(
                    probes_line(slots, s,
                                probes_start(&r, i, hash_key(keys[done + i], salt), s.range)),
                    is_far);
            set |= (uint64_t)probes_slot_is_set(slots, s, now) << i;
        }
        there &= set;
        *hits++ = there;
        here = coming;
    } while (here && __builtin_popcountll(there) > PROBES_ABREAST * 2 / 3);
    return done;
}

/* What was found tells what the next keys are likely to be. Where two of three are there, it no
 * longer pays to drop the others. */
__attribute__((always_inline)) static inline size_t
probes_has_many(const tamis *f, probes_shape s, uint64_t *hits, const uint64_t *keys, size_t n)
{
    size_t found = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof *hits);
    for (size_t i = 0; i < n;) {
        size_t size = n - i < PROBES_GROUP ? n - i : PROBES_GROUP, here = 0;
        probes_sift_group(f, s, hits + i / 64, keys + i, size);
        for (size_t end = i + size; i < end; i += 64)
            here += (size_t)__builtin_popcountll(hits[i / 64]);
        if (i < n && here > PROBES_GROUP * 2 / 3)
            i += probes_confirm(f, s, hits + i / 64, keys + i, n - i);
    }
    for (size_t i = 0; i < (n + 63) / 64; i++)
        found += (size_t)__builtin_popcountll(hits[i]);
    return found;
}

/* The kernel, where there is one: bits, or counters of the usual width. */
void tamis__probes_use_avx512(tamis *f, bool of_counters);

#endif
