/* bitset.h - arrays of bits, as the payloads of Bloom kinds are: bits that are only ever set.
 *
 * Bit i is bit i % 8 of byte i / 8, the same on every machine: bit i % 64 of a little-endian word.
 * Arrays are whole words, and are read and written by them: in most machines, shifts by i then need
 * no remainder. */
#ifndef TAMIS_BLOOM_BITSET_H
#define TAMIS_BLOOM_BITSET_H

#include "base/bits.h"
#include "base/le.h"
#include "explain.h"

/* ---- One bit ----------------------------------------------------------- */

/* Relaxed: a reader may run beside add_concurrent(). */
static inline uint64_t bitset_word(const void *bits, uint64_t pos)
{
    const uint64_t *words = bits;
    return __atomic_load_n(&words[pos / 64], __ATOMIC_RELAXED);
}

static inline uint64_t bitset_mask(uint64_t pos)
{
    return LE_SWAP64(UINT64_C(1) << (pos % 64));
}

static inline bool bitset_get(const void *bits, uint64_t pos)
{
    return LE_SWAP64(bitset_word(bits, pos)) >> (pos % 64) & 1;
}

static inline void bitset_set(void *bits, uint64_t pos)
{
    uint64_t *words = bits;
    words[pos / 64] |= bitset_mask(pos);
}

/* Beside other writers. Looks first: a bit that is set already costs no ownership of its line. */
static inline void bitset_set_atomic(void *bits, uint64_t pos)
{
    uint64_t *words = bits;

    if (!bitset_get(bits, pos))
        __atomic_fetch_or(&words[pos / 64], bitset_mask(pos), __ATOMIC_RELAXED);
}

/* For the only writer, beside readers. */
static inline void bitset_put_atomic(void *bits, uint64_t pos, bool is_set)
{
    uint64_t *words = bits;

    if (bitset_get(bits, pos) != is_set)
        __atomic_store_n(&words[pos / 64], words[pos / 64] ^ bitset_mask(pos), __ATOMIC_RELAXED);
}

/* ---- Many bits --------------------------------------------------------- */

/* Ones among the bits from .. to - 1. */
static inline uint64_t bitset_ones(const void *bits, uint64_t from, uint64_t to)
{
    const uint8_t *bytes = bits;
    uint64_t ones = 0;

    while (from < to)
        if (from % 64 == 0 && to - from >= 64) {
            ones += count_ones(bytes + from / 8, 8);
            from += 64;
        } else {
            ones += bitset_get(bits, from++);
        }
    return ones;
}

/* An array of n bits fills whole words. Those of the last word that are past the end stay zero:
 * why it is damaged, or NULL. */
static inline const char *bitset_verify_end(const void *bits, uint64_t n)
{
    return bitset_ones(bits, n, round_up(n, 64)) ? "bits past the end are set" : NULL;
}

/* Folds the n bits of `from` that start at from_at: bit i falls on bit to_at + i / by of `to`. */
static inline void bitset_fold(void *to, uint64_t to_at, const void *from, uint64_t from_at,
                               uint64_t n, uint64_t by)
{
    uint64_t left = by;

    for (uint64_t i = from_at; i < from_at + n; i++) {
        if (bitset_get(from, i))
            bitset_set(to, to_at);
        if (--left == 0) {
            left = by;
            to_at++;
        }
    }
}

/* ---- Whole filters ----------------------------------------------------- */

/* The union of the keys is the union of the bits. */
static inline tamis_status bitset_merge(tamis *f, const tamis *g)
{
    uint64_t *to = f->payload;
    const uint64_t *from = g->payload;

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        to[i] |= from[i];
    f->count += g->count;
    return TAMIS_OK;
}

/* The common bits hold the common keys, and some more. */
static inline tamis_status bitset_reduce(tamis *f, const tamis *g, tamis_operation op)
{
    uint64_t *to = f->payload;
    const uint64_t *from = g->payload;

    (void)op;
    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        to[i] &= from[i];
    if (g->count < f->count)
        f->count = g->count;
    return TAMIS_OK;
}

/* ---- Words ------------------------------------------------------------- */

/* A bit that adding a key would have set. Returns whether it is. */
static inline bool bitset_tell_bit(tamis_telling *t, tamis_cell cell)
{
    tamis__tell_read(t, "bit", cell, cell.value != 0);
    return cell.value != 0;
}

static inline bool bitset_tell_answer(tamis_telling *t, bool found)
{
    return tamis__tell_answer(
        t, found, found ? "all its bits are set" : "a bit is clear that adding it would have set");
}

/* ---- From one kind to another: see tamis_conversion -------------------- */

/* An empty filter of kind `to`, which has bits for slots, with the slots, hashes and count of f. */
static inline tamis_status bitset_new_like(tamis **out, tamis_kind to, const tamis *f,
                                           const tamis_allocator *a)
{
    tamis_plan plan = f->plan;

    plan.kind = to;
    plan.width = 0;
    plan.ceiling = UINT64_MAX;
    plan.bytes = tamis__ops(to)->bytes(&plan);
    tamis_status status = tamis_new(out, &plan, a);
    if (!status)
        (*out)->count = f->count;
    return status;
}

tamis_status tamis__counting_to_bloom(tamis **out, tamis_kind to, const tamis *f,
                                      const tamis_allocator *a);
void tamis__counting_follow(tamis *to, const tamis *from, uint64_t key);
tamis_status tamis__compressed_to_bloom(tamis **out, tamis_kind to, const tamis *f,
                                        const tamis_allocator *a);
tamis_status tamis__bloom_to_compressed(tamis **out, tamis_kind to, const tamis *f,
                                        const tamis_allocator *a);

#endif
