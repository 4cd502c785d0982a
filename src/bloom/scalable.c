/* scalable.c - a Bloom filter for any number of keys.
 *
 * Stages of blocks as in the blocked filter, each twice as large as the one before. Keys go to the
 * newest; when that holds as many as its rate allows, another one is added, and nothing is moved or
 * hashed again. Stage j has a rate of 6 / (pi (j + 1))^2 of the whole, so that all together stay
 * below what was asked for, however many there will be. A query looks for the key in every stage.
 *
 *   | header | stage 0 | stage 1         | stage 2                         |
 *              n blocks  2 n               4 n: keys are added here
 *
 * A stage reads one block per probe, and has as many probes as make each of them cheap.
 *
 *   h = hash_key(key):  probe 0 is h, probe i is mix64(h + i)
 *   of each probe:   high bits -> block of the stage      low 32 bits -> x, as in split_block.h
 *
 * A key that is found already is not added: it would set no bit of its own stage, and only crowd
 * another. So repeated keys take no room.
 *
 * Payload: a line with the number of keys that set bits, as 64 bits; then the stages in order.
 * plan.slots is the number of blocks of the first, plan.hashes the number of stages, plan.width the
 * rate of the whole, as -256 log2.
 *
 * Almeida et al.: Scalable Bloom Filters, 2007.
 * Apple: Stretching your data with taffy filters, 2022. */
#include <math.h>

#include "base/ahead.h"
#include "base/cpu.h"
#include "base/many.h"
#include "bloom/bitset.h"
#include "bloom/split_block.h"

/* ---- Layout ------------------------------------------------------------ */

/* 2^40 times the first stage is more than any memory holds. */
enum { SCALABLE_MAX_STAGES = 40, SCALABLE_MAX_PROBES = 8 };

/* Before the blocks, in a line of its own. */
typedef struct scalable_header {
    uint64_t held; /* keys that set a bit; little-endian */
    uint8_t zeros[56];
} scalable_header;

typedef struct scalable_stage {
    split_block *blocks;
    uint64_t n, factor; /* of hashes */
    unsigned probes;
} scalable_stage;

/* In 256ths of a bit: -log2 of the rate of stage j. That of the whole is plan.width. */
static inline uint32_t scalable_rate_bits(const tamis_plan *p, unsigned j)
{
    /* 256 log2 of pi^2 / 6 (j + 1)^2, rounded up: by how much stage j is stricter than the whole.
     * Their rates then add up to no more than that of the whole, however many there are. */
    static const uint16_t STRICTER[SCALABLE_MAX_STAGES] = {
        184,  696,  996,  1208, 1373, 1508, 1622, 1720, 1807, 1885, 1956, 2020, 2079, 2134,
        2185, 2232, 2277, 2319, 2359, 2397, 2433, 2468, 2500, 2532, 2562, 2591, 2619, 2646,
        2672, 2697, 2721, 2744, 2767, 2789, 2811, 2831, 2852, 2871, 2890, 2909,
    };

    return p->width + STRICTER[j];
}

/* One block takes a rate of 2^-10 at little more than the least space, and lower ones at ever more:
 * those are left to several blocks. */
static inline unsigned scalable_probes(const tamis_plan *p, unsigned j)
{
    unsigned probes = 1 + (scalable_rate_bits(p, j) - 1) / (10 * 256);

    return probes < SCALABLE_MAX_PROBES ? probes : SCALABLE_MAX_PROBES;
}

/* Odd, and 1 for the first stage. Stages have hashes of their own: the keys of a stage are those
 * that the ones before it have not, as are the strangers that come to it, and with the same hashes
 * they would meet there more often than by chance. */
static inline uint64_t scalable_factor(unsigned j)
{
    return 1 + j * (2 * HASH_GOLDEN);
}

