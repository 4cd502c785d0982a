/* acf.c - adaptive cuckoo filter: reported false positives are corrected.
 *
 * There are four tables of b cells, and a key is in one of four cells, one of each table. A cell
 * has a fingerprint of its key, and beside the cells, in the same order, are the keys themselves.
 * Lookups read cells alone. Which cells a key may have follows from its whole hash, so that the
 * fingerprint may be any function of it: there are two, and the selector of a cell tells which one
 * it has.
 *
 *             table 0             table 1             table 2             table 3
 *   cells     |  | 0:17 |  | ..   | 0:4 |  |  | ..   |  | 1:9 |  | ..   |  |  | 0:30 | ..
 *   entries   |  | red  |  | ..   | tea |  |  | ..   |  | dog |  | ..   |  |  | sun  | ..
 *
 * An absent key that has the fingerprint of a key in one of its own cells is taken for it. When the
 * owner reports that, the selector is flipped and the cell gets the other fingerprint of its
 * key, which the absent key has with probability 1 / v only, v being the number of fingerprints.
 * But another absent key may have that one, and its report flips the selector back. So adaptation
 * is weak: a cell for which each function is hit by absent keys that are queried again never comes
 * to rest.
 *
 * A new key takes an empty cell of its own, or others move to make room (acf_change.c). With a
 * fraction o of the cells in use, an absent key is found at the rate
 *
 *   1 - (1 - o / v)^4    about 4 o / v,    v = 2^(bits - 1) - 1
 *
 * Selectors tell how many distinct absent keys were queried: a cell whose fingerprints were hit by
 * nobody still has selector 0, and any other has 1 in half of all cases (tamis__acf_queried()).
 *
 * plan.slots is the number of cells of a table when it was planned, plan.width how often they were
 * doubled since, plan.hashes the bits of a cell. A growing filter keeps each key in its table: the
 * cell of a key in a table of b cells becomes one of two in a table of 2 b, so that nothing
 * collides.
 *
 * Payload: cells, packed, to a multiple of 64 bytes, then for each cell the hash of its key, from
 * which that can be had back, and the number of its copies. Zeros are the empty filter.
 *
 * Mitzenmacher, Pontarelli, Reviriego: Adaptive Cuckoo Filters, 2018. Reviriego, Apple, Alonso,
 * Ertl, Dayan: Cardinality Estimation Adaptive Cuckoo Filters (CE-ACF), 2023. */
#include "cuckoo/acf.h"

#include <math.h>

#include "base/many.h"

/* ---- Sizing ------------------------------------------------------------ */

/* Tables refuse the first key at a load of 0.97; of 10^6 cells, at 0.96. Small ones vary more: with
 * 16 cells to spare, less than one filter in 10^9 refuses a key that it is planned for, as far as
 * 10^5 tables of each of 15 sizes tell. Four keys always fit in four cells. */
static const double ACF_MOST_LOAD = 0.95;
enum { ACF_SPARE = 16 };

static const uint64_t ACF_MOST_BUCKETS = UINT64_C(1) << 40;

static uint64_t acf_bytes(const tamis_plan *p)
{
    bool grows = p->flags & TAMIS_PLAN_GROWS;

    if (p->flags & ~TAMIS_PLAN_GROWS || p->load != 0)
        return 0;
    if (p->hashes < ACF_LEAST_BITS || p->hashes > ACF_MOST_BITS || p->width > (grows ? 40u : 0u))
        return 0;
    if (p->slots == 0 || p->slots > ACF_MOST_BUCKETS >> p->width)
        return 0;
    uint64_t cells = ACF_TABLES * acf_buckets(p);
    return p->capacity <= cells ? acf_cells_bytes(cells, p->hashes) + cells * ACF_ENTRY : 0;
}

/* Of the four cells of an absent key, k are in use, as if these were chosen at random among all:
 * then the rate is the mean of 1 - (1 - 1 / v)^k, here by its binomial moments. More keys than
 * cells count as if cells held several. */
