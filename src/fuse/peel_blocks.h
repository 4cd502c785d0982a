/* peel_blocks.h - solving one part of a xor filter: choose a slot of its own for every key, so that
 * the slots can be filled one after the other.
 *
 * A slot that only one key has is that key's: whatever the others want, it is written last. Without
 * that key, other slots may have one key only, and so on, until all keys are peeled off.
 *
 * State of a slot: one word, made of all keys that have it and are not peeled yet.
 *
 *   bits 0 .. 57   xor of their marks
 *   bits 58 .. 63  how many they are
 *
 * When one is left, the word is its mark, which tells its slots. It is left there when the key is
 * peeled, so that the order of peeling is an array of slots, four bytes a key. Slots are read in
 * that order, then written in the opposite one.
 *
 * Where the third block is the longest (THIRD > 1), it is to stay as empty as possible: slots of it
 * are put off until no other is left, then taken a few at a time.
 *
 * Slots of a key lie anywhere: whatever is needed next is asked for ahead of its use.
 *
 * The word of a slot depends on the set of keys, not on their order: so does all that follows.
 *
 * What cannot be peeled is a core in which every slot has two keys: those of equal marks, of which
 * one is kept, since it is the same fingerprint in the same slots; else bad luck, such as two keys
 * with the same slots. A few keys of a small core are put in the stash; a large one gets another
 * seed. */
#ifndef TAMIS_FUSE_PEEL_BLOCKS_H
#define TAMIS_FUSE_PEEL_BLOCKS_H

#include <string.h>

#include "base/sort.h"
#include "fuse/blocks.h"

/* ---- State of slots ---------------------------------------------------- */

#define ONE_KEY (UINT64_C(1) << MARK_BITS)
#define MARK_MASK (ONE_KEY - 1)

/* Of half as many keys as can be counted in a slot, most must be the same one. */
#define CROWD (ONE_KEY * 32)

enum { SEEDS = 64, LARGEST_CORE = 256, AHEAD = 16, PICKS = 64 };

typedef struct peeling {
    shape s;
    uint64_t slots, seed;
    uint64_t *states;         /* of slots */
    uint32_t *order;          /* first the slots peeled, then those to be looked at */
    size_t peeled, next, end; /* in it */
    uint8_t *spare;           /* slots put off; when all keys are peeled, what store() likes */
    size_t next_put_off, n_put_off; /* in it */
    const uint64_t *hashes;
    size_t n;
} peeling;

static inline bool is_single(uint64_t state)
{
    return state - ONE_KEY < ONE_KEY;
}

/* The slots of the key that is left in a slot of that state. */
static inline void slots_of_state(uint32_t *slots, const shape *s, uint64_t state, uint64_t seed)
{
    find_slots(slots, s, state & MARK_MASK, seed);
}

/* ---- Adding keys ------------------------------------------------------- */

/* False if many keys meet in one slot. In the first block, a group of keys stays within a few lines
 * anyway. */
static bool add_all(peeling *q)
{
    const shape s = q->s;
    const uint64_t *hashes = q->hashes, seed = q->seed;
    uint64_t *states = q->states, crowd = 0;
    uint32_t ring[AHEAD][ARITY];
    size_t n = q->n;

    memset(states, 0, q->slots * sizeof *states);
    for (size_t i = 0; i < n + AHEAD; i++) {
        uint32_t *slots = ring[i % AHEAD];
        for (unsigned j = 0; j < ARITY && i >= AHEAD; j++) {
            uint64_t *state = &states[slots[j]];
            crowd |= *state = (*state ^ mark_of(&s, hashes[i - AHEAD])) + ONE_KEY;
        }
        if (i >= n)
            continue;
        find_slots(slots, &s, mark_of(&s, hashes[i]), seed);
        __builtin_prefetch(&states[slots[1]], 1);
        __builtin_prefetch(&states[slots[2]], 1);
    }
    return crowd < CROWD;
}

/* ---- Peeling ----------------------------------------------------------- */

/* The state of a slot that will be looked at, then the slots of its key. Not always inlined, it
 * would be dropped by compilers that see no effect in it. */
BLOCK_INLINE void look_ahead(const peeling *q, size_t next, size_t end)
{
    uint32_t slots[ARITY];

    if (next + 2 * AHEAD < end)
        __builtin_prefetch(&q->states[q->order[next + 2 * AHEAD]], 1);
    if (next + AHEAD >= end)
        return;
    slots_of_state(slots, &q->s, q->states[q->order[next + AHEAD]], q->seed);
    for (unsigned j = 0; j < ARITY; j++)
        __builtin_prefetch(&q->states[slots[j]], 1);
}

/* Takes the key that is left in each slot of the queue out of its other slots; those in which it
 * leaves one key join the queue, or are put off. In the queue a slot waits while its key may be
 * peeled from another one: then nothing is left. */