/* Stage j has 2^j times the blocks of the first, and follows those before it. */
static inline scalable_stage scalable_stage_of(const tamis *f, unsigned j)
{
    split_block *blocks = (split_block *)((scalable_header *)f->payload + 1);
    uint64_t first = f->plan.slots;

    return (scalable_stage){ blocks + (first << j) - first, first << j, scalable_factor(j),
                             scalable_probes(&f->plan, j) };
}

static inline split_block *scalable_block(const scalable_stage *s, uint64_t probe)
{
    return &s->blocks[scale64(probe, s->n)];
}

/* ---- Lookups and adds, with a block in one register where there are some - */

/* The keys of a group that were not found yet, and the stage that is looked at. */
typedef struct scalable_group {
    uint64_t h[MANY], g[MANY]; /* of each key: its hash, and this times the factor of the stage */
    uint8_t at[MANY];          /* where in the group it stands */
    unsigned left;             /* how many there are, of those that were looked at so far */
} scalable_group;

typedef struct scalable_batch {
    const tamis *f;
    scalable_stage newest, before;
    bool is_far;
} scalable_batch;

static inline scalable_batch scalable_begin(const tamis *f)
{
    unsigned newest = f->plan.hashes - 1;

    return (scalable_batch){ f, scalable_stage_of(f, newest),
                             scalable_stage_of(f, newest ? newest - 1 : 0), f->is_far };
}

MANY_INLINE void scalable_prepare(const void *self, void *group, const uint64_t *keys, size_t n)
{
    const scalable_batch *b = self;
    scalable_group *g = group;

    for (size_t i = 0; i < n; i++) {
        g->h[i] = hash_key(keys[i], b->f->salt);
        g->g[i] = g->h[i] * b->newest.factor;
    }
    g->left = 0;
}

MANY_INLINE void scalable_fetch(const void *self, const void *group, size_t i)
{
    const scalable_batch *b = self;
    const scalable_group *g = group;

    ahead_read(scalable_block(&b->newest, g->g[i]), b->is_far);
}

#define scalable_name(function) scalable_##function
#define SCALABLE_HAS split_block_has
#define SCALABLE_ADD split_block_add
#include "bloom/scalable_template.h"

#ifdef TARGET_AVX2
TARGET_AVX2
#define scalable_name(function) scalable_avx2_##function
#define SCALABLE_HAS split_block_has_avx2
#define SCALABLE_ADD split_block_add_avx2
#include "bloom/scalable_template.h"
TARGET_END
#endif

/* ---- Sizing ------------------------------------------------------------ */

/* Keys that are held set a bit each: there is no room for more of them than bits. */
static uint64_t scalable_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->hashes > 0 && p->hashes <= SCALABLE_MAX_STAGES && p->width > 0 &&
              p->width <= 64 * 256 && p->slots < UINT64_C(1) << (50 - p->hashes) && !p->flags &&
              !p->load;

    if (!ok)
        return 0;
    uint64_t bytes = ((p->slots << p->hashes) - p->slots) * sizeof(split_block);
    return p->capacity <= 8 * bytes ? sizeof(scalable_header) + bytes : 0;
}

static double scalable_rate_of_stage(const tamis_plan *p, unsigned j, double n)
{
    return tamis__rates_probes((double)(p->slots << j), n, scalable_probes(p, j));
}

static double scalable_rate_allowed(const tamis_plan *p, unsigned j)
{
    return exp2(scalable_rate_bits(p, j) / -256.0);
}

/* How many keys a stage may see. */
static double scalable_keys_of_stage(const tamis_plan *p, unsigned j)
{
    double low = 0, high = (double)(p->slots << j) * RATES_TOO_MANY_KEYS;
    double allowed = scalable_rate_allowed(p, j);

    while (high - low > fmax(0.5, low * 1e-6)) {
        double middle = (low + high) / 2;
        if (scalable_rate_of_stage(p, j, middle) > allowed)
            high = middle;
        else
            low = middle;
    }
    return floor(low);
}

/* How many of those set a bit: the others are found, and not added. A stage is full when it has
 * seen as many keys as it may, but what it counts are these. */
