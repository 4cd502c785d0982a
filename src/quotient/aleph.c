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
 * However old it is, a key makes a stranger pass that has its first quotient and fingerprint, with
 * probability 1 / (S << bits) at the size in which it came: a void says yes to all of its slot, and
 * is copied to both halves of it. The rate is therefore a sum over the sizes that the filter had,
 * each of which but the first took half of its keys:
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
#include "quotient/aleph_many.h"

#include <math.h>

#include "base/cpu.h"

/* ---- Sizing ------------------------------------------------------------ */

enum { MIN_BITS = 1, MAX_BITS = 31, EVEN = 21, MAX_SIZE = 40 };

static const uint64_t MAX_SLOTS = UINT64_C(1) << 48;
/* Lookups among 1e7 keys take 5.1 times a read of memory there, and 6.2 times at 0.95. */
static const double DEFAULT_LOAD = 0.9;

static unsigned narrow_of(const tamis_plan *p)
{
    return p->hashes >> 8;
}

/* Bits of new fingerprints beyond the least. */
static unsigned more_bits(unsigned narrow, unsigned size)
{
    if (size < narrow)
        return 0;
    if (size < EVEN)
        return 1;
    return 4 + 2 * (31 - (unsigned)__builtin_clz(size - EVEN + 1));
}

/* Of fingerprints that came at an earlier size, when they were new. */
static unsigned bits_at(const tamis_plan *p, unsigned size)
{
    unsigned narrow = narrow_of(p);

    return p->width - 1 - more_bits(narrow, size_of(p)) + more_bits(narrow, size);
}

static bool hashes_are_valid(const tamis_plan *p)
{
    return size_of(p) <= MAX_SIZE && narrow_of(p) >= 1 && narrow_of(p) <= EVEN && p->load > 0 &&
           p->load <= LOAD_UNIT && p->flags == 0;
}

static bool width_is_valid(const tamis_plan *p)
{
    return p->width > MIN_BITS + more_bits(narrow_of(p), size_of(p)) && p->width <= MAX_BITS + 1;
}

/* One slot stays empty, so that every search ends. */
static bool slots_are_valid(const tamis_plan *p)
{
    return p->slots > 0 && p->slots <= MAX_SLOTS &&
           p->slots % ((uint64_t)BLOCK << size_of(p)) == 0 &&
           p->slots < UINT64_C(1) << (64 - p->width);
}

/* The first size has room for one key or more: 64 slots at a low load might have not. */
static bool has_room(const tamis_plan *p)
{
    return room_at(p, 0) < p->slots && p->capacity <= room_at(p, size_of(p));
}

static uint64_t bytes(const tamis_plan *p)
{
    if (!hashes_are_valid(p) || !width_is_valid(p) || !slots_are_valid(p) || !has_room(p))
        return 0;
    return round_up(ALEPH_HEADER + p->slots / BLOCK * (SLOTS + 8 * p->width) + 8, 64);
}

/* Of keys that were never removed: each size took what the one before had no room for. */
static double rate(const tamis_plan *p, double n)
{
    double passed = 0, before = 0;

    for (unsigned j = 0, last = size_of(p); j <= last; j++) {
        double held = j < last ? fmin(n, (double)room_at(p, j)) : n;
        double prints = ldexp((double)(p->slots >> (last - j)), (int)bits_at(p, j));
        passed += (held - before) * log1p(-1 / prints);
        before = held;
    }
    return -expm1(passed);
}

/* What the rate comes to in the end, in units of the load. The sizes from EVEN on, 2^k of them with
 * 4 + 2k bits more, add half of 2^-4 * (1 + 1/2 + 1/4 + ...). */
static double limit(unsigned least, unsigned narrow)
{
    double sum = 1 + (narrow - 1) / 2.0 + (EVEN - narrow) / 4.0 + 0x1p-4;

    return ldexp(sum, -(int)least);
}

static tamis_status plan_bits(tamis_plan *p, double fpr)
{
    double load = (double)(room_at(p, 0) + 1) / (double)p->slots;
    unsigned least = MIN_BITS, narrow = 1;

    while (least < MAX_BITS && load * limit(least, 1) > fpr)
        least++;
    if (least == MAX_BITS)
        return TAMIS_RANGE;
    while (narrow < EVEN && load * limit(least, narrow + 1) <= fpr)
        narrow++;
    p->width = least + 1;
    p->hashes |= narrow << 8;
    return TAMIS_OK;
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    double load = spec->load > 0 ? spec->load : DEFAULT_LOAD;
    uint32_t thousandths = (uint32_t)(load * LOAD_UNIT + 0.5);

    if (spec->keys >= MAX_SLOTS / LOAD_UNIT || thousandths == 0)
        return TAMIS_RANGE;
    p->slots = round_up((p->capacity + 1) * LOAD_UNIT / thousandths + 1, BLOCK);
    p->hashes = 0;
    p->load = (uint16_t)thousandths;
    return plan_bits(p, spec->fpr);
}

