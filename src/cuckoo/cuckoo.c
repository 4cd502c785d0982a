/* cuckoo.c - cuckoo filter with windows: fingerprints that make room for each other.
 *
 * Slots form one array. A key has a fingerprint and two windows of two neighbouring slots each. Its
 * fingerprint is in one of these four places:
 *
 *   slots    .  .  .  [0  1]  .  .  .  .  .  [2  3]  .  .
 *                      first                  second
 *
 * If all four are taken, a fingerprint that is there moves to another place of its own, where it
 * may push out another, and so on. Windows start at any slot, so that neighbours overlap. That is
 * why a table can be 95 % full; with buckets of two it would be full at 85 %.
 *
 *   first       = scale64(h, starts)                  starts = slots - 1
 *   fingerprint = the next width - 2 bits of h * starts
 *   second      = first + step(fingerprint), around the end
 *
 *   slot:  fingerprint << 2 | place                   0: empty
 *
 * A slot tells which place of its key it is. So the other places are known from the slot alone, for
 * any number of slots. These two bits cost nothing: an absent key is found only if they agree too,
 * which means that its windows and fingerprint are those of a key. The probability is
 *
 *   1 - (1 - 1 / (starts * 2^(width - 2)))^n        about load * 2^(2 - width)
 *
 * Fingerprint 0 at place 0 would look empty. Such keys have three places.
 *
 * Keys with the same windows and fingerprint are a class. Each copy takes a slot, and a class takes
 * three at most. More keys of it are its surplus, which is counted apart (surplus.h).
 *
 * With enough bits, windows and fingerprint tell all of h. Then a class is one key, and a key that
 * is not there is never removed: TAMIS_CAN_EXACT_DELETE.
 *
 * Payload: plan.slots numbers of plan.width bits, up to a whole byte. Then the stash: the number of
 * hashes in it, as a word, and room for four. A hash goes there if no move makes room, and back to
 * the slots after a remove. Plans of few keys need it; in others it is empty. Then the surplus.
 * Zeros are the empty filter.
 *
 * Fan, Andersen, Kaminsky, Mitzenmacher: Cuckoo Filter: Practically Better Than Bloom, 2014.
 * Lehman, Panigrahy: 3.5-Way Cuckoo Hashing for the Price of 2-and-a-Bit, 2009.
 * Schmitz, Zentgraf, Rahmann: Smaller and More Flexible Cuckoo Filters, 2025. */
#include "cuckoo/cuckoo.h"

#include "base/collisions.h"
#include "base/cpu.h"

/* ---- Sizing ------------------------------------------------------------ */

/* At the highest load, a search takes one and a half times as long as at the default. Searches
 * begin to fail a hundredth above it: docs/filters/cuckoo.md. */
static const double CUCKOO_DEFAULT_LOAD = 0.94, CUCKOO_HIGHEST_LOAD = 0.945;

/* Slots of the fewest bits will do in tables of 2^19. Each bit more allows 2^4.5 times as many. */
static const double CUCKOO_NARROWEST_SLOTS_BITS = 19, CUCKOO_SLOTS_BITS_PER_BIT = 4.5;

/* In fewer, the two windows of a key would overlap. */
enum { CUCKOO_FEWEST_SLOTS = 5 };

static const uint64_t CUCKOO_MOST_SLOTS = UINT64_C(1) << 45;

/* The width that tells all of h: hashes of one start that differ by 1 differ by `starts` in the
 * lower half of the product. */
static unsigned cuckoo_exact_width(uint64_t slots)
{
    return CUCKOO_TAG_BITS + 1 + (unsigned)__builtin_clzll(slots - 1);
}

static uint64_t cuckoo_bytes(const tamis_plan *p)
{
    bool ok = p->width >= CUCKOO_NARROWEST && p->width <= CUCKOO_WIDEST && p->hashes == 0 &&
              p->load == 0 && p->slots >= CUCKOO_FEWEST_SLOTS && p->slots <= CUCKOO_MOST_SLOTS;

    if (!ok || p->flags & ~TAMIS_PLAN_EXACT_DELETE)
        return 0;
    if (p->flags & TAMIS_PLAN_EXACT_DELETE && p->width < cuckoo_exact_width(p->slots))
        return 0;
    return cuckoo_slots_bytes(p) + CUCKOO_STASH_BYTES +
           surplus_bytes(cuckoo_surplus_entries(p->slots, p->width));
}

static double cuckoo_classes(const tamis_plan *p)
{
    return ldexp((double)(p->slots - 1), (int)p->width - CUCKOO_TAG_BITS);
}

static double cuckoo_rate(const tamis_plan *p, double n)
{
    return p->width >= cuckoo_exact_width(p->slots) ? 0 : collisions_rate(n, cuckoo_classes(p));
}

