/* advise_measure.c - how fast this machine is.
 *
 * Of each kind two filters are built, at a high rate and at a low one, which fit in the second
 * cache of most machines. Lookups are timed there; then again after a large table was read, which
 * drives the filter out: each of a thousand lookups then finds its lines in memory. Between the
 * two, filters of other sizes are found by how long a random read takes in a table of their size.
 * To build large filters instead would take a minute.
 *
 * Other programs make single figures too high, never too low: the least of some is taken. */
#include <math.h>
#include <string.h>

#include "advice/advise.h"
#include "base/bits.h"
#include "base/hash.h"
#include "core/memory.h"
#include "filter.h"

enum {
    KEYS = 1 << 18,
    HIGH_BITS = 4, /* of the rates */
    LOW_BITS = 12,
    WARM = 1 << 12, /* lookups that are timed at a time */
    COLD = 1 << 10,
    ROUNDS = 6,
    COLD_ROUNDS = 2,
    AHEAD = 1 << 8, /* lookups before: code and page tables are to be at hand */
    LINE_WORDS = 8,
    TABLE_BITS = 27,
};

typedef struct advise_bench {
    tamis_clock *clock;
    void *ctx;
    const tamis_allocator *alloc;
    uint64_t *keys;  /* half of them are in the filters */
    uint64_t *table; /* of 2^TABLE_BITS bytes */
    uint64_t seen;   /* what was read: the compiler may not leave it out */
} advise_bench;

static double advise_now(const advise_bench *b)
{
    return b->clock(b->ctx);
}

/* ---- Memory ------------------------------------------------------------ */

/* Of lines that are known before: as lookups of one key after the other. */
static double advise_time_reads(advise_bench *b, unsigned bits)
{
    uint64_t lines = (UINT64_C(1) << bits) / 8 / LINE_WORDS, x = b->seen;
    double start = advise_now(b);

    for (uint64_t i = 0; i < WARM; i++)
        b->seen += b->table[scale64(hash_key(i, x), lines) * LINE_WORDS];
    return (advise_now(b) - start) / WARM;
}

/* Brings all of it into the cache, and all else out of that if it is large. */
static void advise_read_all(advise_bench *b, const uint64_t *words, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes / 8; i += LINE_WORDS)
        b->seen += words[i];
}

static void advise_measure_reads(advise_bench *b, tamis_machine *m)
{
    for (unsigned i = 0; i < TAMIS_READS; i++) {
        unsigned bits = FIRST_READ_BITS + READ_BITS_STEP * i;
        m->reads[i] = INFINITY;
        advise_read_all(b, b->table, UINT64_C(1) << bits);
        for (int round = 0; round < ROUNDS; round++)
            m->reads[i] = fmin(m->reads[i], advise_time_reads(b, bits));
    }
    /* In a larger table it takes no less. */
    for (unsigned i = TAMIS_READS - 1; i > 0; i--)
        m->reads[i - 1] = fmin(m->reads[i - 1], m->reads[i]);
}

/* ---- Lookups ----------------------------------------------------------- */

static double advise_time_lookups(advise_bench *b, const tamis *f, const uint64_t *keys, size_t n)
{
    double start = advise_now(b);

    for (size_t i = 0; i < n; i++)
        b->seen += tamis_has(f, keys[i]);
    return (advise_now(b) - start) / (double)n;
}

/* Other keys in each round: the processor would remember the way to those of before. */
static double advise_lookup_cold(advise_bench *b, const tamis *f, const uint64_t *keys)
{
    double least = INFINITY;

    for (size_t round = 0; round < COLD_ROUNDS; round++, keys += AHEAD + COLD) {
        advise_read_all(b, b->table, UINT64_C(1) << TABLE_BITS);
        advise_time_lookups(b, f, keys, AHEAD);
        least = fmin(least, advise_time_lookups(b, f, keys + AHEAD, COLD));
    }
    return least;
}

static double advise_lookup_warm(advise_bench *b, const tamis *f, const uint64_t *keys)
{
    double least = INFINITY;

    advise_read_all(b, f->payload, f->plan.bytes);
    for (size_t round = 0; round < ROUNDS; round++, keys += WARM)
        least = fmin(least, advise_time_lookups(b, f, keys, WARM));
    return least;
}

