/* fuse_peel_template.h - TEMPLATE, compiled once for each FUSE_ARITY and CPU: the keys of one part
 * of a binary fuse filter are peeled (peel.h). The includer defines FUSE_ARITY, and FUSE_AVX2 for
 * AVX2.
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

#include "fuse/fuse_eight_template.h"
#include "fuse/peel.h"

#define FUSE_IS_FAR (UINT64_C(1) << FUSE_FAR_AT)

/* Slots that the wave has not reached count two keys that there are not: none looks as if it had
 * one. */
#define FUSE_AWAITED (PEEL_ONE_KEY * 2)

/* FUSE_STRIDE: blocks by which the sweep moves on. */
enum { FUSE_STRIDE = 32 };

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
    return (g & FUSE_LOW_BITS) | (j < FUSE_IN_NEAR ? 0 : FUSE_IS_FAR);
}

static inline fuse_slots fuse_slots_in(const fuse_peeling *q, uint64_t g)
{
    return fuse_slots_of(&q->s, (uint32_t)g, fuse_near(&q->s, g, q->skip));
}

/* ---- Adding keys ------------------------------------------------------- */

FUSE_INLINE uint64_t fuse_add_to(uint64_t *state, uint64_t mark)
{
    return *state = (*state ^ mark) + PEEL_ONE_KEY;
}

/* Adds keys number i to i + n - 1. */
FUSE_INLINE uint64_t fuse_add_batch(fuse_peeling *q, const fuse_batch *b, size_t i, size_t n)
{
    const uint64_t *keys = q->keys + i;
    uint64_t *states = q->queue.states, crowd = 0;

    for (size_t k = 0; k < n; k++) {
        FUSE_EACH_SLOT
        for (unsigned j = 0; j < FUSE_ARITY; j++)
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
        n = q->n - q->added < FUSE_BATCH ? (q->n - q->added) / FUSE_EIGHT * FUSE_EIGHT : FUSE_BATCH;
        for (added = 0; added < n; added += FUSE_EIGHT) {
            fuse_put_eight(&b, added, s, q->keys + q->added + added, q->skip);
            if (!fuse_are_before(&b, added, stop))
                break;
        }
        crowd |= fuse_add_batch(q, &b, q->added, added);
    } while (added == FUSE_BATCH);
    q->added += added;
    q->is_doubtful |= crowd >= PEEL_CROWD;
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
        states[q->cleared] = FUSE_AWAITED;
    fuse_add_many(q, s, (uint32_t)stop);
    for (; q->added < q->n; q->added++) {
        uint64_t g = q->keys[q->added];
        if ((near = fuse_near(s, g, q->skip)) >= stop)
            break;
        fuse_slots to = fuse_slots_of(s, (uint32_t)g, near);
        FUSE_EACH_SLOT
        for (unsigned j = 0; j < FUSE_ARITY; j++)
            crowd |= fuse_add_to(&states[to.at[j]], fuse_mark(g, j));
    }
    q->is_doubtful |= crowd >= PEEL_CROWD;
}

/* ---- Peeling ----------------------------------------------------------- */

/* What the j-th of the other slots has of a key, of which its own slot has `mark`. */
static inline uint64_t fuse_other_mark(uint64_t mark, unsigned j)
{
    return j == FUSE_IN_NEAR - 1 ? mark ^ FUSE_IS_FAR : fuse_mark(mark, j);
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
        uint64_t mark = states[slot] - PEEL_ONE_KEY;
        if (mark >= PEEL_ONE_KEY)
            continue;
        order[peeled++] = slot;
        states[slot] = mark;
        FUSE_EACH_SLOT
        for (unsigned j = 0; j < FUSE_ARITY - 1; j++) {
            uint32_t at = b->at[j][k];
            uint64_t left = (states[at] ^ fuse_other_mark(mark, j)) - PEEL_ONE_KEY;
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
    uint64_t states[FUSE_BATCH];

    for (size_t i = 0; i < n; i++)
        states[i] = all_states[slots[i]];
    for (size_t i = 0; i < n; i += FUSE_EIGHT)
        fuse_put_eight_of_states(b, i, s, slots + i, states + i);
}

FUSE_INLINE void fuse_peel_queue(peel_queue *q, const fuse_shape *s)
{
    fuse_batch b;

    for (size_t n; (n = q->end - q->next) > 0;) {
        n = n < FUSE_BATCH ? n : FUSE_BATCH;
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
        end += peel_is_single(states[i] -= FUSE_AWAITED);
    }
    q->end = end;
}

/* A worker adds keys, or peels, or both. Keys that are added later have no slot before q->ready;
 * keys that are peeled have none beyond a window and a block behind the wave. */
enum { FUSE_ADDS = 1, FUSE_PEELS = 2, FUSE_ALL_READY = 0x7fffffff };

/* Waits for another worker to have added the keys of all slots before `to`; false if it gave up. */
static bool fuse_await(const fuse_peeling *q, uint32_t to)
{
    uint32_t ready;

    while ((ready = __atomic_load_n(&q->ready, __ATOMIC_ACQUIRE)) < to && ready != FUSE_ALL_READY)
        tamis__yield();
    return ready != FUSE_ALL_READY || !q->is_doubtful;
}

FUSE_INLINE void fuse_sweep_blocks(fuse_peeling *q, const fuse_shape *s, unsigned role)
{
    uint32_t stride = (uint32_t)FUSE_STRIDE << s->block_bits, reach = s->window + s->in_block + 1;
    peel_queue queue = q->queue;
    bool goes_on = true;

    for (uint32_t from = 0; from < q->slots && goes_on; from += stride) {
        uint32_t to = q->slots - from < stride ? q->slots : from + stride;
        if (role & FUSE_ADDS) {
            fuse_add_until(q, s, to);
            goes_on = !q->is_doubtful;
            /* Counts of a crowd may have wrapped: nobody may peel there. */
            if (goes_on)
                __atomic_store_n(&q->ready, to, __ATOMIC_RELEASE);
        } else {
            goes_on = fuse_await(q, to + reach);
        }
        if (role & FUSE_PEELS && goes_on) {
            fuse_queue_singles(&queue, from, to);
            fuse_peel_queue(&queue, s);
        }
    }
    if (role & FUSE_ADDS)
        __atomic_store_n(&q->ready, FUSE_ALL_READY, __ATOMIC_RELEASE);
    if (role & FUSE_PEELS)
        q->queue = queue;
}

/* Of the blocks of most filters the compiler knows the length. */
static void fuse_sweep_as(fuse_peeling *q, unsigned role)
{
    fuse_shape usual = q->s;

    usual.block_bits = FUSE_MOST_BLOCK_BITS;
    usual.in_block = (1 << FUSE_MOST_BLOCK_BITS) - 1;
    usual.in_half = usual.in_block >> 1;
    if (q->s.block_bits == FUSE_MOST_BLOCK_BITS)
        fuse_sweep_blocks(q, &usual, role);
    else
        fuse_sweep_blocks(q, &q->s, role);
}

static void fuse_sweep_piece(void *ctx, size_t piece, unsigned worker)
{
    (void)worker;
    fuse_sweep_as(ctx, piece == 0 ? FUSE_ADDS : FUSE_PEELS);
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
    fuse_sweep_as(q, FUSE_ADDS | FUSE_PEELS);
}

#endif
