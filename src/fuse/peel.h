/* peel.h - solving one part of a binary fuse filter: choose a slot of its own for every key, so that
 * the slots can be filled one after the other.
 *
 * A slot that only one key has is that key's: whatever the others want, it is written last. Without
 * that key, other slots may have one key only, and so on. Keys start in segments from left to right,
 * and each lies in ARITY neighbours, so that the first segments have few keys. Peeling starts there
 * and moves on like a wave; a sweep from the first segment to the last, in which keys are added just
 * ahead of the wave, works on a few segments at a time and stays in the cache.
 *
 * State of a slot: one word, made of all keys that have it and are not peeled yet.
 *
 *   bits 0 .. 55   xor of their low bits
 *   bits 56, 57    xor of j, if it is the j-th slot of the key
 *   bits 58 .. 63  how many they are
 *
 * When one is left, the word names it: its start is j segments before the slot. It is left there
 * when the key is peeled, so that the order of peeling is an array of slots, four bytes a key. Slots
 * are read in that order, then written in the opposite one.
 *
 * The word of a slot depends on the set of keys, not on their order: so does all that follows.
 *
 * What cannot be peeled is a core in which every slot has two keys: duplicates, of which one is
 * kept; else bad luck, such as two keys with the same slots. A few keys of a small core are put in
 * the stash; a large one gets another seed. */
#ifndef TAMIS_FUSE_PEEL_H
#define TAMIS_FUSE_PEEL_H

#include <string.h>

#include "base/sort.h"
#include "fuse/segments.h"

/* ---- State of slots ---------------------------------------------------- */

#define ONE_KEY (UINT64_C(1) << 58)

enum { SEEDS = 64, LARGEST_CORE = 256 };

typedef struct peeling {
    shape s;
    uint64_t slots, seed;
    uint64_t *states; /* of slots */
    uint32_t *order;  /* first the slots peeled, then those to be looked at */
    size_t peeled, next, end;
    uint64_t *hashes;
    size_t n, added;
    bool is_mixed_up; /* hashes were not in groups, or too many have a slot in common */
} peeling;

static inline bool is_single(uint64_t state)
{
    return state >> 58 == 1;
}

static inline uint64_t mark_of(uint64_t h, unsigned j)
{
    return (h & FUSE_LOW_BITS) | (uint64_t)j << 56;
}

/* ---- Adding keys ------------------------------------------------------- */

/* Keys that start in a segment up to `last` are among those up to the first that starts after it and
 * all others of its group. */
static void add_until(peeling *q, uint64_t first, uint64_t last)
{
    uint64_t groups = UINT64_C(1) << group_bits(q->n), slots[ARITY], start;
    uint64_t stop = last + q->s.starts / groups + 1;
    bool lost = false;
    size_t i = q->added;

    for (; i < q->n && (start = start_of(&q->s, q->hashes[i])) <= stop; i++) {
        uint64_t h = q->hashes[i];
        slots_of(slots, &q->s, start, h & FUSE_LOW_BITS, q->seed);
        for (unsigned j = 0; j < ARITY; j++) {
            uint64_t state = (q->states[slots[j]] ^ mark_of(h, j)) + ONE_KEY;
            lost |= state < ONE_KEY;
            q->states[slots[j]] = state;
        }
        lost |= start < first;
    }
    q->added = i;
    q->is_mixed_up |= lost;
}

/* ---- Peeling ----------------------------------------------------------- */

/* Takes out a key with mark `mark` that starts in `start`: of its slots below `limit`, those that
 * become single join the queue. Slots above it may get more keys. */
static inline void take_out(peeling *q, uint64_t start, uint64_t mark, unsigned own,
                            uint64_t limit)
{
    uint64_t slots[ARITY], low = mark & FUSE_LOW_BITS;

    slots_of(slots, &q->s, start, low, q->seed);
    for (unsigned j = 0; j < ARITY; j++) {
        if (j == own)
            continue;
        uint64_t state = (q->states[slots[j]] ^ mark_of(low, j)) - ONE_KEY;
        q->states[slots[j]] = state;
        q->order[q->end] = (uint32_t)slots[j];
        q->end += is_single(state) && slots[j] < limit;
    }
}

static void peel_queue(peeling *q, uint64_t limit)
{
    for (; q->next < q->end; q->next++) {
        uint32_t slot = q->order[q->next];
        uint64_t state = q->states[slot];
        if (!is_single(state))
            continue;
        unsigned j = state >> 56 & 3;
        q->order[q->peeled++] = slot;
        q->states[slot] = state - ONE_KEY;
        take_out(q, (slot >> q->s.segment_bits) - j, state, j, limit);
    }
    q->next = q->end = q->peeled;
}

static void queue_singles(peeling *q, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        q->order[q->end] = (uint32_t)i;
        q->end += is_single(q->states[i]);
    }
}

/* Peels what can be peeled; false if the keys came in no order or too many meet in a slot. */
static bool sweep(peeling *q)
{
    uint64_t length = UINT64_C(1) << q->s.segment_bits;

    memset(q->states, 0, q->slots * sizeof *q->states);
    q->peeled = q->next = q->end = q->added = 0;
    q->is_mixed_up = false;
    for (uint64_t from = 0; from < q->slots && !q->is_mixed_up; from += length) {
        add_until(q, from >> q->s.segment_bits, from >> q->s.segment_bits);
        queue_singles(q, from, from + length);
        peel_queue(q, from + length);
    }
    return !q->is_mixed_up;
}

