/* xor_peel.c - one part of a xor filter is solved by peeling (peel.h).
 *
 * If slots that are zero are left out, the third block is to stay as empty as possible: slots of it
 * are put off until no other is left, then taken a few at a time.
 *
 * Keys of equal marks have the same fingerprint in the same slots: one of them is kept. */
#include "base/ahead.h"
#include "base/sort.h"
#include "fuse/peel.h"
#include "fuse/xor_blocks.h"

#define XOR_MARK_MASK (PEEL_ONE_KEY - 1)

enum { XOR_LARGEST_CORE = 256, XOR_AHEAD = 32, XOR_MOST_AT_A_TIME = 64 };

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
} xor_peeling;

static inline xor_slots xor_slots_in(const xor_peeling *q, uint64_t mark)
{
    return xor_slots_of(&q->s, mark, q->seed);
}

static inline xor_slots xor_slots_of_hash(const xor_peeling *q, uint64_t h)
{
    return xor_slots_in(q, xor_mark(&q->s, h));
}

/* Slots of a key lie anywhere, so that their states are asked for ahead of its turn. */
FUSE_INLINE void xor_ask_for(const xor_peeling *q, uint64_t mark)
{
    xor_slots slots = xor_slots_in(q, mark);

    for (unsigned j = 0; j < XOR_ARITY; j++)
        ahead_write(&q->queue.states[slots.at[j]], true);
}

/* ---- Adding keys and peeling ------------------------------------------- */

/* False if many keys meet in one slot. */
static bool xor_add_all(xor_peeling *q)
{
    uint64_t *states = q->queue.states, crowd = 0;

    memset(states, 0, (size_t)q->slots * sizeof *states);
    for (size_t i = 0; i < q->n; i++) {
        uint64_t mark = xor_mark(&q->s, q->hashes[i]);
        xor_slots slots = xor_slots_in(q, mark);
        if (i + XOR_AHEAD < q->n)
            xor_ask_for(q, xor_mark(&q->s, q->hashes[i + XOR_AHEAD]));
        for (unsigned j = 0; j < XOR_ARITY; j++) {
            uint64_t *state = &states[slots.at[j]];
            crowd |= *state = (*state ^ mark) + PEEL_ONE_KEY;
        }
    }
    return crowd < PEEL_CROWD;
}

/* Takes a key out of its slots but its own; those in which it leaves one key join the queue, or are
 * put off. */
static void xor_peel_key(xor_peeling *q, uint32_t own, uint64_t mark)
{
    xor_slots slots = xor_slots_in(q, mark);
    uint32_t *put_off = (uint32_t *)q->spare;

    for (unsigned j = 0; j < XOR_ARITY; j++) {
        uint32_t slot = slots.at[j];
        if (slot == own)
            continue;
        if (!q->s.omits_zeros || j < 2) {
            peel_take_out(&q->queue, slot, mark);
            continue;
        }
        q->queue.states[slot] = (q->queue.states[slot] ^ mark) - PEEL_ONE_KEY;
        put_off[q->n_put_off] = slot;
        q->n_put_off += peel_is_single(q->queue.states[slot]);
    }
}

/* In the queue a slot waits while its key may be peeled from another one: then nothing is left. */
static void xor_peel_queue(xor_peeling *q)
{
    uint64_t *states = q->queue.states;

    for (; q->queue.next < q->queue.end; q->queue.next++) {
        const uint32_t *next = q->queue.order + q->queue.next, slot = *next;
        if (q->queue.next + 2 * XOR_AHEAD < q->queue.end) {
            ahead_write(&states[next[2 * XOR_AHEAD]], true);
            xor_ask_for(q, states[next[XOR_AHEAD]] & XOR_MARK_MASK);
        }
        if (!peel_is_single(states[slot]))
            continue;
        q->queue.order[q->queue.peeled++] = slot;
        states[slot] &= XOR_MARK_MASK;
        xor_peel_key(q, slot, states[slot]);
    }
    q->queue.next = q->queue.end = q->queue.peeled;
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
    const size_t n = (q->n >> 14) + 1, at_a_time = n < XOR_MOST_AT_A_TIME ? n : XOR_MOST_AT_A_TIME;

    xor_peel_queue(q);
    while (q->next_put_off < q->n_put_off) {
        for (size_t i = 0; i < at_a_time && q->next_put_off < q->n_put_off; i++)
            q->queue.order[q->queue.end++] = put_off[q->next_put_off++];
        xor_peel_queue(q);
    }
}

/* Adds all keys and peels what can be peeled; false if too many meet in a slot. */
static bool xor_sweep(xor_peeling *q)
{
    uint64_t first_put_off = q->s.omits_zeros ? 2 * q->s.length : q->slots;

    if (!xor_add_all(q))
        return false;
    q->queue.peeled = q->queue.next = q->next_put_off = 0;
    q->queue.end = xor_list_singles(q, q->queue.order, 0, first_put_off);
    q->n_put_off = xor_list_singles(q, (uint32_t *)q->spare, first_put_off, q->slots);
    xor_peel_all(q);
    return true;
}

/* ---- The core ---------------------------------------------------------- */

static bool xor_in_core(const xor_peeling *q, uint64_t h)
{
    return peel_in_core(&q->queue, xor_slots_of_hash(q, h).at, XOR_ARITY);
}

