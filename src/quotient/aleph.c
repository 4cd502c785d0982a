/* aleph.c - aleph filter: a quotient filter that doubles without the keys, at a rate that stays.
 *
 * A table of S slots takes, of each key, the number scale64(hash_key(key), S << bits): its high
 * part, the quotient, says where it belongs among the slots, its low `bits` bits, the fingerprint,
 * are what is written there (quotient/runs.h). When the table is full, what it holds goes to one of
 * twice the slots, in one pass: the first bit of each fingerprint becomes the last of its quotient.
 * So fingerprints lose a bit with every doubling, and new ones are as long as the plan says: slots
 * hold fingerprints of many lengths, which tell their length themselves (quotient/aleph.h).
 *
 *   10 slots   quotient  7   fingerprint 1011      slot  7 holds 10111
 *   20 slots   quotient 15   fingerprint  011      slot 15 holds 01110
 *   40 slots   quotient 30   fingerprint   11      slot 30 holds 11100
 *   80 slots   quotient 61   fingerprint    1      slot 61 holds 11000
 *  160 slots   quotient 123  a void                slot 123 holds 10000
 *  320 slots   a void each in slots 246 and 247
 *
 * However old it is, a key lets an absent key pass that has its first quotient and fingerprint,
 * with probability 1 / (S << bits) at the size in which it came: a void says yes to all of its
 * slot, and is copied to both halves of it. The rate is therefore a sum over the sizes that the
 * filter had, each of which but the first took half of its keys:
 *
 *   load * (2^-bits(0) + 2^-bits(1) / 2 + 2^-bits(2) / 2 + ...)
 *
 * Bits are spread evenly over the first 21 sizes, up to a million times the keys, and then rise so
 * that the sum has a limit, with which the filter is planned: bits(j) is `least` in the first
 * `narrow` sizes, one more up to size 20, and least + 4 + 2 floor(log2(j - 20)) after that. Fewer
 * bits at the start (the logarithm of j twice, all along) would cost more of them from size 2 on.
 *
 * A key is removed by removing the longest fingerprint that covers it: what remains covers the keys
 * that had it, as far as they are in the slot. Copies of a void in other slots stay.
 *
 *   payload:  slots in use, 8 bytes | zeros, 56 bytes
 *             blocks of 64 slots | zeros, at least 8 bytes
 *
 * plan.width is bits + 1. plan.hashes is the number of doublings, plus 256 times `narrow`. From
 * plan.load on it doubles: small filters take more keys than planned before they do. Zeros are the
 * empty filter. What it holds decides every byte.
 *
 * Dayan, Bercea, Pagh: Aleph Filter: To Infinity in Constant Time, 2024.
 * Dayan, Bercea, Reviriego, Pagh: InfiniFilter: Expanding Filters to Infinity and Beyond, 2023.
 * Pagh, Segev, Wieder: How to Approximate a Set Without Knowing Its Size in Advance, 2013. */
#include "base/collisions.h"
#include "base/cpu.h"
#include "quotient/aleph_template.h"
#include "quotient/runs_check.h"

/* ---- Sizing ------------------------------------------------------------ */

enum { ALEPH_MIN_BITS = 1, ALEPH_MAX_BITS = 31, ALEPH_MAX_SIZE = 40, ALEPH_LOAD_UNIT = 1000 };

static const uint64_t ALEPH_MAX_SLOTS = UINT64_C(1) << 48;
/* Lookups among 1e7 keys take 5.1 times a read of memory there, and 6.2 times at 0.95. */
static const double ALEPH_LOAD = 0.9;
/* Share of the slots in use that voids and their copies may come to: if they could fill the table,
 * each doubling would have room for a few new keys only. */
static const double ALEPH_MOST_VOIDS = 0.5;

/* Slots that may be in use at a size up to the present one. Twice the slots have room for twice as
 * many and one: for whatever comes out of doubling, and the key that did not fit before. */
static uint64_t aleph_room_at(const tamis_plan *p, unsigned size)
{
    uint64_t first = (p->slots >> aleph_size(p)) * p->load / ALEPH_LOAD_UNIT;

    return (first << size) - 1;
}

/* One slot stays empty, so that every search ends. The first size has room for one key or more: 64
 * slots at a low load might have not. */
static uint64_t aleph_bytes(const tamis_plan *p)
{
    unsigned size = aleph_size(p), narrow = aleph_narrow(p);

    if (p->flags || p->load < 1 || p->load > ALEPH_LOAD_UNIT || size > ALEPH_MAX_SIZE ||
        narrow < 1 || narrow > ALEPH_EVEN || p->width > ALEPH_MAX_BITS + 1 ||
        p->width <= ALEPH_MIN_BITS + aleph_more_bits(narrow, size))
        return 0;
    bool ok = p->slots > 0 && p->slots <= ALEPH_MAX_SLOTS &&
              p->slots % ((uint64_t)RUNS_BLOCK << size) == 0 &&
              p->slots < UINT64_C(1) << (64 - p->width) && aleph_room_at(p, 0) < p->slots &&
              p->capacity <= aleph_room_at(p, size);
    return ok ? runs_bytes(p->slots, p->width) : 0;
}

