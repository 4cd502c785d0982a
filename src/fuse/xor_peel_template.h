/* xor_peel_template.h - TEMPLATE, compiled once for each THIRD: one part of a xor filter is solved
 * by peeling (peel.h). The includer defines THIRD: see xor_layout_template.h.
 *
 * Slots of a key lie anywhere: whatever is needed next is asked for ahead of its use.
 *
 * If slots that are zero are left out (THIRD > 1), the third block is to stay as empty as possible:
 * slots of it are put off until no other is left, then taken a few at a time.
 *
 * Keys of equal marks have the same fingerprint in the same slots: one of them is kept. */
#ifndef TAMIS_FUSE_XOR_PEEL_TEMPLATE_H
#define TAMIS_FUSE_XOR_PEEL_TEMPLATE_H

#include <string.h>

#include "base/cpu.h"
#include "base/sort.h"
#include "fuse/peel.h"
#include "fuse/xor_layout_template.h"

#define MARK_MASK (ONE_KEY - 1)

enum { LARGEST_CORE = 256, AHEAD = 32, MOST_AT_A_TIME = 64 };

typedef struct xor_peeling {
    peel_queue queue;
    xor_shape s;
    uint64_t slots, seed;
    uint8_t *spare; /* slots put off; when all keys are peeled, what xor_store() likes */
    size_t next_put_off, n_put_off; /* in it */
    const uint64_t *hashes;
    size_t n;
    uint64_t *core; /* hashes that cannot be peeled: first those to be stashed */
    size_t stashed;
    bool is_doubtful; /* if keys do not fit, some may be duplicates */
    bool is_far;      /* states are asked for as in ahead.h */
} xor_peeling;

/* ---- Adding keys ------------------------------------------------------- */

/* False if many keys meet in one slot. In the first block, a group of keys stays within a few lines
 * anyway. */
static bool xor_add_all(xor_peeling *q)
{
    const xor_shape s = q->s;
    const uint64_t *hashes = q->hashes, seed = q->seed;
    uint64_t *states = q->queue.states, crowd = 0;
    uint32_t ring[AHEAD][ARITY];
    const bool is_far = q->is_far;
    size_t n = q->n;

    memset(states, 0, (size_t)q->slots * sizeof *states);
    for (size_t i = 0; i < n + AHEAD; i++) {
        uint32_t *slots = ring[i % AHEAD];
        for (unsigned j = 0; j < ARITY && i >= AHEAD; j++) {
            uint64_t *state = &states[slots[j]];
            crowd |= *state = (*state ^ xor_mark(&s, hashes[i - AHEAD])) + ONE_KEY;
        }
        if (i >= n)
            continue;
        xor_find_slots(slots, &s, xor_mark(&s, hashes[i]), seed);
        ahead_write(&states[slots[1]], is_far);
        ahead_write(&states[slots[2]], is_far);
    }
    return crowd < CROWD;
}

/* ---- Peeling ----------------------------------------------------------- */

/* The state of a slot that will be looked at, then the slots of its key. Not always inlined, it
 * would be dropped by compilers that see no effect in it. */
FUSE_INLINE void xor_look_ahead(const xor_peeling *q, size_t next, size_t end)
{
    const uint64_t *states = q->queue.states;
    uint32_t slots[ARITY];

    if (next + 2 * AHEAD < end)
        ahead_write(&states[q->queue.order[next + 2 * AHEAD]], q->is_far);
    if (next + AHEAD >= end)
        return;
    xor_find_slots(slots, &q->s, states[q->queue.order[next + AHEAD]] & MARK_MASK, q->seed);
    FUSE_EACH_SLOT
    for (unsigned j = 0; j < ARITY; j++)
        ahead_write(&states[slots[j]], q->is_far);
}

/* Takes the key that is left in each slot of the queue out of its other slots; those in which it
 * leaves one key join the queue, or are put off. In the queue a slot waits while its key may be
 * peeled from another one: then nothing is left. */
