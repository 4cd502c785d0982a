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
 * Each copy of a key has a slot. Bytes depend on the fingerprints alone, not on their order.
 *
 * Payload: blocks of 64 slots, then 8 zero bytes. A block is three words, one for each kind of
 * bit, and 64 remainders of plan.width = r bits. Zeros are the empty filter.
 *
 * A kind to study: slots are read and moved one by one, as in the paper.
 *
 * Bender, Farach-Colton, Johnson, Kraner, Kuszmaul, Medjedovic, Montes, Shetty, Spillane, Zadok:
 * Don't Thrash: How to Cache Your Hash on Flash, 2012. */
#include "quotient/quotient.h"

#include "base/ahead.h"
#include "base/collisions.h"

/* ---- Sizing ------------------------------------------------------------ */

/* Above it, clusters have thousands of slots. */
static const double QUOTIENT_LOAD = 0.75, QUOTIENT_HIGHEST_LOAD = 0.95;

/* One slot stays empty: it ends every walk. */
static uint64_t quotient_bytes(const tamis_plan *p)
{
    uint64_t blocks = round_up(p->slots, QUOTIENT_BLOCK) / QUOTIENT_BLOCK;
    bool ok = p->width >= 1 && p->width <= PACKED_WIDEST && p->hashes == 0 && p->load == 0 &&
              (p->flags & ~TAMIS_PLAN_GROWS) == 0 && p->capacity < p->slots &&
              p->slots < UINT64_C(1) << (63 - p->width);

    return ok ? blocks * quotient_block_bytes(p) + 8 : 0;
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
    double highest = spec->load > 0 ? spec->load : QUOTIENT_HIGHEST_LOAD;
    bool fits =
        spec->quotient_bits < 48 && (double)spec->keys <= ldexp(highest, (int)spec->quotient_bits);

    return fits ? UINT64_C(1) << spec->quotient_bits : 0;
}

static tamis_status quotient_plan(tamis_plan *p, const tamis_spec *spec)
{
    double load = spec->load > 0 ? spec->load : QUOTIENT_LOAD;

    p->slots = spec->quotient_bits ? quotient_slots_asked(spec)
                                   : quotient_slots_for((double)spec->keys, load);
    if (load > QUOTIENT_HIGHEST_LOAD || p->slots == 0)
        return TAMIS_RANGE;
    p->flags = spec->can & TAMIS_CAN_GROW ? TAMIS_PLAN_GROWS : 0;
    p->width = spec->tag_bits ? spec->tag_bits : 1;
    while (!spec->tag_bits && p->width < PACKED_WIDEST &&
           quotient_rate(p, fmax(1, (double)spec->keys)) > spec->fpr)
        p->width++;
    return quotient_bytes(p) ? TAMIS_OK : TAMIS_RANGE;
}

static tamis_status quotient_resize(tamis_plan *p, uint64_t keys)
{
    for (; p->capacity < keys; p->capacity = 2 * p->capacity + 1, p->slots *= 2, p->width--)
        if (p->width == 1)
            return TAMIS_RANGE;
    while (p->capacity / 2 >= keys && p->slots % 2 == 0 && p->slots > 2 &&
           p->width < PACKED_WIDEST) {
        p->capacity /= 2;
        p->slots /= 2;
        p->width++;
    }
    return TAMIS_OK;
}

/* ---- One key ----------------------------------------------------------- */

static uint64_t quotient_count(const tamis *f, uint64_t key)
{
    return quotient_find(f, quotient_fingerprint(f, key)).copies;
}

/* Half of the absent keys are told by one bit: nobody has their quotient. */
static bool quotient_has(const tamis *f, uint64_t key)
{
    uint64_t fingerprint = quotient_fingerprint(f, key);

    return quotient_bit(f, IS_OCCUPIED, fingerprint >> f->plan.width) &&
           quotient_find(f, fingerprint).copies;
}

static void quotient_touch(const tamis *f, uint64_t key)
{
    uint64_t slot = quotient_fingerprint(f, key) >> f->plan.width;
    const uint8_t *block = quotient_block_of(f, slot), *remainders = block + QUOTIENT_REMAINDERS;

    ahead_read(block, f->is_far);
    ahead_read(remainders + packed_byte(slot % QUOTIENT_BLOCK, f->plan.width), f->is_far);
}

/* ---- Changes ----------------------------------------------------------- */

static void quotient_copy(tamis *f, uint64_t to, uint64_t from, bool is_shifted)
{
    quotient_put(f, to, quotient_remainder(f, quotient_wrap(f, from)), quotient_continues(f, from),
                 is_shifted);
}

/* Everything from `at` on moves up until n slots are free; those that were empty swallow it. */
static void quotient_make_room(tamis *f, uint64_t at, uint64_t n)
{
    uint64_t end = at;

    for (uint64_t left = n; left -= quotient_is_empty(f, quotient_wrap(f, end)); end++)
        ;
    for (uint64_t from = end; from-- > at;)
        if (!quotient_is_empty(f, quotient_wrap(f, from)))
            quotient_copy(f, end--, from, true);
}