/* Of keys that were never removed: each size took what the one before had no room for. */
static double aleph_rate(const tamis_plan *p, double n)
{
    double passed = 0, before = 0;

    for (unsigned j = 0, last = aleph_size(p); j <= last; j++) {
        double held = j < last ? fmin(n, (double)aleph_room_at(p, j)) : n;
        double all = ldexp((double)(p->slots >> (last - j)), (int)aleph_bits_at(p, j));
        passed += (held - before) * log1p(-1 / all);
        before = held;
    }
    return -expm1(passed);
}

/* What the rate comes to in the end, in units of the load: voids say yes to all of their slots, so
 * that no more of the slots in use are voids than that. The sizes from ALEPH_EVEN on, 2^k of them
 * with 4 + 2k bits more, add half of 2^-4 * (1 + 1/2 + 1/4 + ...). */
static double aleph_limit(unsigned least, unsigned narrow)
{
    double sum = 1 + (narrow - 1) / 2.0 + (ALEPH_EVEN - narrow) / 4.0 + 0x1p-4;

    return ldexp(sum, -(int)least);
}

static tamis_status aleph_plan(tamis_plan *p, const tamis_spec *spec)
{
    unsigned least = ALEPH_MIN_BITS, narrow = 1;

    p->load = (uint16_t)((spec->load > 0 ? spec->load : ALEPH_LOAD) * ALEPH_LOAD_UNIT + 0.5);
    p->hashes = 0;
    if (spec->keys >= ALEPH_MAX_SLOTS / ALEPH_LOAD_UNIT || p->load == 0)
        return TAMIS_RANGE;
    p->slots = round_up((p->capacity + 1) * ALEPH_LOAD_UNIT / p->load + 1, RUNS_BLOCK);
    double load = (double)(aleph_room_at(p, 0) + 1) / (double)p->slots;
    double highest = fmin(spec->fpr, load * ALEPH_MOST_VOIDS);
    while (least < ALEPH_MAX_BITS && load * aleph_limit(least, 1) > highest)
        least++;
    if (least == ALEPH_MAX_BITS)
        return TAMIS_RANGE;
    while (narrow < ALEPH_EVEN && load * aleph_limit(least, narrow + 1) <= highest)
        narrow++;
    p->width = least + 1;
    p->hashes = narrow << 8;
    return TAMIS_OK;
}

static tamis_status aleph_resize(tamis_plan *p, uint64_t keys)
{
    tamis_plan next = *p;
    unsigned narrow = aleph_narrow(p), size = aleph_size(p);

    (void)keys;
    next.slots *= 2;
    next.width += aleph_more_bits(narrow, size + 1) - aleph_more_bits(narrow, size);
    next.hashes++;
    next.capacity = aleph_room_at(&next, size + 1);
    if (!aleph_bytes(&next))
        return TAMIS_RANGE;
    *p = next;
    return TAMIS_OK;
}

/* ---- All of them ------------------------------------------------------- */

/* What goes to one half of the slot of a run. Voids come first in it, and are of both. */
static uint64_t aleph_move_half(runs_writer *to, const runs_walk *w, unsigned half)
{
    unsigned width = w->t.width, to_width = to->t.width;
    uint64_t moved = 0;

    for (uint64_t i = w->start; i < w->end; i++) {
        uint32_t x = runs_slot(w->t, i);
        bool is_void = x == aleph_void_of(width);
        if (!is_void && x >> (width - 1) != half)
            continue;
        x = is_void ? aleph_void_of(to_width) : aleph_shortened(x, width, to_width);
        *to = runs_writer_put(*to, 2 * (w->after - 1) + half, &x, 1);
        moved++;
    }
    return moved;
}

/* Each fingerprint becomes two at most: there is room for all, and for one more. */
static tamis_status aleph_move(tamis *f, const tamis *g)
{
    runs_writer to = runs_writer_at(aleph_table(f), 0, 0, false);
    runs_walk w = { .t = aleph_table(g) };
    uint64_t used = 0;

    if (aleph_size(&f->plan) != aleph_size(&g->plan) + 1)
        return TAMIS_RANGE;
    while (runs_walk_on(&w))
        used += aleph_move_half(&to, &w, 0) + aleph_move_half(&to, &w, 1);
    runs_writer_end(&to);
    runs_put_used(to.t, used);
    f->count = g->count;
    return TAMIS_OK;
}

