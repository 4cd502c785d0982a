/* fuse_peel_template.h - TEMPLATE, compiled once for each ARITY and CPU: one part of a binary fuse
 * filter is solved by peeling (peel.h). The includer defines ARITY, and FUSE_AVX2 for AVX2.
 *
 * The first window of blocks is near to no key, and far from few: it has few keys. Peeling starts
 * there and moves on like a wave. (It would not start at the other end, whose blocks have two slots
 * of a key or more.) A sweep from the first block to the last, in which keys are added just ahead
 * of the wave, works on some three windows of blocks at a time and stays in the cache.
 *
 *   slots      ........xxxxxxxxxxxxxxxxAAAAAAAAAAAAAAAAAAAA------------------
 *              peeled  |the wave       |keys are added,    |no keys yet
 *                                       more may come
 *
 * The mark of a key is 57 bits of its hash, then a bit that tells whether the slot is in its far
 * block: its low bits tell how far that is from the near one. */
#ifndef TAMIS_FUSE_FUSE_PEEL_TEMPLATE_H
#define TAMIS_FUSE_FUSE_PEEL_TEMPLATE_H

#include "base/ahead.h"
#include "base/sort.h"
#include "fuse/fuse_eight_template.h"
#include "fuse/peel.h"

#define IS_FAR (UINT64_C(1) << FAR_AT)

/* Slots that the wave has not reached count two keys that there are not: none looks as if it had
 * one. */
#define AWAITED (ONE_KEY * 2)

/* STRIDE: blocks by which the sweep moves on. */
enum { LARGEST_CORE = 1024, STRIDE = 32, AHEAD = 4 * BATCH };

typedef struct fuse_peeling {
    peel_queue queue;
    fuse_shape s;
    uint32_t slots;
    unsigned seed, skip; /* see fuse_near() */
    uint64_t *keys;      /* g of each */
    size_t n, added;
    uint32_t cleared; /* slots whose state is in use */
    uint64_t *core;   /* keys that cannot be peeled: first those to be stashed */
    size_t stashed;
    bool is_doubtful; /* if keys do not fit, some may be duplicates */
    const tamis_team *team;
    uint32_t ready; /* slots before which another worker has added all keys */
} fuse_peeling;

/* What the j-th slot of a key has of it. */
static inline uint64_t fuse_mark(uint64_t g, unsigned j)
{
    return (g & LOW_BITS) | (j < IN_NEAR ? 0 : IS_FAR);
}

static inline fuse_slots fuse_slots_in(const fuse_peeling *q, uint64_t g)
{
    return fuse_slots_of(&q->s, (uint32_t)g, fuse_near(&q->s, g, q->skip));
}

/* ---- Adding keys ------------------------------------------------------- */

FUSE_INLINE uint64_t fuse_add_to(uint64_t *state, uint64_t mark)
{
    return *state = (*state ^ mark) + ONE_KEY;
}

/* Adds keys number i to i + n - 1. */
FUSE_INLINE uint64_t fuse_add_batch(fuse_peeling *q, const fuse_batch *b, size_t i, size_t n)
{
    const uint64_t *keys = q->keys + i;
    uint64_t *states = q->queue.states, crowd = 0;

    for (size_t k = 0; k < n; k++) {
        FUSE_EACH_SLOT
        for (unsigned j = 0; j < ARITY; j++)
            crowd |= fuse_add_to(&states[b->at[j][k]], fuse_mark(keys[k], j));
    }
    return crowd;
}

/* Adds keys, many at a time, up to eight of which some are not before `stop`. */
FUSE_INLINE void fuse_add_many(fuse_peeling *q, const fuse_shape *s, uint32_t stop)
{
    size_t added = 0, n;
    uint64_t crowd = 0;
    fuse_batch b;

    do {
        q->added += added;
        n = q->n - q->added < BATCH ? (q->n - q->added) / EIGHT * EIGHT : BATCH;
        for (added = 0; added < n; added += EIGHT) {
            fuse_put_eight(&b, added, s, q->keys + q->added + added, q->skip);
            if (!fuse_are_before(&b, added, stop))
                break;
        }
        crowd |= fuse_add_batch(q, &b, q->added, added);
    } while (added == BATCH);
    q->added += added;
    q->is_doubtful |= crowd >= CROWD;
}

