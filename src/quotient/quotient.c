/* quotient.c - quotient filter: a sorted hash table that keeps only what the place does not tell.
 *
 * The fingerprint of a key is a number below slots * 2^r. Its quotient, fingerprint / 2^r, is the
 * slot where the key is at home; its remainder, the other r bits, is what is stored. Keys of one
 * quotient stand side by side, sorted: a run. Runs stand in order of their quotients; one that
 * finds its slot taken is shifted up, and the last slots are followed by the first. Runs without
 * an empty slot or a run at home between them are a cluster. Three bits of each slot tell runs
 * apart:
 *
 *   occupied    of the slot itself: some key has this quotient, wherever it is
 *   continued   of what lies there: the same run as in the slot before
 *   shifted     of what lies there: not at home
 *
 *   quotient    remainders              slot   0    1    2    3    4    5    6    7
 *       1       a c                occupied    0    1    1    0    1    0    0    0
 *       2       5                 continued    0    0    1    0    0    0    0    0
 *       4       9                   shifted    0    0    1    1    0    0    0    0
 *                                 remainder         a    c    5    9
 *
 * The run of an occupied quotient is found from the start of its cluster, the next slot below that
 * is not shifted: skip as many runs as there are occupied quotients between. No fingerprint is
 * lost, so that the filter can forget a key, be listed in order, merged in one pass, and doubled:
 * one bit of each remainder becomes the last of the quotient. A stranger is taken for one of n keys
 * only if it has the fingerprint of one:
 *
 *   1 - (1 - 1 / (slots * 2^r))^n        about load * 2^-r
 *
 * Each copy of a key has a slot. What is stored depends on the fingerprints alone, in no way on
 * the order in which they came.
 *
 * Payload: blocks of 64 slots, then 8 zero bytes. A block is three words, one for each kind of
 * bit, and 64 remainders of plan.width = r bits: cluster and run are found by arithmetic on words.
 * Zeros are the empty filter.
 *
 * Bender, Farach-Colton, Johnson, Kraner, Kuszmaul, Medjedovic, Montes, Shetty, Spillane, Zadok:
 * Don't Thrash: How to Cache Your Hash on Flash, 2012. */
#include "base/cpu.h"
#include "quotient/collisions.h"
#include "quotient/quotient_template.h"

/* ---- Sizing ------------------------------------------------------------ */

enum { WIDEST = PACKED_WIDEST };

/* Above it, clusters have thousands of slots. */
static const double DEFAULT_LOAD = 0.75, HIGHEST_LOAD = 0.95;

/* One slot stays empty: it ends every walk. */
static uint64_t quotient_bytes(const tamis_plan *p)
{
    bool ok = p->width >= 1 && p->width <= WIDEST && p->hashes == 0 && p->load == 0 &&
              (p->flags & ~TAMIS_PLAN_GROWS) == 0 && p->capacity < p->slots &&
              p->slots < UINT64_C(1) << (63 - p->width);

    return ok ? ((p->slots - 1) / BLOCK_SLOTS + 1) * (REMAINDERS + 8 * p->width) + SLACK : 0;
}

static double quotient_rate(const tamis_plan *p, double n)
{
    return collisions_rate(n, ldexp((double)p->slots, (int)p->width));
}

/* A filter can be halved as often as its slots can: rounding to ten bits costs 0.2 % at most. */
static uint64_t quotient_slots_for(double keys, double load)
{
    double slots = (keys + 1) / load + 1;
    uint64_t step = 1;

    if (slots >= 0x1p48)
        return 0;
    while ((uint64_t)slots / step >= 1024)
        step *= 2;
    return round_up((uint64_t)slots, step);
}

/* Those that are asked for, if the keys leave one in twenty empty. */
static uint64_t quotient_slots_asked(const tamis_spec *spec)
{
    double highest = spec->load > 0 ? spec->load : HIGHEST_LOAD;
    bool fits =
        spec->quotient_bits < 48 && (double)spec->keys <= ldexp(highest, (int)spec->quotient_bits);

    return fits ? UINT64_C(1) << spec->quotient_bits : 0;
}

