/* countmin.c - Count-Min sketch: how often, in memory that does not depend on how many.
 *
 * Rows of counters; a key has one counter in each row, and adds to it. Others that share a counter
 * make it too high, never too low: the least of a key's counters is its count. After N adds, a
 * counter of a row of w is too high by N / w on average, so by more than e N / w in at most one
 * case of e (Markov), and all d of a key's counters are in at most e^-d of the cases. Asked for an
 * error E with probability D, a sketch has
 *
 *   w = e / E counters per row      d = ln(1 / D) rows
 *
 * and counts are too high by more than E N with probability D at most. Without E, rows are wide
 * enough for the keys planned: after n of them, all counters of a stranger are in use, or those of
 * a key shared by others, with probability
 *
 *   (1 - (1 - 1/w)^n)^d             at most D.
 *
 * An add is conservative: it raises no counter further than to the count that the key has then.
 * Errors become several times smaller, and bounds stay; but a counter is no longer the sum of what
 * its keys have added, which the product of two sketches is made of. Sketches that were asked for
 * products keep sums. So do adds from several threads, which cannot see the least of the counters
 * in one moment: what they leave is between the two.
 *
 * Payload: plan.hashes rows of plan.slots counters of 32 bits, little-endian; plan.width is 32 in
 * sketches that keep sums, else 0. Row i of a key has counter scale64(x_i, w), where x_0 is
 * hash_key(key) and x_{i+1} = (x_i ^ x_i >> 32) * MULTIPLIER. Counters stop at 2^32 - 1. No row adds
 * up to more than the number of adds; to that number, where sums are kept and no counter stopped.
 *
 * Cormode, Muthukrishnan: An Improved Data Stream Summary, 2005. Estan, Varghese: New Directions in
 * Traffic Measurement and Accounting, 2002. */
#include <math.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "filter.h"

/* ---- Layout ------------------------------------------------------------ */

/* ln(2^64) is 44.4. */
enum { MAX_ROWS = 45, COUNTER_BYTES = 4 };

/* plan.width: the bits of a sum, where there are sums. */
enum { CONSERVATIVE = 0, SUMS = 32 };

static const uint32_t CEILING = UINT32_MAX;

static const double EULER = 2.718281828459045;

static inline bool keeps_sums(const tamis *f)
{
    return f->plan.width == SUMS;
}

/* One multiplication: its high bits depend on all bits of x, and the shift carries them down for
 * the next row. */
static inline uint64_t next_row(uint64_t x)
{
    return (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
}

static inline uint32_t *counter_in(const tamis *f, uint32_t row, uint64_t x)
{
    uint32_t *counters = f->payload;

    return counters + row * f->plan.slots + scale64(x, f->plan.slots);
}

/* a + b, as far as counters go. */
static inline uint32_t raised(uint32_t a, uint64_t b)
{
    return b > CEILING - a ? CEILING : a + (uint32_t)b;
}

/* ---- Sizing ------------------------------------------------------------ */

/* An even number of counters in a row: payloads are made of 64-bit words. */
static uint64_t bytes(const tamis_plan *p)
{
    uint64_t counters;
    bool is_shaped = p->slots > 0 && p->slots % 2 == 0 && p->hashes > 0 && p->hashes <= MAX_ROWS &&
                     (p->width == CONSERVATIVE || p->width == SUMS);

    if (!is_shaped || mul_overflows(p->slots, p->hashes, &counters) || counters >> 60)
        return 0;
    return counters * COUNTER_BYTES;
}

static double rate(const tamis_plan *p, double n)
{
    return pow(-expm1(n * log1p(-1 / (double)p->slots)), p->hashes);
}

static double error(const tamis_plan *p)
{
    return EULER / (double)p->slots;
}

static uint64_t ceiling(const tamis_plan *p)
{
    (void)p;
    return CEILING;
}

/* Each row may be filled to fpr^(1/d). */
static double slots_for_keys(double rows, double n, double fpr)
{
    return n > 0 ? -1 / expm1(log1p(-pow(fpr, 1 / rows)) / n) : 1;
}

/* The other way round: how many distinct keys a sketch planned for an error takes before they are
 * mistaken for each other at that rate. */
static uint64_t keys_for_slots(const tamis_plan *p, double fpr)
{
    double w = (double)p->slots;

    return (uint64_t)(log1p(-pow(fpr, 1.0 / p->hashes)) / log1p(-1 / w));
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    double n = (double)spec->keys, rows = fmin(ceil(-log(spec->fpr)), MAX_ROWS);
    double slots = spec->error > 0 ? EULER / spec->error : slots_for_keys(rows, n, spec->fpr);

    if (!(slots < 0x1p48))
        return TAMIS_RANGE;
    p->width = spec->can & TAMIS_CAN_DOT ? SUMS : CONSERVATIVE;
    p->hashes = (uint32_t)rows;
    p->slots = round_up((uint64_t)ceil(slots), 2);
    while (spec->error == 0 && rate(p, n) > spec->fpr)
        p->slots += 2;
    if (spec->error > 0 && spec->keys == 0)
        p->capacity = keys_for_slots(p, spec->fpr);
    return TAMIS_OK;
}

/* ---- Reading ----------------------------------------------------------- */

static inline bool has_at(const tamis *f, uint64_t x)
{
    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        if (*counter_in(f, row, x) == 0)
            return false;
        x = next_row(x);
    }
    return true;
}