static void peel_queue(peeling *q)
{
    const peeling look = *q;
    const shape s = q->s;
    const uint64_t seed = q->seed;
    uint64_t *states = q->states;
    uint32_t *order = q->order, *put_off = (uint32_t *)q->spare, slots[ARITY];
    size_t peeled = q->peeled, end = q->end, n_put_off = q->n_put_off;

    for (size_t next = q->next; next < end; next++) {
        look_ahead(&look, next, end);
        uint32_t slot = order[next];
        uint64_t state = states[slot];
        if (!is_single(state))
            continue;
        order[peeled++] = slot;
        slots_of_state(slots, &s, state, seed);
        for (unsigned j = 0; j < ARITY; j++) {
            uint64_t left = (states[slots[j]] ^ (state & MARK_MASK)) - ONE_KEY;
            states[slots[j]] = left;
            if (PUTS_OFF && j == 2) {
                put_off[n_put_off] = slots[j];
                n_put_off += is_single(left);
            } else {
                order[end] = slots[j];
                end += is_single(left);
            }
        }
        states[slot] = state - ONE_KEY;
    }
    q->peeled = q->next = q->end = peeled;
    q->n_put_off = n_put_off;
}

static size_t list_singles(const peeling *q, uint32_t *list, uint64_t from, uint64_t to)
{
    size_t n = 0;

    for (uint64_t i = from; i < to; i++) {
        list[n] = (uint32_t)i;
        n += is_single(q->states[i]);
    }
    return n;
}

/* The next few slots that were put off: the fewer at a time, the better, and more in large sets,
 * where a few do not matter and must not be waited for. */
static void pick(peeling *q)
{
    const uint32_t *put_off = (const uint32_t *)q->spare;
    size_t most = q->n >> 14 < PICKS ? (q->n >> 14) + 1 : PICKS;

    for (; most && q->next_put_off < q->n_put_off; most--)
        q->order[q->end++] = put_off[q->next_put_off++];
}

static void peel_all(peeling *q)
{
    peel_queue(q);
    while (PUTS_OFF && q->next_put_off < q->n_put_off) {
        pick(q);
        peel_queue(q);
    }
}

/* Adds all keys and peels what can be peeled; false if too many meet in a slot. */
static bool sweep(peeling *q)
{
    uint64_t start = 2 * q->s.length, first_end = PUTS_OFF ? start : q->slots;

    if (!add_all(q))
        return false;
    q->peeled = q->next = q->next_put_off = q->n_put_off = 0;
    q->end = list_singles(q, q->order, 0, first_end);
    if (PUTS_OFF)
        q->n_put_off = list_singles(q, (uint32_t *)q->spare, start, q->slots);
    peel_all(q);
    return true;
}

/* ---- The core ---------------------------------------------------------- */