static double scalable_held_by_stage(const tamis_plan *p, unsigned j)
{
    return tamis__rates_integral((double)(p->slots << j), scalable_keys_of_stage(p, j),
                                 scalable_probes(p, j), -1, 16);
}

/* The first stage is full when it holds the keys that were planned, of which a small one, of whole
 * blocks, could hold far more. How many it has seen then, by Newton's method: of those that come,
 * 1 - rate are held. */
static double scalable_keys_of_first(const tamis_plan *p)
{
    double held = (double)p->capacity, blocks = (double)p->slots, seen;

    for (unsigned j = 1; j < p->hashes; j++)
        held -= floor(scalable_held_by_stage(p, j));
    seen = held = fmax(0, held);
    for (int i = 0; i < 6; i++) {
        double missing = held - tamis__rates_integral(blocks, seen, scalable_probes(p, 0), -1, 16);
        seen += missing / fmax(0.5, 1 - scalable_rate_of_stage(p, 0, seen));
    }
    return seen;
}

static double scalable_keys_until_full(const tamis_plan *p, unsigned j)
{
    if (j + 1 == p->hashes)
        return INFINITY;
    return j ? scalable_keys_of_stage(p, j) : scalable_keys_of_first(p);
}

/* Keys come to a stage once those before it are full, and do not find them. */
static double scalable_rate(const tamis_plan *p, double n)
{
    double passes = 1;

    for (unsigned j = 0; j < p->hashes; j++) {
        double most = scalable_keys_until_full(p, j);
        double keys = fmin(n * passes, most);
        n -= keys / passes;
        passes *= 1 - scalable_rate_of_stage(p, j, keys);
    }
    return 1 - passes;
}

/* Above it, a stage sees so many more keys than it holds that it matters. Below, that is a
 * thousandth of the rate, and forty stages leave fifteen. */
static const double SCALABLE_FINDS_MANY = 0x1p-10;

/* The blocks that see so many keys come close; the rest is steps. */
static tamis_status scalable_plan(tamis_plan *p, const tamis_spec *spec)
{
    double bits = ceil(-256 * log2(spec->fpr)), n = fmax(1, (double)spec->keys);

    p->width = (uint32_t)fmax(1, fmin(bits, 64 * 256));
    p->hashes = 1;
    p->slots =
        tamis__rates_blocks_for_probes(n, scalable_rate_allowed(p, 0), scalable_probes(p, 0));
    bool finds_many = scalable_rate_allowed(p, 0) > SCALABLE_FINDS_MANY;
    for (double held; finds_many && scalable_bytes(p) && (held = scalable_held_by_stage(p, 0)) < n;)
        p->slots += 1 + (uint64_t)((double)p->slots * fmin(1, n / fmax(1, held) - 1));
    return scalable_bytes(p) ? TAMIS_OK : TAMIS_RANGE;
}

/* ---- Growing ----------------------------------------------------------- */

/* One more stage. */
static tamis_status scalable_resize(tamis_plan *p, uint64_t keys)
{
    tamis_plan next = *p;
    unsigned j = next.hashes++;

    (void)keys;
    if (!scalable_bytes(&next))
        return TAMIS_RANGE;
    next.capacity += (uint64_t)scalable_held_by_stage(&next, j);
    *p = next;
    return TAMIS_OK;
}

/* The stages of g are the first ones of f. */
static tamis_status scalable_move(tamis *f, const tamis *g)
{
    memcpy(f->payload, g->payload, (size_t)g->plan.bytes);
    f->count = g->count;
    return TAMIS_OK;
}

/* ---- The whole filter -------------------------------------------------- */

static const char *scalable_verify(const tamis *f)
{
    const scalable_header *top = f->payload;

    if (!bytes_are_zero(top->zeros, top + 1))
        return "bytes before the first stage are not zero";
    if (le64(&top->held) > f->plan.capacity)
        return "it holds more keys than its stages have room for";
    return le64(&top->held) > f->count ? "it holds more keys than were added" : NULL;
}