static void xor_peel_queue(xor_peeling *q)
{
    const xor_peeling look = *q;
    const xor_shape s = q->s;
    const uint64_t seed = q->seed;
    uint64_t *states = q->queue.states;
    uint32_t *order = q->queue.order, *put_off = (uint32_t *)q->spare, slots[ARITY];
    size_t peeled = q->queue.peeled, end = q->queue.end, n_put_off = q->n_put_off;

    for (size_t next = q->queue.next; next < end; next++) {
        xor_look_ahead(&look, next, end);
        uint32_t slot = order[next];
        uint64_t state = states[slot];
        if (!peel_is_single(state))
            continue;
        order[peeled++] = slot;
        xor_find_slots(slots, &s, state & MARK_MASK, seed);
        FUSE_EACH_SLOT
        for (unsigned j = 0; j < ARITY; j++) {
            uint64_t left = (states[slots[j]] ^ (state & MARK_MASK)) - ONE_KEY;
            states[slots[j]] = left;
            if (OMITS_ZEROS && j == 2) {
                put_off[n_put_off] = slots[j];
                n_put_off += peel_is_single(left);
            } else {
                order[end] = slots[j];
                end += peel_is_single(left);
            }
        }
        states[slot] = state - ONE_KEY;
    }
    q->queue.peeled = q->queue.next = q->queue.end = peeled;
    q->n_put_off = n_put_off;
}

static size_t xor_list_singles(const xor_peeling *q, uint32_t *list, uint64_t from, uint64_t to)
{
    size_t n = 0;

    for (uint64_t i = from; i < to; i++) {
        list[n] = (uint32_t)i;
        n += peel_is_single(q->queue.states[i]);
    }
    return n;
}

/* Slots that were put off are taken a few at a time: the fewer the better, and more in large sets,
 * where a few do not matter and must not be waited for. */
static void xor_peel_all(xor_peeling *q)
{
    const uint32_t *put_off = (const uint32_t *)q->spare;
    const size_t at_a_time = q->n >> 14 < MOST_AT_A_TIME ? (q->n >> 14) + 1 : MOST_AT_A_TIME;

    xor_peel_queue(q);
    while (OMITS_ZEROS && q->next_put_off < q->n_put_off) {
        for (size_t i = 0; i < at_a_time && q->next_put_off < q->n_put_off; i++)
            q->queue.order[q->queue.end++] = put_off[q->next_put_off++];
        xor_peel_queue(q);
    }
}

/* Adds all keys and peels what can be peeled; false if too many meet in a slot. */
static bool xor_sweep(xor_peeling *q)
{
    uint64_t third = 2 * q->s.length;

    if (!xor_add_all(q))
        return false;
    q->queue.peeled = q->queue.next = q->next_put_off = q->n_put_off = 0;
    q->queue.end = xor_list_singles(q, q->queue.order, 0, OMITS_ZEROS ? third : q->slots);
    if (OMITS_ZEROS)
        q->n_put_off = xor_list_singles(q, (uint32_t *)q->spare, third, q->slots);
    xor_peel_all(q);
    return true;
}

/* ---- The core ---------------------------------------------------------- */

static bool xor_in_core(const xor_peeling *q, uint64_t h)
{
    uint32_t slots[ARITY];

    xor_find_slots(slots, &q->s, xor_mark(&q->s, h), q->seed);
    return peel_in_core(&q->queue, slots, ARITY);
}

/* The hashes of a small core, ascending. */
static size_t xor_find_core(xor_peeling *q)
{
    size_t n = 0;

    for (size_t i = 0; i < q->n && n < LARGEST_CORE; i++)
        if (xor_in_core(q, q->hashes[i]))
            q->core[n++] = q->hashes[i];
    tamis__sort(q->core, n);
    return n;
}

/* Keeps one hash of each mark; returns how many are left. */
static size_t xor_keep_marks(const xor_shape *s, uint64_t *sorted, size_t n)
{
    size_t kept = n > 0;

    for (size_t i = 1; i < n; i++)
        if (xor_mark(s, sorted[i]) != xor_mark(s, sorted[kept - 1]))
            sorted[kept++] = sorted[i];
    return kept;
}

