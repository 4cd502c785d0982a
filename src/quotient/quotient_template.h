/* quotient_template.h - TEMPLATE, compiled once for each CPU, without macros: lookups of quotient.
 *
 * Of strangers, half are gone with one bit: nobody has their quotient. It is a matter of chance
 * which half, so that no branch depends on it. Groups of 64 keys go through these steps:
 *
 *   ask for planes | keep those with an occupied quotient | find their runs,      | compare
 *                  |                                      | ask for remainders    |
 *   group i + 1      group i                                group i                 group i - 1
 *
 * Whatever is looked at was asked for a group before. */
#include "base/many.h"
#include "quotient/quotient.h"

/* Whether one of n slots of a block, in one run, holds the remainder: as many at a time as there
 * are lanes. The lowest lane that is equal is found exactly; above it, perhaps not. */
static inline bool quotient_slots_have(const lanes *l, const uint8_t *block, unsigned from,
                                       unsigned n, uint32_t remainder)
{
    uint64_t wanted = l->lows * remainder;

    for (unsigned i = 0; i < n; i += l->n) {
        unsigned bit = (from + i) * l->width;
        uint64_t slots = le64(block + REMAINDERS + bit / 8) >> bit % 8;
        uint64_t equal = lanes_zero(l, slots ^ wanted);
        if (equal && word_lowest(equal) < (n - i) * l->width)
            return true;
    }
    return false;
}

/* Of a run that starts there. The end of the block may cut it short. */
static inline bool quotient_run_has(const quotient_table *t, uint64_t fingerprint, uint64_t start)
{
    const uint8_t *block = quotient_block_of(t, start);
    unsigned from = (unsigned)(start % BLOCK_SLOTS);
    unsigned n = word_lowest(~(le64(block + CONTINUED) >> from >> 1)) + 1;

    if (from + n >= BLOCK_SLOTS || start + n >= t->slots)
        return tamis__quotient_find(t, fingerprint).copies != 0;
    return quotient_slots_have(&t->lanes, block, from, n,
                               (uint32_t)fingerprint & packed_mask(t->width));
}

/* Where no cluster starts in the block up to the quotient, one does in the block before, but for
 * one in a thousand. */
static inline bool quotient_far_has(const quotient_table *t, uint64_t fingerprint)
{
    uint64_t start;

    if (!quotient_run_is_next_door(t, fingerprint >> t->width, &start))
        return tamis__quotient_find(t, fingerprint).copies != 0;
    return quotient_run_has(t, fingerprint, start);
}

static bool quotient_has(const tamis *f, uint64_t key)
{
    quotient_table t = quotient_table_of(f);
    uint64_t fingerprint = quotient_fingerprint(f, key), start;

    if (!quotient_bit(&t, OCCUPIED, fingerprint >> t.width))
        return false;
    if (!quotient_run_is_near(&t, fingerprint >> t.width, &start))
        return quotient_far_has(&t, fingerprint);
    return quotient_run_has(&t, fingerprint, start);
}

/* ---- Groups ------------------------------------------------------------ */

/* Of the keys whose quotient is occupied, those whose run was found are listed from the start on,
 * with the slot of its block in which it starts; the others, from the end on. */
typedef struct quotient_group {
    uint64_t fingerprints[MANY];
    uint8_t left[MANY], starts[MANY];
    size_t n, near, far;
} quotient_group;

static inline void quotient_load_group(quotient_group *g, const tamis *f, const uint64_t *keys,
                                       size_t n)
{
    g->n = n;
    for (size_t i = 0; i < n; i++)
        g->fingerprints[i] = quotient_fingerprint(f, keys[i]);
}

/* Meanwhile the planes that the next group needs are asked for. Returns how many are left. */
static inline size_t quotient_thin_out(uint8_t *left, const quotient_table *t,
                                       const quotient_group *now, const quotient_group *next)
{
    size_t n = 0;

    for (size_t i = 0; i < now->n; i++) {
        if (i < next->n)
            quotient_fetch_planes(t, next->fingerprints[i] >> t->width);
        left[n] = (uint8_t)i;
        n += quotient_bit(t, OCCUPIED, now->fingerprints[i] >> t->width);
    }
    return n;
}

static inline void quotient_find_runs(quotient_group *g, const quotient_table *t,
                                      const uint8_t *left, size_t n)
{
    g->near = g->far = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t quotient = g->fingerprints[left[i]] >> t->width, start;
        if (quotient_run_is_near(t, quotient, &start)) {
            quotient_fetch_remainders(t, start);
            g->starts[g->near] = (uint8_t)(start % BLOCK_SLOTS);
            g->left[g->near++] = left[i];
        } else {
            quotient_fetch_planes(t,
                                  quotient < BLOCK_SLOTS ? t->slots - 1 : quotient - BLOCK_SLOTS);
            quotient_fetch_remainders(t, quotient);
            g->left[MANY - ++g->far] = left[i];
        }
    }
}

static inline uint64_t quotient_compare(const quotient_group *g, const quotient_table *t)
{
    uint64_t hits = 0;

    for (size_t i = 0; i < g->near; i++) {
        uint64_t fingerprint = g->fingerprints[g->left[i]];
        uint64_t first = fingerprint >> t->width & ~(uint64_t)(BLOCK_SLOTS - 1);
        hits |= (uint64_t)quotient_run_has(t, fingerprint, first + g->starts[i]) << g->left[i];
    }
    for (size_t i = MANY - g->far; i < MANY; i++)
        hits |= (uint64_t)quotient_far_has(t, g->fingerprints[g->left[i]]) << g->left[i];
    return hits;
}

static size_t quotient_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    quotient_table t = quotient_table_of(f);
    quotient_group groups[3] = { { .n = 0 } };
    uint8_t left[MANY];
    size_t found = 0;

    quotient_load_group(&groups[0], f, keys, many_group(0, n));
    for (size_t i = 0; i < groups[0].n; i++)
        quotient_fetch_planes(&t, groups[0].fingerprints[i] >> t.width);
    for (size_t i = 0; i <= (n + MANY - 1) / MANY; i++) {
        quotient_group *now = &groups[i % 3], *next = &groups[(i + 1) % 3];
        size_t coming = many_group((i + 1) * MANY, n);
        quotient_load_group(next, f, keys + (coming ? (i + 1) * MANY : 0), coming);
        quotient_find_runs(now, &t, left, quotient_thin_out(left, &t, now, next));
        if (i == 0)
            continue;
        hits[i - 1] = quotient_compare(&groups[(i + 2) % 3], &t);
        found += word_ones(hits[i - 1]);
    }
    return found;
}
