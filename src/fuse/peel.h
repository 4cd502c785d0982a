/* peel.h - solving one part of a binary fuse filter: choose a slot of its own for every key, so
 * that the slots can be filled one after the other.
 *
 * A slot that only one key has is that key's: whatever the others want, it is written last. Without
 * that key, other slots may have one key only, and so on. Keys start in segments from left to
 * right, and each lies in ARITY neighbours, so that the first segments have few keys. Peeling
 * starts there and moves on like a wave; a sweep from the first segment to the last, in which keys
 * are added just ahead of the wave, works on a few segments at a time and stays in the cache.
 *
 * State of a slot: one word, made of all keys that have it and are not peeled yet.
 *
 *   bits 0 .. 55   xor of their low bits
 *   bits 56, 57    xor of j, if it is the j-th slot of the key
 *   bits 58 .. 63  how many they are
 *
 * When one is left, the word names it: its start is j segments before the slot. It is left there
 * when the key is peeled, so that the order of peeling is an array of slots, four bytes a key.
 * Slots are read in that order, then written in the opposite one.
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

/* Of half as many keys as can be counted in a slot, most must be the same one. */
#define CROWD (ONE_KEY * 32)

enum { SEEDS = 64, LARGEST_CORE = 256, AHEAD = 64 };

typedef struct peeling {
    shape s;
    uint64_t slots, seed;
    uint64_t *states;         /* of slots */
    uint32_t *order;          /* first the slots peeled, then those to be looked at */
    size_t peeled, next, end; /* in it */
    uint64_t *hashes;
    size_t n, added;
    uint64_t cleared; /* slots whose state is in use */
    bool is_mixed_up; /* hashes were not in groups, or too many have a slot in common */
} peeling;

static inline bool is_single(uint64_t state)
{
    return state - ONE_KEY < ONE_KEY;
}

static inline uint64_t mark_of(uint64_t h, unsigned j)
{
    return (h & FUSE_LOW_BITS) | (uint64_t)j << 56;
}

/* ---- Adding keys ------------------------------------------------------- */

static void clear_until(peeling *q, uint64_t end)
{
    if (end > q->slots)
        end = q->slots;
    if (end > q->cleared) {
        memset(q->states + q->cleared, 0, (end - q->cleared) * sizeof *q->states);
        q->cleared = end;
    }
}

/* Adds the keys that start in the segments up to `last`: they come before the first that starts so
 * far behind it that no key of its group can start there. A long loop over copies of what it needs:
 * the compiler cannot know that states are not part of *q. */
static void add_until(peeling *q, uint64_t last)
{
    const shape s = q->s;
    const uint64_t *hashes = q->hashes, seed = q->seed;
    uint64_t *states = q->states, stop = last + (s.starts >> group_bits(q->n)) + 1, start;
    size_t i = q->added, n = q->n;
    uint64_t crowd = 0;
    bool late = false;

    clear_until(q, (stop + ARITY) << s.segment_bits);
    for (; i < n && (start = start_of(&s, hashes[i])) <= stop; i++) {
        uint64_t h = hashes[i], offsets = offsets_of(h & FUSE_LOW_BITS, seed);
        for (unsigned j = 0; j < ARITY; j++) {
            uint64_t *state = &states[slot_of(&s, start, offsets, j)];
            crowd |= *state = (*state ^ mark_of(h, j)) + ONE_KEY;
        }
        late |= start < last;
    }
    q->added = i;
    q->is_mixed_up |= late || crowd >= CROWD;
}

/* ---- Peeling ----------------------------------------------------------- */

/* Takes the key that is left in each slot of the queue out of its other slots; those below `limit`
 * in which it leaves one key join the queue. Above it, slots may get more keys. In the queue a slot
 * waits while its key may be peeled from another one: then nothing is left. */
static void peel_queue(peeling *q, uint64_t limit)
{
    const shape s = q->s;
    const uint64_t seed = q->seed;
    uint64_t *states = q->states;
    uint32_t *order = q->order;
    size_t peeled = q->peeled, end = q->end;

    for (size_t next = q->next; next < end; next++) {
        uint32_t slot = order[next];
        uint64_t state = states[slot];
        if (!is_single(state))
            continue;
        uint64_t start = (slot >> s.segment_bits) - (state >> 56 & 3);
        uint64_t offsets = offsets_of(state & FUSE_LOW_BITS, seed);
        order[peeled++] = slot;
        for (unsigned j = 0; j < ARITY; j++) {
            uint64_t other = slot_of(&s, start, offsets, j);
            uint64_t left = (states[other] ^ mark_of(state, j)) - ONE_KEY;
            states[other] = left;
            order[end] = (uint32_t)other;
            end += is_single(left) & (other < limit);
        }
        states[slot] = state - ONE_KEY;
    }
    q->peeled = q->next = q->end = peeled;
}

