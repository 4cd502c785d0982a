/* countmin.c - Count-Min sketch: how often, in memory that does not depend on how many.
 *
 * Rows of counters (rows.h); adding a key adds to its counter in each row. Others that share a
 * counter make it too high, never too low: the least of a key's counters is its count. After N
 * adds, a counter of a row of w is too high by N / w on average, so by more than e N / w in at most
 * one case of e (Markov), and all d of a key's counters are in at most e^-d of the cases. Asked for
 * an error E with probability D, a sketch has
 *
 *   w = e / E counters per row      d = ln(1 / D) rows
 *
 * and counts are too high by more than E N with probability D at most. Without E, rows are wide
 * enough for the rate of rows.h to be D after the planned number of keys.
 *
 * An add is conservative: it raises no counter further than to the count that the key has then.
 *
 *   counters of a key   3 1 4      conservative add   3 2 4      sum   4 2 5
 *
 * Errors become several times smaller, and bounds stay; but a counter is no longer the sum of what
 * its keys have added, which the product of two sketches is made of. Plans with TAMIS_PLAN_SUMS
 * keep sums. So do adds from several threads, which cannot see the least of the counters in one
 * moment: what they leave is between the two.
 *
 * Payload: plan.hashes rows of plan.slots counters of plan.width = 32 bits, little-endian. Counters
 * stop at 2^32 - 1. No row adds up to more than the number of adds; to that number, where sums are
 * kept and no counter stopped.
 *
 * Cormode, Muthukrishnan: An Improved Data Stream Summary, 2005. Estan, Varghese: New Directions in
 * Traffic Measurement and Accounting, 2002. */
#include "base/ahead.h"
#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "base/many.h"
#include "explain.h"
#include "sketch/rows.h"

/* ---- Layout ------------------------------------------------------------ */

/* ln(2^64) is 44.4. */
enum { COUNTMIN_MAX_ROWS = 45, COUNTMIN_BITS = 32, COUNTMIN_BYTES = 4 };

static const uint32_t COUNTMIN_CEILING = UINT32_MAX;

#define COUNTMIN_EULER 2.718281828459045

static inline bool countmin_keeps_sums(const tamis *f)
{
    return f->plan.flags & TAMIS_PLAN_SUMS;
}

static inline uint32_t *countmin_row(const tamis *f, uint32_t row)
{
    return (uint32_t *)f->payload + row * f->plan.slots;
}

/* a + b, as far as counters go. */
static inline uint32_t countmin_sum(uint32_t a, uint64_t b)
{
    return b > COUNTMIN_CEILING - a ? COUNTMIN_CEILING : a + (uint32_t)b;
}

static inline uint32_t countmin_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ---- Sizing ------------------------------------------------------------ */

/* An even number of counters in a row: payloads are made of 64-bit words. */
static uint64_t countmin_bytes(const tamis_plan *p)
{
    uint64_t counters;
    bool ok = p->slots > 0 && p->slots % 2 == 0 && p->hashes > 0 &&
              p->hashes <= COUNTMIN_MAX_ROWS && p->width == COUNTMIN_BITS &&
              !(p->flags & ~TAMIS_PLAN_SUMS) && p->load == 0;

    if (!ok || mul_overflows(p->slots, p->hashes, &counters) || counters >> 60)
        return 0;
    return counters * COUNTMIN_BYTES;
}

/* For an error without keys, the capacity is how many distinct keys it takes until they are
 * mistaken for each other at that rate: the inverse of rows_slots(). */
static tamis_status countmin_plan(tamis_plan *p, const tamis_spec *spec)
{
    double n = (double)spec->keys, rows = fmin(ceil(-log(spec->fpr)), COUNTMIN_MAX_ROWS);
    double slots = spec->error > 0 ? COUNTMIN_EULER / spec->error : rows_slots(rows, n, spec->fpr);

    if (!(slots < 0x1p48))
        return TAMIS_RANGE;
    p->width = COUNTMIN_BITS;
    p->flags = spec->can & TAMIS_CAN_DOT ? TAMIS_PLAN_SUMS : 0;
    p->hashes = (uint32_t)rows;
    p->slots = round_up((uint64_t)ceil(slots), 2);
    while (spec->error == 0 && rows_rate(p, n) > spec->fpr)
        p->slots += 2;
    if (spec->error > 0 && spec->keys == 0)
        p->capacity =
            (uint64_t)(log1p(-pow(spec->fpr, 1.0 / p->hashes)) / log1p(-1 / (double)p->slots));
    return TAMIS_OK;
}

