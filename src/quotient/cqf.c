/* cqf.c - counting quotient filter: a sorted table of fingerprints, each with its count.
 *
 * The fingerprint of a key is scale64(hash_key(key), slots << width): its high part, the quotient,
 * says where it belongs among the slots, its low `width` bits, the remainder, are what is written
 * there. n distinct keys make a stranger pass with probability
 *
 *   1 - (1 - 1 / (slots << width))^n,   about load * 2^-width
 *
 * Two bits a slot and a byte per 64 of them tell which remainders belong to which quotient
 * (quotient/runs.h), and counts are written with the remainders as digits (quotient/counter.h). So
 * the set of fingerprints can be had back, in order: filters are merged, multiplied and resized
 * without the keys. Twice the slots take one bit from each remainder and leave the fingerprint, and
 * with it the rate, as it was.
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
#include "quotient/cqf_many.h"

#include "base/cpu.h"

/* ---- Sizing ------------------------------------------------------------ */

enum { ONE_HASH = 1, LOAD_UNIT = 1000 };

static const uint64_t MAX_SLOTS = UINT64_C(1) << 48;
static const double DEFAULT_LOAD = 0.95;

/* All shards have the same number of whole blocks. */
static uint64_t grain(uint64_t slots)
{
    return (uint64_t)BLOCK << shard_bits(slots);
}

/* One slot of each shard stays empty, so that every search ends. */
static bool has_room(const tamis_plan *p)
{
    unsigned bits = shard_bits(p->slots);

    return p->capacity < p->slots && shard_room(p->capacity, bits) < p->slots >> bits;
}

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots <= MAX_SLOTS && p->slots % grain(p->slots) == 0 &&
              p->width >= MIN_WIDTH && p->width <= MAX_WIDTH &&
              p->slots < UINT64_C(1) << (63 - p->width) && p->hashes == ONE_HASH &&
              (p->flags & ~TAMIS_PLAN_GROWS) == 0 && p->load > 0 && p->load <= LOAD_UNIT &&
              has_room(p);

    return ok ? shard_bytes(p->slots, p->width) << shard_bits(p->slots) : 0;
}

static double rate(const tamis_plan *p, double n)
{
    return -expm1(n * log1p(-1 / (double)(p->slots << p->width)));
}

/* Within the load, and with room in every shard. One key more still would be: twice the slots then
 * hold twice the keys and one. */
static bool is_roomy(const tamis_plan *p)
{
    return (p->capacity + 1) * LOAD_UNIT <= p->load * p->slots && has_room(p);
}

/* Slots come in steps of at most a 512th of them, a power of two: so that large filters can be
 * halved until they have a thousand blocks or fewer. */
static uint64_t step_at(uint64_t slots)
{
    uint64_t step = grain(slots);

    while (slots / step >= 1024)
        step *= 2;
    return step;
}

static void plan_slots(tamis_plan *p)
{
    p->slots = (p->capacity + 1) * LOAD_UNIT / p->load;
    p->slots += BLOCK - p->slots % BLOCK;
    do
        p->slots += step_at(p->slots) - 1 - (p->slots - 1) % step_at(p->slots);
    while (!is_roomy(p) && ++p->slots);
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    double load = spec->load > 0 ? spec->load : DEFAULT_LOAD;
    uint32_t thousandths = (uint32_t)(load * LOAD_UNIT + 0.5);

    if (spec->keys >= MAX_SLOTS / LOAD_UNIT || thousandths == 0)
        return TAMIS_RANGE;
    p->hashes = ONE_HASH;
    p->load = (uint16_t)thousandths;
    p->flags = spec->can & TAMIS_CAN_GROW ? TAMIS_PLAN_GROWS : 0;
    plan_slots(p);
    for (p->width = MIN_WIDTH; p->width < MAX_WIDTH; p->width++)
        if (rate(p, (double)p->capacity) <= spec->fpr)
            break;
    return TAMIS_OK;
}

