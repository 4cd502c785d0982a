/* cqf.c - counting quotient filter: a sorted table of fingerprints, each with its count.
 *
 * The fingerprint of a key is scale64(hash_key(key), slots << width): its high part, the quotient,
 * says where it belongs among the slots, its low `width` bits, the remainder, are what is written
 * there. An absent key is found among n distinct keys with probability
 *
 *   1 - (1 - 1 / (slots << width))^n,   about load * 2^-width
 *
 * Two bits a slot and a byte per 64 of them tell which remainders belong to which quotient
 * (quotient/runs.h), and counts are written with the remainders as digits (quotient/cqf_counter.h).
 * So the set of fingerprints can be had back, in order: filters are merged, multiplied and resized
 * without the keys. Twice the slots take one bit from each remainder and keep the fingerprint, and
 * so the rate of the same keys; twice the keys have twice the rate.
 *
 * Slots need not be a power of two. From 2^17 of them on they are cut into 2^b shards by the first
 * b bits of the hash, tables by themselves, so that a change is local and threads lock one shard
 * each.
 *
 *   payload:  2^b shards of equal size, a multiple of 64 bytes
 *   shard:    slots in use, 8 bytes | lock, 4 bytes, 0 in images | zeros, 52 bytes
 *             blocks of 64 slots | zeros, at least 8 bytes
 *
 * plan.hashes is 1. Zeros are the empty filter. What it holds decides every byte.
 *
 * Pandey, Bender, Johnson, Patro: A General-Purpose Counting Filter: Making Every Bit Count, 2017.
 * Bender et al.: Don't Thrash: How to Cache Your Hash on Flash, 2012. */
#include "base/collisions.h"
#include "base/cpu.h"
#include "quotient/cqf_template.h"
#include "quotient/runs_check.h"

/* ---- Sizing ------------------------------------------------------------ */

static double cqf_rate(const tamis_plan *p, double n)
{
    return collisions_rate(n, (double)(p->slots << p->width));
}

static const shards_rule CQF_RULE = {
    .most_width = 32, .flags = TAMIS_PLAN_GROWS, .load = 0.95, .rate = cqf_rate
};

static uint64_t cqf_bytes(const tamis_plan *p)
{
    unsigned bits = shards_bits(p->slots);

    return tamis__shards_are_valid(p, &CQF_RULE) ? runs_bytes(p->slots >> bits, p->width) << bits
                                                 : 0;
}

static tamis_status cqf_plan(tamis_plan *p, const tamis_spec *spec)
{
    p->flags = spec->can & TAMIS_CAN_GROW ? TAMIS_PLAN_GROWS : 0;
    return tamis__shards_plan(p, spec, &CQF_RULE);
}

static tamis_status cqf_resize(tamis_plan *p, uint64_t keys)
{
    return tamis__shards_resize(p, keys, false, &CQF_RULE);
}

/* ---- In order ---------------------------------------------------------- */

/* at[]: the shard, and where it is in there. */
static bool cqf_next(tamis_cursor *c)
{
    shards s = shards_of(c->f);

    for (; c->at[0] < UINT64_C(1) << s.bits; shards_turn(c->at, sizeof c->at, c->at[0] + 1)) {
        cqf_walk w = { .run = { shards_table(&s, c->at[0]), c->at[1], 0, c->at[3] },
                       .i = c->at[2] };
        if (!cqf_walk_on(&w))
            continue;
        c->at[1] = w.run.after;
        c->at[2] = w.i;
        c->at[3] = w.run.end;
        c->fingerprint = (c->at[0] * s.slots + w.run.after - 1) << s.width | w.remainder;
        c->count = w.count;
        return true;
    }
    return false;
}

static tamis_status cqf_append(tamis_writer *w, uint64_t fingerprint, uint64_t count)
{
    shards s = shards_of(w->f);
    uint64_t q = fingerprint >> s.width, total;
    uint32_t code[COUNTER_MOST], x = (uint32_t)fingerprint & packed_mask(s.width);
    unsigned n = cqf_counter_put(code, x, count, s.width);

    if (count == 0 || q / s.slots != w->at[0])
        shards_end_writer(w, &s, q / s.slots);
    if (count == 0)
        return TAMIS_OK;
    runs_writer to = shards_writer(w, &s);
    if (runs_used(to.t) + n > s.room || add_overflows(w->f->count, count, &total))
        return TAMIS_FULL;
    to = runs_writer_put(to, q % s.slots, code, n);
    if (!to.is_around)
        runs_writer_put_down(&to);
    runs_put_used(to.t, runs_used(to.t) + n);
    w->f->count = total;
    shards_put_writer(w, &to);
    return TAMIS_OK;
}