/* Adds the keys that have a slot before `last`: they come before the first whose near block is so
 * far behind the window of that one that no key of its group can reach it. */
FUSE_INLINE void fuse_add_until(fuse_peeling *q, const fuse_shape *s, uint32_t last)
{
    uint64_t *states = q->queue.states, crowd = 0;
    uint64_t stop = (s->starts >> group_bits(q->n)) + 2;
    uint32_t near;

    stop = (stop << s->block_bits) + s->window + last;
    stop = stop < q->slots ? stop : q->slots;
    for (; q->cleared < stop; q->cleared++)
        states[q->cleared] = AWAITED;
    fuse_add_many(q, s, (uint32_t)stop);
    for (; q->added < q->n; q->added++) {
        uint64_t g = q->keys[q->added];
        if ((near = fuse_near(s, g, q->skip)) >= stop)
            break;
        fuse_slots to = fuse_slots_of(s, (uint32_t)g, near);
        FUSE_EACH_SLOT
        for (unsigned j = 0; j < ARITY; j++)
            crowd |= fuse_add_to(&states[to.at[j]], fuse_mark(g, j));
    }
    q->is_doubtful |= crowd >= CROWD;
}

/* ---- Peeling ----------------------------------------------------------- */

/* What the j-th of the other slots has of a key, of which its own slot has `mark`. */
static inline uint64_t fuse_other_mark(uint64_t mark, unsigned j)
{
    return j == IN_NEAR - 1 ? mark ^ IS_FAR : fuse_mark(mark, j);
}

/* Takes the keys that are left in n slots of the queue out of their other slots; those in which
 * that leaves one key join the queue. In the queue a slot waits while its key may be peeled from
 * another one: then nothing is left. */
FUSE_INLINE void fuse_peel_batch(peel_queue *q, const fuse_batch *b, size_t n)
{
    uint64_t *states = q->states;
    uint32_t *order = q->order;
    const uint32_t *slots = order + q->next;
    size_t peeled = q->peeled, end = q->end;

    for (size_t k = 0; k < n; k++) {
        uint32_t slot = slots[k];
        uint64_t mark = states[slot] - ONE_KEY;
        if (mark >= ONE_KEY)
            continue;
        order[peeled++] = slot;
        states[slot] = mark;
        FUSE_EACH_SLOT
        for (unsigned j = 0; j < ARITY - 1; j++) {
            uint32_t at = b->at[j][k];
            uint64_t left = (states[at] ^ fuse_other_mark(mark, j)) - ONE_KEY;
            states[at] = left;
            order[end] = at;
            end += peel_is_single(left);
        }
    }
    q->peeled = peeled;
    q->end = end;
    q->next += n;
}

/* Other slots of the keys that are left in n slots, and their fingerprints. Behind the last slot
 * are more, of which nothing is needed but that they are some: so that it can be done for eight at
 * a time. */
FUSE_INLINE void fuse_put_others(fuse_batch *b, const fuse_shape *s, const uint64_t *all_states,
                                 const uint32_t *slots, size_t n)
{
    uint64_t states[BATCH];

    for (size_t i = 0; i < n; i++)
        states[i] = all_states[slots[i]];
    for (size_t i = 0; i < n; i += EIGHT)
        fuse_put_eight_of_states(b, i, s, slots + i, states + i);
}

FUSE_INLINE void fuse_peel_queue(peel_queue *q, const fuse_shape *s)
{
    fuse_batch b;

    for (size_t n; (n = q->end - q->next) > 0;) {
        n = n < BATCH ? n : BATCH;
        fuse_put_others(&b, s, q->states, q->order + q->next, n);
        fuse_peel_batch(q, &b, n);
    }
    q->next = q->end = q->peeled;
}