/* Half the slots, if there are whole blocks and remainders have room for one bit more. */
static bool halve(tamis_plan *p)
{
    tamis_plan half = *p;

    half.slots /= 2;
    half.width++;
    bool ok = p->slots % (2 * BLOCK) == 0 && half.slots % grain(half.slots) == 0 &&
              half.width <= MAX_WIDTH && is_roomy(&half);
    if (ok)
        *p = half;
    return ok;
}

static tamis_status resize(tamis_plan *p, uint64_t keys)
{
    if (keys >= MAX_SLOTS / LOAD_UNIT)
        return TAMIS_RANGE;
    p->capacity = keys;
    while (!is_roomy(p)) {
        if (p->width == MIN_WIDTH || p->slots > MAX_SLOTS / 2)
            return TAMIS_RANGE;
        p->slots *= 2;
        p->width--;
    }
    while (halve(p))
        ;
    return TAMIS_OK;
}

/* ---- In order ---------------------------------------------------------- */

static bool next(tamis_cursor *c)
{
    shards s = shards_of(c->f);

    for (; c->at[0] < UINT64_C(1) << s.bits; c->at[0]++, c->at[1] = 0) {
        walk w = { table_of(&s, c->at[0]), c->at[1], c->at[2], c->at[3], 0, 0 };
        if (!walk_on(&w))
            continue;
        c->at[1] = w.after;
        c->at[2] = w.i;
        c->at[3] = w.end;
        c->fingerprint = (c->at[0] * s.slots + w.after - 1) << s.width | w.remainder;
        c->count = w.count;
        return true;
    }
    return false;
}

static track resume(const tamis_writer *w, const shards *s)
{
    return track_of(table_of(s, w->at[0]), w->at[1], w->at[2], w->at[3]);
}

static void finish(tamis_writer *w)
{
    shards s = shards_of(w->f);
    track t = resume(w, &s);

    track_end(&t);
}

static void go_to_shard(tamis_writer *w, uint64_t shard)
{
    if (w->at[0] == shard)
        return;
    finish(w);
    w->at[0] = shard;
    w->at[1] = w->at[2] = w->at[3] = 0;
}

static tamis_status append(tamis_writer *w, uint64_t print, uint64_t times)
{
    if (times == 0) {
        finish(w);
        return TAMIS_OK;
    }
    shards s = shards_of(w->f);
    uint64_t quotient = print >> s.width, total;
    uint32_t code[COUNTER_MOST], remainder = (uint32_t)print & packed_mask(s.width);
    unsigned n = counter_put(code, remainder, times, s.width);

    go_to_shard(w, quotient / s.slots);
    uint8_t *shard = shard_at(&s, w->at[0]);
    if (used_of(shard) + n > s.room || add_overflows(w->f->count, times, &total))
        return TAMIS_FULL;
    track t = resume(w, &s);
    track_put(&t, quotient % s.slots, code, n);
    if (!t.is_around)
        track_rest(&t);
    put_le64(shard, used_of(shard) + n);
    w->f->count = total;
    w->at[1] = t.after;
    w->at[2] = t.i;
    w->at[3] = t.is_around;
    return TAMIS_OK;
}

static uint64_t used(const tamis *f)
{
    shards s = shards_of(f);
    uint64_t total = 0;

    for (uint64_t i = 0; i < UINT64_C(1) << s.bits; i++)
        total += used_of(shard_at(&s, i));
    return total;
}

/* Of copies, what is needed is the remainder twice, a zero, and digits of the lower base. */
static tamis_room room(const tamis *f, uint64_t range, uint64_t copies)
{
    shards s = shards_of(f);
    uint64_t taken = used_of(shard_at(&s, range)), base = counter_base(1, s.width), slots = 3;

    for (uint64_t v = copies; v; v /= base)
        slots++;
    return (tamis_room){ .range_bits = s.bits,
                         .used = taken,
                         .free = taken < s.room ? s.room - taken : 0,
                         .needed = slots < copies ? slots : copies };
}

