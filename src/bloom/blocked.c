/* blocked.c - Bloom filter confined to one 32-byte block per key.
 *
 * An ordinary Bloom filter reads k scattered cache lines per query. Here the key picks a block,
 * then one bit in each of its eight words (split_block.h): a query is a single cache miss. Blocks
 * fill unevenly, which costs about one bit per key at 1 %, and more at lower rates; the sizing
 * accounts for it.
 *
 *   h = hash_key(key):  high bits -> block      low 32 bits -> x, which gives the eight bits
 *
 * Payload: plan.slots blocks. Zeros are the empty filter; every payload is valid.
 *
 * Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, 2009.
 * Lang et al.: Performance-Optimal Filtering, 2019. */
#include "base/cpu.h"
#include "bloom/bitset.h"
#include "bloom/split_block.h"

#define one_block_name(function) blocked_##function
#define ONE_BLOCK split_block
#define ONE_BLOCK_HAS split_block_has
#define ONE_BLOCK_ADD split_block_add
#include "bloom/one_block_template.h"

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t blocked_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 50 && p->width == 32 &&
              p->hashes == SPLIT_WORDS && !p->flags && !p->load;

    return ok ? p->slots * sizeof(split_block) : 0;
}

static double blocked_rate(const tamis_plan *p, double n)
{
    return tamis__rates_blocks(&SPLIT_RATES, (double)p->slots, n);
}

static tamis_status blocked_plan(tamis_plan *p, const tamis_spec *spec)
{
    p->width = 32;
    p->hashes = SPLIT_WORDS;
    return tamis__rates_plan_blocks(p, spec, &SPLIT_RATES);
}

/* ---- Operations -------------------------------------------------------- */

/* An atomic change costs more than all the rest: two words at a time, and none for bits that are
 * set, as most are that a hot key asks for. */
static void blocked_add_atomic(split_block *b, uint32_t x)
{
    for (int i = 0; i < SPLIT_WORDS / 2; i++) {
        split_block mask = { .word = { split_block_bit(x, 2 * i), split_block_bit(x, 2 * i + 1) } };
        if (mask.pair[0] & ~__atomic_load_n(&b->pair[i], __ATOMIC_RELAXED))
            __atomic_fetch_or(&b->pair[i], mask.pair[0], __ATOMIC_RELAXED);
    }
}

MANY_INLINE uint64_t blocked_add_one_atomic(void *self, void *group, size_t i)
{
    const one_block_group *g = group;

    blocked_add_atomic(one_block_at(self, g, i), g->x[i]);
    return true;
}

static tamis_status blocked_add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    one_block_change(f, keys, n, sizeof(split_block), one_block_prepare, blocked_add_one_atomic);
    __atomic_fetch_add(&f->count, n, __ATOMIC_RELAXED);
    *added = n;
    return TAMIS_OK;
}

/* Block b of the large filter falls on b / by of the small one: see scale64(). */
static tamis_status blocked_move(tamis *f, const tamis *g)
{
    uint64_t by = g->plan.slots / f->plan.slots;
    split_block *to = f->payload;
    const split_block *from = g->payload;

    for (uint64_t i = 0; i < f->plan.slots; i++, to++)
        for (uint64_t j = 0; j < by; j++, from++)
            for (int w = 0; w < SPLIT_WORDS / 2; w++)
                to->pair[w] |= from->pair[w];
    f->count = g->count;
    return TAMIS_OK;
}

static void blocked_measure(const tamis *f, tamis_info *info)
{
    split_block_sums s = { 0 };

    split_block_sum(&s, f->payload, f->plan.slots);
    info->fill = split_block_fill(&s);
    info->fpr = split_block_rate(&s);
    info->cardinality = split_block_adds(&s);
}

/* ---- Pictures and words ------------------------------------------------ */

static tamis_cell blocked_cell(const tamis *f, uint64_t block, uint64_t place)
{
    return (tamis_cell){ .array = "block",
                         .number = block,
                         .index = place,
                         .value = bitset_get(f->payload, block * SPLIT_BITS + place),
                         .bits = 1 };
}

static void blocked_cells(const tamis *f, tamis_telling *t)
{
    for (uint64_t i = 0; i < f->plan.slots * SPLIT_BITS; i++)
        if (!tamis__tell_cell(t, blocked_cell(f, i / SPLIT_BITS, i % SPLIT_BITS)))
            return;
}

static bool blocked_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    uint64_t h = hash_key(key, f->salt), block = scale64(h, f->plan.slots);
    bool found = true;

    tamis__tell_number(t, "block", block);
    for (int w = 0; w < SPLIT_WORDS; w++)
        found &= bitset_tell_bit(t, blocked_cell(f, block, split_block_index((uint32_t)h, w)));
    return bitset_tell_answer(t, found);
}

/* ---- For one CPU ------------------------------------------------------- */

#ifdef TARGET_AVX2
/* A block in one register. Chosen wherever it runs: a query is then bound by the one line that it
 * reads. */
TARGET_AVX2
#define one_block_name(function) blocked_avx2_##function
#define ONE_BLOCK split_block
#define ONE_BLOCK_HAS split_block_has_avx2
#define ONE_BLOCK_ADD split_block_add_avx2
#define ONE_BLOCK_PREPARE one_block_prepare_avx2
#define ONE_BLOCK_READS __attribute__((no_sanitize_thread))
#include "bloom/one_block_template.h"
TARGET_END

/* The same, and keys are hashed eight at a time. In filters that fit in the second cache, where
 * hashing is half of the work, batches take 0.75 of the time; in larger ones the memory decides. */
TARGET_AVX512
#define one_block_name(function) blocked_avx512_##function
#define ONE_BLOCK split_block
#define ONE_BLOCK_HAS split_block_has_avx2
#define ONE_BLOCK_ADD split_block_add_avx2
#define ONE_BLOCK_PREPARE one_block_prepare_avx512
#define ONE_BLOCK_READS __attribute__((no_sanitize_thread))
#include "bloom/one_block_template.h"
TARGET_END

/* At this pace, near lines that come from the third cache wait for each other: 3.4 ns a key where
 * far ones take 2.4. */
enum { BLOCKED_NEAR_BYTES = 1 << 20 };
#endif

static void blocked_for_cpu(tamis *f, unsigned cpu)
{
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        blocked_avx2_use(&f->ops);
    if (cpu & TAMIS_CPU_AVX512) {
        f->is_far = cpu & TAMIS_CPU_FAR && f->plan.bytes > BLOCKED_NEAR_BYTES;
        blocked_avx512_use(&f->ops);
    }
#elif defined(__aarch64__)
    if (cpu & TAMIS_CPU_NEON)
        tamis__blocked_use_neon(&f->ops);
#elif defined(__wasm_simd128__)
    if (cpu & TAMIS_CPU_SIMD128)
        tamis__blocked_use_simd128(&f->ops);
#endif
    (void)f, (void)cpu;
}

const tamis_ops tamis__blocked = {
    ONE_BLOCK_OPS(blocked),
    .traits = TAMIS_TRAIT_ONLY_SETS_BITS | TAMIS_TRAIT_BITS,
    .plan = blocked_plan,
    .bytes = blocked_bytes,
    .rate = blocked_rate,
    .for_cpu = blocked_for_cpu,
    .measure = blocked_measure,
    .add = blocked_add,
    .add_concurrent = blocked_add_concurrent,
    .merge = bitset_merge,
    .reduce = bitset_reduce,
    .move = blocked_move,
    .cells = blocked_cells,
    .explain = blocked_explain,
};
