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
 * one bit of each remainder becomes the last of the quotient. An absent key is taken for one of n
 * keys only if it has the fingerprint of one:
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
#include "base/ahead.h"
#include "base/bits.h"
#include "base/collisions.h"
#include "base/hash.h"
#include "base/packed.h"
#include "explain.h"

/* ---- Layout ------------------------------------------------------------ */

/* Where the words of a block are, one for each kind of bit, and the remainders. */
enum { IS_OCCUPIED = 0, IS_CONTINUATION = 8, IS_SHIFTED = 16, QUOTIENT_REMAINDERS = 24 };
enum { QUOTIENT_BLOCK = 64 };

static inline uint64_t quotient_block_bytes(const tamis_plan *p)
{
    return QUOTIENT_REMAINDERS + 8 * p->width;
}

static inline uint64_t quotient_fingerprint(const tamis *f, uint64_t key)
{
    return scale64(hash_key(key, f->salt), f->plan.slots << f->plan.width);
}

static inline uint8_t *quotient_block_of(const tamis *f, uint64_t slot)
{
    return (uint8_t *)f->payload + slot / QUOTIENT_BLOCK * quotient_block_bytes(&f->plan);
}

static inline bool quotient_bit(const tamis *f, int which, uint64_t slot)
{
    return le64(quotient_block_of(f, slot) + which) >> slot % QUOTIENT_BLOCK & 1;
}

/* A slot with no bit but is_occupied holds the head of its own run. */
static inline bool quotient_is_empty(const tamis *f, uint64_t slot)
{
    return !quotient_bit(f, IS_OCCUPIED, slot) && !quotient_bit(f, IS_CONTINUATION, slot) &&
           !quotient_bit(f, IS_SHIFTED, slot);
}

static inline uint32_t quotient_remainder(const tamis *f, uint64_t slot)
{
    return packed_get(quotient_block_of(f, slot) + QUOTIENT_REMAINDERS, slot % QUOTIENT_BLOCK,
                      f->plan.width);
}

/* Positions go on after the last slot, up to twice the slots: runs wrap around. */
static inline uint64_t quotient_wrap(const tamis *f, uint64_t position)
{
    return position < f->plan.slots ? position : position - f->plan.slots;
}

static inline void quotient_put_bit(tamis *f, int which, uint64_t slot, bool bit)
{
    uint8_t *word = quotient_block_of(f, slot) + which;
    uint64_t mask = UINT64_C(1) << slot % QUOTIENT_BLOCK;

    put_le64(word, bit ? le64(word) | mask : le64(word) & ~mask);
}

/* All of a slot but whether it is occupied, which is not about what lies there. */
static inline void quotient_put(tamis *f, uint64_t position, uint32_t remainder,
                                bool is_continuation, bool is_shifted)
{
    uint64_t slot = quotient_wrap(f, position);
    uint8_t *remainders = quotient_block_of(f, slot) + QUOTIENT_REMAINDERS;

    packed_put(remainders, slot % QUOTIENT_BLOCK, f->plan.width, remainder);
    quotient_put_bit(f, IS_CONTINUATION, slot, is_continuation);
    quotient_put_bit(f, IS_SHIFTED, slot, is_shifted);
}

/* ---- Search ------------------------------------------------------------ */

/* What lies there is of the same run as in the position before. */
static inline bool quotient_continues(const tamis *f, uint64_t position)
{
    return position < 2 * f->plan.slots &&
           quotient_bit(f, IS_CONTINUATION, quotient_wrap(f, position));
}

/* The start of the cluster of a quotient: the next slot below, or its own, where something is at
 * home or nothing lies. plan.slots: the table is damaged. */
static inline uint64_t quotient_cluster(const tamis *f, uint64_t quotient)
{
    uint64_t slot = quotient, slots = f->plan.slots;

    for (uint64_t steps = 0; quotient_bit(f, IS_SHIFTED, slot); slot = (slot ? slot : slots) - 1)
        if (++steps == slots)
            return slots;
    return slot;
}

/* The first slot of the run of a quotient, or where it would be: from the start of the cluster up,
 * from run to run and from one occupied quotient to the next. plan.slots: the table is damaged. */
static inline uint64_t quotient_run(const tamis *f, uint64_t quotient)
{
    uint64_t home = quotient_cluster(f, quotient), slot = home, steps = 0, slots = f->plan.slots;

    while (home != quotient && home != slots) {
        do {
            slot = quotient_wrap(f, slot + 1);
            if (++steps > slots)
                return slots;
        } while (quotient_bit(f, IS_CONTINUATION, slot));
        do
            home = quotient_wrap(f, home + 1);
        while (home != quotient && !quotient_bit(f, IS_OCCUPIED, home));
    }
    return slot;
}

/* The run of a fingerprint's quotient, and the copies of the fingerprint in there. */
typedef struct quotient_found {
    uint64_t quotient, start, length; /* of the run; without one, 0 slots and where it would be */
    uint64_t before, copies;          /* slots of the run that hold less, and the same */
    uint32_t remainder;
} quotient_found;