/* ---- The whole filter -------------------------------------------------- */

/* n distinct keys have on average N (1 - (1 - 1/N)^n) fingerprints out of N: solved for n. All of
 * them count as all but one. */
static void measure(const tamis *f, tamis_info *info)
{
    double prints = (double)(f->plan.slots << f->plan.width), distinct = 0;
    tamis_cursor c = { .f = f };

    while (next(&c))
        distinct++;
    distinct = fmin(distinct, prints);
    info->fill = (double)used(f) / (double)f->plan.slots;
    info->fpr = distinct / prints;
    info->cardinality =
        distinct > 0 ? log1p(-fmin(distinct, prints - 1) / prints) / log1p(-1 / prints) : 0;
}

/* What a check of a shard has seen. */
typedef struct census {
    table t;
    uint64_t i, runs, used, copies;
} census;

static bool is_empty(const table *t, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        if (slot(t, i))
            return false;
    return true;
}

static bool is_code(const table *t, const entry *e, uint32_t x)
{
    uint32_t code[COUNTER_MOST];
    unsigned n = counter_put(code, x, e->count, t->width);

    if (n != e->slots)
        return false;
    for (unsigned i = 0; i < n; i++)
        if (slot(t, e->at + i) != code[i])
            return false;
    return true;
}

static const char *check_entries(census *c, uint64_t end)
{
    uint64_t least = 0;

    while (c->i < end) {
        uint32_t x;
        entry e = read_entry(&c->t, c->i, end, &x);
        if (x < least)
            return "a run is out of order";
        if (!is_code(&c->t, &e, x) || add_overflows(c->copies, e.count, &c->copies))
            return "a count is written wrongly";
        least = (uint64_t)x + 1;
        c->i += e.slots;
        c->used += e.slots;
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
    return check_entries(c, end);
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

static const char *check_shard(const shards *s, uint64_t i, uint64_t *copies)
{
    const uint8_t *shard = shard_at(s, i);
    census c = { .t = table_of(s, i), .copies = *copies };
    const uint8_t *end = c.t.at + c.t.blocks * c.t.stride;

    if (!bytes_are_zero(shard + LOCK, shard + SHARD_HEADER) ||
        !bytes_are_zero(end, shard + s->bytes))
        return "unused bytes are set";
    const char *why = check_table(&c);
    if (!why && (c.used != used_of(shard) || c.used > s->room))
        why = "the number of slots in use is wrong";
    *copies = c.copies;
    return why;
}

static const char *verify(const tamis *f)
{
    shards s = shards_of(f);
    uint64_t copies = 0;
    const char *why = NULL;

    for (uint64_t i = 0; i < UINT64_C(1) << s.bits && !why; i++)
        why = check_shard(&s, i, &copies);
    if (!why && copies != f->count)
        why = "the number of keys is wrong";
    return why;
}

/* ---- Kernels ----------------------------------------------------------- */

static void touch(const tamis *f, uint64_t key)
{
    shards s = shards_of(f);

    fetch_spot(&s, hash_key(key, s.salt));
}

static void for_cpu(tamis *f, unsigned cpu)
{
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        tamis__cqf_use_avx2(&f->ops);
#endif
    (void)f;
    (void)cpu;
}

const tamis_ops tamis__cqf = {
    .traits = TAMIS_TRAIT_CAN_GROW | TAMIS_TRAIT_KEEPS_LOAD,
    .plan = plan,
    .bytes = bytes,
    .rate = rate,
    .resize = resize,
    .for_cpu = for_cpu,
    .verify = verify,
    .measure = measure,
    .has = has,
    .count = count,
    .add = add,
    .remove = remove_key,
    .touch = touch,
    .has_many = has_many,
    .count_many = count_many,
    .add_many = add_many,
    .remove_many = remove_many,
    .add_concurrent = add_concurrent,
    .next = next,
    .append = append,
    .room = room,
};