/* What the wave reaches has all its keys. */
static void fuse_queue_singles(peel_queue *q, uint32_t from, uint32_t to)
{
    uint64_t *states = q->states;
    uint32_t *order = q->order;
    size_t end = q->end;

    for (uint32_t i = from; i < to; i++) {
        order[end] = i;
        end += peel_is_single(states[i] -= AWAITED);
    }
    q->end = end;
}

/* A worker adds keys, or peels, or both. Keys that are added later have no slot before q->ready;
 * keys that are peeled have none beyond a window and a block behind the wave. */
enum { ADDS = 1, PEELS = 2, ALL_READY = 0x7fffffff };

/* Waits for another worker to have added the keys of all slots before `to`; false if it gave up. */
static bool fuse_await(const fuse_peeling *q, uint32_t to)
{
    uint32_t ready;

    while ((ready = __atomic_load_n(&q->ready, __ATOMIC_ACQUIRE)) < to && ready != ALL_READY)
        tamis__yield();
    return ready != ALL_READY || !q->is_doubtful;
}

FUSE_INLINE void fuse_sweep_blocks(fuse_peeling *q, const fuse_shape *s, unsigned role)
{
    uint32_t stride = (uint32_t)STRIDE << s->block_bits, reach = s->window + s->in_block + 1;
    peel_queue queue = q->queue;
    bool goes_on = true;

    for (uint32_t from = 0; from < q->slots && goes_on; from += stride) {
        uint32_t to = q->slots - from < stride ? q->slots : from + stride;
        if (role & ADDS) {
            fuse_add_until(q, s, to);
            goes_on = !q->is_doubtful;
            /* Counts of a crowd may have wrapped: nobody may peel there. */
            if (goes_on)
                __atomic_store_n(&q->ready, to, __ATOMIC_RELEASE);
        } else {
            goes_on = fuse_await(q, to + reach);
        }
        if (role & PEELS && goes_on) {
            fuse_queue_singles(&queue, from, to);
            fuse_peel_queue(&queue, s);
        }
    }
    if (role & ADDS)
        __atomic_store_n(&q->ready, ALL_READY, __ATOMIC_RELEASE);
    if (role & PEELS)
        q->queue = queue;
}

/* Of the blocks of most filters the compiler knows the length. */
static void fuse_sweep_as(fuse_peeling *q, unsigned role)
{
    fuse_shape usual = q->s;

    usual.block_bits = MOST_BLOCK_BITS;
    usual.in_block = (1 << MOST_BLOCK_BITS) - 1;
    usual.in_half = usual.in_block >> 1;
    if (q->s.block_bits == MOST_BLOCK_BITS)
        fuse_sweep_blocks(q, &usual, role);
    else
        fuse_sweep_blocks(q, &q->s, role);
}

static void fuse_sweep_piece(void *ctx, size_t piece, unsigned worker)
{
    (void)worker;
    fuse_sweep_as(ctx, piece == 0 ? ADDS : PEELS);
}

static void fuse_start_sweep(fuse_peeling *q)
{
    q->queue.peeled = q->queue.next = q->queue.end = q->added = 0;
    q->cleared = q->ready = 0;
    q->is_doubtful = false;
}

/* Peels what can be peeled, unless too many keys meet in a slot. By two workers, more may: those
 * that one would have peeled before the others come. */
static void fuse_sweep(fuse_peeling *q)
{
    fuse_start_sweep(q);
    if (q->team)
        q->team->run(q->team, fuse_sweep_piece, q, 2);
    if (q->team && !q->is_doubtful)
        return;
    fuse_start_sweep(q);
    fuse_sweep_as(q, ADDS | PEELS);
}

/* ---- The core ---------------------------------------------------------- */

static bool fuse_in_core(const fuse_peeling *q, uint64_t g)
{
    return peel_in_core(&q->queue, fuse_slots_in(q, g).at, ARITY);
}

static bool fuse_block_has_core(const fuse_peeling *q, uint32_t block)
{
    const uint64_t *states = q->queue.states + ((size_t)block << q->s.block_bits);
    uint64_t any = 0;

    for (uint32_t i = 0; i <= q->s.in_block; i++)
        any |= states[i];
    return any >= ONE_KEY;
}