static double acf_rate(const tamis_plan *p, double n)
{
    double cells = (double)(ACF_TABLES * acf_buckets(p)), each = 1.0 / acf_prints(p->hashes);
    double term = -1, rate = 0;

    if (n > cells)
        return -expm1(ACF_TABLES * n / cells * log1p(-each));
    for (unsigned i = 0; i < ACF_TABLES; i++) {
        term *= -each * fmax(n - i, 0) / (cells - i) * (ACF_TABLES - i) / (i + 1);
        rate += term;
    }
    return rate;
}

/* How many cells are hit under both selectors, if so many absent keys are to be told from the keys:
 * such a cell cannot. Of the m absent keys that have a cell, a share of 1 / v hits it under one
 * selector, as many under the other, and 1 / v^2 under both. These are Poisson numbers, so that
 * neither selector is free with probability
 *
 *   1 - 2 exp(-m / v) + exp(-(2 - 1 / v) m / v)
 *
 * which is (1 - exp(-m / v))^2 without those that hit both, and the rest is theirs. */
static double acf_stuck(const tamis_plan *p, double absent)
{
    double v = acf_prints(p->hashes), each = absent / (double)acf_buckets(p) / v;
    double by_two = expm1(-each) * expm1(-each),
           by_one = -exp((1 / v - 2) * each) * expm1(-each / v);

    return (double)p->capacity * (by_two + by_one);
}

/* As many keys as the rate must hold for. One that grows has any share of its cells in use when it
 * does, up to all of them where they are few. */
static double acf_planned_keys(const tamis_plan *p)
{
    return p->flags & TAMIS_PLAN_GROWS ? (double)(ACF_TABLES * p->slots) : (double)p->capacity;
}

static tamis_status acf_plan(tamis_plan *p, const tamis_spec *spec)
{
    double n = (double)spec->keys, load = spec->load > 0 ? spec->load : ACF_MOST_LOAD;
    double others = spec->universe > spec->keys ? (double)(spec->universe - spec->keys) : 0;
    double buckets = spec->keys <= ACF_TABLES ? 1 : ceil((n / load + ACF_SPARE) / ACF_TABLES);

    if (load > ACF_MOST_LOAD || !(buckets <= (double)ACF_MOST_BUCKETS))
        return TAMIS_RANGE;
    p->flags |= spec->can & TAMIS_CAN_GROW ? TAMIS_PLAN_GROWS : 0;
    p->slots = (uint64_t)buckets;
    p->hashes = spec->tag_bits ? spec->tag_bits + 1 : ACF_LEAST_BITS;
    while (!spec->tag_bits && p->hashes < ACF_MOST_BITS &&
           (acf_rate(p, acf_planned_keys(p)) > spec->fpr || acf_stuck(p, others) > 1e-3))
        p->hashes++;
    return acf_bytes(p) ? TAMIS_OK : TAMIS_RANGE;
}

static tamis_status acf_resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    if (acf_buckets(p) > ACF_MOST_BUCKETS / 2)
        return TAMIS_RANGE;
    p->width++;
    double room = ACF_MOST_LOAD * ((double)(ACF_TABLES * acf_buckets(p)) - ACF_SPARE);
    p->capacity = room > (double)p->capacity ? (uint64_t)room : p->capacity;
    return TAMIS_OK;
}

/* ---- One key ----------------------------------------------------------- */

typedef struct acf_batch {
    acf_table t;
    uint64_t salt;
} acf_batch;

/* All four at once: which of them holds a key is a matter of chance. */
ACF_INLINE bool acf_look(const acf_table *t, const acf_places *p)
{
    unsigned found = acf_matches(t, p, 0);

    found |= acf_matches(t, p, 1);
    found |= acf_matches(t, p, 2);
    found |= acf_matches(t, p, 3);
    return found;
}

/* With a number of bits that the compiler knows, there is less to do. */
ACF_INLINE bool acf_has_of(const tamis *f, unsigned bits, uint64_t key)
{
    const acf_table t = { f->payload, acf_buckets(&f->plan), bits, f->is_far };
    const acf_places p = acf_places_of(&t, hash_key(key, f->salt));

    return acf_look(&t, &p);
}