static void queue_singles(peeling *q, uint64_t from, uint64_t to)
{
    const uint64_t *states = q->states;
    uint32_t *order = q->order;
    size_t end = q->end;

    for (uint64_t i = from; i < to; i++) {
        order[end] = (uint32_t)i;
        end += is_single(states[i]);
    }
    q->end = end;
}

/* Peels what can be peeled; false if the keys came in no order or too many meet in a slot. */
static bool sweep(peeling *q)
{
    uint64_t length = UINT64_C(1) << q->s.segment_bits;

    q->peeled = q->next = q->end = q->added = 0;
    q->cleared = 0;
    q->is_mixed_up = false;
    for (uint64_t from = 0; from < q->slots && !q->is_mixed_up; from += length) {
        add_until(q, from >> q->s.segment_bits);
        queue_singles(q, from, from + length);
        peel_queue(q, from + length);
    }
    return !q->is_mixed_up;
}

/* ---- The core ---------------------------------------------------------- */

/* A key was peeled if and only if one of its slots has no key left. */
static bool in_core(const peeling *q, uint64_t h)
{
    uint64_t start = start_of(&q->s, h), offsets = offsets_of(h & FUSE_LOW_BITS, q->seed);

    for (unsigned j = 0; j < ARITY; j++)
        if (q->states[slot_of(&q->s, start, offsets, j)] < ONE_KEY)
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

static void take_out(peeling *q, uint64_t h)
{
    uint64_t start = start_of(&q->s, h), offsets = offsets_of(h & FUSE_LOW_BITS, q->seed);

    for (unsigned j = 0; j < ARITY; j++) {
        uint64_t slot = slot_of(&q->s, start, offsets, j);
        q->states[slot] = (q->states[slot] ^ mark_of(h, j)) - ONE_KEY;
        q->order[q->end] = (uint32_t)slot;
        q->end += is_single(q->states[slot]);
    }
}

/* Takes the smallest keys out of the core until it can be peeled; returns how many it took. More
 * than STASH: it cannot. */
static unsigned abandon(peeling *q, uint64_t *stash, const uint64_t *core, size_t n)
{
    unsigned stashed = 0;

    for (size_t i = 0; i < n; i++) {
        if (!in_core(q, core[i]))
            continue;
        if (stashed == STASH)
            return STASH + 1;
        stash[stashed++] = core[i];
        take_out(q, core[i]);
        peel_queue(q, q->slots);
    }
    return stashed;
}

/* ---- Filling slots ----------------------------------------------------- */

FUSE_INLINE void fill_plain(const peeling *q, uint8_t *array, unsigned plain)
{
    const shape s = q->s;
    const uint64_t *states = q->states, seed = q->seed;
    const uint32_t *order = q->order;

    for (size_t i = q->peeled; i-- > 0;) {
        __builtin_prefetch(&states[order[i < AHEAD ? 0 : i - AHEAD]]);
        uint64_t slot = order[i], state = states[slot];
        uint64_t start = (slot >> s.segment_bits) - (state >> 56 & 3);
        uint64_t offsets = offsets_of(state & FUSE_LOW_BITS, seed);
        uint32_t x = (uint32_t)state;

        for (unsigned j = 0; j < ARITY; j++)
            x ^= get(array, slot_of(&s, start, offsets, j), s.width, plain);
        if (plain)
            packed_put(array, slot, plain, x);
        else
            packed_put_odd(array, slot, s.width, x);
    }
}

/* Slots are still zero, so that the key's own is no harm among those it is xored with. */
static void fill(const peeling *q, uint8_t *array)
{
    switch (q->s.width) {
    case 8:
        fill_plain(q, array, 8);
        break;
    case 16:
        fill_plain(q, array, 16);
        break;
    case 32:
        fill_plain(q, array, 32);
        break;
    default:
        fill_plain(q, array, 0);
    }
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

/* Whether the keys, all different, fit with the seed that is set; else whether to sort them first.
 */
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