static inline uint32_t count_at(const tamis *f, uint64_t x)
{
    uint32_t least = CEILING;

    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        uint32_t counter = le32(counter_in(f, row, x));
        least = counter < least ? counter : least;
        x = next_row(x);
    }
    return least;
}

static bool has(const tamis *f, uint64_t key)
{
    return has_at(f, hash_key(key, f->salt));
}

static uint64_t count(const tamis *f, uint64_t key)
{
    return count_at(f, hash_key(key, f->salt));
}

/* ---- Adding ------------------------------------------------------------ */

static inline void add_sums(tamis *f, uint64_t x, uint64_t times)
{
    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        uint32_t *counter = counter_in(f, row, x);
        put_le32(counter, raised(le32(counter), times));
        x = next_row(x);
    }
}

static inline void add_least(tamis *f, uint64_t x, uint64_t times)
{
    uint32_t to = raised(count_at(f, x), times);

    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        uint32_t *counter = counter_in(f, row, x);
        if (le32(counter) < to)
            put_le32(counter, to);
        x = next_row(x);
    }
}

/* The count is of all adds, those that counters which stopped do not show too: errors are a share
 * of it. */
static tamis_status add_times(tamis *f, uint64_t key, uint64_t times)
{
    (keeps_sums(f) ? add_sums : add_least)(f, hash_key(key, f->salt), times);
    f->count += times;
    return TAMIS_OK;
}

static tamis_status add(tamis *f, uint64_t key)
{
    return add_times(f, key, 1);
}