/* Few keys are spread less evenly than many. Beyond the load, a table gets five slots, and 23 bytes
 * or one slot for 25 keys, whichever is more, but no more than 60 slots. */
static double cuckoo_slots_for(double n, double load, unsigned width)
{
    return floor(n / load + CUCKOO_FEWEST_SLOTS + fmax(fmin(n / 25, 60), 184 / width));
}

/* Keys that share most of their places crowd them, and what is too much goes to the stash: 0.4
 * entries on average in a million slots of 6 bits, 22 times fewer with 7 bits. If that holds for
 * every bit more, no plan expects more than 0.2 entries, where there is room for four. */
static unsigned cuckoo_narrowest(double slots)
{
    double more = ceil((log2(slots) - CUCKOO_NARROWEST_SLOTS_BITS) / CUCKOO_SLOTS_BITS_PER_BIT);

    return CUCKOO_NARROWEST + (unsigned)fmax(0, more);
}

/* Slots that n keys need for their rate. */
static double cuckoo_slots_at_width(double n, double fpr, unsigned width)
{
    return fmin(ceil(ldexp(-1 / expm1(log1p(-fpr) / n), CUCKOO_TAG_BITS - (int)width)) + 2,
                (double)CUCKOO_MOST_SLOTS);
}

/* Many narrow slots or fewer wide ones: what takes the fewest bits. If a load is asked for, there
 * are no more slots than that. */
static tamis_status cuckoo_plan_smallest(tamis_plan *p, const tamis_spec *spec, double load)
{
    double n = (double)spec->keys, best = INFINITY;

    for (unsigned width = CUCKOO_NARROWEST; width <= CUCKOO_WIDEST; width++) {
        if (spec->tag_bits && width != spec->tag_bits + CUCKOO_TAG_BITS)
            continue;
        double least = cuckoo_slots_for(n, load, width);
        double slots = fmax(least, cuckoo_slots_at_width(fmax(1, n), spec->fpr, width));
        if (slots * width >= best || (spec->load > 0 && slots > least) ||
            width < cuckoo_narrowest(slots))
            continue;
        best = slots * width;
        p->slots = (uint64_t)slots;
        p->width = width;
    }
    return isinf(best) ? TAMIS_RANGE : TAMIS_OK;
}

static tamis_status cuckoo_plan(tamis_plan *p, const tamis_spec *spec)
{
    double n = (double)spec->keys, load = spec->load > 0 ? spec->load : CUCKOO_DEFAULT_LOAD;

    if (load > CUCKOO_HIGHEST_LOAD || n / load > (double)CUCKOO_MOST_SLOTS / 2)
        return TAMIS_RANGE;
    if (!(spec->can & TAMIS_CAN_EXACT_DELETE))
        return cuckoo_plan_smallest(p, spec, load);
    p->slots = (uint64_t)cuckoo_slots_for(n, load, CUCKOO_WIDEST);
    p->width = cuckoo_exact_width(p->slots);
    p->flags |= TAMIS_PLAN_EXACT_DELETE;
    return spec->tag_bits ? TAMIS_RANGE : TAMIS_OK;
}

/* ---- Keys -------------------------------------------------------------- */

static inline void cuckoo_hash_group(cuckoo_group *g, const void *table, const uint64_t *keys)
{
    cuckoo_hash_each(g, 0, table, keys);
}

#define CUCKOO_HOLDS_FOUR 0
#define cuckoo_hold_four(t, l, g, i) UINT64_C(0)
#include "cuckoo/cuckoo_template.h"

/* ---- The whole table --------------------------------------------------- */

/* The first slot is place 1 of no window, the last one place 0 of none. */
static bool cuckoo_is_sound(const cuckoo_table *t, uint64_t slot, uint64_t value)
{
    return slot - (value & 1) < t->starts;
}

/* Of the entries of a class, the one at the lowest place. */
static bool cuckoo_is_first_of_class(const cuckoo_table *t, uint64_t slot, uint64_t value)
{
    cuckoo_entry e = cuckoo_entry_in(t, slot, value);
    unsigned below = (1u << (value & CUCKOO_TAG_MASK)) - 1;

    return !(cuckoo_holding(t, &e) & below);
}

static void cuckoo_measure(const tamis *f, tamis_info *info)
{
    cuckoo_table t = cuckoo_table_of(f);
    double used = 0, distinct = 0, all = cuckoo_classes(&f->plan);

    for (uint64_t slot = 0; slot <= t.starts; slot++) {
        uint64_t value = cuckoo_slot(&t, slot);
        used += value != 0;
        distinct +=
            value && cuckoo_is_sound(&t, slot, value) && cuckoo_is_first_of_class(&t, slot, value);
    }
    for (unsigned i = 0; i < cuckoo_stash_size(&t); i++) {
        cuckoo_entry e = cuckoo_entry_of(&t, le64(cuckoo_stash_at(&t, i)));
        distinct += !cuckoo_holding(&t, &e);
    }
    info->fill = used / (double)f->plan.slots;
    info->cardinality = distinct;
    info->fpr = 0;
    if (f->plan.width >= cuckoo_exact_width(f->plan.slots))
        return;
    info->cardinality = collisions_keys(distinct, all);
    info->fpr = fmin(1, distinct / all);
}

