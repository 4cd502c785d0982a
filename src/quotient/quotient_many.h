/* quotient_many.h - lookups, a template for the kernels, which define select_in() before.
 *
 * Of strangers, half are gone with one bit: nobody has their quotient. It is a matter of chance
 * which half, so that no branch depends on it: a group of 64 keys is thinned out to those that are
 * left, then their runs are found, and their remainders asked for; when the same was done for the
 * next group, these are compared. Whatever is looked at was asked for a group before. */
#include "base/many.h"
#include "quotient/quotient.h"

/* Remainders are compared several at a time, as many as fit in 57 bits: eight bytes, less the bits
 * before the first one. */
#define LANES_OF(w) (((UINT64_C(1) << 57 / (w) * (w)) - 1) / ((UINT64_C(1) << (w)) - 1))
static const uint64_t LANES[] = {
    0,
    LANES_OF(1),
    LANES_OF(2),
    LANES_OF(3),
    LANES_OF(4),
    LANES_OF(5),
    LANES_OF(6),
    LANES_OF(7),
    LANES_OF(8),
    LANES_OF(9),
    LANES_OF(10),
    LANES_OF(11),
    LANES_OF(12),
    LANES_OF(13),
    LANES_OF(14),
    LANES_OF(15),
    LANES_OF(16),
    LANES_OF(17),
    LANES_OF(18),
    LANES_OF(19),
    LANES_OF(20),
    LANES_OF(21),
    LANES_OF(22),
    LANES_OF(23),
    LANES_OF(24),
    LANES_OF(25),
    LANES_OF(26),
    LANES_OF(27),
    LANES_OF(28),
    LANES_OF(29),
    LANES_OF(30),
    LANES_OF(31),
    LANES_OF(32),
};
#undef LANES_OF

/* Slots from `start` to the end of the run, in its block; that of the block may cut it short. */
static inline unsigned near_length(const uint8_t *block, unsigned start)
{
    return lowest(~(plane(block, CONTINUED) >> start >> 1)) + 1;
}

/* The lowest lane that is zero is found exactly; the ones after it, perhaps not. */
static inline bool lanes_have(uint64_t lanes, unsigned bits, uint64_t remainder, unsigned width)
{
    uint64_t x = lanes ^ remainder * LANES[width];
    uint64_t zero = (x - LANES[width]) & ~x & LANES[width] << (width - 1);

    return zero && lowest(zero) < bits;
}

/* Whether one of n slots of a block, in one run, holds the remainder. */
static inline bool slots_have(const uint8_t *block, unsigned from, unsigned n, unsigned width,
                              uint64_t remainder)
{
    unsigned bit = from * width, end = bit + n * width, step = 57 / width * width;

    for (; bit + step < end; bit += step)
        if (lanes_have(le64(block + REMAINDERS + bit / 8) >> bit % 8, step, remainder, width))
            return true;
    return lanes_have(le64(block + REMAINDERS + bit / 8) >> bit % 8, end - bit, remainder, width);
}

static inline bool run_has(const table *t, uint64_t print, uint64_t start)
{
    const uint8_t *block = block_of(t, start);
    unsigned from = (unsigned)(start % BLOCK_SLOTS), n = near_length(block, from);

    if (from + n >= BLOCK_SLOTS || start + n >= t->slots)
        return tamis__quotient_has_far(t, print);
    return slots_have(block, from, n, t->width, print & packed_mask(t->width));
}

/* Where no cluster starts in the block up to the quotient, one does in the block before, but for
 * one in a thousand. */
static inline bool far_has(const table *t, uint64_t print)
{
    uint64_t start;

    if (!run_is_next_door(t, print >> t->width, &start, select_in))
        return tamis__quotient_has_far(t, print);
    return run_has(t, print, start);
}

