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

#include "base/cpu.h"
#include "bloom/bitset.h"
#include "bloom/split_block.h"

#define SCALABLE_HAS split_block_has
#define SCALABLE_ADD split_block_add
#include "bloom/scalable_template.h"

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
    if (cpu & TAMIS_CPU_AVX2)
        tamis__scalable_use_avx2(&f->ops);
#endif
    (void)f, (void)cpu;
}

const tamis_ops tamis__scalable = {
    .traits = TAMIS_TRAIT_GROWS,
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
