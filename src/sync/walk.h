/* walk.h - which symbols of the endless sequence a key is in.
 *
 * Symbol 0 holds every key, symbol i each with probability 1 / (1 + i / 2). A key goes from one of
 * its symbols to the next by drawing how many to skip. If the draw p is even in (0, 1], the next
 * one after i is
 *
 *   i + ceil((i + 1.5) (1 / sqrt(p) - 1))
 *
 * These are divisions, roots and products that IEEE 754 rounds in one way, with no sum after a
 * product that a compiler could fuse: all machines draw the same. */
#ifndef TAMIS_SYNC_WALK_H
#define TAMIS_SYNC_WALK_H

#include <math.h>
#include <stdint.h>

#include "base/hash.h"
#include "tamis_sync.h"

#define WALK_CHECK ((UINT64_C(1) << 40) - 1)

/* A key, and the symbol it comes to next. */
typedef struct walk {
    uint64_t key, hash, draw, next;
} walk;

static inline uint64_t walk_hash(uint64_t key, const uint8_t secret[16])
{
    uint8_t bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(key >> 8 * i);
    return tamis__hash_keyed(bytes, sizeof bytes, secret);
}

static inline walk walk_start(uint64_t key, uint64_t hash)
{
    return (walk){ .key = key, .hash = hash, .draw = hash, .next = 0 };
}

/* Beyond 2^62, a symbol is never reached. */
static inline void walk_on(walk *w)
{
    w->draw *= UINT64_C(0xda942042e4dd58b5);
    double skipped = ceil(((double)w->next + 1.5) * (0x1p32 / sqrt((double)w->draw + 1) - 1));
    /* A draw near 2^64 rounds to 2^64, and skips none; the next symbol is another one all the same.
     */
    w->next += skipped < 1 ? 1 : skipped < 0x1p62 ? (uint64_t)skipped : UINT64_C(1) << 62;
}

/* Puts the key into a symbol, or with -1 takes it out. */
static inline void walk_apply(const walk *w, tamis_symbol *s, int sign)
{
    s->sum ^= w->key;
    s->check ^= w->hash & WALK_CHECK;
    s->count = (int64_t)((uint64_t)s->count + (uint64_t)(int64_t)sign);
}

/* The symbols from `first` to `end` that it is in. */
static inline void walk_through(walk *w, tamis_symbol *symbols, uint64_t first, uint64_t end,
                                int sign)
{
    for (; w->next < end; walk_on(w))
        walk_apply(w, &symbols[w->next - first], sign);
}

#endif