/* ---- One key ----------------------------------------------------------- */

static inline uint32_t *countmin_counter(const tamis *f, uint32_t row, uint64_t x)
{
    return countmin_row(f, row) + scale64(x, f->plan.slots);
}

static bool countmin_has(const tamis *f, uint64_t key)
{
    uint64_t x = hash_key(key, f->salt);

    for (uint32_t row = 0; row < f->plan.hashes; row++, x = rows_next(x))
        if (*countmin_counter(f, row, x) == 0)
            return false;
    return true;
}

static uint64_t countmin_count(const tamis *f, uint64_t key)
{
    uint64_t x = hash_key(key, f->salt);
    uint32_t least = COUNTMIN_CEILING;

    for (uint32_t row = 0; row < f->plan.hashes; row++, x = rows_next(x))
        least = countmin_least(least, le32(countmin_counter(f, row, x)));
    return least;
}

/* The count is of all adds, those that counters which stopped do not show too: errors are a share
 * of it. */
static tamis_status countmin_add(tamis *f, uint64_t key, uint64_t times)
{
    bool sums = countmin_keeps_sums(f);
    uint32_t to = sums ? COUNTMIN_CEILING : countmin_sum((uint32_t)countmin_count(f, key), times);
    uint64_t x = hash_key(key, f->salt);

    for (uint32_t row = 0; row < f->plan.hashes; row++, x = rows_next(x)) {
        uint32_t *counter = countmin_counter(f, row, x), old = le32(counter);
        if (old < to)
            put_le32(counter, sums ? countmin_sum(old, times) : to);
    }
    f->count += times;
    return TAMIS_OK;
}

/* ---- Many keys --------------------------------------------------------- */

/* Keys go through in groups, row by row: while the counters of one row are looked at, those of the
 * next are on their way. A step looks at one and asks for one, since requests in bursts would wait
 * for each other. A group has 64 keys, or fewer if there are more than eight rows: all of it stays
 * in the first-level cache and is small on the stack. */
enum { COUNTMIN_GROUP_KEYS = 64, COUNTMIN_GROUP_COUNTERS = 512 };

typedef struct countmin_group {
    size_t n, size; /* keys; room for keys, a power of two */
    uint64_t
        at[COUNTMIN_GROUP_COUNTERS]; /* where in the payload: that of key i at [row * size + i] */
    uint32_t least[COUNTMIN_GROUP_KEYS]; /* of the counters of a key */
} countmin_group;

/* Relaxed: countmin_add_concurrent() looks while others add. */
static inline void countmin_look(uint32_t *least, const uint32_t *counter)
{
    *least = countmin_least(*least, LE_SWAP32(__atomic_load_n(counter, __ATOMIC_RELAXED)));
}

MANY_INLINE void countmin_fetch(const tamis *f, const uint32_t *counter, bool writes)
{
    if (writes)
        ahead_write(counter, f->is_far);
    else
        ahead_read(counter, f->is_far);
}