static inline bool has_print(const table *t, uint64_t print)
{
    uint64_t quotient = print >> t->width, start;

    if (!bit_of(t, OCCUPIED, quotient))
        return false;
    if (!run_is_near(t, quotient, &start, select_in))
        return far_has(t, print);
    return run_has(t, print, start);
}

static bool has(const tamis *f, uint64_t key)
{
    table t = table_of(f);

    return has_print(&t, print_of(f, key));
}

/* ---- Groups ------------------------------------------------------------ */

/* Inlined by force: gcc takes a function that does nothing but prefetch for one without effect. The
 * planes of a block lie in one line or two. */
__attribute__((always_inline)) static inline void fetch_planes(const table *t, uint64_t quotient)
{
    const uint8_t *block = block_of(t, quotient);

    __builtin_prefetch(block, 0, 3);
    __builtin_prefetch(block + SHIFTED, 0, 3);
}

__attribute__((always_inline)) static inline void fetch_remainders(const table *t, uint64_t slot)
{
    __builtin_prefetch(block_of(t, slot) + REMAINDERS + packed_byte(slot % BLOCK_SLOTS, t->width),
                       0, 3);
}

/* Of the keys whose quotient is occupied, those whose run was found come first. */
typedef struct group {
    uint64_t prints[MANY], starts[MANY];
    uint8_t left[MANY], far[MANY];
    size_t n, n_left, n_near;
} group;

static inline void place_group(group *g, const tamis *f, const uint64_t *keys, size_t n)
{
    g->n = n;
    for (size_t i = 0; i < n; i++)
        g->prints[i] = print_of(f, keys[i]);
}

/* While the planes that the next group needs are asked for. */
static inline void thin_out(group *now, const table *t, const group *next)
{
    size_t n = 0;

    for (size_t i = 0; i < now->n; i++) {
        if (i < next->n)
            fetch_planes(t, next->prints[i] >> t->width);
        now->left[n] = (uint8_t)i;
        n += bit_of(t, OCCUPIED, now->prints[i] >> t->width);
    }
    now->n_left = n;
}

static inline void find_runs(group *g, const table *t)
{
    size_t near = 0, far = 0;

    for (size_t i = 0; i < g->n_left; i++) {
        uint64_t quotient = g->prints[g->left[i]] >> t->width;
        if (run_is_near(t, quotient, &g->starts[near], select_in)) {
            fetch_remainders(t, g->starts[near]);
            g->left[near++] = g->left[i];
        } else {
            fetch_planes(t, quotient < BLOCK_SLOTS ? t->slots - 1 : quotient - BLOCK_SLOTS);
            fetch_remainders(t, quotient);
            g->far[far++] = g->left[i];
        }
    }
    g->n_near = near;
}

static inline uint64_t compare(const group *g, const table *t)
{
    uint64_t hits = 0;

    for (size_t i = 0; i < g->n_near; i++)
        hits |= (uint64_t)run_has(t, g->prints[g->left[i]], g->starts[i]) << g->left[i];
    for (size_t i = 0; i < g->n_left - g->n_near; i++)
        hits |= (uint64_t)far_has(t, g->prints[g->far[i]]) << g->far[i];
    return hits;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    table t = table_of(f);
    group groups[3] = { { .n = 0 } };
    size_t found = 0;

    place_group(&groups[0], f, keys, many_group(0, n));
    for (size_t i = 0; i < groups[0].n; i++)
        fetch_planes(&t, groups[0].prints[i] >> t.width);
    for (size_t i = 0; i <= (n + MANY - 1) / MANY; i++) {
        group *now = &groups[i % 3], *next = &groups[(i + 1) % 3];
        size_t coming = many_group((i + 1) * MANY, n);
        place_group(next, f, keys + (coming ? (i + 1) * MANY : 0), coming);
        thin_out(now, &t, next);
        find_runs(now, &t);
        if (i == 0)
            continue;
        hits[i - 1] = compare(&groups[(i + 2) % 3], &t);
        found += (size_t)__builtin_popcountll(hits[i - 1]);
    }
    return found;
}