/* Takes the smallest of the n keys out of the core until it can be peeled; false if the stash does
 * not hold them. */
static bool xor_stash_core(xor_peeling *q, size_t n)
{
    uint32_t slots[ARITY];

    for (size_t i = 0; i < n && q->stashed <= STASH; i++) {
        uint64_t mark = xor_mark(&q->s, q->core[i]);
        if (!xor_in_core(q, q->core[i]))
            continue;
        xor_find_slots(slots, &q->s, mark, q->seed);
        for (unsigned j = 0; j < ARITY; j++)
            peel_take_out(&q->queue, slots[j], mark);
        xor_peel_all(q);
        q->core[q->stashed++] = q->core[i];
    }
    return q->stashed <= STASH;
}

/* ---- Filling slots ----------------------------------------------------- */

/* Slots are still zero, so that the key's own is no harm among those it is xored with. */
FUSE_INLINE void xor_fill(const xor_peeling *q, uint8_t *array, unsigned plain)
{
    const xor_shape s = q->s;
    const uint64_t *states = q->queue.states, seed = q->seed;
    const uint32_t *order = q->queue.order;
    const bool is_far = q->is_far;
    uint32_t ring[AHEAD][ARITY], marks[AHEAD], own[AHEAD];
    size_t n = q->queue.peeled;

    for (size_t i = 0; i < n + AHEAD; i++) {
        uint32_t *slots = ring[i % AHEAD], x = marks[i % AHEAD];
        if (i >= AHEAD) {
            FUSE_EACH_SLOT
            for (unsigned j = 0; j < ARITY; j++)
                x ^= fingerprint_get(array, slots[j], s.width, plain);
            fingerprint_put(array, own[i % AHEAD], s.width, plain, x & packed_mask(s.width));
        }
        if (i >= n)
            continue;
        ahead_read(&states[order[n - 1 - (i + 2 * AHEAD < n ? i + 2 * AHEAD : i)]], is_far);
        own[i % AHEAD] = order[n - 1 - i];
        marks[i % AHEAD] = (uint32_t)states[own[i % AHEAD]];
        xor_find_slots(slots, &s, states[own[i % AHEAD]] & MARK_MASK, seed);
        FUSE_EACH_SLOT
        for (unsigned j = 0; j < ARITY; j++)
            xor_fetch(array, slots[j], s.width, plain, is_far);
    }
}

/* Fills the slots of a part of zeros, or returns false and leaves it as it is. */
#if THIRD == 1

static bool xor_store(const xor_peeling *q, uint8_t *part)
{
    FUSE_BY_WIDTH(q->s.width, xor_fill, q, part + HEAD_BYTES);
    return true;
}

#else

/* The word of counts of a line, after `ones` ones. */
static uint64_t xor_counts_of(const uint8_t *line, unsigned words, uint64_t ones)
{
    uint64_t counts = ones, in_line = 0;

    for (unsigned i = 0; i < words; i++) {
        if (i && i % 2 == 0)
            counts |= in_line << (32 + COUNT_BITS * (i / 2 - 1));
        in_line += xor_count_ones(le64(line + 8 + 8 * i), 0);
    }
    return counts;
}

/* Slots of a line, from `slot` on; returns where in the array the next line goes on. */
static uint64_t xor_store_line(const xor_peeling *q, uint8_t *line, uint8_t *array, uint64_t slot,
                               uint64_t at)
{
    uint64_t ones = at - 2 * q->s.length, left = q->slots - slot;
    unsigned bits = left < LINE_BITS ? (unsigned)left : LINE_BITS;

    for (unsigned bit = 0; bit < bits; bit++) {
        uint32_t x = packed_get(q->spare, slot + bit, q->s.width);
        if (!x)
            continue;
        line[8 + bit / 8] = (uint8_t)(line[8 + bit / 8] | 1u << bit % 8);
        packed_put(array, at++, q->s.width, x);
    }
    put_le64(line, xor_counts_of(line, (bits + 63) / 64, ones));
    return at;
}