static tamis_status resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    tamis_plan next = *p;
    unsigned narrow = narrow_of(p), size = size_of(p);

    next.slots *= 2;
    next.width += more_bits(narrow, size + 1) - more_bits(narrow, size);
    next.hashes++;
    next.capacity = room_at(&next, size + 1);
    if (!bytes(&next))
        return TAMIS_RANGE;
    *p = next;
    return TAMIS_OK;
}

/* ---- All of them ------------------------------------------------------- */

/* A run on the way through the table; starts with zeros but for the table. */
typedef struct tour {
    table t;
    uint64_t after; /* its quotient and one; 0: not begun */
    uint64_t start, end;
} tour;

/* False: there is no more. Ends whatever the bytes are: quotients only ascend, and slots not beyond
 * the second round. */
static bool go_on(tour *w)
{
    if (w->after == 0)
        w->end = offset_of(&w->t, 0);
    uint64_t q = next_occupied(&w->t, w->after);
    if (q >= w->t.slots)
        return false;
    w->after = q + 1;
    w->start = w->end > q ? w->end : q;
    w->end = next_runend(&w->t, w->start) + 1;
    return w->end <= 2 * w->t.slots;
}

/* What goes to one half of the slot of a run. Voids come first in it, and are of both. */
static uint64_t move_half(track *to, const tour *w, unsigned half)
{
    unsigned width = w->t.width, to_width = to->t.width;
    uint64_t moved = 0;

    for (uint64_t i = w->start; i < w->end; i++) {
        uint32_t x = slot(&w->t, i);
        bool is_void = x == void_of(width);
        if (!is_void && x >> (width - 1) != half)
            continue;
        x = is_void ? void_of(to_width) : shortened(x, width, to_width);
        track_put(to, 2 * (w->after - 1) + half, &x, 1);
        moved++;
    }
    return moved;
}

/* Each fingerprint becomes two at most: there is room for all, and for one more. */
static tamis_status move(tamis *f, const tamis *g)
{
    aleph a = aleph_of(f), b = aleph_of(g);
    track to = track_of(a.t, 0, 0, false);
    tour w = { .t = b.t };
    uint64_t used = 0;

    if (size_of(&f->plan) != size_of(&g->plan) + 1)
        return TAMIS_RANGE;
    while (go_on(&w))
        used += move_half(&to, &w, 0) + move_half(&to, &w, 1);
    track_end(&to);
    put_le64(a.used, used);
    f->count = g->count;
    return TAMIS_OK;
}

/* What a look at every slot has seen. */
typedef struct tally {
    double passing;                /* of all fingerprints at this size, those that would be found */
    double distinct[MAX_BITS + 1]; /* by their bits */
    uint64_t lasting;              /* fingerprints that are not void */
} tally;

/* Sorted as they are, what covers a fingerprint was there before it, and its equals are beside. */
static void tally_run(tally *s, const tour *w)
{
    uint64_t covered = 0;
    uint32_t last = 0;

    for (uint64_t i = w->start; i < w->end; i++) {
        uint32_t x = slot(&w->t, i);
        unsigned bits = bits_of(x, w->t.width);
        uint64_t first = (x & (x - 1)) >> 1,
                 beyond = first + (UINT64_C(1) << zeros_of(x, w->t.width));
        if (first >= covered) {
            s->passing += (double)(beyond - first);
            covered = beyond;
        }
        s->lasting += bits > 0;
        s->distinct[bits] += x != last;
        last = x;
    }
}

/* n distinct keys have on average N (1 - (1 - 1/N)^n) fingerprints out of N: solved for n. All of
 * them count as all but one. */
static double keys_of(double distinct, double prints)
{
    return distinct > 0 ? log1p(-fmin(distinct, prints - 1) / prints) / log1p(-1 / prints) : 0;
}

/* Voids do not tell how many keys they stand for, but the count does: those are taken for distinct.
 */
static void measure(const tamis *f, tamis_info *info)
{
    aleph a = aleph_of(f);
    tour w = { .t = a.t };
    tally s = { .passing = 0 };
    double slots = (double)a.t.slots;

    while (go_on(&w))
        tally_run(&s, &w);
    info->fill = fmin(1, (double)le64(a.used) / slots);
    info->fpr = fmin(1, s.passing / (double)a.prints);
    info->cardinality = f->count > s.lasting ? (double)(f->count - s.lasting) : 0;
    for (int bits = 1; bits <= MAX_BITS; bits++)
        info->cardinality += keys_of(s.distinct[bits], ldexp(slots, bits));
}

/* ---- Validity ---------------------------------------------------------- */

