/* fuse_solve_template.h - TEMPLATE, compiled once for each FUSE_ARITY and CPU: one part of a binary
 * fuse filter is solved: its keys are peeled (fuse_peel_template.h), what is left of them goes to
 * the stash, and slots are filled. The includer defines FUSE_ARITY, and FUSE_AVX2 for AVX2. */
#include "base/ahead.h"
#include "base/sort.h"
#include "fuse/fuse_peel_template.h"

enum { FUSE_LARGEST_CORE = 1024, FUSE_AHEAD = 4 * FUSE_BATCH };

_Static_assert(FUSE_LARGEST_CORE >= 1 << MOST_GROUP_BITS, "");

/* ---- The core ---------------------------------------------------------- */

static bool fuse_in_core(const fuse_peeling *q, uint64_t g)
{
    return peel_in_core(&q->queue, fuse_slots_in(q, g).at, FUSE_ARITY);
}

static bool fuse_block_has_core(const fuse_peeling *q, uint32_t block)
{
    const uint64_t *states = q->queue.states + ((size_t)block << q->s.block_bits);
    uint64_t any = 0;

    for (uint32_t i = 0; i <= q->s.in_block; i++)
        any |= states[i];
    return any >= PEEL_ONE_KEY;
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

    for (; i < q->n && n < FUSE_LARGEST_CORE; i++) {
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

    for (; block < blocks && n < FUSE_LARGEST_CORE; block++)
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
        for (unsigned j = 0; j < FUSE_ARITY; j++)
            peel_take_out(&q->queue, to.at[j], fuse_mark(q->core[i], j));
        fuse_peel_queue(&q->queue, &q->s);
        q->core[q->stashed++] = q->core[i];
    }
    return q->stashed <= q->s.stash;
}

/* ---- Filling slots ----------------------------------------------------- */

/* Fills n slots, from the last of the order to the first. States of the slots that come
 * `FUSE_AHEAD` later are asked for one by one: not all at a time, and to the second cache, which
 * has more requests open. */
FUSE_INLINE void fuse_fill_batch(uint8_t *array, const fuse_batch *b, const uint32_t *order,
                                 size_t n, unsigned width, unsigned plain, const uint64_t *states,
                                 const uint32_t *coming)
{
    while (n-- > 0) {
        uint32_t x = b->fingerprint[n];
        ahead_read(&states[coming[n]], true);
        FUSE_EACH_SLOT
        for (unsigned j = 0; j < FUSE_ARITY - 1; j++)
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
        n = end < FUSE_BATCH ? end : FUSE_BATCH;
        const uint32_t *order = first + end - n;
        const uint32_t *coming = end - n < FUSE_AHEAD ? first : order - FUSE_AHEAD;
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
        for (unsigned j = 0; j < FUSE_ARITY; j++)
            x ^= packed_get(array, to.at[j], q->s.width);
        if (x & packed_mask(q->s.width))
            q->core[q->stashed++] = q->core[i];
    }
}

static void fuse_fill_tail(const fuse_peeling *q, uint8_t *tail)
{
    put_le32(tail, (uint32_t)q->n);
    if (q->n > 0)
        tail[FUSE_TAIL_TRIES] = (uint8_t)(q->seed + 1);
    put_le16(tail + FUSE_TAIL_STASHED, (uint16_t)q->stashed);
    for (size_t i = 0; i < q->stashed; i++) {
        tail[fuse_stash_byte(&q->s, q->core[i])] |= (uint8_t)(1 << q->core[i] % 8);
        put_le64(tail + FUSE_TAIL_BITMAP + q->s.bitmap + 8 * i, q->core[i]);
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
    for (size_t i = 1; i < n; i++)
        q->is_doubtful |= q->core[i] == q->core[i - 1];
    return !q->is_doubtful && n < FUSE_LARGEST_CORE && fuse_stash_core(q, n);
}

/* Gives the keys the slots of another seed. They are in no order then, until they are dealt out to
 * the groups of that seed. */
static void fuse_reseed(fuse_peeling *q, unsigned seed)
{
    for (size_t i = 0; i < q->n; i++)
        q->keys[i] = fuse_seeded(fuse_unseeded(q->keys[i], q->seed), seed);
    q->seed = seed;
    q->skip = seed ? 0 : q->s.part_bits;
    tamis__sort_group(q->keys, q->n, 1, q->skip, group_bits(q->n), (size_t *)q->core);
}

/* Duplicates stay in every core, and all keys of a small one are seen: so they are not looked for
 * where a core is large and those that are seen are all different, which is bad luck more often
 * than not. Where they are found, the first seed has another chance. */
static bool fuse_peel_by_some_seed(fuse_peeling *q)
{
    bool may_have_duplicates = true;

    for (unsigned seed = 0; seed < PEEL_SEEDS;) {
        if (seed != q->seed)
            fuse_reseed(q, seed);
        if (fuse_peel(q))
            return true;
        seed++;
        if (may_have_duplicates && (q->is_doubtful || seed == PEEL_SEEDS)) {
            size_t distinct = tamis__sort_unique(q->keys, q->n);
            seed = distinct < q->n ? 0 : seed;
            q->n = distinct;
            may_have_duplicates = false;
        }
    }
    return false;
}

/* The queue is written to before it is known whether the slot joins it: 64 bytes more. */
static inline uint64_t fuse_scratch(const tamis_plan *p, enum tamis_stage stage, uint64_t n,
                                    unsigned workers)
{
    (void)n, (void)stage, (void)workers;
    return (FUSE_LARGEST_CORE + p->slots) * sizeof(uint64_t) + p->slots * sizeof(uint32_t) + 64;
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
    q.queue.states = q.core + FUSE_LARGEST_CORE;
    q.queue.order = (uint32_t *)(q.queue.states + q.slots);
    bool is_done = fuse_peel_by_some_seed(&q);
    *n = q.n;
    if (!is_done)
        return TAMIS_FULL;
    FUSE_BY_WIDTH(q.s.width, fuse_fill, &q, (uint8_t *)part);
    fuse_unstash_found(&q, part);
    fuse_fill_tail(&q, (uint8_t *)part + q.s.tail);
    return TAMIS_OK;
}