/* Of the first two blocks, whole bytes are copied, then what is left of one. */
static bool xor_store(const xor_peeling *q, uint8_t *part)
{
    uint8_t *array = part + q->s.head + HEAD_BYTES;
    uint64_t at = 2 * q->s.length, bits = at * q->s.width, kept = 0;

    memset(q->spare, 0, (size_t)packed_bytes(q->slots, q->s.width));
    FUSE_BY_WIDTH(q->s.width, xor_fill, q, q->spare);
    for (uint64_t i = at; i < q->slots; i++)
        kept += packed_get(q->spare, i, q->s.width) != 0;
    if (at + kept > q->s.last + 1)
        return false;
    memcpy(array, q->spare, (size_t)(bits / 8));
    if (bits % 8)
        array[bits / 8] = (uint8_t)(q->spare[bits / 8] & ((1u << bits % 8) - 1));
    for (uint64_t slot = at; slot < q->slots; slot += LINE_BITS, part += LINE_BYTES)
        at = xor_store_line(q, part, array, slot, at);
    return true;
}

#endif

/* ---- One part ---------------------------------------------------------- */

/* The core, then states, then queues, which are written to before it is known whether the slot
 * joins them: 64 bytes more for each. */
static uint64_t xor_scratch(const tamis_plan *p, enum tamis_stage stage, uint64_t n,
                            unsigned workers)
{
    uint64_t put_off = OMITS_ZEROS ? p->slots / LENGTHS * THIRD * sizeof(uint32_t) : 0;
    uint64_t stored = OMITS_ZEROS ? packed_bytes(p->slots, p->width) : 0;

    (void)n, (void)stage, (void)workers;
    return (LARGEST_CORE + p->slots) * sizeof(uint64_t) + p->slots * sizeof(uint32_t) + 64 +
           (put_off > stored ? put_off : stored) + 64;
}

/* Whether the keys fit with the seed that is set, but for those that the stash takes. */
static bool xor_peel(xor_peeling *q)
{
    q->stashed = 0;
    q->is_doubtful = !xor_sweep(q);
    if (q->is_doubtful || q->queue.peeled == q->n)
        return !q->is_doubtful;
    size_t n = xor_find_core(q);
    q->is_doubtful = n == LARGEST_CORE || xor_keep_marks(&q->s, q->core, n) < n;
    return !q->is_doubtful && xor_stash_core(q, n);
}

static void xor_put_head(const xor_peeling *q, uint8_t *head, size_t n, unsigned seed)
{
    put_le32(head, (uint32_t)n);
    head[HEAD_SEED] = (uint8_t)seed;
    head[HEAD_STASHED] = (uint8_t)q->stashed;
    for (size_t i = 0; i < q->stashed; i++)
        put_le64(head + HEAD_STASH + 8 * i, xor_mark(&q->s, q->core[i]));
}

static tamis_status xor_solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                              size_t *n, void *scratch, const tamis_team *team)
{
    xor_peeling q = { .s = *xor_shape_in(f), .slots = f->plan.slots, .hashes = items, .n = *n };
    bool is_sorted = false;

    (void)stage, (void)team;
    q.is_far = f->cpu & TAMIS_CPU_FAR && q.slots * sizeof(uint64_t) > AHEAD_FAR_BYTES;
    q.core = scratch;
    q.queue.states = q.core + LARGEST_CORE;
    q.queue.order = (uint32_t *)(q.queue.states + q.slots);
    q.spare = (uint8_t *)(q.queue.order + q.slots) + 64;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        q.seed = xor_spread_seed(seed);
        bool done = xor_peel(&q);
        if (!done && q.is_doubtful && !is_sorted) {
            *n = tamis__sort_unique(items, *n);
            q.n = xor_keep_marks(&q.s, items, *n);
            is_sorted = true;
            done = xor_peel(&q);
        }
        if (done && xor_store(&q, part)) {
            xor_put_head(&q, (uint8_t *)part + q.s.head, *n, seed);
            return TAMIS_OK;
        }
    }
    return TAMIS_FULL;
}

#endif