static inline quotient_found quotient_find(const tamis *f, uint64_t fingerprint)
{
    unsigned width = f->plan.width;
    quotient_found r = { .quotient = fingerprint >> width,
                         .remainder = (uint32_t)fingerprint & packed_mask(width) };

    r.start = quotient_run(f, r.quotient);
    if (r.start == f->plan.slots || !quotient_bit(f, IS_OCCUPIED, r.quotient))
        return r;
    do {
        uint32_t remainder = quotient_remainder(f, quotient_wrap(f, r.start + r.length));
        r.before += remainder < r.remainder;
        r.copies += remainder == r.remainder;
        r.length++;
    } while (r.length < f->plan.slots && quotient_continues(f, r.start + r.length));
    return r;
}

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

/* The run of a quotient lies from *position on, is sorted, and each slot tells where it is. */
static const char *quotient_check_run(const tamis *f, uint64_t quotient, uint64_t *position)
{
    uint64_t start = *position;
    uint32_t least = 0;

    do {
        uint64_t slot = quotient_wrap(f, *position);
        if (quotient_bit(f, IS_CONTINUATION, slot) != (*position != start) ||
            quotient_bit(f, IS_SHIFTED, slot) != (*position != quotient))
            return "a slot is not where it says";
        if (quotient_remainder(f, slot) < least)
            return "a run is not sorted";
        least = quotient_remainder(f, slot);
    } while (quotient_continues(f, ++*position));
    return NULL;
}

/* All around, from a slot on that is not shifted: each run is at home, or follows the one before,
 * and what is between runs is empty. */
static const char *quotient_check_runs(const tamis *f, uint64_t *used)
{
    uint64_t first = 0, slots = f->plan.slots;
    const char *why = NULL;

    while (first < slots && quotient_bit(f, IS_SHIFTED, first))
        first++;
    if (first == slots)
        return "no slot is at home";
    uint64_t position = first, end = first + slots;
    for (uint64_t q = first; q < end && !why; q++) {
        uint64_t slot = quotient_wrap(f, q), start = position;
        if (quotient_bit(f, IS_OCCUPIED, slot)) {
            why = start < end ? quotient_check_run(f, q, &position) : "a quotient has no run";
            *used += position - start;
        } else if (start == q) {
            position++;
            if (!quotient_is_empty(f, slot) || quotient_remainder(f, slot))
                why = "an empty slot is in use";
        }
    }
    return why || position == end ? why : "a slot is not where it says";
}

/* The last block may have bits that stand for no slot. */
static const char *quotient_verify(const tamis *f)
{
    uint64_t end = round_up(f->plan.slots, QUOTIENT_BLOCK), used = 0;
    const char *why = quotient_check_runs(f, &used);

    for (uint64_t i = f->plan.slots; i < end && !why; i++)
        if (!quotient_is_empty(f, i) || quotient_remainder(f, i))
            why = "a slot past the end is in use";
    if (!why && le64(quotient_block_of(f, end)))
        why = "bytes past the end are set";
    if (!why && (used != f->count || used > f->plan.capacity))
        why = "the number of keys is wrong";
    return why;
}

/* ---- Explained --------------------------------------------------------- */

static tamis_cell quotient_cell(const tamis *f, uint64_t slot)
{
    unsigned occupied = quotient_bit(f, IS_OCCUPIED, slot) ? TAMIS_MARK_OCCUPIED : 0;
    unsigned continued = quotient_bit(f, IS_CONTINUATION, slot) ? TAMIS_MARK_CONTINUATION : 0;
    unsigned shifted = quotient_bit(f, IS_SHIFTED, slot) ? TAMIS_MARK_SHIFTED : 0;
    bool is_empty = quotient_is_empty(f, slot);

    return (tamis_cell){ .array = "slots",
                         .index = slot,
                         .value = quotient_remainder(f, slot),
                         .bits = f->plan.width,
                         .marks = is_empty ? TAMIS_MARK_EMPTY : occupied | continued | shifted };
}

static void quotient_cells(const tamis *f, tamis_telling *to)
{
    for (uint64_t i = 0; i < f->plan.slots && !to->has_ended; i++)
        tamis__tell_cell(to, quotient_cell(f, i));
}

static bool quotient_explain_run(const tamis *f, const quotient_found *r, tamis_telling *to)
{
    bool found = r->copies != 0;

    tamis__tell_number(to, "first slot of its cluster", quotient_cluster(f, r->quotient));
    tamis__tell_number(to, "first slot of its run", r->start);
    for (uint64_t i = 0; i < r->length; i++) {
        tamis_cell cell = quotient_cell(f, quotient_wrap(f, r->start + i));
        tamis__tell_read(to, "slot of the run", cell, cell.value == r->remainder);
    }
    tamis__tell_number(to, "count", r->copies);
    return tamis__tell_answer(to, found,
                              found ? "a slot of its run holds its remainder"
                                    : "no slot of its run holds its remainder");
}

static bool quotient_explain(const tamis *f, uint64_t key, tamis_telling *to)
{
    uint64_t fingerprint = quotient_fingerprint(f, key);
    quotient_found r = quotient_find(f, fingerprint);
    bool is_occupied = quotient_bit(f, IS_OCCUPIED, r.quotient);

    tamis__tell_number(to, "fingerprint", fingerprint);
    tamis__tell_number(to, "quotient", r.quotient);
    tamis__tell_number(to, "remainder", r.remainder);
    tamis__tell_read(to, "home slot", quotient_cell(f, r.quotient), is_occupied);
    if (!is_occupied)
        return tamis__tell_answer(to, false, "no key has its quotient");
    return quotient_explain_run(f, &r, to);
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
    .cells = quotient_cells,
    .explain = quotient_explain,
};
