/* quotient_many.h - lookups, a template for the kernels, which define select_in() before.
 *
 * Of strangers, half are gone with one bit: nobody has their quotient. It is a matter of chance
 * which half, so that no branch depends on it: a group of 64 keys is thinned out to those that are
 * left, then their runs are found, and their remainders asked for; then these are compared. What
 * the next group needs is on its way meanwhile. */
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

static inline bool has_print(const table *t, uint64_t print)
{
    uint64_t quotient = print >> t->width, start;

    if (!bit_of(t, OCCUPIED, quotient))
        return false;
    if (!run_is_near(t, quotient, &start, select_in))
        return tamis__quotient_has_far(t, print);
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

typedef struct group {
    uint64_t prints[MANY];
    size_t n;
} group;

static inline void place_group(group *g, const tamis *f, const uint64_t *keys, size_t n)
{
    g->n = n;
    for (size_t i = 0; i < n; i++)
        g->prints[i] = print_of(f, keys[i]);
}

/* Those whose quotient is occupied, while the planes that the next group needs are asked for. */
static inline size_t thin_out(uint8_t *left, const table *t, const group *now, const group *next)
{
    size_t n = 0;

    for (size_t i = 0; i < now->n; i++) {
        if (i < next->n)
            fetch_planes(t, next->prints[i] >> t->width);
        left[n] = (uint8_t)i;
        n += bit_of(t, OCCUPIED, now->prints[i] >> t->width);
    }
    return n;
}

/* Runs that are near go to the front of left[], the others to its end. */
static inline size_t find_runs(uint64_t *starts, uint8_t *left, const table *t, const group *g,
                               size_t n, uint8_t *far)
{
    size_t near = 0, others = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t quotient = g->prints[left[i]] >> t->width;
        if (run_is_near(t, quotient, &starts[near], select_in)) {
            fetch_remainders(t, starts[near]);
            left[near++] = left[i];
        } else {
            fetch_planes(t, quotient < BLOCK_SLOTS ? t->slots - 1 : quotient - BLOCK_SLOTS);
            far[others++] = left[i];
        }
    }
    return near;
}

static inline uint64_t look_at_group(const table *t, const group *now, const group *next)
{
    uint8_t left[MANY], far[MANY];
    uint64_t starts[MANY], hits = 0;
    size_t n = thin_out(left, t, now, next), near = find_runs(starts, left, t, now, n, far);

    for (size_t i = 0; i < near; i++)
        hits |= (uint64_t)run_has(t, now->prints[left[i]], starts[i]) << left[i];
    for (size_t i = 0; i < n - near; i++)
        hits |= (uint64_t)tamis__quotient_has_far(t, now->prints[far[i]]) << far[i];
    return hits;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    table t = table_of(f);
    group groups[2];
    size_t found = 0;

    place_group(&groups[0], f, keys, many_group(0, n));
    for (size_t i = 0; i < groups[0].n; i++)
        fetch_planes(&t, groups[0].prints[i] >> t.width);
    for (size_t from = 0; from < n; from += MANY) {
        group *now = &groups[from / MANY % 2], *next = &groups[from / MANY % 2 ^ 1];
        place_group(next, f, keys + from + now->n, many_group(from + MANY, n));
        hits[from / MANY] = look_at_group(&t, now, next);
        found += (size_t)__builtin_popcountll(hits[from / MANY]);
    }
    return found;
}