/* What a check has seen. */
typedef struct census {
    table t;
    uint32_t lengths; /* bit i: fingerprints of i bits may be there */
    uint64_t i, runs, used;
} census;

/* Of each size the new ones, less a bit for each doubling since. */
static uint32_t lengths_of(const tamis_plan *p)
{
    unsigned size = size_of(p);
    uint32_t lengths = 0;

    for (unsigned j = 0; j <= size; j++) {
        unsigned bits = bits_at(p, j), lost = size - j;
        lengths |= UINT32_C(1) << (bits > lost ? bits - lost : 0);
    }
    return lengths;
}

static bool is_empty(const table *t, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        if (slot(t, i))
            return false;
    return true;
}

static const char *check_prints(census *c, uint64_t end)
{
    uint64_t least = 0;

    for (; c->i < end; c->i++, c->used++) {
        uint32_t x = slot(&c->t, c->i);
        if (x == 0 || !(c->lengths >> bits_of(x, c->t.width) & 1))
            return "a fingerprint has no length that it could have";
        if (order_of(x, c->t.width) < least)
            return "a run is out of order";
        least = order_of(x, c->t.width);
    }
    return NULL;
}

static const char *check_run(census *c, uint64_t q, uint64_t last)
{
    if (c->i < q && !is_empty(&c->t, c->i, q))
        return "an empty slot holds something";
    c->i = c->i > q ? c->i : q;
    uint64_t end = next_runend(&c->t, c->i) + 1;
    if (end > last)
        return "a run has no end";
    c->runs++;
    return check_prints(c, end);
}

static const char *check_block(census *c, uint64_t k, uint64_t last)
{
    const uint8_t *b = block_at(&c->t, k);
    uint64_t beyond = c->i > k * BLOCK ? c->i - k * BLOCK : 0;
    const char *why = NULL;

    if (b[OFFSET] != (beyond < FAR ? beyond : FAR))
        return "an offset is wrong";
    for (uint64_t rest = occupieds(b); rest && !why; rest &= rest - 1)
        why = check_run(c, k * BLOCK + (unsigned)__builtin_ctzll(rest), last);
    return why;
}

/* Slots are walked through once, all round, from the first that is not taken by runs from before
 * the end: if they come out where they started, each run lies where it has to. */
static const char *check_table(census *c)
{
    uint64_t first = offset_of(&c->t, 0), slots = c->t.slots, ends = 0;
    const char *why = NULL;

    c->i = first;
    for (uint64_t k = 0; k < c->t.blocks && !why; k++) {
        ends += ones(runends(block_at(&c->t, k)));
        why = check_block(c, k, first + slots);
    }
    if (why)
        return why;
    if (ends != c->runs)
        return "runs and their ends differ in number";
    if (first != (c->i > slots ? c->i - slots : 0))
        return "an offset is wrong";
    return is_empty(&c->t, c->i, slots) ? NULL : "an empty slot holds something";
}

/* A key is a slot, but for the copies of voids. */
static const char *check_numbers(const tamis *f, const census *c, const aleph *a)
{
    if (c->used != le64(a->used) || c->used > a->room)
        return "the number of slots in use is wrong";
    if (f->count > c->used || (f->count < c->used && !(c->lengths & 1)))
        return "the number of keys is wrong";
    return NULL;
}

static const char *verify(const tamis *f)
{
    aleph a = aleph_of(f);
    census c = { .t = a.t, .lengths = lengths_of(&f->plan) };
    const uint8_t *payload = f->payload, *end = a.t.at + a.t.blocks * a.t.stride;

    if (!bytes_are_zero(payload + 8, payload + ALEPH_HEADER) ||
        !bytes_are_zero(end, payload + f->plan.bytes))
        return "unused bytes are set";
    const char *why = check_table(&c);
    return why ? why : check_numbers(f, &c, &a);
}

/* ---- Kernels ----------------------------------------------------------- */

static void touch(const tamis *f, uint64_t key)
{
    aleph a = aleph_of(f);

    fetch_spot(&a, hash_key(key, a.salt));
}

static void for_cpu(tamis *f, unsigned cpu)
{
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        tamis__aleph_use_avx2(&f->ops);
#endif
    (void)f;
    (void)cpu;
}

const tamis_ops tamis__aleph = {
    .traits = TAMIS_TRAIT_GROWS | TAMIS_TRAIT_KEEPS_LOAD,
    .plan = plan,
    .bytes = bytes,
    .rate = rate,
    .resize = resize,
    .for_cpu = for_cpu,
    .verify = verify,
    .measure = measure,
    .has = has,
    .add = add,
    .remove = remove_key,
    .touch = touch,
    .has_many = has_many,
    .add_many = add_many,
    .remove_many = remove_many,
    .move = move,
};