/* Keys come in groups of equal leading bits, ascending; within a group they may be in any order. */
static uint64_t fuse_group_of(const fuse_peeling *q, uint64_t g)
{
    return g << q->skip >> 32 >> (32 - group_bits(q->n));
}

static size_t fuse_first_of_group(const fuse_peeling *q, uint64_t group)
{
    size_t low = 0, high = q->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (fuse_group_of(q, q->keys[middle]) < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds the keys of the core with that near block to the n that there are. */
static size_t fuse_add_to_core(fuse_peeling *q, size_t n, uint64_t block)
{
    uint64_t start = block - (q->s.window >> q->s.block_bits);
    uint64_t lead = ((start << 32) + q->s.starts - 1) / q->s.starts;
    size_t i = fuse_first_of_group(q, lead >> (32 - group_bits(q->n)));

    for (; i < q->n && n < LARGEST_CORE; i++) {
        uint64_t first_of_its_group = fuse_group_of(q, q->keys[i]) << (32 - group_bits(q->n));
        if (first_of_its_group * q->s.starts >> 32 > start)
            break;
        if (fuse_near(&q->s, q->keys[i], q->skip) >> q->s.block_bits == block &&
            fuse_in_core(q, q->keys[i]))
            q->core[n++] = q->keys[i];
    }
    return n;
}

/* The keys of a small core, ascending. */
static size_t fuse_find_core(fuse_peeling *q)
{
    uint32_t blocks = q->slots >> q->s.block_bits, block = q->s.window >> q->s.block_bits;
    size_t n = 0;

    for (; block < blocks && n < LARGEST_CORE; block++)
        if (fuse_block_has_core(q, block))
            n = fuse_add_to_core(q, n, block);
    tamis__sort(q->core, n);
    return n;
}

/* Takes the smallest of the n keys out of the core until it can be peeled; false if the stash does
 * not hold them. */
static bool fuse_stash_core(fuse_peeling *q, size_t n)
{
    for (size_t i = 0; i < n && q->stashed <= q->s.stash; i++) {
        if (!fuse_in_core(q, q->core[i]))
            continue;
        fuse_slots to = fuse_slots_in(q, q->core[i]);
        for (unsigned j = 0; j < ARITY; j++)
            peel_take_out(&q->queue, to.at[j], fuse_mark(q->core[i], j));
        fuse_peel_queue(&q->queue, &q->s);
        q->core[q->stashed++] = q->core[i];
    }
    return q->stashed <= q->s.stash;
}

/* ---- Filling slots ----------------------------------------------------- */

/* Fills n slots, from the last of the order to the first. States of the slots that come `AHEAD`
 * later are asked for one by one: not all at a time, and to the second cache, which has more
 * requests open. */
FUSE_INLINE void fuse_fill_batch(uint8_t *array, const fuse_batch *b, const uint32_t *order,
                                 size_t n, unsigned width, unsigned plain, const uint64_t *states,
                                 const uint32_t *coming)
{
    while (n-- > 0) {
        uint32_t x = b->fingerprint[n];
        ahead_read(&states[coming[n]], true);
        FUSE_EACH_SLOT
        for (unsigned j = 0; j < ARITY - 1; j++)
            x ^= fingerprint_get(array, b->at[j][n], width, plain);
        fingerprint_put(array, order[n], width, plain, x);
    }
}

FUSE_INLINE void fuse_fill(const fuse_peeling *q, uint8_t *array, unsigned plain)
{
    const uint64_t *states = q->queue.states;
    const uint32_t *first = q->queue.order;
    fuse_batch b;

    for (size_t end = q->queue.peeled, n; end > 0; end -= n) {
        n = end < BATCH ? end : BATCH;
        const uint32_t *order = first + end - n;
        const uint32_t *coming = end - n < AHEAD ? first : order - AHEAD;
        fuse_put_others(&b, &q->s, states, order, n);
        fuse_fill_batch(array, &b, order, n, q->s.width, plain, states, coming);
    }
}

/* A key of the stash may have its fingerprint in its slots for all that: it has if it shares all of
 * them with another key. Keeps those that have not. */
static void fuse_unstash_found(fuse_peeling *q, const uint8_t *array)
{
    size_t n = q->stashed;

    q->stashed = 0;
    for (size_t i = 0; i < n; i++) {
        fuse_slots to = fuse_slots_in(q, q->core[i]);
        uint32_t x = fuse_fingerprint(q->core[i]);
        for (unsigned j = 0; j < ARITY; j++)
            x ^= packed_get(array, to.at[j], q->s.width);
        if (x & packed_mask(q->s.width))
            q->core[q->stashed++] = q->core[i];
    }
}

static void fuse_fill_tail(const fuse_peeling *q, uint8_t *tail)
{
    put_le32(tail, (uint32_t)q->n);
    if (q->n > 0)
        tail[TAIL_TRIES] = (uint8_t)(q->seed + 1);
    put_le16(tail + TAIL_STASHED, (uint16_t)q->stashed);
    for (size_t i = 0; i < q->stashed; i++) {
        tail[fuse_stash_byte(&q->s, q->core[i])] |= (uint8_t)(1 << q->core[i] % 8);
        put_le64(tail + TAIL_BITMAP + q->s.bitmap + 8 * i, q->core[i]);
    }
}

/* ---- One part ---------------------------------------------------------- */

/* Whether the keys fit, but for those that the stash takes. */
static bool fuse_peel(fuse_peeling *q)
{
    q->stashed = 0;
    fuse_sweep(q);
    if (q->is_doubtful || q->queue.peeled == q->n)
        return !q->is_doubtful;
    size_t n = fuse_find_core(q);
    q->is_doubtful = n == LARGEST_CORE;
    for (size_t i = 1; i < n; i++)
        q->is_doubtful |= q->core[i] == q->core[i - 1];
    return !q->is_doubtful && fuse_stash_core(q, n);
}

/* Gives the keys the slots of another seed. They are in no order then, until they are sorted. */
static void fuse_reseed(fuse_peeling *q, unsigned seed)
{
    for (size_t i = 0; i < q->n; i++)
        q->keys[i] = fuse_seeded(fuse_unseeded(q->keys[i], q->seed), seed);
    tamis__sort(q->keys, q->n);
    q->seed = seed;
    q->skip = 0;
}

/* The queue is written to before it is known whether the slot joins it: 64 bytes more. */
static inline uint64_t fuse_scratch(const tamis_plan *p, enum tamis_stage stage, uint64_t n,
                                    unsigned workers)
{
    (void)n, (void)stage, (void)workers;
    return (LARGEST_CORE + p->slots) * sizeof(uint64_t) + p->slots * sizeof(uint32_t) + 64;
}

static tamis_status fuse_solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                               size_t *n, void *scratch, const tamis_team *team)
{
    fuse_peeling q = { .s = *fuse_shape_in(f), .slots = (uint32_t)f->plan.slots, .team = team };

    (void)stage;
    q.keys = items;
    q.n = *n;
    q.skip = q.s.part_bits;
    q.core = scratch;
    q.queue.states = q.core + LARGEST_CORE;
    q.queue.order = (uint32_t *)(q.queue.states + q.slots);
    bool done = fuse_peel(&q);
    if (!done && q.is_doubtful) {
        q.n = *n = tamis__sort_unique(q.keys, *n);
        done = fuse_peel(&q);
    }
    while (!done && q.seed < SEEDS - 1) {
        fuse_reseed(&q, q.seed + 1);
        done = fuse_peel(&q);
    }
    if (!done)
        return TAMIS_FULL;
    FUSE_BY_WIDTH(q.s.width, fuse_fill, &q, (uint8_t *)part);
    fuse_unstash_found(&q, part);
    fuse_fill_tail(&q, (uint8_t *)part + q.s.tail);
    return TAMIS_OK;
}

#endif
