/* peel.h - solving one part of a binary fuse filter: choose a slot of its own for every key, so
 * that the slots can be filled one after the other.
 *
 * A slot that only one key has is that key's: whatever the others want, it is written last. Without
 * that key, other slots may have one key only, and so on. The first window of blocks is near to no
 * key, and far from few: it has few keys. Peeling starts there and moves on like a wave (it would
 * not start at the other end, whose blocks have two slots of a key or more); a sweep from the first
 * block to the last, in which keys are added just ahead of the wave, works on some three windows of
 * blocks at a time and stays in the cache.
 *
 * State of a slot: one word, made of all keys that have it and are not peeled yet.
 *
 *   bits 0 .. 56   xor of their low bits
 *   bit 57         xor of 1 for keys of which this is the far block
 *   bits 58 .. 63  how many they are
 *
 * When one is left, the word names it, since its low bits tell how far the far block is from the
 * near one. It is left there when the key is peeled, so that the order of peeling is an array of
 * slots, four bytes a key. Slots are read in that order, then written in the opposite one.
 *
 * The word of a slot depends on the set of keys, not on their order: so does all that follows.
 *
 * What cannot be peeled is a core in which every slot has two keys: duplicates, of which one is
 * kept; else bad luck, such as two keys with the same slots. A few keys of a small core are put in
 * the stash, unless their slots suit them by chance; a large one gets another seed. */
#ifndef TAMIS_FUSE_PEEL_H
#define TAMIS_FUSE_PEEL_H

#include <string.h>

#include "base/sort.h"
#include "fuse/eight.h"

/* ---- State of slots ---------------------------------------------------- */

#define ONE_KEY (UINT64_C(1) << 58)
#define IS_FAR (UINT64_C(1) << FAR_AT)

/* Slots that the wave has not reached count two keys that there are not: none looks as if it had
 * one. */
#define AWAITED (ONE_KEY * 2)

/* Of half as many keys as can be counted in a slot, most must be the same one. */
#define CROWD (ONE_KEY * 32)

enum { SEEDS = 64, LARGEST_CORE = 1024, AHEAD = 64 };

/* Blocks by which the sweep moves on. */
enum { STRIDE = 32 };

typedef struct peeling {
    shape s;
    uint32_t slots;
    unsigned seed, skip;      /* see near_of() */
    uint64_t *states;         /* of slots */
    uint32_t *order;          /* first the slots peeled, then those to be looked at */
    size_t peeled, next, end; /* in it */
    uint64_t *keys;           /* g of each */
    size_t n, added;
    uint32_t cleared; /* slots whose state is in use */
    bool is_crowded;  /* too many have a slot in common */
} peeling;

static inline bool is_single(uint64_t state)
{
    return state - ONE_KEY < ONE_KEY;
}

/* What the j-th slot of a key has of it. */
static inline uint64_t mark_of(uint64_t g, unsigned j)
{
    return (g & PRINT_MASK) | (j < IN_NEAR ? 0 : IS_FAR);
}

/* The slots of the key that is left in a slot. */
static inline spots spots_left(const shape *s, uint32_t slot, uint64_t state)
{
    return spots_of(s, (uint32_t)state, near_left(s, slot, state));
}

static inline spots spots_in(const peeling *q, uint64_t g)
{
    return spots_of(&q->s, (uint32_t)g, near_of(&q->s, g, q->skip));
}

/* The same shape, of which the compiler knows a little more. */
FUSE_INLINE shape in_blocks_of(const shape *s, unsigned block_bits)
{
    shape known = *s;

    known.block_bits = block_bits;
    known.in_block = (UINT32_C(1) << block_bits) - 1;
    known.in_half = known.in_block >> 1;
    return known;
}

/* ---- Adding keys ------------------------------------------------------- */

static void clear_until(peeling *q, uint64_t end)
{
    if (end > q->slots)
        end = q->slots;
    for (; q->cleared < end; q->cleared++)
        q->states[q->cleared] = AWAITED;
}

FUSE_INLINE uint64_t add_to(uint64_t *state, uint64_t mark)
{
    return *state = (*state ^ mark) + ONE_KEY;
}

