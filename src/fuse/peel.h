/* peel.h - peeling, by which fuse and xor filters are solved: choose a slot of its own for every
 * key, so that the slots can be filled one after the other.
 *
 * A slot that only one key has is that key's: whatever the others want, it is written last. Without
 * that key, other slots may have one key only, and so on, until all keys are peeled off.
 *
 *   slot    0     1     2     3     4
 *   keys    a     a b   a b c c     b c     slots 0 and 3 have one key each: a owns 0,
 *           -     b     b c   c     b c     c owns 3,
 *           -     b     b     -     b       and b any of 1, 2 and 4
 *
 * Fingerprints are put into slots in the opposite order, that of b first: the slots of a key that
 * are not its own will not change any more, and its own one makes their xor right.
 *
 * State of a slot: one word, made of all keys that have it and are not peeled yet.
 *
 *   bits 0 .. 57   xor of their marks: bits of the hash that tell all slots of the key
 *   bits 58 .. 63  how many they are
 *
 * When one is left, the word names it. It is left there when the key is peeled, so that the order
 * of peeling is an array of slots, four bytes a key.
 *
 * The word of a slot depends on the set of keys, not on their order: so does all that follows.
 *
 * What cannot be peeled is a core in which every slot has two keys: duplicates, of which one is
 * kept; else bad luck, such as two keys with the same slots. A few keys of a small core are put in
 * the stash; a large one gets another seed. */
#ifndef TAMIS_FUSE_PEEL_H
#define TAMIS_FUSE_PEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEEL_ONE_KEY (UINT64_C(1) << 58)

/* Of half as many keys as can be counted in a slot, most must be the same one. */
#define PEEL_CROWD (PEEL_ONE_KEY * 32)

/* One seed in five fails at the worst sizes: sixteen do once in 10^11 sets that nobody chose. */
enum { PEEL_SEEDS = 16 };

typedef struct peel_queue {
    uint64_t *states;         /* of slots */
    uint32_t *order;          /* first the slots peeled, then those to be looked at */
    size_t peeled, next, end; /* in it */
} peel_queue;

static inline bool peel_is_single(uint64_t state)
{
    return state - PEEL_ONE_KEY < PEEL_ONE_KEY;
}

/* A key is in the core, or was not peeled yet, if each of its slots has a key left. */
static inline bool peel_in_core(const peel_queue *q, const uint32_t *slots, unsigned n)
{
    for (unsigned j = 0; j < n; j++)
        if (q->states[slots[j]] < PEEL_ONE_KEY)
            return false;
    return true;
}

/* Takes a key out of a slot, which joins the queue if that leaves one. */
static inline void peel_take_out(peel_queue *q, uint32_t slot, uint64_t mark)
{
    q->states[slot] = (q->states[slot] ^ mark) - PEEL_ONE_KEY;
    q->order[q->end] = slot;
    q->end += peel_is_single(q->states[slot]);
}

#endif