/* There is room: fewer slots than all but one are in use afterwards. */
static void quotient_insert(tamis *f, uint64_t fingerprint, uint64_t times)
{
    quotient_found r = quotient_find(f, fingerprint);
    uint64_t at = quotient_wrap(f, r.start + r.before);

    quotient_make_room(f, at, times);
    for (uint64_t i = 0; i < times; i++)
        quotient_put(f, at + i, r.remainder, r.before + i != 0,
                     quotient_wrap(f, at + i) != r.quotient);
    if (r.length && r.before == 0)
        quotient_put_bit(f, IS_CONTINUATION, quotient_wrap(f, at + times), true);
    quotient_put_bit(f, IS_OCCUPIED, r.quotient, true);
    f->count += times;
}

static tamis_status quotient_add(tamis *f, uint64_t key, uint64_t times)
{
    if (times > f->plan.capacity - f->count)
        return TAMIS_FULL;
    quotient_insert(f, quotient_fingerprint(f, key), times);
    return TAMIS_OK;
}

/* The rest of the cluster moves down into n slots that became free at `at`, no run to below its
 * quotient. `is_head` tells whether what comes first is the head of the quotient's own run. */
static void quotient_close(tamis *f, uint64_t quotient, uint64_t at, uint64_t n, bool is_head)
{
    uint64_t from = at + n;

    for (; quotient_bit(f, IS_SHIFTED, quotient_wrap(f, from)); from++, is_head = false) {
        bool continues = quotient_continues(f, from);
        if (!continues && !is_head)
            do
                quotient++;
            while (!quotient_bit(f, IS_OCCUPIED, quotient_wrap(f, quotient)));
        for (; !continues && at < quotient; at++)
            quotient_put(f, at, 0, false, false);
        quotient_copy(f, at, from, at != quotient);
        at++;
    }
    for (; at < from; at++)
        quotient_put(f, at, 0, false, false);
}

static tamis_status quotient_remove(tamis *f, uint64_t key, uint64_t times)
{
    quotient_found r = quotient_find(f, quotient_fingerprint(f, key));
    uint64_t at = r.start + r.before + (r.start < r.quotient ? f->plan.slots : 0);
    bool is_head = r.before == 0 && r.length > times;

    if (r.copies < times)
        return TAMIS_ABSENT;
    if (r.length == times)
        quotient_put_bit(f, IS_OCCUPIED, r.quotient, false);
    if (is_head)
        quotient_put_bit(f, IS_CONTINUATION, quotient_wrap(f, at + times), false);
    quotient_close(f, r.quotient, at, times, is_head);
    f->count -= times;
    return TAMIS_OK;
}

/* ---- In order ---------------------------------------------------------- */

/* From the end of the run before, or from nowhere, to the next run. *after: its quotient, and one.
 * The lowest quotient's run may be shifted by those that wrap around. */
static bool quotient_next_run(const tamis *f, uint64_t *position, uint64_t *after)
{
    uint64_t quotient = *after, slots = f->plan.slots;

    while (quotient < slots && !quotient_bit(f, IS_OCCUPIED, quotient))
        quotient++;
    if (quotient == slots)
        return false;
    if (*after == 0) {
        uint64_t start = quotient_run(f, quotient);
        *position = start < quotient ? start + slots : start;
    }
    *position = *position > quotient ? *position : quotient;
    *after = quotient + 1;
    return *position < 2 * slots;
}

static bool quotient_next(tamis_cursor *c)
{
    uint64_t *position = &c->at[0], *after = &c->at[1];
    const tamis *f = c->f;

    if ((!*after || !quotient_continues(f, *position)) && !quotient_next_run(f, position, after))
        return false;
    uint32_t remainder = quotient_remainder(f, quotient_wrap(f, *position));
    c->fingerprint = (*after - 1) << f->plan.width | remainder;
    c->count = 0;
    do {
        c->count++;
        ++*position;
    } while (quotient_continues(f, *position) &&
             quotient_remainder(f, quotient_wrap(f, *position)) == remainder);
    return true;
}

/* at[]: the position after what was written, and the quotient of that, and one. Nothing moves but
 * for copies that come after the end: they go in between what stands at the beginning. */
static tamis_status quotient_append(tamis_writer *w, uint64_t fingerprint, uint64_t count)
{
    tamis *f = w->f;
    uint64_t quotient = fingerprint >> f->plan.width, *position = &w->at[0], *after = &w->at[1];

    if (count > f->plan.capacity - f->count)
        return TAMIS_FULL;
    *position = *position > quotient ? *position : quotient;
    for (; count && *position < f->plan.slots; count--, ++*position, *after = quotient + 1) {
        quotient_put(f, *position, (uint32_t)fingerprint & packed_mask(f->plan.width),
                     *after == quotient + 1, *position != quotient);
        quotient_put_bit(f, IS_OCCUPIED, quotient, true);
        f->count++;
    }
    if (count)
        quotient_insert(f, fingerprint, count);
    return TAMIS_OK;
}