/* Told at compile time whether it will be written: the processor then asks for a line only once. */
MANY_INLINE void countmin_look_at_group(const tamis *f, countmin_group *g, const uint64_t *keys,
                                        size_t left, bool writes)
{
    const uint32_t *counters = f->payload;
    uint64_t x[COUNTMIN_GROUP_KEYS], w = f->plan.slots, salt = f->salt;
    uint32_t rows = f->plan.hashes;

    g->size = rows <= 8 ? COUNTMIN_GROUP_KEYS : rows <= 16 ? 32 : rows <= 32 ? 16 : 8;
    size_t n = g->n = left < g->size ? left : g->size;
    uint64_t *at = g->at;
    for (size_t i = 0; i < n; i++) {
        x[i] = hash_key(keys[i], salt);
        at[i] = scale64(x[i], w);
        g->least[i] = COUNTMIN_CEILING;
        countmin_fetch(f, &counters[at[i]], writes);
    }
    for (uint32_t row = 1; row < rows; row++) {
        const uint64_t *before = at;
        at += g->size;
        for (size_t i = 0; i < n; i++) {
            x[i] = rows_next(x[i]);
            at[i] = row * w + scale64(x[i], w);
            countmin_fetch(f, &counters[at[i]], writes);
            countmin_look(&g->least[i], &counters[before[i]]);
        }
    }
    for (size_t i = 0; i < n; i++)
        countmin_look(&g->least[i], &counters[at[i]]);
}

static void countmin_count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    countmin_group g;

    for (size_t from = 0; from < n; from += g.n) {
        countmin_look_at_group(f, &g, keys + from, n - from, false);
        for (size_t i = 0; i < g.n; i++)
            counts[from + i] = g.least[i];
    }
}

static size_t countmin_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    uint64_t counts[MANY];
    size_t found = 0;

    for (size_t from = 0; from < n; from += MANY) {
        uint64_t word = 0;
        size_t here = many_group(from, n);

        countmin_count_many(f, counts, keys + from, here);
        for (size_t i = 0; i < here; i++)
            word |= (uint64_t)(counts[i] > 0) << i;
        hits[from / MANY] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

/* One key after the other: what one has raised, the next may meet. Where sums are kept, every
 * counter is as the least. */
static void countmin_raise_group(tamis *f, const countmin_group *g)
{
    uint32_t *counters = f->payload, rows = f->plan.hashes;
    bool sums = countmin_keeps_sums(f);

    for (size_t i = 0; i < g->n; i++) {
        uint32_t least = COUNTMIN_CEILING;
        for (uint32_t row = 0; row < rows && !sums; row++)
            least = countmin_least(least, le32(&counters[g->at[row * g->size + i]]));
        for (uint32_t row = 0; row < rows; row++) {
            uint32_t *counter = &counters[g->at[row * g->size + i]], old = le32(counter);
            if (sums || old == least)
                put_le32(counter, countmin_sum(old, 1));
        }
    }
}

/* A plain atomic addition would go past the ceiling, to 0. */
static void countmin_share_group(tamis *f, const countmin_group *g)
{
    for (uint32_t row = 0; row < f->plan.hashes; row++)
        for (size_t i = 0; i < g->n; i++) {
            uint32_t *counter = (uint32_t *)f->payload + g->at[row * g->size + i];
            uint32_t old = __atomic_load_n(counter, __ATOMIC_RELAXED);
            while (LE_SWAP32(old) != COUNTMIN_CEILING &&
                   !__atomic_compare_exchange_n(counter, &old, LE_SWAP32(LE_SWAP32(old) + 1), true,
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                ;
        }
}

static void countmin_add_groups(tamis *f, const uint64_t *keys, size_t n,
                                void (*add_group)(tamis *f, const countmin_group *g))
{
    countmin_group g;

    for (size_t from = 0; from < n; from += g.n) {
        countmin_look_at_group(f, &g, keys + from, n - from, true);
        add_group(f, &g);
    }
}

static tamis_status countmin_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    countmin_add_groups(f, keys, n, countmin_raise_group);
    f->count += n;
    *added = n;
    return TAMIS_OK;
}

static tamis_status countmin_add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    countmin_add_groups(f, keys, n, countmin_share_group);
    __atomic_fetch_add(&f->count, n, __ATOMIC_RELAXED);
    *added = n;
    return TAMIS_OK;
}

/* ---- Two sketches ------------------------------------------------------ */

/* Counters that are each too high by something add up to one that is too high by the sum. */
static tamis_status countmin_merge(tamis *f, const tamis *g)
{
    uint32_t *to = f->payload;
    const uint32_t *from = g->payload;

    for (uint64_t i = 0; i < f->plan.bytes / COUNTMIN_BYTES; i++)
        put_le32(&to[i], countmin_sum(le32(&to[i]), le32(&from[i])));
    f->count += g->count;
    return TAMIS_OK;
}

/* What a counter that stopped would have come to is not known. */
static uint64_t countmin_dot_row(const tamis *f, const tamis *g, uint32_t row)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < f->plan.slots; i++) {
        uint32_t a = le32(countmin_row(f, row) + i), b = le32(countmin_row(g, row) + i);
        bool unknown = (a == COUNTMIN_CEILING && b) || (b == COUNTMIN_CEILING && a);
        if (unknown || add_overflows(sum, (uint64_t)a * b, &sum))
            return UINT64_MAX;
    }
    return sum;
}