static bool acf_has(const tamis *f, uint64_t key)
{
    return acf_has_of(f, f->plan.hashes, key);
}

static bool acf_has_8(const tamis *f, uint64_t key)
{
    return acf_has_of(f, 8, key);
}

static bool acf_has_16(const tamis *f, uint64_t key)
{
    return acf_has_of(f, 16, key);
}

/* A group of keys is an array of their places. */
MANY_INLINE void acf_prepare(const void *self, void *group, const uint64_t *keys, size_t n)
{
    const acf_batch *b = self;
    acf_places *places = group;

    for (size_t i = 0; i < n; i++)
        places[i] = acf_places_of(&b->t, hash_key(keys[i], b->salt));
}

MANY_INLINE void acf_fetch(const void *self, const void *group, size_t i)
{
    const acf_table *t = &((const acf_batch *)self)->t;
    const acf_places *p = (const acf_places *)group + i;

    for (unsigned table = 0; table < ACF_TABLES; table++)
        ahead_read(t->cells + packed_byte(p->cell[table], t->bits), t->is_far);
}

MANY_INLINE uint64_t acf_look_many(void *self, void *group, size_t i)
{
    return acf_look(&((const acf_batch *)self)->t, (const acf_places *)group + i);
}

static void acf_touch(const tamis *f, uint64_t key)
{
    const acf_batch b = { acf_of(f), f->salt };
    acf_places p;

    acf_prepare(&b, &p, &key, 1);
    acf_fetch(&b, &p, 0);
}

ACF_INLINE size_t acf_has_many_of(const tamis *f, unsigned bits, uint64_t *hits,
                                  const uint64_t *keys, size_t n)
{
    const acf_batch b = { { f->payload, acf_buckets(&f->plan), bits, f->is_far }, f->salt };
    acf_places groups[2][MANY];

    return many_lookups(&b, hits, keys, n, groups[0], groups[1], acf_prepare, acf_fetch,
                        acf_look_many, NULL);
}

static size_t acf_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return acf_has_many_of(f, f->plan.hashes, hits, keys, n);
}

static size_t acf_has_many_8(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return acf_has_many_of(f, 8, hits, keys, n);
}

static size_t acf_has_many_16(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return acf_has_many_of(f, 16, hits, keys, n);
}

static uint64_t acf_count(const tamis *f, uint64_t key)
{
    const acf_table t = acf_of(f);
    uint64_t cell;

    return tamis__acf_find(&t, hash_key(key, f->salt), &cell) ? acf_copies(&t, cell) : 0;
}

/* ---- How many were queried --------------------------------------------- */

/* C absent keys hit a cell under each selector l0 and l1 times, Poisson numbers with the mean
 * C / values. If both are 0, its selector is 0. Else it is 1 in half of all cases: it is if l0
 * alone is not 0, it is not if l1 alone is, and if neither is 0 they take turns. So
 *
 *   p = P(selector is 1) = (1 - exp(-2 C / values)) / 2
 *
 * and C follows from the share of cells with selector 1. Its standard error is that of the share
 * times dC/dp. Of few cells, the curve of the logarithm makes C too large by a known amount. A
 * share within two standard errors of one half tells nothing but that C is larger. */
double tamis__acf_queried(double values, double used, double ones, double *error)
{
    const double FEW = 2000;
    double most = (1 - 2 / sqrt(used)) / 2, p = ones / used;
    double spread = fmax(ones, 1) / used; /* none is as uncertain as one */

    *error = INFINITY;
    if (!(most > 0))
        return 0;
    double rest = 1 - 2 * fmin(p, most), keys = -values / 2 * log(rest);
    if (p < most)
        *error = values / (1 - 2 * spread) * sqrt(spread * (1 - spread) / used);
    if (used < FEW)
        keys -= values / 4 * (1 / (rest * rest) - 1) / used;
    return fmax(keys, 0);
}

/* ---- The whole filter -------------------------------------------------- */