static tamis_status advise_measure_filter(advise_bench *b, tamis_timing *t, const tamis_plan *plan)
{
    tamis *f;
    double start = advise_now(b);
    tamis_status status = tamis_build(&f, plan, b->keys, KEYS, b->alloc);

    if (status)
        return status;
    t->build = (advise_now(b) - start) / KEYS;
    t->bits = -log2(fmax(plan->fpr, 0x1p-64));
    t->bytes = (double)plan->bytes;
    t->absent_cold = advise_lookup_cold(b, f, b->keys + KEYS);
    t->present_cold = advise_lookup_cold(b, f, b->keys);
    t->absent = advise_lookup_warm(b, f, b->keys + KEYS);
    t->present = advise_lookup_warm(b, f, b->keys);
    tamis_free(f);
    return TAMIS_OK;
}

/* Kinds that meet no rate, or need more than keys, are left out. */
static tamis_status advise_measure_kind(advise_bench *b, tamis_machine *m, tamis_kind kind)
{
    unsigned can = tamis_kind_can(kind);
    tamis_status status = TAMIS_OK;
    tamis_speed s = { .kind = kind };

    if (!(can & TAMIS_CAN_BUILD) || can & TAMIS_IS_INDEXED || m->kinds == TAMIS_SPEEDS_MAX)
        return TAMIS_OK;
    for (int i = 0; i < 2 && !status; i++) {
        tamis_spec spec = TAMIS_SPEC(.keys = KEYS, .fpr = ldexp(1, i ? -LOW_BITS : -HIGH_BITS));
        tamis_plan plan;
        if (tamis_plan_kind(&plan, kind, &spec))
            return TAMIS_OK;
        status = advise_measure_filter(b, &s.at[i], &plan);
    }
    if (!status)
        m->speeds[m->kinds++] = s;
    return status;
}

static void advise_measure_hash(advise_bench *b, tamis_machine *m)
{
    const tamis_hasher hasher = { .hash = TAMIS_FAST };

    m->hash = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double start = advise_now(b);
        for (uint64_t i = 0; i < WARM; i++)
            b->seen += tamis_hasher_key(&hasher, &b->keys[i], 24);
        m->hash = fmin(m->hash, (advise_now(b) - start) / WARM);
    }
}

/* ---- All of it --------------------------------------------------------- */

static tamis_status advise_measure(advise_bench *b, tamis_machine *m)
{
    tamis_status status = TAMIS_OK;

    for (uint64_t i = 0; i < 2 * KEYS; i++)
        b->keys[i] = hash_key(i, 1);
    for (uint64_t i = 0; i < UINT64_C(1) << (TABLE_BITS - 3); i++)
        b->table[i] = i;
    advise_measure_reads(b, m);
    advise_measure_hash(b, m);
    for (tamis_kind k = TAMIS_NO_KIND; !status && (k = tamis_kind_next(k)) != TAMIS_NO_KIND;)
        status = advise_measure_kind(b, m, k);
    /* A clock that stood still has measured nothing. */
    return status ? status : m->reads[0] > 0 || b->seen == 0 ? TAMIS_OK : TAMIS_RANGE;
}

tamis_status tamis_calibrate(tamis_machine *machine, tamis_clock *clock, void *ctx,
                             const tamis_allocator *a)
{
    const tamis_allocator *from = a ? a : &tamis__default_allocator;
    const size_t keys_size = 2 * KEYS * sizeof(uint64_t);
    const size_t table_size = (size_t)1 << TABLE_BITS;
    advise_bench b = { .clock = clock, .ctx = ctx, .alloc = a };
    tamis_status status = TAMIS_NOMEM;

    if (!tamis__sized_is_possible(machine->size, ADVISE_MACHINE, sizeof *machine))
        return TAMIS_RANGE;
    /* Half of the stack that a call may take would be for it. */
    tamis_machine *m = from->alloc(from->ctx, sizeof *m);
    b.keys = from->alloc(from->ctx, keys_size);
    b.table = from->alloc(from->ctx, table_size);
    if (m && b.keys && b.table) {
        *m = (tamis_machine){ .size = sizeof *m };
        status = advise_measure(&b, m);
    }
    if (!status)
        tamis__sized_give(machine, m, sizeof *m);
    if (b.table)
        from->free(from->ctx, b.table, table_size);
    if (b.keys)
        from->free(from->ctx, b.keys, keys_size);
    if (m)
        from->free(from->ctx, m, sizeof *m);
    return status;
}