/* Copies need the remainder twice, a zero, and digits of the lower base. */
static tamis_room cqf_room(const tamis *f, uint64_t range, uint64_t copies)
{
    uint64_t needed = 3;

    for (uint64_t v = copies; v; v /= cqf_counter_base(1, f->plan.width))
        needed++;
    return tamis__shards_room_in(f, range, needed < copies ? needed : copies);
}

/* ---- The whole filter -------------------------------------------------- */

static void cqf_measure(const tamis *f, tamis_info *info)
{
    shards s = shards_of(f);
    double all = (double)s.fingerprints, distinct = 0, used = 0;
    tamis_cursor c = { .f = f };

    while (cqf_next(&c))
        distinct++;
    for (uint64_t i = 0; i < UINT64_C(1) << s.bits; i++)
        used += (double)runs_used(shards_table(&s, i));
    info->fill = used / (double)f->plan.slots;
    info->fpr = fmin(distinct, all) / all;
    info->cardinality = collisions_keys(distinct, all);
}

static bool cqf_is_code(runs_table t, const cqf_entry *e, uint32_t x)
{
    uint32_t code[COUNTER_MOST];
    unsigned n = cqf_counter_put(code, x, e->count, t.width);

    if (n != e->slots)
        return false;
    for (unsigned i = 0; i < n; i++)
        if (runs_slot(t, e->at + i) != code[i])
            return false;
    return true;
}

/* c->ctx: the keys counted so far. */
static const char *cqf_check_run(const runs_check *c, uint64_t end)
{
    runs_table t = c->t;
    uint64_t least = 0, *copies = c->ctx;

    for (uint64_t i = c->i; i < end;) {
        uint32_t x = runs_slot(t, i);
        cqf_entry e = cqf_read_entry(t, i, end, x);
        if (x < least)
            return "a run is out of order";
        if ((e.count > 1 && !cqf_is_code(t, &e, x)) || add_overflows(*copies, e.count, copies))
            return "a count is written wrongly";
        least = (uint64_t)x + 1;
        i += e.slots;
    }
    return NULL;
}

static const char *cqf_verify(const tamis *f)
{
    shards s = shards_of(f);
    uint64_t copies = 0;
    const char *why = NULL;

    for (uint64_t i = 0; i < UINT64_C(1) << s.bits && !why; i++) {
        runs_check c = {
            .t = shards_table(&s, i), .room = s.room, .check_run = cqf_check_run, .ctx = &copies
        };
        why = tamis__runs_check(&c);
    }
    return why || copies == f->count ? why : "the number of keys is wrong";
}

/* ---- The table --------------------------------------------------------- */

static void cqf_for_cpu(tamis *f, unsigned cpu)
{
    const tamis_plan *p = &f->plan;

    tamis__shards_derive(f, shards_bits(p->slots), p->width, p->width, tamis__shards_needed(p),
                         false);
    cqf_use(&f->ops, p->width);
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        tamis__cqf_use_avx2(&f->ops, p->width);
    if (cpu & TAMIS_CPU_AVX512)
        tamis__cqf_use_avx512(&f->ops, p);
#endif
    (void)cpu;
}

const tamis_ops tamis__cqf = {
    .traits = TAMIS_TRAIT_CAN_GROW | TAMIS_TRAIT_KEEPS_LOAD | TAMIS_TRAIT_QUOTIENT_BITS |
              TAMIS_TRAIT_TAG_BITS,
    .plan = cqf_plan,
    .bytes = cqf_bytes,
    .rate = cqf_rate,
    .resize = cqf_resize,
    .for_cpu = cqf_for_cpu,
    .verify = cqf_verify,
    .measure = cqf_measure,
    .has = cqf_has,
    .count = cqf_count,
    .add = cqf_add,
    .remove = cqf_remove,
    .has_many = cqf_has_many,
    .count_many = cqf_count_many,
    .add_many = cqf_add_many,
    .remove_many = cqf_remove_many,
    .add_concurrent = cqf_add_concurrent,
    .next = cqf_next,
    .append = cqf_append,
    .room = cqf_room,
    .cells = tamis__cqf_cells,
    .explain = tamis__cqf_explain,
};