static void acf_measure(const tamis *f, tamis_info *info)
{
    const acf_table t = acf_of(f);
    double values = (double)t.buckets * acf_prints(t.bits);
    uint64_t used = 0, ones = 0;

    for (uint64_t i = 0; i < acf_cells(&t); i++) {
        uint32_t value = acf_cell(&t, i);
        used += value != 0;
        ones += acf_selector(&t, value);
    }
    info->cardinality = (double)used;
    info->fill = (double)used / (double)acf_cells(&t);
    info->fpr = acf_rate(&f->plan, (double)used);
    info->adaptations = ones;
    info->queried = tamis__acf_queried(values, (double)used, (double)ones, &info->error);
}

/* Cells before were checked: they hold what their keys demand. */
static bool acf_is_before(const acf_table *t, const acf_places *p, uint64_t h, unsigned table)
{
    for (unsigned i = 0; i < table; i++)
        if (acf_matches(t, p, i) && acf_hash(t, p->cell[i]) == h)
            return true;
    return false;
}

static const char *acf_check_cell(const acf_table *t, uint64_t i)
{
    uint64_t h = acf_hash(t, i);
    uint32_t value = acf_cell(t, i);
    unsigned table = (unsigned)(i / t->buckets);

    if (acf_copies(t, i) == 0)
        return value || h ? "a cell has no copies" : NULL;
    const acf_places p = acf_places_of(t, h);
    if (p.cell[table] != i)
        return "a key is not in one of its cells";
    if (value != p.value[acf_selector(t, value)])
        return "a fingerprint is not that of its key";
    return acf_is_before(t, &p, h, table) ? "a key is there twice" : NULL;
}

static const char *acf_verify(const tamis *f)
{
    const acf_table t = acf_of(f);
    uint64_t bits = acf_cells(&t) * t.bits, copies = 0;
    const char *why = NULL;

    if (bits % 8 && t.cells[bits / 8] >> bits % 8)
        return "bits past the end are set";
    if (!bytes_are_zero(t.cells + (bits + 7) / 8, acf_entry(&t, 0)))
        return "bits past the end are set";
    for (uint64_t i = 0; i < acf_cells(&t) && !why; i++) {
        why = acf_check_cell(&t, i);
        if (!why && add_overflows(copies, acf_copies(&t, i), &copies))
            why = "the count is wrong";
    }
    return why || copies == f->count ? why : "the count is wrong";
}

/* Copies of a key take one cell. */
static tamis_room acf_room(const tamis *f, uint64_t range, uint64_t copies)
{
    const acf_table t = acf_of(f);
    tamis_room room = { .needed = copies > 0 };

    (void)range;
    for (uint64_t i = 0; i < acf_cells(&t); i++)
        room.used += acf_cell(&t, i) != 0;
    room.free = acf_cells(&t) - room.used;
    return room;
}

static void acf_for_cpu(tamis *f, unsigned cpu)
{
    (void)cpu;
    if (f->plan.hashes == 8) {
        f->ops.has = acf_has_8;
        f->ops.has_many = acf_has_many_8;
    }
    if (f->plan.hashes == 16) {
        f->ops.has = acf_has_16;
        f->ops.has_many = acf_has_many_16;
    }
}

const tamis_ops tamis__acf = {
    .traits = TAMIS_TRAIT_CAN_GROW | TAMIS_TRAIT_KEEPS_RATE | TAMIS_TRAIT_TAG_BITS,
    .plan = acf_plan,
    .bytes = acf_bytes,
    .rate = acf_rate,
    .resize = acf_resize,
    .for_cpu = acf_for_cpu,
    .verify = acf_verify,
    .measure = acf_measure,
    .has = acf_has,
    .count = acf_count,
    .add = tamis__acf_add,
    .remove = tamis__acf_remove,
    .touch = acf_touch,
    .has_many = acf_has_many,
    .merge = tamis__acf_merge,
    .move = tamis__acf_move,
    .room = acf_room,
    .adapt = tamis__acf_adapt,
    .forget = tamis__acf_forget,
    .cells = tamis__acf_cells,
    .explain = tamis__acf_explain,
};