/* Too many is one at each of the four places; then place 1, next to place 0, has it too. */
static bool cuckoo_is_crowded(const cuckoo_table *t, uint64_t slot, uint64_t value)
{
    if (value & CUCKOO_TAG_MASK || slot == t->starts || cuckoo_slot(t, slot + 1) != value + 1)
        return false;
    cuckoo_entry e = cuckoo_entry_in(t, slot, value);
    return __builtin_popcount(cuckoo_holding(t, &e)) > CUCKOO_CEILING;
}

static const char *cuckoo_verify_slots(const cuckoo_table *t, uint64_t *used)
{
    for (uint64_t slot = 0; slot <= t->starts; slot++) {
        uint64_t value = cuckoo_slot(t, slot);
        *used += value != 0;
        if (value && !cuckoo_is_sound(t, slot, value))
            return "a slot is in no window";
        if (value && cuckoo_is_crowded(t, slot, value))
            return "a key is there too often";
    }
    unsigned end = (unsigned)((t->starts + 1) * t->width % 8);
    return end && t->stash[-1] >> end ? "bits past the end are set" : NULL;
}

static const char *cuckoo_verify_stash(const cuckoo_table *t)
{
    uint64_t n = le64(t->stash);

    if (n > CUCKOO_STASH_MOST)
        return "the stash is longer than it can be";
    for (unsigned i = 0; i < CUCKOO_STASH_MOST; i++) {
        cuckoo_entry e = cuckoo_entry_of(t, le64(cuckoo_stash_at(t, i)));
        if (i >= n && le64(cuckoo_stash_at(t, i)))
            return "an empty place of the stash is in use";
        if (i < n && (unsigned)__builtin_popcount(cuckoo_holding(t, &e)) + cuckoo_stashed(t, &e) >
                         CUCKOO_CEILING)
            return "a key is there too often";
    }
    return NULL;
}

static bool cuckoo_is_at_ceiling(const void *table, uint64_t class)
{
    const cuckoo_table *t = table;
    uint64_t first = class >> (t->width - CUCKOO_TAG_BITS), value = class << CUCKOO_TAG_BITS;

    if (first >= t->starts)
        return false;
    cuckoo_entry e = cuckoo_entry_in(t, first, value & cuckoo_mask(t->width));
    return cuckoo_copies(t, &e) == CUCKOO_CEILING;
}

static const char *cuckoo_verify(const tamis *f)
{
    cuckoo_table t = cuckoo_table_of(f);
    uint64_t used = 0;
    const char *why = cuckoo_verify_slots(&t, &used);

    const surplus s = cuckoo_surplus_of(&t);
    if (!why)
        why = cuckoo_verify_stash(&t);
    if (!why)
        why = tamis__surplus_verify(&s, cuckoo_is_at_ceiling, &t);
    if (why)
        return why;
    return used + cuckoo_stash_size(&t) == f->count ? NULL : "the count is wrong";
}

/* ---- The kind ---------------------------------------------------------- */

static void cuckoo_for_cpu(tamis *f, unsigned cpu)
{
    const cuckoo_derived d = { f->plan.slots - 1, cuckoo_slots_bytes(&f->plan),
                               cuckoo_lanes_of(f->plan.width), f->plan.width };

    memcpy(f->derived, &d, sizeof d);
    cuckoo_use(f);
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        tamis__cuckoo_use_avx2(f);
#endif
    (void)cpu;
}

const tamis_ops tamis__cuckoo = {
    .traits = TAMIS_TRAIT_BUILDS_SETS | TAMIS_TRAIT_CAN_DELETE_EXACTLY | TAMIS_TRAIT_TAG_BITS,
    .limits = { .ceiling = CUCKOO_CEILING },
    .plan = cuckoo_plan,
    .bytes = cuckoo_bytes,
    .rate = cuckoo_rate,
    .for_cpu = cuckoo_for_cpu,
    .verify = cuckoo_verify,
    .measure = cuckoo_measure,
    .has = cuckoo_has,
    .count = cuckoo_count,
    .add = cuckoo_add,
    .remove = cuckoo_remove,
    .has_many = cuckoo_has_many,
    .count_many = cuckoo_count_many,
    .add_many = cuckoo_add_many,
    .remove_many = cuckoo_remove_many,
    .cells = tamis__cuckoo_cells,
    .explain = tamis__cuckoo_explain,
};