static tamis_status countmin_dot(const tamis *f, uint64_t *product, const tamis *g)
{
    if (!countmin_keeps_sums(f))
        return TAMIS_CANNOT;
    *product = UINT64_MAX;
    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        uint64_t sum = countmin_dot_row(f, g, row);
        *product = sum < *product ? sum : *product;
    }
    return TAMIS_OK;
}

/* ---- The whole sketch -------------------------------------------------- */

static const char *countmin_verify(const tamis *f)
{
    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        const uint32_t *counters = countmin_row(f, row);
        bool stopped = false, overflows = false;
        uint64_t sum = 0;
        for (uint64_t i = 0; i < f->plan.slots; i++) {
            stopped |= le32(&counters[i]) == COUNTMIN_CEILING;
            overflows |= add_overflows(sum, le32(&counters[i]), &sum);
        }
        if (overflows || sum > f->count)
            return "a row holds more than was added";
        if ((sum == 0 && f->count) || (countmin_keeps_sums(f) && !stopped && sum < f->count))
            return "a row holds less than was added";
    }
    return NULL;
}

static uint64_t countmin_count_used(const tamis *f, uint32_t row)
{
    const uint32_t *counters = countmin_row(f, row);
    uint64_t used = 0;

    for (uint64_t i = 0; i < f->plan.slots; i++)
        used += counters[i] != 0;
    return used;
}

static void countmin_measure(const tamis *f, tamis_info *info)
{
    rows_measure(f, info, countmin_count_used);
}

/* ---- Pictures and words ------------------------------------------------ */

/* Counter i of all. */
static tamis_cell countmin_cell(const tamis *f, uint64_t i)
{
    return (tamis_cell){ .array = "row",
                         .number = i / f->plan.slots,
                         .index = i % f->plan.slots,
                         .value = le32((uint32_t *)f->payload + i),
                         .bits = COUNTMIN_BITS };
}

static void countmin_cells(const tamis *f, tamis_telling *t)
{
    uint64_t n = f->plan.slots * f->plan.hashes;

    for (uint64_t i = 0; i < n && tamis__tell_cell(t, countmin_cell(f, i)); i++)
        continue;
}

static bool countmin_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    uint64_t x = hash_key(key, f->salt);

    for (uint32_t row = 0; row < f->plan.hashes; row++, x = rows_next(x)) {
        tamis_cell cell = countmin_cell(f, row * f->plan.slots + scale64(x, f->plan.slots));
        tamis__tell_read(t, "counter", cell, cell.value != 0);
    }
    return tamis__tell_count(t, countmin_count(f, key));
}

const tamis_ops tamis__countmin = {
    .plan = countmin_plan,
    .bytes = countmin_bytes,
    .rate = rows_rate,
    .limits = { .ceiling = UINT32_MAX, .error = COUNTMIN_EULER },
    .verify = countmin_verify,
    .measure = countmin_measure,
    .has = countmin_has,
    .count = countmin_count,
    .add = countmin_add,
    .has_many = countmin_has_many,
    .count_many = countmin_count_many,
    .add_many = countmin_add_many,
    .add_concurrent = countmin_add_concurrent,
    .merge = countmin_merge,
    .dot = countmin_dot,
    .cells = countmin_cells,
    .explain = countmin_explain,
};