static tamis_status quotient_plan(tamis_plan *p, const tamis_spec *spec)
{
    double load = spec->load > 0 ? spec->load : DEFAULT_LOAD;

    p->slots = spec->quotient_bits ? quotient_slots_asked(spec)
                                   : quotient_slots_for((double)spec->keys, load);
    if (load > HIGHEST_LOAD || p->slots == 0)
        return TAMIS_RANGE;
    p->flags = spec->can & TAMIS_CAN_GROW ? TAMIS_PLAN_GROWS : 0;
    p->width = spec->tag_bits ? spec->tag_bits : 1;
    while (!spec->tag_bits && p->width < WIDEST &&
           quotient_rate(p, fmax(1, (double)spec->keys)) > spec->fpr)
        p->width++;
    return quotient_bytes(p) ? TAMIS_OK : TAMIS_RANGE;
}

static tamis_status quotient_resize(tamis_plan *p, uint64_t keys)
{
    for (; p->capacity < keys; p->capacity = 2 * p->capacity + 1, p->slots *= 2, p->width--)
        if (p->width == 1)
            return TAMIS_RANGE;
    while (p->capacity / 2 >= keys && p->slots % 2 == 0 && p->slots > 2 && p->width < WIDEST) {
        p->capacity /= 2;
        p->slots /= 2;
        p->width++;
    }
    return TAMIS_OK;
}

/* ---- One key ----------------------------------------------------------- */

static uint64_t quotient_count(const tamis *f, uint64_t key)
{
    quotient_table t = quotient_table_of(f);

    return tamis__quotient_find(&t, quotient_fingerprint(f, key)).copies;
}

static tamis_status quotient_add(tamis *f, uint64_t key, uint64_t times)
{
    if (times > f->plan.capacity - f->count)
        return TAMIS_FULL;
    tamis__quotient_insert(f, quotient_fingerprint(f, key), times);
    return TAMIS_OK;
}

static tamis_status quotient_remove(tamis *f, uint64_t key, uint64_t times)
{
    return tamis__quotient_take_out(f, quotient_fingerprint(f, key), times);
}

static void quotient_touch(const tamis *f, uint64_t key)
{
    quotient_table t = quotient_table_of(f);

    quotient_fetch(&t, quotient_fingerprint(f, key) >> t.width);
}

/* ---- The whole table --------------------------------------------------- */

/* Each copy has a slot, and there is one range. */
static tamis_room quotient_room(const tamis *f, uint64_t range, uint64_t copies)
{
    uint64_t capacity = f->plan.capacity;

    (void)range;
    return (tamis_room){ .used = f->count,
                         .free = f->count < capacity ? capacity - f->count : 0,
                         .needed = copies };
}

/* A fingerprint that is there stands for one key or several; strangers pass if theirs is. */
static void quotient_measure(const tamis *f, tamis_info *info)
{
    tamis_cursor c = { .f = f };
    double all = ldexp((double)f->plan.slots, (int)f->plan.width), distinct = 0, copies = 0;

    for (; tamis__quotient_next(&c); distinct++)
        copies += (double)c.count;
    info->cardinality = collisions_keys(distinct, all);
    info->fill = copies / (double)f->plan.slots;
    info->fpr = fmin(1, distinct / all);
}

static const char *quotient_verify_empty(const quotient_table *t, uint64_t *used)
{
    for (uint64_t block = 0; block <= t->last; block++) {
        uint64_t in_use = quotient_used_slots(quotient_block(t, block));
        *used += word_ones(in_use);
        if (in_use & ~quotient_slots_of(t, block))
            return "a slot past the end is in use";
        for (uint64_t empty = ~in_use; empty; empty &= empty - 1)
            if (quotient_remainder(t, block * BLOCK_SLOTS + word_lowest(empty)) != 0)
                return "an empty slot has a remainder";
    }
    return le64(quotient_block(t, t->last + 1)) ? "bytes past the end are set" : NULL;
}

