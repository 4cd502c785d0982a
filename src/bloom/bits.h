/* bits.h - what the Bloom kinds with scattered slots share: positions in an array of bits or, in
 * kinds that count, of counters.
 *
 * A key draws k positions. In the classic filter each lies anywhere in one array of m bits; in the
 * partitioned one, position i lies in row i of w bits. Both are one walk:
 *
 *   x = hash_key(key)           position i = i * step + scale64(x, range);  x = next_probe(x)
 *   classic:      range = m, step = 0
 *   partitioned:  range = w, step = w
 *
 * Bit i of the array is bit i % 8 of byte i / 8, the same on every machine. */
#ifndef TAMIS_BLOOM_BITS_H
#define TAMIS_BLOOM_BITS_H

#include <math.h>

#include "base/bits.h"
#include "base/hash.h"
#include "bloom/counters.h"
#include "filter.h"

enum { MAX_HASHES = 64 };

/* ---- Single bits ------------------------------------------------------- */

/* Relaxed: a reader may run beside add_concurrent(). */
static inline bool bit_is_set(const void *bits, uint64_t pos)
{
    const uint8_t *bytes = bits;
    return __atomic_load_n(&bytes[pos / 8], __ATOMIC_RELAXED) >> (pos % 8) & 1;
}

static inline void set_bit(void *bits, uint64_t pos)
{
    uint8_t *bytes = bits;
    bytes[pos / 8] = (uint8_t)(bytes[pos / 8] | 1u << (pos % 8));
}

/* For the only writer, beside readers. */
static inline void put_bit_seen(void *bits, uint64_t pos, bool is_set)
{
    uint8_t *at = (uint8_t *)bits + pos / 8, mask = (uint8_t)(1u << (pos % 8));

    if (bit_is_set(bits, pos) != is_set)
        __atomic_store_n(at, (uint8_t)(*at ^ mask), __ATOMIC_RELAXED);
}

/* Looks first: a bit that is set already costs no ownership of its line. Returns whether this call
 * set it. */
static inline bool set_bit_shared(void *bits, uint64_t pos)
{
    uint8_t *bytes = bits, mask = (uint8_t)(1u << (pos % 8));

    if (bit_is_set(bits, pos))
        return false;
    return !(__atomic_fetch_or(&bytes[pos / 8], mask, __ATOMIC_RELAXED) & mask);
}

static inline bool bits_has_all(const void *bits, const uint64_t *pos, unsigned k)
{
    for (unsigned i = 0; i < k; i++)
        if (!bit_is_set(bits, pos[i]))
            return false;
    return true;
}

static inline void bits_set_all(void *bits, const uint64_t *pos, unsigned k)
{
    for (unsigned i = 0; i < k; i++)
        set_bit(bits, pos[i]);
}

/* Ones among the bits from .. to - 1. */
static inline uint64_t ones_between(const void *bits, uint64_t from, uint64_t to)
{
    const uint8_t *bytes = bits;
    uint64_t ones = 0;

    for (; from < to && from % 64; from++)
        ones += bit_is_set(bits, from);
    uint64_t words = (to - from) / 64;
    ones += count_ones(bytes + from / 8, words * 8);
    for (from += words * 64; from < to; from++)
        ones += bit_is_set(bits, from);
    return ones;
}

/* The last word may stick out of the array; what sticks out is zero. */
static inline bool has_stray_bits(const void *bits, uint64_t from)
{
    return ones_between(bits, from, round_up(from, 64)) != 0;
}

/* Sets, in the row of n / by bits that starts at bit `to_at`, every bit that stands for `by` bits
 * of which one is set in the row of n bits that starts at `from_at`. */
static inline void fold_row(void *to, uint64_t to_at, const void *from, uint64_t from_at,
                            uint64_t n, uint64_t by)
{
    uint64_t slot = to_at, left = by;

    for (uint64_t i = from_at; i < from_at + n; i++) {
        if (bit_is_set(from, i))
            set_bit(to, slot);
        if (--left == 0) {
            left = by;
            slot++;
        }
    }
}

/* ---- Positions of a key ------------------------------------------------ */

/* One multiplication: its high bits depend on all bits of x, and the shift carries them down for
 * the next round. The multiplier is odd, so that no x is lost. */
static inline uint64_t next_probe(uint64_t x)
{
    return (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
}

typedef struct {
    uint64_t range, step;
    unsigned bits; /* of a slot: known to the compiler in kinds without counters */
} geometry;

static inline bool slot_is_set(const void *slots, geometry g, uint64_t pos)
{
    return g.bits == 1 ? bit_is_set(slots, pos) : counter_get(slots, g.bits, pos) != 0;
}

static inline void positions(uint64_t *pos, const tamis *f, geometry g, uint64_t key)
{
    uint64_t x = hash_key(key, f->salt), base = 0;

    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        pos[i] = base + scale64(x, g.range);
        base += g.step;
        x = next_probe(x);
    }
}