/* The hashes of a small core, ascending. */
static size_t xor_find_core(xor_peeling *q)
{
    size_t n = 0;

    for (size_t i = 0; i < q->n && n < XOR_LARGEST_CORE; i++)
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
    for (size_t i = 0; i < n && q->stashed <= XOR_STASH; i++) {
        if (!xor_in_core(q, q->core[i]))
            continue;
        xor_slots slots = xor_slots_of_hash(q, q->core[i]);
        for (unsigned j = 0; j < XOR_ARITY; j++)
            peel_take_out(&q->queue, slots.at[j], xor_mark(&q->s, q->core[i]));
        xor_peel_all(q);
        q->core[q->stashed++] = q->core[i];
    }
    return q->stashed <= XOR_STASH;
}

/* ---- Filling slots ----------------------------------------------------- */

/* Slots are still zero, so that the key's own is no harm among those it is xored with. */
static void xor_fill(const xor_peeling *q, uint8_t *array)
{
    const unsigned width = q->s.width;
    const uint64_t *states = q->queue.states;
    const uint32_t *order = q->queue.order;

    for (size_t i = q->queue.peeled; i-- > 0;) {
        uint64_t mark = states[order[i]];
        ahead_read(&states[order[i < XOR_AHEAD ? i : i - XOR_AHEAD]], true);
        uint32_t x = (uint32_t)mark;
        xor_slots slots = xor_slots_in(q, mark);
        for (unsigned j = 0; j < XOR_ARITY; j++)
            x ^= packed_get(array, slots.at[j], width);
        packed_put(array, order[i], width, x & packed_mask(width));
    }
}

/* Slots of a line, from `slot` on; returns where in the array the next line goes on. */
static uint64_t xor_store_line(const xor_peeling *q, uint8_t *line, uint8_t *array, uint64_t slot,
                               uint64_t at)
{
    uint64_t ones = at - 2 * q->s.length, left = q->slots - slot;
    unsigned bits = left < XOR_LINE_BITS ? (unsigned)left : XOR_LINE_BITS;

    for (unsigned bit = 0; bit < bits; bit++) {
        uint32_t x = packed_get(q->spare, slot + bit, q->s.width);
        if (!x)
            continue;
        line[8 + bit / 8] = (uint8_t)(line[8 + bit / 8] | 1u << bit % 8);
        packed_put(array, at++, q->s.width, x);
    }
    put_le64(line, tamis__xor_counts(line, (bits + 63) / 64, ones));
    return at;
}

/* Fills the slots of a part of zeros, or returns false and leaves it as it is. Of the first two
 * blocks, slots are copied as they are. */
static bool xor_store(const xor_peeling *q, uint8_t *part)
{
    uint8_t *array = part + q->s.head + XOR_HEAD_BYTES;
    uint64_t at = 2 * q->s.length, kept = 0;

    if (!q->s.omits_zeros) {
        xor_fill(q, array);
        return true;
    }
    memset(q->spare, 0, (size_t)packed_bytes(q->slots, q->s.width));
    xor_fill(q, q->spare);
    for (uint64_t i = at; i < q->slots; i++)
        kept += packed_get(q->spare, i, q->s.width) != 0;
    if (at + kept > q->s.last + 1)
        return false;
    for (uint64_t i = 0; i < at; i++)
        packed_put(array, i, q->s.width, packed_get(q->spare, i, q->s.width));
    for (uint64_t slot = at; slot < q->slots; slot += XOR_LINE_BITS, part += XOR_LINE_BYTES)
        at = xor_store_line(q, part, array, slot, at);
    return true;
}

/* ---- One part ---------------------------------------------------------- */

/* The core, then states, then queues, which are written to before it is known whether the slot
 * joins them: 64 bytes more for each. */
uint64_t tamis__xor_scratch(const tamis_plan *p, unsigned third)
{
    uint64_t put_off = third > 1 ? p->slots / (2 + third) * third * sizeof(uint32_t) : 0;
    uint64_t stored = third > 1 ? packed_bytes(p->slots, p->width) : 0;

    return (XOR_LARGEST_CORE + p->slots) * sizeof(uint64_t) + p->slots * sizeof(uint32_t) + 64 +
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
    q->is_doubtful = n == XOR_LARGEST_CORE || xor_keep_marks(&q->s, q->core, n) < n;
    return !q->is_doubtful && xor_stash_core(q, n);
}

static void xor_put_head(const xor_peeling *q, uint8_t *head, size_t n, unsigned seed)
{
    put_le32(head, (uint32_t)n);
    head[XOR_HEAD_SEED] = (uint8_t)seed;
    head[XOR_HEAD_STASHED] = (uint8_t)q->stashed;
    for (size_t i = 0; i < q->stashed; i++)
        put_le64(head + XOR_HEAD_STASH + 8 * i, xor_mark(&q->s, q->core[i]));
}

tamis_status tamis__xor_solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                              size_t *n, void *scratch, const tamis_team *team)
{
    xor_peeling q = { .s = *xor_shape_in(f), .slots = f->plan.slots, .hashes = items, .n = *n };
    bool is_sorted = false;

    (void)stage, (void)team;
    q.core = scratch;
    q.queue.states = q.core + XOR_LARGEST_CORE;
    q.queue.order = (uint32_t *)(q.queue.states + q.slots);
    q.spare = (uint8_t *)(q.queue.order + q.slots) + 64;
    for (unsigned seed = 0; seed < PEEL_SEEDS; seed++) {
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