/* A plain atomic addition would go past the ceiling, to 0. */
static inline void add_one_shared(uint32_t *counter)
{
    uint32_t old = __atomic_load_n(counter, __ATOMIC_RELAXED), more;

    do {
        if (LE_SWAP32(old) == CEILING)
            return;
        more = LE_SWAP32(LE_SWAP32(old) + 1);
    } while (!__atomic_compare_exchange_n(counter, &old, more, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

/* ---- Many keys --------------------------------------------------------- */

/* Keys go through in groups, row by row: while the counters of one row are looked at, those of the
 * next are on their way. A step looks at one and asks for one, since requests in bursts would wait
 * for each other. Few enough for all of a group to stay in the first-level cache. */
enum { GROUP = 64 };

typedef struct group {
    size_t n;
    uint64_t at[MAX_ROWS][GROUP]; /* in the payload */
    uint32_t least[GROUP];        /* of its counters */
} group;

/* Relaxed: add_concurrent() looks while others add. */
static inline void look(group *g, const uint32_t *counters, uint32_t row, size_t i)
{
    uint32_t counter = __atomic_load_n(&counters[g->at[row][i]], __ATOMIC_RELAXED);

    counter = LE_SWAP32(counter);
    g->least[i] = counter < g->least[i] ? counter : g->least[i];
}

/* The compiler wants to know which before it starts. */
__attribute__((always_inline)) static inline void fetch(const void *line, bool writes)
{
    if (writes)
        __builtin_prefetch(line, 1, 3);
    else
        __builtin_prefetch(line, 0, 3);
}

/* Told at compile time whether it will be written: the processor then asks for a line only once. */
__attribute__((always_inline)) static inline void
look_at_group(const tamis *f, group *g, const uint64_t *keys, size_t left, int writes)
{
    const uint32_t *counters = f->payload;
    uint64_t x[GROUP], w = f->plan.slots, salt = f->salt;
    uint32_t rows = f->plan.hashes;
    size_t n = g->n = left < GROUP ? left : GROUP;

    for (size_t i = 0; i < n; i++) {
        x[i] = hash_key(keys[i], salt);
        g->at[0][i] = scale64(x[i], w);
        g->least[i] = CEILING;
        fetch(&counters[g->at[0][i]], writes);
    }
    for (uint32_t row = 1; row < rows; row++)
        for (size_t i = 0; i < n; i++) {
            x[i] = next_row(x[i]);
            g->at[row][i] = row * w + scale64(x[i], w);
            fetch(&counters[g->at[row][i]], writes);
            look(g, counters, row - 1, i);
        }
    for (size_t i = 0; i < n; i++)
        look(g, counters, rows - 1, i);
}

static void count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    group g;

    for (size_t from = 0; from < n; from += GROUP) {
        look_at_group(f, &g, keys + from, n - from, 0);
        for (size_t i = 0; i < g.n; i++)
            counts[from + i] = g.least[i];
    }
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    group g;
    size_t found = 0;

    for (size_t from = 0; from < n; from += GROUP) {
        uint64_t word = 0;
        look_at_group(f, &g, keys + from, n - from, 0);
        for (size_t i = 0; i < g.n; i++)
            word |= (uint64_t)(g.least[i] > 0) << i;
        hits[from / GROUP] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

/* One key after the other, as by add(): what one has raised, the next may meet. */
static void raise_group(tamis *f, const group *g)
{
    uint32_t *counters = f->payload;

    for (size_t i = 0; i < g->n; i++) {
        uint32_t least = CEILING;
        for (uint32_t row = 0; row < f->plan.hashes; row++) {
            uint32_t counter = le32(&counters[g->at[row][i]]);
            least = counter < least ? counter : least;
        }
        for (uint32_t row = 0; row < f->plan.hashes; row++) {
            uint32_t *counter = &counters[g->at[row][i]];
            if (le32(counter) == least)
                put_le32(counter, raised(least, 1));
        }
    }
}

static void sum_group(tamis *f, const group *g)
{
    uint32_t *counters = f->payload;

    for (uint32_t row = 0; row < f->plan.hashes; row++)
        for (size_t i = 0; i < g->n; i++) {
            uint32_t *counter = &counters[g->at[row][i]];
            put_le32(counter, raised(le32(counter), 1));
        }
}

static void add_many(tamis *f, const uint64_t *keys, size_t n)
{
    group g;

    for (size_t from = 0; from < n; from += GROUP) {
        look_at_group(f, &g, keys + from, n - from, 1);
        (keeps_sums(f) ? sum_group : raise_group)(f, &g);
    }
    f->count += n;
}

static void share_group(tamis *f, const group *g)
{
    uint32_t *counters = f->payload;

    for (uint32_t row = 0; row < f->plan.hashes; row++)
        for (size_t i = 0; i < g->n; i++)
            add_one_shared(&counters[g->at[row][i]]);
}

static tamis_status add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    group g;

    for (size_t from = 0; from < n; from += GROUP) {
        look_at_group(f, &g, keys + from, n - from, 1);
        share_group(f, &g);
    }
    __atomic_fetch_add(&f->count, n, __ATOMIC_RELAXED);
    *added = n;
    return TAMIS_OK;
}

static const tamis_batch *batch(unsigned cpu)
{
    static const tamis_batch PORTABLE = {
        .has = has, .has_many = has_many, .add_many = add_many, .count_many = count_many
    };

    (void)cpu;
    return &PORTABLE;
}

/* ---- Two sketches ------------------------------------------------------ */

/* Counters that are each too high by something add up to one that is too high by the sum. */
static tamis_status merge(tamis *f, const tamis *g)
{
    uint32_t *to = f->payload;
    const uint32_t *from = g->payload;
    uint64_t all;

    if (add_overflows(f->count, g->count, &all))
        return TAMIS_RANGE;
    for (uint64_t i = 0; i < f->plan.bytes / COUNTER_BYTES; i++)
        put_le32(&to[i], raised(le32(&to[i]), le32(&from[i])));
    f->count = all;
    return TAMIS_OK;
}

/* What a counter that stopped would have come to is not known. */
static uint64_t product_of(uint32_t a, uint32_t b)
{
    return (a == CEILING && b) || (b == CEILING && a) ? UINT64_MAX : (uint64_t)a * b;
}

static uint64_t dot_of_row(const tamis *f, const tamis *g, uint32_t row)
{
    const uint32_t *a = (const uint32_t *)f->payload + row * f->plan.slots;
    const uint32_t *b = (const uint32_t *)g->payload + row * g->plan.slots;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < f->plan.slots; i++)
        if (add_overflows(sum, product_of(le32(&a[i]), le32(&b[i])), &sum))
            return UINT64_MAX;
    return sum;
}

static tamis_status dot(const tamis *f, uint64_t *product, const tamis *g)
{
    uint64_t least = UINT64_MAX;

    if (!keeps_sums(f))
        return TAMIS_CANNOT;
    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        uint64_t sum = dot_of_row(f, g, row);
        least = sum < least ? sum : least;
    }
    *product = least;
    return TAMIS_OK;
}

/* ---- The whole sketch -------------------------------------------------- */

typedef struct tally {
    uint64_t sum; /* 2^64 - 1 if it is more */
    uint64_t used;
    bool stopped; /* some counter */
} tally;

static tally tally_of(const tamis *f, uint32_t row)
{
    const uint32_t *counters = (const uint32_t *)f->payload + row * f->plan.slots;
    tally t = { 0 };

    for (uint64_t i = 0; i < f->plan.slots; i++) {
        uint32_t counter = le32(&counters[i]);
        t.used += counter > 0;
        t.stopped |= counter == CEILING;
        if (add_overflows(t.sum, counter, &t.sum))
            t.sum = UINT64_MAX;
    }
    return t;
}

static const char *verify(const tamis *f)
{
    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        tally t = tally_of(f, row);

        if (t.sum > f->count)
            return "a row holds more than was added";
        if ((t.sum == 0 && f->count) || (keeps_sums(f) && !t.stopped && t.sum < f->count))
            return "a row holds less than was added";
    }
    return NULL;
}

/* Keys that left that share of a row unused. A row without an unused counter tells no more than
 * that: one short of it is what can be claimed. */
static double keys_from_unused(double unused, double w)
{
    return w > 1 ? fabs(log(fmax(unused, 1 / w)) / log1p(-1 / w)) : 0;
}

/* Each row is a witness of its own: rates multiply, estimates are averaged. */
static void measure(const tamis *f, tamis_info *info)
{
    double w = (double)f->plan.slots, keys = 0, fill = 0, fpr = 1;

    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        double used = (double)tally_of(f, row).used;
        fill += used / w;
        fpr *= used / w;
        keys += keys_from_unused(1 - used / w, w);
    }
    info->fill = fill / f->plan.hashes;
    info->fpr = fpr;
    info->cardinality = keys / f->plan.hashes;
}

const tamis_ops tamis__countmin = {
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .error = error,
    .verify = verify,
    .measure = measure,
    .add = add,
    .count = count,
    .add_times = add_times,
    .ceiling = ceiling,
    .merge = merge,
    .dot = dot,
    .add_concurrent = add_concurrent,
    .batch = batch,
};