/* Each stage tells how many keys it has seen; those that were found before had to come, too. */
static void scalable_measure(const tamis *f, tamis_info *info)
{
    split_block_sums all = { 0 };
    double passes = 1;

    info->cardinality = 0;
    for (unsigned j = 0; j < f->plan.hashes; j++) {
        scalable_stage stage = scalable_stage_of(f, j);
        split_block_sums s = { 0 };
        split_block_sum(&s, stage.blocks, stage.n);
        all.ones += s.ones;
        all.blocks += s.blocks;
        info->cardinality += split_block_adds(&s) / stage.probes / passes;
        passes *= 1 - pow(split_block_rate(&s), stage.probes);
    }
    info->fill = split_block_fill(&all);
    info->fpr = 1 - passes;
}

/* ---- Pictures and words ------------------------------------------------ */

/* A bit of a stage, which is an array of them. */
static tamis_cell scalable_cell(const tamis *f, unsigned j, uint64_t i)
{
    return (tamis_cell){ .array = "stage",
                         .number = j,
                         .index = i,
                         .value = bitset_get(scalable_stage_of(f, j).blocks, i),
                         .bits = 1 };
}

static void scalable_cells(const tamis *f, tamis_telling *t)
{
    const scalable_header *top = f->payload;

    for (unsigned j = 0; j < f->plan.hashes; j++) {
        uint64_t bits = scalable_stage_of(f, j).n * SPLIT_BITS;
        for (uint64_t i = 0; i < bits && tamis__tell_cell(t, scalable_cell(f, j, i)); i++)
            continue;
    }
    tamis__tell_cell(t,
                     (tamis_cell){ .array = "keys held", .value = le64(&top->held), .bits = 64 });
}

static bool scalable_explain_stage(const tamis *f, unsigned j, uint64_t h, tamis_telling *t)
{
    scalable_stage s = scalable_stage_of(f, j);
    bool found = true;

    tamis__tell_number(t, "stage", j);
    for (unsigned i = 0; i < s.probes; i++) {
        uint64_t probe = split_block_probe(h * s.factor, i), block = scale64(probe, s.n);
        tamis__tell_number(t, "block", block);
        for (int w = 0; w < SPLIT_WORDS; w++) {
            uint64_t bit = block * SPLIT_BITS + split_block_index((uint32_t)probe, w);
            found &= bitset_tell_bit(t, scalable_cell(f, j, bit));
        }
    }
    return found;
}

static bool scalable_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    uint64_t h = hash_key(key, f->salt);
    bool found = false;

    for (unsigned j = f->plan.hashes; j-- > 0;)
        found |= scalable_explain_stage(f, j, h, t);
    return tamis__tell_answer(t, found,
                              found ? "all its bits are set in a stage"
                                    : "in each stage, a bit is clear that adding it there would "
                                      "have set");
}

static void scalable_for_cpu(tamis *f, unsigned cpu)
{
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2) {
        f->ops.has = scalable_avx2_has;
        f->ops.has_many = scalable_avx2_has_many;
        f->ops.add = scalable_avx2_add;
        f->ops.add_many = scalable_avx2_add_many;
    }
#endif
    (void)f, (void)cpu;
}

const tamis_ops tamis__scalable = {
    .traits = TAMIS_TRAIT_GROWS | TAMIS_TRAIT_KEEPS_RATE,
    .plan = scalable_plan,
    .bytes = scalable_bytes,
    .rate = scalable_rate,
    .resize = scalable_resize,
    .for_cpu = scalable_for_cpu,
    .verify = scalable_verify,
    .measure = scalable_measure,
    .has = scalable_has,
    .add = scalable_add,
    .has_many = scalable_has_many,
    .add_many = scalable_add_many,
    .move = scalable_move,
    .cells = scalable_cells,
    .explain = scalable_explain,
};
