/* blocked.c - Bloom filter confined to one 32-byte block per key.
 *
 * An ordinary Bloom filter reads k scattered cache lines per query. Here the key picks a block,
 * then one bit in each of its eight words: a query is a single cache miss. Blocks fill unevenly,
 * which costs about one bit per key at 1 %, and more at lower rates; the sizing below accounts for
 * it.
 *
 *   h = hash_key(key):  high bits -> block      low 32 bits -> x
 *   word i of the block has bit (x * SALT[i]) >> 27
 *
 * Payload: plan.slots blocks. Zeros are the empty filter; every payload is valid.
 *
 * Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, 2009.
 * Lang et al.: Performance-Optimal Filtering, 2019. */
#include "bloom/blocked.h"

#include "base/cpu.h"
#include "base/le.h"
#include "bloom/family.h"
#include "bloom/group.h"
#include "bloom/split.h"

/* ---- Layout ------------------------------------------------------------ */

static block *block_of(const tamis *f, uint64_t h)
{
    block *blocks = f->payload;
    return &blocks[scale64(h, f->plan.slots)];
}

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 50 && p->width == 32 &&
              p->hashes == WORDS && has_no_options(p);

    return ok ? p->slots * sizeof(block) : 0;
}

static double rate(const tamis_plan *p, double n)
{
    return rate_of_blocks((double)p->slots, n);
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    uint64_t blocks = blocks_for((double)spec->keys, spec->fpr);

    p->width = 32;
    p->hashes = WORDS;
    p->slots = round_for_folding(blocks, 1);
    return blocks ? TAMIS_OK : TAMIS_RANGE;
}

/* ---- Operations -------------------------------------------------------- */

#include "bloom/split_portable.h"

static inline void place_group(group *g, const uint64_t *keys, uint64_t slots, uint64_t salt)
{
    place_each(g, 0, keys, slots, salt);
}

#include "bloom/blocked_many.h"

static tamis_status add(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt);

    (void)times;
    block_add(block_of(f, h), (uint32_t)h);
    f->count++;
    return TAMIS_OK;
}

/* An atomic change costs more than all the rest: two words at a time, and none for bits that are
 * set, as most are that a hot key asks for. */
static void block_add_concurrent(block *b, uint32_t x)
{
    for (int i = 0; i < WORDS / 2; i++) {
        block mask = { .word = { bit_of(x, 2 * i), bit_of(x, 2 * i + 1) } };
        if (mask.pair[0] & ~__atomic_load_n(&b->pair[i], __ATOMIC_RELAXED))
            __atomic_fetch_or(&b->pair[i], mask.pair[0], __ATOMIC_RELAXED);
    }
}

static tamis_status add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    block *blocks = f->payload;
    group g;

    for (size_t from = 0; from < n; from += GROUP) {
        place_next(&g, f, keys, from, n);
        fetch_all(f, &g);
        for (size_t i = 0; i < g.n; i++)
            block_add_concurrent(&blocks[g.block[i]], g.x[i]);
    }
    __atomic_fetch_add(&f->count, n, __ATOMIC_RELAXED);
    *added = n;
    return TAMIS_OK;
}

/* Block b of the large filter falls on b / by of the small one: see scale64(). */
static tamis_status move(tamis *f, const tamis *g)
{
    uint64_t by = g->plan.slots / f->plan.slots;
    block *to = f->payload;
    const block *from = g->payload;

    for (uint64_t i = 0; i < f->plan.slots; i++, to++)
        for (uint64_t j = 0; j < by; j++, from++)
            for (int w = 0; w < WORDS; w++)
                to->word[w] |= from->word[w];
    f->count = g->count;
    return TAMIS_OK;
}

static void measure(const tamis *f, tamis_info *info)
{
    split_measure m = split_read(f->payload, f->plan.slots);

    info->fill = m.fill;
    info->fpr = m.fpr;
    info->cardinality = m.keys;
}

static void for_cpu(tamis *f, unsigned cpu)
{
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        tamis__blocked_use_avx2(&f->ops);
#elif defined(__aarch64__)
    if (cpu & TAMIS_CPU_NEON)
        tamis__blocked_use_neon(&f->ops);
#else
    (void)f;
    (void)cpu;
#endif
}

const tamis_ops tamis__blocked = {
    .traits = TAMIS_TRAIT_ONLY_SETS_BITS,
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .measure = measure,
    .add = add,
    .merge = bits_merge,
    .intersect = bits_intersect,
    .for_cpu = for_cpu,
    .move = move,
    .has_many = has_many,
    .add_many = add_many,
    .add_concurrent = add_concurrent,
};