/* A key was peeled if and only if one of its slots has no key left. */
static bool in_core(const peeling *q, uint64_t h)
{
    uint32_t slots[ARITY];

    find_slots(slots, &q->s, mark_of(&q->s, h), q->seed);
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

/* Keeps one hash of each mark; returns how many are left. */
static size_t keep_marks(const shape *s, uint64_t *sorted, size_t n)
{
    size_t kept = n > 0;

    for (size_t i = 1; i < n; i++)
        if (mark_of(s, sorted[i]) != mark_of(s, sorted[kept - 1]))
            sorted[kept++] = sorted[i];
    return kept;
}

static void take_out(peeling *q, uint64_t h)
{
    uint64_t mark = mark_of(&q->s, h);
    uint32_t slots[ARITY];

    find_slots(slots, &q->s, mark, q->seed);
    for (unsigned j = 0; j < ARITY; j++) {
        uint64_t *state = &q->states[slots[j]];
        *state = (*state ^ mark) - ONE_KEY;
        q->order[q->end] = slots[j];
        q->end += is_single(*state);
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
        stash[stashed++] = mark_of(&q->s, core[i]);
        take_out(q, core[i]);
        peel_all(q);
    }
    return stashed;
}

/* ---- Filling slots ----------------------------------------------------- */

BLOCK_INLINE void fill_plain(const peeling *q, uint8_t *array, unsigned plain)
{
    const shape s = q->s;
    const uint64_t *states = q->states, seed = q->seed;
    const uint32_t *order = q->order;
    uint32_t ring[AHEAD][ARITY], marks[AHEAD], own[AHEAD];
    size_t n = q->peeled;

    for (size_t i = 0; i < n + AHEAD; i++) {
        uint32_t *slots = ring[i % AHEAD], x = marks[i % AHEAD];
        if (i >= AHEAD) {
            for (unsigned j = 0; j < ARITY; j++)
                x ^= get(array, slots[j], s.width, plain);
            put(array, own[i % AHEAD], s.width, plain, x & packed_mask(s.width));
        }
        if (i >= n)
            continue;
        __builtin_prefetch(&states[order[n - 1 - (i + 2 * AHEAD < n ? i + 2 * AHEAD : i)]]);
        own[i % AHEAD] = order[n - 1 - i];
        marks[i % AHEAD] = (uint32_t)states[own[i % AHEAD]];
        slots_of_state(slots, &s, states[own[i % AHEAD]], seed);
        for (unsigned j = 0; j < ARITY; j++)
            fetch(array, slots[j], s.width, plain);
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

/* ---- One part ---------------------------------------------------------- */

/* The includer's: fills the slots of a part of zeros, or returns false and leaves it as it is. */
static bool store(const peeling *q, uint8_t *part);

/* Bytes that store() needs, and that shape. */
static uint64_t store_bytes(const tamis_plan *p);
BLOCK_INLINE shape shape_of(const tamis_plan *p);

static uint64_t spare_bytes(const tamis_plan *p)
{
    uint64_t put_off = PUTS_OFF ? p->slots / LENGTHS * THIRD * sizeof(uint32_t) : 0;
    uint64_t stored = store_bytes(p);

    return put_off > stored ? put_off : stored;
}

static size_t scratch(const tamis_plan *p, enum tamis_stage stage, size_t n)
{
    (void)n, (void)stage;
    /* Queues are written to before it is known whether the slot joins them. */
    return (size_t)(p->slots * (sizeof(uint64_t) + sizeof(uint32_t)) + 64 + spare_bytes(p) + 64);
}

/* Whether the keys fit with the seed that is set; else whether to sort them first.
 */
static bool try_seed(peeling *q, uint64_t *stash, unsigned *stashed, bool *doubtful)
{
    uint64_t core[LARGEST_CORE];

    *stashed = 0;
    *doubtful = !sweep(q);
    if (*doubtful || q->peeled == q->n)
        return !*doubtful;
    size_t n = find_core(q, core);
    *doubtful = n == LARGEST_CORE || keep_marks(&q->s, core, n) < n;
    if (*doubtful)
        return false;
    *stashed = abandon(q, stash, core, n);
    return *stashed <= STASH;
}

static void put_head(uint8_t *head, size_t n, unsigned seed, const uint64_t *stash,
                     unsigned stashed)
{
    put_le32(head, (uint32_t)n);
    head[HEAD_SEED] = (uint8_t)seed;
    head[HEAD_STASHED] = (uint8_t)stashed;
    for (unsigned i = 0; i < stashed; i++)
        put_le64(head + HEAD_STASH + 8 * i, stash[i]);
}

static tamis_status solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                          size_t *n, void *memory)
{
    const tamis_plan *p = &f->plan;
    uint64_t *hashes = (uint64_t *)items;
    peeling q = { .s = shape_of(p), .slots = p->slots, .hashes = hashes, .n = *n };
    uint64_t stash[STASH];
    unsigned stashed;
    bool doubtful, sorted = false;

    (void)stage;
    q.states = memory;
    q.order = (uint32_t *)(q.states + p->slots);
    q.spare = (uint8_t *)(q.order + p->slots) + 64;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        q.seed = spread_seed(seed);
        bool done = try_seed(&q, stash, &stashed, &doubtful);
        if (!done && doubtful && !sorted) {
            *n = tamis__sort_unique(hashes, *n);
            q.n = keep_marks(&q.s, hashes, *n);
            sorted = true;
            done = try_seed(&q, stash, &stashed, &doubtful);
        }
        if (done && store(&q, part)) {
            put_head((uint8_t *)part + q.s.head, *n, seed, stash, stashed);
            return TAMIS_OK;
        }
    }
    return TAMIS_FULL;
}

/* ---- Checking ---------------------------------------------------------- */

/* The includer's: whether slots of the third block are found where they are. */
static bool is_third(const uint8_t *part, const tamis_plan *p);

static const char *verify(const tamis *f)
{
    const shape s = shape_of(&f->plan);
    uint64_t keys = 0;

    for (uint64_t at = 0; at < f->plan.bytes; at += s.part_bytes) {
        const uint8_t *part = (const uint8_t *)f->payload + at, *head = part + s.head;
        if (head[HEAD_STASHED] > STASH)
            return "a stash of more keys than fit";
        if (!is_third(part, &f->plan))
            return "slots that are not zero are counted wrong";
        keys += le32(head);
    }
    return keys == f->count ? NULL : "the keys of the parts are not the count";
}

/* ---- Growing ----------------------------------------------------------- */

/* One slot in sixteen more. */
static tamis_status resize(tamis_plan *p, uint64_t keys)
{
    uint64_t length = p->slots / LENGTHS;

    (void)keys;
    p->slots = (length + length / 16 + 1) * LENGTHS;
    return TAMIS_OK;
}

#endif