/* What a look at every slot has seen. */
typedef struct aleph_tally {
    double passing; /* of all fingerprints at this size, those that would be found */
    double distinct[ALEPH_MAX_BITS + 1]; /* by their bits */
    uint64_t lasting;                    /* fingerprints that are not void */
} aleph_tally;

/* Sorted as they are, what covers a fingerprint was there before it, and its equals are beside. */
static void aleph_tally_run(aleph_tally *s, const runs_walk *w)
{
    uint64_t covered = 0;
    uint32_t last = 0;

    for (uint64_t i = w->start; i < w->end; i++) {
        uint32_t x = runs_slot(w->t, i);
        unsigned bits = aleph_bits_of(x, w->t.width);
        uint64_t first = (x & (x - 1)) >> 1;
        uint64_t beyond = first + (UINT64_C(1) << aleph_zeros_of(x, w->t.width));
        if (first >= covered) {
            s->passing += (double)(beyond - first);
            covered = beyond;
        }
        s->lasting += bits > 0;
        s->distinct[bits] += x != last;
        last = x;
    }
}

/* Voids do not tell how many keys they stand for, but the count does: those are taken for distinct.
 */
static void aleph_measure(const tamis *f, tamis_info *info)
{
    runs_walk w = { .t = aleph_table(f) };
    aleph_tally s = { .passing = 0 };
    double slots = (double)f->plan.slots;

    while (runs_walk_on(&w))
        aleph_tally_run(&s, &w);
    info->fill = fmin(1, (double)runs_used(w.t) / slots);
    info->fpr = fmin(1, s.passing / (double)shards_of(f).fingerprints);
    info->cardinality = f->count > s.lasting ? (double)(f->count - s.lasting) : 0;
    for (int bits = 1; bits <= ALEPH_MAX_BITS; bits++)
        info->cardinality += collisions_keys(s.distinct[bits], ldexp(slots, bits));
}

/* ---- Validity ---------------------------------------------------------- */

/* Bit i: fingerprints of i bits may be there. */
static uint32_t aleph_lengths(const tamis_plan *p)
{
    uint32_t lengths = 0;

    for (unsigned j = 0; j <= aleph_size(p); j++)
        lengths |= UINT32_C(1) << aleph_bits_left(p, j);
    return lengths;
}

/* c->ctx: aleph_lengths(). */
static const char *aleph_check_run(const runs_check *c, uint64_t end)
{
    const uint32_t *lengths = c->ctx;
    runs_table t = c->t;
    uint64_t least = 0;

    for (uint64_t i = c->i; i < end; i++) {
        uint32_t x = runs_slot(t, i);
        if (x == 0 || !(*lengths >> aleph_bits_of(x, t.width) & 1))
            return "a fingerprint has no length that it could have";
        if (aleph_order_of(x, t.width) < least)
            return "a run is out of order";
        least = aleph_order_of(x, t.width);
    }
    return NULL;
}

/* A key is a slot, but for the copies of voids. */
static const char *aleph_verify(const tamis *f)
{
    shards s = shards_of(f);
    uint32_t lengths = aleph_lengths(&f->plan);
    runs_check c = {
        .t = shards_table(&s, 0), .room = s.room, .check_run = aleph_check_run, .ctx = &lengths
    };
    const char *why = tamis__runs_check(&c);

    if (!why && (f->count > c.used || (f->count < c.used && !(lengths & 1))))
        why = "the number of keys is wrong";
    return why;
}

/* ---- The table --------------------------------------------------------- */

static void aleph_for_cpu(tamis *f, unsigned cpu)
{
    const tamis_plan *p = &f->plan;

    tamis__shards_derive(f, 0, p->width - 1, p->width, aleph_room_at(p, aleph_size(p)), false);
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        tamis__aleph_use_avx2(&f->ops);
#endif
    (void)cpu;
}

const tamis_ops tamis__aleph = {
    .traits = TAMIS_TRAIT_GROWS | TAMIS_TRAIT_KEEPS_RATE | TAMIS_TRAIT_KEEPS_LOAD |
              TAMIS_TRAIT_KEEPS_COPIES,
    .plan = aleph_plan,
    .bytes = aleph_bytes,
    .rate = aleph_rate,
    .resize = aleph_resize,
    .for_cpu = aleph_for_cpu,
    .verify = aleph_verify,
    .measure = aleph_measure,
    .has = aleph_has,
    .add = aleph_add,
    .remove = aleph_remove,
    .has_many = aleph_has_many,
    .add_many = aleph_add_many,
    .remove_many = aleph_remove_many,
    .move = aleph_move,
    .cells = tamis__aleph_cells,
    .explain = tamis__aleph_explain,
};