/* Each copy has a slot, and there is one range. */
static tamis_room quotient_room(const tamis *f, uint64_t range, uint64_t copies)
{
    uint64_t most = f->plan.capacity, used = f->count;

    (void)range;
    return (tamis_room){ .used = used, .free = used < most ? most - used : 0, .needed = copies };
}

/* ---- The whole table --------------------------------------------------- */

/* A fingerprint that is there stands for one key or several; absent keys pass if theirs is. */
static void quotient_measure(const tamis *f, tamis_info *info)
{
    tamis_cursor c = { .f = f };
    double all = ldexp((double)f->plan.slots, (int)f->plan.width), distinct = 0, copies = 0;

    for (; quotient_next(&c); distinct++)
        copies += (double)c.count;
    info->cardinality = collisions_keys(distinct, all);
    info->fill = copies / (double)f->plan.slots;
    info->fpr = fmin(1, distinct / all);
}

/* Slots are looked at one by one, all around. */
typedef struct quotient_check {
    uint64_t next,
        end; /* the quotient after that of the last run, and the position after that run */
    uint64_t used;
    uint32_t least; /* that may come next in the run */
} quotient_check;

static const char *quotient_check_slot(const tamis *f, quotient_check *c, uint64_t position)
{
    uint64_t slot = quotient_wrap(f, position);
    uint32_t remainder = quotient_remainder(f, slot);
    bool is_home = false;

    if (quotient_is_empty(f, slot))
        return remainder ? "an empty slot has a remainder" : NULL;
    if (!quotient_bit(f, IS_CONTINUATION, slot)) {
        while (c->next < position && !quotient_bit(f, IS_OCCUPIED, quotient_wrap(f, c->next)))
            c->next++;
        if (!quotient_bit(f, IS_OCCUPIED, quotient_wrap(f, c->next)))
            return "a run has no quotient";
        is_home = c->next == position;
        c->end = c->end > c->next ? c->end : c->next;
        c->next++;
        c->least = 0;
    }
    if (position != c->end || quotient_bit(f, IS_SHIFTED, slot) == is_home)
        return "a slot is not where it says";
    if (remainder < c->least)
        return "a run is not sorted";
    c->least = remainder;
    c->end++;
    c->used++;
    return NULL;
}

/* From a slot on that is not shifted: each run is at home, or follows the one before. */
static const char *quotient_check_slots(const tamis *f, quotient_check *c)
{
    uint64_t first = 0, slots = f->plan.slots;
    const char *why = NULL;

    while (first < slots && quotient_bit(f, IS_SHIFTED, first))
        first++;
    if (first == slots)
        return "no slot is at home";
    c->next = c->end = first;
    for (uint64_t i = first; i < first + slots && !why; i++)
        why = quotient_check_slot(f, c, i);
    for (; c->next < first + slots && !why; c->next++)
        if (quotient_bit(f, IS_OCCUPIED, quotient_wrap(f, c->next)))
            why = "a quotient has no run";
    return why;
}

/* The last block may have bits that stand for no slot. */
static const char *quotient_verify(const tamis *f)
{
    uint64_t end = round_up(f->plan.slots, QUOTIENT_BLOCK);
    quotient_check c = { .used = 0 };
    const char *why = quotient_check_slots(f, &c);

    for (uint64_t i = f->plan.slots; i < end && !why; i++)
        if (!quotient_is_empty(f, i) || quotient_remainder(f, i))
            why = "a slot past the end is in use";
    if (!why && le64(quotient_block_of(f, end)))
        why = "bytes past the end are set";
    if (!why && (c.used != f->count || c.used > f->plan.capacity))
        why = "the number of keys is wrong";
    return why;
}

/* ---- The table of functions -------------------------------------------- */

const tamis_ops tamis__quotient = {
    .traits = TAMIS_TRAIT_CAN_GROW | TAMIS_TRAIT_KEEPS_COPIES | TAMIS_TRAIT_QUOTIENT_BITS |
              TAMIS_TRAIT_TAG_BITS | TAMIS_TRAIT_TO_STUDY,
    .plan = quotient_plan,
    .bytes = quotient_bytes,
    .rate = quotient_rate,
    .resize = quotient_resize,
    .verify = quotient_verify,
    .measure = quotient_measure,
    .has = quotient_has,
    .count = quotient_count,
    .add = quotient_add,
    .remove = quotient_remove,
    .touch = quotient_touch,
    .next = quotient_next,
    .append = quotient_append,
    .room = quotient_room,
    .cells = tamis__quotient_cells,
    .explain = tamis__quotient_explain,
};