/* Adds keys number i to i + n - 1. */
FUSE_INLINE uint64_t add_places(peeling *q, const places *p, size_t i, size_t n)
{
    const uint64_t *keys = q->keys + i;
    uint64_t *states = q->states, crowd = 0;

    for (size_t k = 0; k < n; k++) {
        for (unsigned j = 0; j < ARITY; j++)
            crowd |= add_to(&states[p->at[j][k]], mark_of(keys[k], j));
    }
    return crowd;
}

/* Adds keys, many at a time, up to eight of which some are not before `stop`. */
FUSE_INLINE void add_many(peeling *q, const shape *s, uint32_t stop)
{
    size_t added = 0, n;
    uint64_t crowd = 0;
    places p;

    do {
        q->added += added;
        n = q->n - q->added < PLACES ? (q->n - q->added) / EIGHT * EIGHT : PLACES;
        for (added = 0; added < n; added += EIGHT) {
            place_eight(&p, added, s, q->keys + q->added + added, q->skip);
            if (!are_before(&p, added, stop))
                break;
        }
        crowd |= add_places(q, &p, q->added, added);
    } while (added == PLACES);
    q->added += added;
    q->is_crowded |= crowd >= CROWD;
}

/* Adds the keys that have a slot before `last`: they come before the first whose near block is so
 * far behind the window of that one that no key of its group can reach it. */
FUSE_INLINE void add_until(peeling *q, const shape *s, uint32_t last)
{
    uint64_t stop = (s->starts >> group_bits(q->n)) + 2, crowd = 0;
    uint32_t near;

    stop = (stop << s->block_bits) + s->window + last;
    clear_until(q, stop);
    add_many(q, s, stop < q->slots ? (uint32_t)stop : q->slots);
    for (; q->added < q->n; q->added++) {
        uint64_t g = q->keys[q->added];
        if ((near = near_of(s, g, q->skip)) >= stop)
            break;
        spots to = spots_of(s, (uint32_t)g, near);
        for (unsigned j = 0; j < ARITY; j++)
            crowd |= add_to(&q->states[to.at[j]], mark_of(g, j));
    }
    q->is_crowded |= crowd >= CROWD;
}

/* ---- Peeling ----------------------------------------------------------- */

/* Takes the key that is left in each slot of the queue out of its other slots; those in which it
 * leaves one key join the queue. In the queue a slot waits while its key may be peeled from another
 * one: then nothing is left. A long loop over copies of what it needs: the compiler cannot know
 * that states are not part of *q. */
FUSE_INLINE void peel_queue(peeling *q, const shape *s)
{
    uint64_t *states = q->states;
    uint32_t *order = q->order;
    size_t peeled = q->peeled, end = q->end;

    for (size_t next = q->next; next < end; next++) {
        uint32_t slot = order[next];
        uint64_t state = states[slot];
        if (!is_single(state))
            continue;
        spots to = spots_left(s, slot, state);
        order[peeled++] = slot;
        for (unsigned j = 0; j < ARITY; j++) {
            uint64_t left = (states[to.at[j]] ^ mark_of(state, j)) - ONE_KEY;
            states[to.at[j]] = left;
            order[end] = to.at[j];
            end += is_single(left);
        }
        states[slot] = state - ONE_KEY;
    }
    q->peeled = q->next = q->end = peeled;
}

/* What the wave reaches has all its keys. */
static void queue_singles(peeling *q, uint32_t from, uint32_t to)
{
    uint64_t *states = q->states;
    uint32_t *order = q->order;
    size_t end = q->end;

    for (uint32_t i = from; i < to; i++) {
        order[end] = i;
        end += is_single(states[i] -= AWAITED);
    }
    q->end = end;
}

FUSE_INLINE void sweep_blocks(peeling *q, const shape *s)
{
    uint32_t stride = (uint32_t)STRIDE << s->block_bits;

    for (uint32_t from = 0; from < q->slots && !q->is_crowded; from += stride) {
        uint32_t to = q->slots - from < stride ? q->slots : from + stride;
        add_until(q, s, to);
        queue_singles(q, from, to);
        peel_queue(q, s);
    }
}

/* Peels what can be peeled; false if too many keys meet in a slot. */
static bool sweep(peeling *q)
{
    shape large = in_blocks_of(&q->s, MOST_BLOCK_BITS);

    q->peeled = q->next = q->end = q->added = 0;
    q->cleared = 0;
    q->is_crowded = false;
    if (q->s.block_bits == MOST_BLOCK_BITS)
        sweep_blocks(q, &large);
    else
        sweep_blocks(q, &q->s);
    return !q->is_crowded;
}

