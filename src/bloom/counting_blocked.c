/* counting_blocked.c - counting Bloom filter confined to one cache line per key.
 *
 * A line of 64 bytes has 128 counters of four bits: eight words of 16. The key picks a line, then
 * one counter in each of its words. Whatever is done to a key, one line is read, and at most one is
 * written.
 *
 *   h = hash_key(key):  high bits -> line      low 32 bits -> x
 *   word i of the line has counter (x >> 4 i) % 16
 *
 * The sixteen values of each digit of x are equally likely and the digits independent, so that in
 * a line of i keys a stranger passes with probability (1 - (15/16)^i)^8, exactly. Lines fill
 * unevenly; the sizing accounts for it. Of the ways to lay out k counters in a line this one is
 * within a twentieth of the smallest from 1 % down to 0.01 %, and needs no multiplication.
 *
 * A plain filter of the same positions would have blocks of 16 bytes, and there is no kind of that
 * shape: these counters are not reduced.
 *
 * Payload: plan.slots lines. Zeros are the empty filter; every payload is valid. */
#include "bloom/counting_blocked.h"

#include <math.h>

#include "base/cpu.h"
#include "bloom/counters.h"
#include "bloom/family.h"
#include "bloom/group.h"

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 50 && p->width == COUNTER_BITS &&
              p->hashes == WORDS && has_no_options(p);

    return ok ? p->slots * sizeof(block) : 0;
}

static double rate_of_block(double i)
{
    return pow(-expm1(i * log1p(-1.0 / 16)), WORDS);
}

/* x is nothing but the eight digits: keys that agree in it are in the above. */
static const double FLOOR = 0;

#include "bloom/blocks.h"

static double rate(const tamis_plan *p, double n)
{
    return rate_of_blocks((double)p->slots, n);
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    if (spec->counter_bits != 0 && spec->counter_bits != COUNTER_BITS)
        return TAMIS_RANGE;
    p->width = COUNTER_BITS;
    p->hashes = WORDS;
    uint64_t blocks = blocks_for((double)spec->keys, spec->fpr);
    p->slots = round_for_folding(blocks, 1);
    return blocks ? TAMIS_OK : TAMIS_RANGE;
}

/* ---- One line ---------------------------------------------------------- */

/* Where in word i the counter of x starts. */
static inline unsigned shift_of(uint32_t x, int i)
{
    return (x >> 4 * i) % 16 * COUNTER_BITS;
}

static const uint64_t MAX = (1 << COUNTER_BITS) - 1;

static inline uint64_t counter_of(const block *b, uint32_t x, int i)
{
    return LE_SWAP64(b->word[i]) >> shift_of(x, i) & MAX;
}

static inline void change_counter(block *b, uint32_t x, int i, int64_t by)
{
    b->word[i] = LE_SWAP64(LE_SWAP64(b->word[i]) + ((uint64_t)by << shift_of(x, i)));
}

static inline uint64_t lowest(const block *b, uint32_t x)
{
    uint64_t least = MAX;

    for (int i = 0; i < WORDS; i++)
        least = counter_of(b, x, i) < least ? counter_of(b, x, i) : least;
    return least;
}

/* Those that have stopped stay; of the others, none goes beyond the maximum or below 0. Returns how
 * many of the times are counted. */
static inline uint64_t block_raise(block *b, uint32_t x, uint64_t times)
{
    uint64_t room = MAX - lowest(b, x);

    for (int i = 0; i < WORDS; i++) {
        uint64_t here = MAX - counter_of(b, x, i);
        change_counter(b, x, i, (int64_t)(times < here ? times : here));
    }
    return times < room ? times : room;
}

static inline removal block_lower(block *b, uint32_t x, uint64_t times)
{
    uint64_t held = lowest(b, x);

    if (held == MAX)
        return STUCK;
    if (held < times)
        return ABSENT;
    for (int i = 0; i < WORDS; i++)
        if (counter_of(b, x, i) < MAX)
            change_counter(b, x, i, -(int64_t)times);
    return FORGOTTEN;
}

/* ---- Operations -------------------------------------------------------- */

static inline bool block_has(const block *b, uint32_t x)
{
    uint64_t missing = 0;

    for (int i = 0; i < WORDS; i++)
        missing |= counter_of(b, x, i) == 0;
    return !missing;
}

/* One by one and one at a time, keys wait for their lines: a branch on what a counter holds would
 * keep the processor from asking for the next. So there is none. */
static inline bool block_add(block *b, uint32_t x)
{
    uint64_t raised = 0;

    for (int i = 0; i < WORDS; i++) {
        uint64_t step = counter_of(b, x, i) != MAX;
        change_counter(b, x, i, (int64_t)step);
        raised |= step;
    }
    return raised;
}