/* From its head, at *position, to the position after it. */
static const char *quotient_verify_run(const quotient_table *t, uint64_t quotient,
                                       uint64_t *position)
{
    uint32_t before = 0;

    if (quotient_bit(t, CONTINUED, quotient_wrap(t, *position)))
        return "a run has no head";
    do {
        uint64_t slot = quotient_wrap(t, *position);
        if (quotient_bit(t, SHIFTED, slot) != (*position != quotient))
            return "a slot is not where it says";
        if (quotient_remainder(t, slot) < before)
            return "a run is not sorted";
        before = quotient_remainder(t, slot);
        ++*position;
    } while (quotient_continues(t, *position));
    return *position < 2 * t->slots ? NULL : "a run does not end";
}

/* Runs follow each other from the first to the last, whose end the first one follows: so there is
 * one for each occupied quotient, and none overlaps another. *used tells how many slots they have.
 */
static const char *quotient_verify_runs(const quotient_table *t, uint64_t *used)
{
    uint64_t first = tamis__quotient_next_occupied(t, 0), start = 0, position = 0;

    if (first == t->slots)
        return NULL;
    start = tamis__quotient_run(t, first);
    start += start < first ? t->slots : 0;
    position = start;
    for (uint64_t q = first; q < t->slots; q = tamis__quotient_next_occupied(t, q + 1)) {
        if (position < q)
            position = q;
        uint64_t head = position;
        if (head >= 2 * t->slots)
            return "no slot is at home";
        const char *why = quotient_verify_run(t, q, &position);
        if (why)
            return why;
        *used += position - head;
    }
    uint64_t around = position > t->slots ? position - t->slots : 0;
    return start == (around > first ? around : first) ? NULL : "the first run is out of place";
}

static const char *quotient_verify(const tamis *f)
{
    quotient_table t = quotient_table_of(f);
    uint64_t used = 0, in_runs = 0;
    const char *why = quotient_verify_empty(&t, &used);

    if (!why)
        why = quotient_verify_runs(&t, &in_runs);
    if (why)
        return why;
    if (used != in_runs)
        return "a slot belongs to no run";
    return used == f->count && used <= f->plan.capacity ? NULL : "the number of keys is wrong";
}

/* ---- The table of functions -------------------------------------------- */

static void quotient_for_cpu(tamis *f, unsigned cpu)
{
    const tamis_plan *p = &f->plan;
    quotient_table t = { .slots = p->slots,
                         .last = (p->slots - 1) / BLOCK_SLOTS,
                         .block_bytes = REMAINDERS + 8 * p->width,
                         .width = p->width,
                         .lanes = lanes_of(p->width),
                         .is_far = f->is_far };

    memcpy(f->derived, &t, sizeof t);
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        tamis__quotient_use_avx2(&f->ops);
    if (cpu & TAMIS_CPU_AVX512)
        tamis__quotient_use_avx512(&f->ops, &f->plan);
#endif
    (void)cpu;
}

const tamis_ops tamis__quotient = {
    .traits = TAMIS_TRAIT_CAN_GROW | TAMIS_TRAIT_KEEPS_COPIES | TAMIS_TRAIT_QUOTIENT_BITS |
              TAMIS_TRAIT_TAG_BITS | TAMIS_TRAIT_TO_STUDY,
    .plan = quotient_plan,
    .bytes = quotient_bytes,
    .rate = quotient_rate,
    .resize = quotient_resize,
    .for_cpu = quotient_for_cpu,
    .verify = quotient_verify,
    .measure = quotient_measure,
    .has = quotient_has,
    .count = quotient_count,
    .add = quotient_add,
    .remove = quotient_remove,
    .touch = quotient_touch,
    .has_many = quotient_has_many,
    .add_many = tamis__quotient_add_many,
    .remove_many = tamis__quotient_remove_many,
    .next = tamis__quotient_next,
    .append = tamis__quotient_append,
    .room = quotient_room,
    .cells = tamis__quotient_cells,
    .explain = tamis__quotient_explain,
};