/* ---- The core ---------------------------------------------------------- */

/* A key was peeled if and only if one of its slots has no key left. */
static bool in_core(const peeling *q, uint64_t h)
{
    uint64_t slots[ARITY];

    slots_of(slots, &q->s, start_of(&q->s, h), h & FUSE_LOW_BITS, q->seed);
    for (unsigned j = 0; j < ARITY; j++)
        if (q->states[slots[j]] < ONE_KEY)
            return false;
    return true;
}

/* The hashes of a small core, ascending. */
static size_t find_core(const peeling *q, uint64_t *core)
{
    size_t n = 0;

    for (size_t i = 0; i < q->n && n < LARGEST_CORE; i++)
        if (in_core(q, q->hashes[i]))
            core[n++] = q->hashes[i];
    tamis__sort(core, n);
    return n;
}

static bool has_duplicates(const uint64_t *sorted, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (sorted[i] == sorted[i - 1])
            return true;
    return false;
}

/* Takes the smallest keys out of the core until it can be peeled; returns how many it took. More than
 * STASH: it cannot. */
static unsigned abandon(peeling *q, uint64_t *stash, const uint64_t *core, size_t n)
{
    unsigned stashed = 0;

    for (size_t i = 0; i < n; i++) {
        if (!in_core(q, core[i]))
            continue;
        if (stashed == STASH)
            return STASH + 1;
        stash[stashed++] = core[i];
        take_out(q, start_of(&q->s, core[i]), core[i], ARITY, q->slots);
        peel_queue(q, q->slots);
    }
    return stashed;
}

/* ---- Filling slots ----------------------------------------------------- */

static inline void fill_width(const peeling *q, uint8_t *array, unsigned width)
{
    for (size_t i = q->peeled; i-- > 0;) {
        uint64_t slot = q->order[i], state = q->states[slot], slots[ARITY];
        uint32_t x = (uint32_t)state;

        slots_of(slots, &q->s, (slot >> q->s.segment_bits) - (state >> 56 & 3),
                 state & FUSE_LOW_BITS, q->seed);
        for (unsigned j = 0; j < ARITY; j++)
            x ^= packed_get(array, slots[j], width);
        packed_put(array, slot, width, x & packed_mask(width));
    }
}

/* Slots are still zero, so that the key's own is no harm among those it is xored with. */
static void fill(const peeling *q, uint8_t *array)
{
    if (q->s.width == 8)
        fill_width(q, array, 8);
    else if (q->s.width == 16)
        fill_width(q, array, 16);
    else if (q->s.width == 32)
        fill_width(q, array, 32);
    else
        fill_width(q, array, q->s.width);
}

static void finish(const peeling *q, uint8_t *part, unsigned seed, const uint64_t *stash,
                   unsigned stashed)
{
    put_le32(part, (uint32_t)q->n);
    part[HEAD_SEED] = (uint8_t)seed;
    part[HEAD_STASHED] = (uint8_t)stashed;
    for (unsigned i = 0; i < stashed; i++)
        put_le64(part + HEAD_STASH + 8 * i, stash[i]);
    fill(q, part + HEAD_BYTES);
}

/* ---- One part ---------------------------------------------------------- */

static size_t scratch(const tamis_plan *p, size_t n)
{
    (void)n;
    /* The queue is written to before it is known whether the slot joins it. */
    return (size_t)(p->slots * (sizeof(uint64_t) + sizeof(uint32_t)) + 64);
}

/* Whether the keys, all different, fit with the seed that is set; else whether to sort them first. */
static bool try_seed(peeling *q, uint64_t *stash, unsigned *stashed, bool *doubtful)
{
    uint64_t core[LARGEST_CORE];

    *stashed = 0;
    *doubtful = !sweep(q);
    if (*doubtful || q->peeled == q->n)
        return !*doubtful;
    size_t n = find_core(q, core);
    *doubtful = n == LARGEST_CORE || has_duplicates(core, n);
    if (*doubtful)
        return false;
    *stashed = abandon(q, stash, core, n);
    return *stashed <= STASH;
}

static tamis_status solve(const tamis_plan *p, void *part, uint64_t *hashes, size_t *n,
                          void *memory)
{
    peeling q = { .s = shape_of(p), .slots = p->slots, .hashes = hashes, .n = *n };
    uint64_t stash[STASH];
    bool doubtful, sorted = false;

    q.states = memory;
    q.order = (uint32_t *)(q.states + p->slots);
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        unsigned stashed;
        q.seed = spread_seed(seed);
        bool done = try_seed(&q, stash, &stashed, &doubtful);
        if (!done && doubtful && !sorted) {
            q.n = *n = tamis__sort_unique(hashes, *n);
            sorted = true;
            done = try_seed(&q, stash, &stashed, &doubtful);
        }
        if (done) {
            finish(&q, part, seed, stash, stashed);
            return TAMIS_OK;
        }
    }
    return TAMIS_FULL;
}

static const tamis_solver SOLVER = { .scratch = scratch, .solve = solve, .enlarge = enlarge };

#endif