static inline removal block_remove(block *b, uint32_t x)
{
    uint64_t lowered = 0, step[WORDS];

    if (!block_has(b, x))
        return ABSENT;
    for (int i = 0; i < WORDS; i++)
        lowered |= step[i] = counter_of(b, x, i) != MAX;
    for (int i = 0; i < WORDS; i++)
        change_counter(b, x, i, -(int64_t)step[i]);
    return lowered ? FORGOTTEN : STUCK;
}

static inline void place_group(group *g, const uint64_t *keys, uint64_t slots, uint64_t salt)
{
    place_each(g, 0, keys, slots, salt);
}

#include "bloom/counting_blocked_many.h"

static block *block_of(const tamis *f, uint64_t h)
{
    block *blocks = f->payload;
    return &blocks[scale64(h, f->plan.slots)];
}

static uint64_t count(const tamis *f, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);

    return lowest(block_of(f, h), (uint32_t)h);
}

static tamis_status add_times(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt);

    f->count += block_raise(block_of(f, h), (uint32_t)h, times);
    return TAMIS_OK;
}

static tamis_status add(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt);

    if (times > 1)
        return add_times(f, key, times);
    f->count += block_add(block_of(f, h), (uint32_t)h);
    return TAMIS_OK;
}

static tamis_status removed(tamis *f, removal r, uint64_t times)
{
    if (r == FORGOTTEN)
        counters_forget(f, times);
    return r == ABSENT ? TAMIS_ABSENT : TAMIS_OK;
}

static tamis_status remove_times(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt);

    return removed(f, block_lower(block_of(f, h), (uint32_t)h, times), times);
}

static tamis_status remove_key(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt);

    if (times > 1)
        return remove_times(f, key, times);
    return removed(f, block_remove(block_of(f, h), (uint32_t)h), 1);
}

static inline void add_one_shared(block *b, uint32_t x, tally *t)
{
    bool raised = false;

    for (unsigned i = 0; i < WORDS; i++)
        raised |= counter_raise_shared(&b->word[i], COUNTER_BITS, (x >> 4 * i) % 16);
    t->counted += raised;
}

static tamis_status add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    tally t = change_many(f, keys, n, add_one_shared);

    __atomic_fetch_add(&f->count, t.counted, __ATOMIC_RELAXED);
    *added = n;
    return TAMIS_OK;
}

/* Line l of the large filter falls on l / by of the small one (see scale64()), and each of its
 * counters on the same of that: what is summed up are keys of both. */
static tamis_status move(tamis *f, const tamis *g)
{
    uint64_t by = g->plan.slots / f->plan.slots;
    block *to = f->payload;
    const block *from = g->payload;

    for (uint64_t i = 0; i < f->plan.slots; i++, to++)
        for (uint64_t j = 0; j < by; j++, from++)
            for (int w = 0; w < WORDS; w++)
                to->word[w] = LE_SWAP64(
                    lanes_sum(LE_SWAP64(to->word[w]), LE_SWAP64(from->word[w]), COUNTER_BITS));
    f->count = g->count;
    return TAMIS_OK;
}

static double rate_in(const block *b)
{
    double rate = 1;

    for (int w = 0; w < WORDS; w++)
        rate *= __builtin_popcountll(lanes_in_use(b->word[w], COUNTER_BITS)) / 16.0;
    return rate;
}

/* A key raises a given counter with probability 1 / (16 lines), lines or not. */
static void measure(const tamis *f, tamis_info *info)
{
    const block *blocks = f->payload;
    double slots = (double)f->plan.slots, fpr = 0;
    counters_tally t = counters_tell(f);

    for (uint64_t i = 0; i < f->plan.slots; i++)
        fpr += rate_in(&blocks[i]);
    info->fill = (double)t.used / (128 * slots);
    info->fpr = fpr / slots;
    info->cardinality = keys_from_clear(1 - info->fill, 128 * slots, 1 / (16 * slots));
    info->saturated = t.at_max;
}

static void touch(const tamis *f, uint64_t key)
{
    __builtin_prefetch(block_of(f, hash_key(key, f->salt)), 0, 3);
}

static void for_cpu(tamis *f, unsigned cpu)
{
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        tamis__counting_blocked_use_avx2(&f->ops);
#else
    (void)f;
    (void)cpu;
#endif
}

const tamis_ops tamis__counting_blocked = {
    .traits = TAMIS_TRAIT_COUNTER_BITS,
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .measure = measure,
    .add = add,
    .remove = remove_key,
    .count = count,
    .limits = counters_limits,
    .merge = counters_merge,
    .intersect = counters_intersect,
    .move = move,
    .has_many = has_many,
    .add_many = add_many,
    .remove_many = remove_many,
    .add_concurrent = add_concurrent,
    .touch = touch,
    .for_cpu = for_cpu,
};