static inline bool bits_has(const tamis *f, geometry g, uint64_t key)
{
    uint64_t x = hash_key(key, f->salt), base = 0;

    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        if (!slot_is_set(f->payload, g, base + scale64(x, g.range)))
            return false;
        base += g.step;
        x = next_probe(x);
    }
    return true;
}

static inline void bits_add(tamis *f, geometry g, uint64_t key)
{
    uint64_t pos[MAX_HASHES];

    positions(pos, f, g, key);
    bits_set_all(f->payload, pos, f->plan.hashes);
    f->count++;
}

/* ---- Many keys --------------------------------------------------------- */

/* Keys that go through the probes side by side. A group must be large for the memory to stay busy
 * when most of its keys have dropped out, and small enough for the first-level cache. */
enum { GROUP = 256 };

__attribute__((always_inline)) static inline void fetch_slot(const void *slots, geometry g,
                                                             uint64_t pos)
{
    /* To the second cache: more requests fit on the way there than to the first. */
    __builtin_prefetch((const uint8_t *)slots + pos * g.bits / 8, 0, 2);
}

/* Probes the keys of one group round by round: a key that finds a clear bit drops out, the others
 * fetch their next line while the rest of the round is looked at. An absent key thus reads two
 * lines on average, not k. Bits of `hits` are only set. */
__attribute__((always_inline)) static inline void
has_group(const tamis *f, geometry g, uint64_t *hits, const uint64_t *keys, size_t n)
{
    uint64_t x[GROUP], pos[GROUP], base = 0;
    uint16_t alive[GROUP];
    const void *slots = f->payload;
    uint64_t salt = f->salt;

    for (size_t i = 0; i < n; i++) {
        alive[i] = (uint16_t)i;
        x[i] = hash_key(keys[i], salt);
        pos[i] = scale64(x[i], g.range);
        fetch_slot(slots, g, pos[i]);
    }
    for (uint32_t round = 1; round < f->plan.hashes; round++) {
        size_t left = 0;
        base += g.step;
        for (size_t i = 0; i < n; i++) {
            uint64_t next = next_probe(x[i]), next_pos = base + scale64(next, g.range);
            uint64_t now = pos[i], stays = slot_is_set(slots, g, now);
            alive[left] = alive[i];
            x[left] = next;
            pos[left] = next_pos;
            /* Half of the keys would mispredict a branch: by arithmetic instead, those that drop
             * out fetch the line they have. */
            fetch_slot(slots, g, now ^ ((now ^ next_pos) & -stays));
            left += stays;
        }
        n = left;
    }
    for (size_t i = 0; i < n; i++)
        hits[alive[i] / 64] |= (uint64_t)slot_is_set(slots, g, pos[i]) << (alive[i] % 64);
}

__attribute__((always_inline)) static inline size_t
bits_has_many(const tamis *f, geometry g, uint64_t *hits, const uint64_t *keys, size_t n)
{
    size_t found = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof *hits);
    for (size_t i = 0; i < n; i += GROUP)
        has_group(f, g, hits + i / 64, keys + i, n - i < GROUP ? n - i : GROUP);
    for (size_t i = 0; i < (n + 63) / 64; i++)
        found += (size_t)__builtin_popcountll(hits[i]);
    return found;
}

static inline void fetch_bit_to_write(void *bits, uint64_t pos)
{
    __builtin_prefetch((uint8_t *)bits + pos / 8, 1, 3);
}

static inline void set_bit_as(void *bits, uint64_t pos, bool shared)
{
    if (shared)
        set_bit_shared(bits, pos);
    else
        set_bit(bits, pos);
}

/* Sets one round of bits while the next one is being fetched. */
static inline void add_group(tamis *f, geometry g, const uint64_t *keys, size_t n, bool shared)
{
    uint64_t x[GROUP], pos[GROUP], base = 0;
    void *bits = f->payload;
    uint64_t salt = f->salt;

    for (size_t i = 0; i < n; i++) {
        x[i] = hash_key(keys[i], salt);
        pos[i] = scale64(x[i], g.range);
        fetch_bit_to_write(bits, pos[i]);
    }
    for (uint32_t round = 1; round < f->plan.hashes; round++) {
        base += g.step;
        for (size_t i = 0; i < n; i++) {
            uint64_t now = pos[i];
            x[i] = next_probe(x[i]);
            pos[i] = base + scale64(x[i], g.range);
            fetch_bit_to_write(bits, pos[i]);
            set_bit_as(bits, now, shared);
        }
    }
    for (size_t i = 0; i < n; i++)
        set_bit_as(bits, pos[i], shared);
}

/* No key drops out here, and what was fetched must still be there a round later: small groups. */
enum { ADD_GROUP = 64 };

static inline void bits_add_many(tamis *f, geometry g, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i += ADD_GROUP)
        add_group(f, g, keys + i, n - i < ADD_GROUP ? n - i : ADD_GROUP, false);
    f->count += n;
}

static inline void bits_add_concurrent(tamis *f, geometry g, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i += ADD_GROUP)
        add_group(f, g, keys + i, n - i < ADD_GROUP ? n - i : ADD_GROUP, true);
    __atomic_fetch_add(&f->count, n, __ATOMIC_RELAXED);
}

#endif