/* ---- The core ---------------------------------------------------------- */

/* A key was peeled if and only if one of its slots has no key left. */
static bool in_core(const peeling *q, uint64_t g)
{
    spots to = spots_in(q, g);

    for (unsigned j = 0; j < ARITY; j++)
        if (q->states[to.at[j]] < ONE_KEY)
            return false;
    return true;
}

static bool has_core(const peeling *q, uint32_t block)
{
    const uint64_t *states = q->states + ((size_t)block << q->s.block_bits);
    uint64_t any = 0;

    for (uint32_t i = 0; i <= q->s.in_block; i++)
        any |= states[i];
    return any >= ONE_KEY;
}

/* Keys come in groups of equal leading bits, ascending; within a group they may be in any order. */
static uint64_t group_of(const peeling *q, uint64_t g)
{
    return g << q->skip >> 32 >> (32 - group_bits(q->n));
}

static size_t first_of_group(const peeling *q, uint64_t group)
{
    size_t low = 0, high = q->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (group_of(q, q->keys[middle]) < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds the keys of the core with that near block to the n that there are. */
static size_t collect(const peeling *q, uint64_t *core, size_t n, uint64_t block)
{
    uint64_t start = block - (q->s.window >> q->s.block_bits);
    uint64_t lead = ((start << 32) + q->s.starts - 1) / q->s.starts;
    size_t i = first_of_group(q, lead >> (32 - group_bits(q->n)));

    for (; i < q->n && n < LARGEST_CORE; i++) {
        uint64_t first_of_its_group = group_of(q, q->keys[i]) << (32 - group_bits(q->n));
        if (first_of_its_group * q->s.starts >> 32 > start)
            break;
        if (near_of(&q->s, q->keys[i], q->skip) >> q->s.block_bits == block &&
            in_core(q, q->keys[i]))
            core[n++] = q->keys[i];
    }
    return n;
}

/* The keys of a small core, ascending. */
static size_t find_core(const peeling *q, uint64_t *core)
{
    uint32_t blocks = q->slots >> q->s.block_bits;
    size_t n = 0;

    for (uint32_t block = q->s.window >> q->s.block_bits; block < blocks && n < LARGEST_CORE;
         block++)
        if (has_core(q, block))
            n = collect(q, core, n, block);
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

static void take_out(peeling *q, uint64_t g)
{
    spots to = spots_in(q, g);

    for (unsigned j = 0; j < ARITY; j++) {
        uint64_t *state = &q->states[to.at[j]];
        *state = (*state ^ mark_of(g, j)) - ONE_KEY;
        q->order[q->end] = to.at[j];
        q->end += is_single(*state);
    }
}

/* Takes the smallest keys out of the core until it can be peeled, and puts them in front; returns
 * how many it took. If that is more than the stash holds, it gave up. */
static size_t abandon(peeling *q, uint64_t *core, size_t n)
{
    size_t taken = 0;

    for (size_t i = 0; i < n && taken <= q->s.stash; i++) {
        if (!in_core(q, core[i]))
            continue;
        take_out(q, core[i]);
        peel_queue(q, &q->s);
        core[taken++] = core[i];
    }
    return taken;
}

/* ---- Filling slots ----------------------------------------------------- */

FUSE_INLINE void put(uint8_t *array, uint32_t slot, unsigned width, unsigned plain, uint32_t x)
{
    if (plain)
        packed_put(array, slot, plain, x);
    else
        packed_put_odd(array, slot, width, x);
}

/* Fills n slots, from the last of the order to the first. */
FUSE_INLINE void fill_places(uint8_t *array, const places *p, const uint32_t *order, size_t n,
                             unsigned width, unsigned plain)
{
    while (n-- > 0) {
        uint32_t x = p->print[n];
        for (unsigned j = 0; j < ARITY; j++)
            x ^= get(array, p->at[j][n], width, plain);
        put(array, order[n], width, plain, x);
    }
}

/* Behind the last of the order are more slots, of which nothing is needed but that they are some:
 * so that places can be found for eight at a time. */
FUSE_INLINE void fill_plain(const peeling *q, uint8_t *array, unsigned plain)
{
    const shape *s = &q->s;
    uint64_t states[PLACES];
    places p;

    for (size_t end = q->peeled, n; end > 0; end -= n) {
        n = end < PLACES ? end : PLACES;
        const uint32_t *order = q->order + end - n;
        const uint32_t *coming = order < q->order + PLACES ? q->order : order - PLACES;
        for (size_t i = 0; i < n; i++) {
            __builtin_prefetch(&q->states[coming[i]]);
            states[i] = q->states[order[i]];
        }
        for (size_t i = 0; i < n; i += EIGHT)
            trace_eight(&p, i, s, order + i, states + i);
        fill_places(array, &p, order, n, s->width, plain);
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

/* A key that was abandoned may have its fingerprint in its slots for all that: it has if it shares
 * all of them with another key. Returns how many have not, and puts them in front. */
static size_t without_a_slot(const peeling *q, const uint8_t *array, uint64_t *keys, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        spots to = spots_in(q, keys[i]);
        uint32_t x = print_of(keys[i]);
        for (unsigned j = 0; j < ARITY; j++)
            x ^= packed_get(array, to.at[j], q->s.width);
        if (x & packed_mask(q->s.width))
            keys[kept++] = keys[i];
    }
    return kept;
}

static void fill_tail(const peeling *q, uint8_t *tail, const uint64_t *stash, size_t stashed)
{
    put_le32(tail, (uint32_t)q->n);
    if (q->n > 0)
        tail[TAIL_TRIES] = (uint8_t)(q->seed + 1);
    put_le16(tail + TAIL_STASHED, (uint16_t)stashed);
    for (size_t i = 0; i < stashed; i++) {
        uint8_t *word = tail + stash_word(&q->s, stash[i]);
        put_le64(word, le64(word) | UINT64_C(1) << stash[i] % 64);
        put_le64(tail + TAIL_BITMAP + q->s.bitmap + 8 * i, stash[i]);
    }
}

/* ---- One part ---------------------------------------------------------- */

static inline size_t scratch(const tamis_plan *p, enum tamis_stage stage, size_t n)
{
    (void)n, (void)stage;
    /* The queue is written to before it is known whether the slot joins it. */
    return (size_t)(p->slots * (sizeof(uint64_t) + sizeof(uint32_t)) + 64);
}

/* Whether the keys fit, but for those that the stash takes; else, whether some may be duplicates.
 */
static bool peel(peeling *q, uint64_t *core, size_t *stashed, bool *is_doubtful)
{
    *stashed = 0;
    *is_doubtful = !sweep(q);
    if (*is_doubtful || q->peeled == q->n)
        return !*is_doubtful;
    size_t n = find_core(q, core);
    *is_doubtful = n == LARGEST_CORE || has_duplicates(core, n);
    if (*is_doubtful)
        return false;
    *stashed = abandon(q, core, n);
    return *stashed <= q->s.stash;
}

/* Places the keys by another seed. They are in no order then, until they are sorted. */
static void reseed(peeling *q, unsigned seed)
{
    for (size_t i = 0; i < q->n; i++)
        q->keys[i] = seeded(unseeded(q->keys[i], q->seed), seed);
    tamis__sort(q->keys, q->n);
    q->seed = seed;
    q->skip = 0;
}

static tamis_status solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                          size_t *n, void *memory)
{
    const tamis_plan *p = &f->plan;
    uint64_t *hashes = (uint64_t *)items;
    peeling q = { .s = shape_of(p), .slots = (uint32_t)p->slots, .keys = hashes, .n = *n };
    uint64_t core[LARGEST_CORE];
    bool done, is_doubtful;
    size_t stashed;

    (void)stage;
    q.skip = q.s.part_bits;
    q.states = memory;
    q.order = (uint32_t *)(q.states + p->slots);
    done = peel(&q, core, &stashed, &is_doubtful);
    if (is_doubtful) {
        q.n = *n = tamis__sort_unique(hashes, *n);
        done = peel(&q, core, &stashed, &is_doubtful);
    }
    while (!done && q.seed < SEEDS - 1) {
        reseed(&q, q.seed + 1);
        done = peel(&q, core, &stashed, &is_doubtful);
    }
    if (!done)
        return TAMIS_FULL;
    fill(&q, part);
    stashed = without_a_slot(&q, part, core, stashed);
    fill_tail(&q, (uint8_t *)part + q.s.tail, core, stashed);
    return TAMIS_OK;
}

#endif
