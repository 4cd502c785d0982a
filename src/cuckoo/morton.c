/* morton.c - Morton filter: a cuckoo filter of many small buckets, packed into cache lines.
 *
 * A key has a fingerprint and two buckets that may hold it, in two blocks of one cache line each. A
 * block has many buckets, and most are empty or hold one fingerprint. Empty places take no room:
 * fingerprints are stored without gaps, and counters tell where each bucket begins.
 *
 *   block of 64 bytes:  B low bits of counters | B high bits | O marks | zeros | P slots of w bits
 *
 *   bucket    0 1 2 3 4 ...       holds 1, 0, 3, 0 and 1 fingerprints
 *   low bit   1 0 1 0 1
 *   high bit  0 0 1 0 0
 *   slots     a b c d e 0 0       a is in bucket 0; b, c and d in bucket 2; e in bucket 4
 *
 * A bucket holds three at most, and a block has slots for at most three quarters of that. So few
 * buckets are full, and an absent key is compared with fewer fingerprints than in a cuckoo filter,
 * whose buckets are nearly full.
 *
 * A key goes to its first bucket unless that or the block is full; then to its second, or others
 * are moved to theirs. Whenever a fingerprint leaves a bucket, or finds no room there, the mark of
 * that bucket is set; B / O buckets share one. A lookup reads the second bucket only if the first
 * is marked, so that most read one line. Marks are never cleared.
 *
 * An absent key is found with probability
 *
 *   (1 + marked) * (P / B) * load * 2^-w,    marked about 0.15 at a load of 0.95
 *
 * roughly; morton_rate.c has the rest. B and w are chosen together, so that the filter is the
 * smallest that meets the rate.
 *
 * The second bucket follows from the first and the fingerprint, and the first from the second in
 * the same way (morton_other() in morton.h). It is at most 128 blocks away. Two buckets hold at
 * most four copies of a fingerprint. More are its surplus, which is counted apart (surplus.h).
 *
 * A filter that grows takes one bit of each fingerprint and makes it the last bit of the number of
 * its block. So block i becomes blocks 2 i and 2 i + 1, which both get its marks. Buckets are found
 * by the whole fingerprint, as if there had been no doubling.
 *
 * plan.slots is the number of blocks, plan.width the stored bits of a fingerprint, plan.hashes is B
 * plus 256 times the doublings. The surplus is behind the blocks. Zeros are the empty filter.
 *
 * Breslow, Jayasena: Morton Filters: Faster, Space-Efficient Cuckoo Filters via Biasing,
 * Compression, and Decoupled Logical Sparsity, 2018. */
#include "base/collisions.h"
#include "base/cpu.h"
#include "cuckoo/morton_template.h"

/* ---- Sizing ------------------------------------------------------------ */

/* Blocks that a growing filter starts with. After doublings it is many filters of that size, each
 * with a share of the keys; few blocks would be filled too unevenly. */
enum { MORTON_GROWING_HOMES = 32 };

static const uint64_t MORTON_MAX_BLOCKS = UINT64_C(1) << 39;

/* Buckets and fingerprints together are no more than 2^63, so that a hash tells both. */
static uint64_t morton_bytes(const tamis_plan *p)
{
    unsigned buckets = morton_buckets(p), doublings = morton_doublings(p);

    if (p->load || p->flags & ~TAMIS_PLAN_GROWS || (doublings && !(p->flags & TAMIS_PLAN_GROWS)))
        return 0;
    if (p->width < MORTON_MIN_WIDTH || p->width > MORTON_MAX_WIDTH ||
        doublings > MORTON_MAX_WIDTH - p->width)
        return 0;
    unsigned bits = p->width + doublings; /* of a fingerprint */
    uint64_t homes = p->slots >> doublings;
    if (!morton_buckets_are_valid(buckets) || p->slots > MORTON_MAX_BLOCKS || homes == 0 ||
        homes << doublings != p->slots || homes * buckets > UINT64_C(1) << (63 - bits))
        return 0;
    const morton_table t = morton_of_plan(p);
    if (p->capacity > p->slots * t.s.slots)
        return 0;
    return MORTON_LINE * p->slots + surplus_bytes(morton_surplus_entries(&t));
}

/* Two buckets take six keys. No pair of buckets gets more if no two fingerprints share both
 * buckets, since copies of one stop earlier. That is certain if there is a distance for each
 * fingerprint, in equal steps, or more than sqrt(5) distances, by the golden ratio. Else it is as
 * good as certain if there are many pairs. Larger sets of buckets that get too many keys are far
 * less likely. */
static bool morton_has_pairs_enough(const tamis_plan *p)
{
    double distances = (double)morton_of_plan(p).reach * morton_buckets(p) / 2;
    double pairs = distances * (double)p->slots * morton_buckets(p) / 2;
    double keys = (double)p->capacity / pairs;
    double apart = p->slots < MORTON_FEW_HOMES ? 1 : 2.5;

    return distances >= apart * exp2(p->width) || pairs * pow(keys, 7) / 5040 < 1e-9;
}

static bool morton_plan_blocks(tamis_plan *p, const tamis_spec *spec, unsigned buckets,
                               unsigned width)
{
    morton_shape s = morton_shape_of(buckets, width);
    double load = spec->load > 0 ? spec->load : MORTON_LOAD;
    double blocks = ceil((double)spec->keys / (load * s.slots));
    double least = spec->can & TAMIS_CAN_GROW ? MORTON_GROWING_HOMES : 1;

    if (!(blocks < (double)MORTON_MAX_BLOCKS))
        return false;
    p->width = width;
    p->hashes = buckets;
    p->slots = (uint64_t)fmax(blocks, least);
    return morton_bytes(p) != 0;
}

/* With fewer, buckets would be full before slots are. */
static unsigned morton_least_buckets(unsigned width)
{
    unsigned buckets = MORTON_MIN_BUCKETS;

    while (buckets * MORTON_BUCKET * 3 / 4 * width <
           MORTON_LINE_BITS - 2 * buckets - MORTON_MIN_MARKS)
        buckets += 2;
    return buckets;
}

/* A lower bound of the rate: first buckets alone, if all keys were in full ones. */
static double morton_least_rate(const tamis_plan *p)
{
    double held = (double)p->capacity / ((double)p->slots * morton_buckets(p));

    return -expm1(MORTON_BUCKET * log1p(-exp2(-(double)p->width))) * held / MORTON_BUCKET;
}

static bool morton_is_enough(const tamis_plan *p, double fpr)
{
    return morton_least_rate(p) <= fpr && morton_has_pairs_enough(p) &&
           tamis__morton_rate(p, (double)p->capacity) <= fpr;
}

/* The fewest buckets that meet the rate with this width: more lower it, and take more room. */
static bool morton_plan_buckets(tamis_plan *p, const tamis_spec *spec, unsigned width)
{
    unsigned low = morton_least_buckets(width) / 2, high = 31;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (morton_plan_blocks(p, spec, 2 * middle, width) && morton_is_enough(p, spec->fpr))
            high = middle;
        else
            low = middle + 1;
    }
    return morton_plan_blocks(p, spec, low < 31 ? 2 * low : MORTON_MAX_BUCKETS, width) &&
           morton_is_enough(p, spec->fpr);
}

/* Tries all widths, until even the fewest buckets take more room. Filters that grow need a bit to
 * give. */
static tamis_status morton_plan(tamis_plan *p, const tamis_spec *spec)
{
    unsigned least = spec->can & TAMIS_CAN_GROW ? MORTON_MIN_WIDTH + 1 : MORTON_MIN_WIDTH;

    if (spec->can & TAMIS_CAN_GROW)
        p->flags |= TAMIS_PLAN_GROWS;
    tamis_plan best = *p;
    if (spec->load > MORTON_HIGHEST_LOAD)
        return TAMIS_RANGE;
    best.slots = UINT64_MAX;
    for (unsigned width = least; width <= MORTON_MAX_WIDTH; width++) {
        if (spec->tag_bits && width != spec->tag_bits)
            continue;
        if (morton_plan_blocks(p, spec, morton_least_buckets(width), width) &&
            p->slots >= best.slots)
            break;
        if (morton_plan_buckets(p, spec, width) && p->slots < best.slots)
            best = *p;
    }
    *p = best;
    return best.slots < UINT64_MAX ? TAMIS_OK : TAMIS_RANGE;
}

/* ---- Growing ----------------------------------------------------------- */

static tamis_status morton_resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    if (p->width == MORTON_MIN_WIDTH || p->slots > MORTON_MAX_BLOCKS / 2)
        return TAMIS_RANGE;
    p->slots *= 2;
    p->width--;
    p->hashes += 1 << MORTON_DOUBLINGS_SHIFT;
    morton_shape s = morton_shape_of(morton_buckets(p), p->width);
    p->capacity = tamis__morton_room(&s, p->slots >> morton_doublings(p), morton_doublings(p));
    return TAMIS_OK;
}

/* Bucket 0 of a block, with that part of a fingerprint that its number tells. */
static morton_position morton_block(const morton_table *t, uint64_t block)
{
    uint64_t lead = morton_lowest(block, t->doublings) << t->s.width;

    return morton_position_at(t, block >> t->doublings, 0, (uint32_t)lead);
}

/* The marks of a block go to all blocks that it becomes. */
static void morton_move_block(const morton_table *to, const morton_table *from, uint64_t i)
{
    const morton_position block = morton_block(from, i);
    const morton_counters c = morton_counters_of(from, block.block);
    unsigned more = to->doublings - from->doublings;

    for (unsigned bucket = 0; bucket < from->s.buckets; bucket++) {
        morton_run r = morton_run_of(from, c, bucket);
        for (unsigned k = r.start; k < r.end; k++) {
            morton_position p = morton_position_in(from, &block, bucket, k);
            p = morton_position_at(to, p.home, p.bucket, p.fingerprint);
            morton_try_put(to, &p);
        }
        if (!morton_is_marked(from, block.block, bucket))
            continue;
        for (uint64_t k = 0; k < UINT64_C(1) << more; k++) {
            morton_position p = morton_block(to, i << more | k);
            p.bucket = bucket;
            morton_mark(to, &p);
        }
    }
}

/* There is room: each part of a block gets no more than the block held, and has no fewer slots. */
static tamis_status morton_move(tamis *f, const tamis *g)
{
    const morton_table to = morton_of(f), from = morton_of(g);

    for (uint64_t i = 0; i < g->plan.slots; i++)
        morton_move_block(&to, &from, i);
    const surplus more = morton_surplus_of(&to), less = morton_surplus_of(&from);
    tamis__surplus_move(&more, &less);
    f->count = g->count;
    return TAMIS_OK;
}

/* ---- The whole filter -------------------------------------------------- */

/* What is there: fingerprints, classes of them, and how many absent keys, by bucket and
 * fingerprint, find one. */
typedef struct morton_tally {
    uint64_t held, classes, ways;
} morton_tally;

/* The fingerprint in slot i is found by absent keys for which this is the first bucket; and if its
 * other bucket is marked, by those for which that is the first. If slots or both buckets have it,
 * it counts once. */
static void morton_tally_slot(morton_tally *y, const morton_table *t, const morton_position *p,
                              morton_run r, unsigned i)
{
    y->held++;
    for (unsigned k = r.start; k < i; k++)
        if (morton_slot(&t->s, p->block, k) == morton_stored(t, p))
            return;
    morton_position other = morton_other(t, p);
    bool is_in_both = morton_copies(t, &other) > 0;
    y->classes += !(p->bucket & 1) || !is_in_both;
    y->ways += 1u + (morton_is_marked(t, other.block, other.bucket) && !is_in_both);
}

static void morton_tally_block(morton_tally *y, const morton_table *t, uint64_t i)
{
    const morton_position block = morton_block(t, i);
    const morton_counters c = morton_counters_of(t, block.block);

    for (unsigned bucket = 0; bucket < t->s.buckets; bucket++) {
        morton_run r = morton_run_of(t, c, bucket);
        for (unsigned k = r.start; k < r.end; k++) {
            morton_position p = morton_position_in(t, &block, bucket, k);
            morton_tally_slot(y, t, &p, r, k);
        }
    }
}

/* Half of the places are classes: one of the two buckets of a fingerprint is even. */
static void morton_measure(const tamis *f, tamis_info *info)
{
    const morton_table t = morton_of(f);
    morton_tally y = { 0 };

    for (uint64_t i = 0; i < f->plan.slots; i++)
        morton_tally_block(&y, &t, i);
    double places = ldexp((double)f->plan.slots * t.s.buckets, (int)t.s.width);
    info->fpr = fmin(1, (double)y.ways / places);
    info->fill = (double)y.held / ((double)f->plan.slots * t.s.slots);
    info->cardinality = collisions_keys((double)y.classes, places / 2);
}

static bool morton_is_zero(const uint8_t *b, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (b[i / 8] >> i % 8 & 1)
            return false;
    return true;
}

static const char *morton_check_copies(const morton_table *t, const morton_position *block,
                                       morton_counters c)
{
    for (unsigned bucket = 0; bucket < t->s.buckets; bucket++) {
        morton_run r = morton_run_of(t, c, bucket);
        for (unsigned i = r.start; i < r.end; i++) {
            morton_position p = morton_position_in(t, block, bucket, i),
                            other = morton_other(t, &p);
            if (morton_copies(t, &p) + morton_copies(t, &other) > MORTON_CEILING)
                return "more copies of a fingerprint than the ceiling";
        }
    }
    return NULL;
}

static const char *morton_check_block(const morton_table *t, uint64_t i, uint64_t *held)
{
    const morton_position block = morton_block(t, i);
    const morton_counters c = morton_counters_of(t, block.block);
    unsigned used = morton_sum_before(c, t->s.buckets);

    if (used > t->s.slots)
        return "counters of a block exceed its slots";
    if (!morton_is_zero(block.block, 2 * t->s.buckets + t->s.marks, t->s.first))
        return "bits between marks and slots are set";
    if (!morton_is_zero(block.block, morton_slot_bit(&t->s, used), MORTON_LINE_BITS))
        return "unused slots are not zero";
    *held += used;
    return morton_check_copies(t, &block, c);
}

/* Then both of its buckets are marked. */
static bool morton_is_at_ceiling(const void *table, uint64_t class)
{
    const morton_table *t = table;
    unsigned bits = t->s.width + t->doublings;
    uint64_t at = class >> bits << 1, home = at / t->s.buckets;

    if (home >= t->homes)
        return false;
    morton_position p = morton_position_at(t, home, (uint32_t)(at % t->s.buckets),
                                           (uint32_t)morton_lowest(class, bits)),
                    other = morton_other(t, &p);
    return morton_copies(t, &p) + morton_copies(t, &other) == MORTON_CEILING &&
           morton_is_marked(t, p.block, p.bucket) && morton_is_marked(t, other.block, other.bucket);
}

static const char *morton_verify(const tamis *f)
{
    const morton_table t = morton_of(f);
    uint64_t held = 0;
    const char *why = NULL;

    for (uint64_t i = 0; i < f->plan.slots && !why; i++)
        why = morton_check_block(&t, i, &held);
    const surplus s = morton_surplus_of(&t);
    if (!why)
        why = tamis__surplus_verify(&s, morton_is_at_ceiling, &t);
    return !why && held != f->count ? "count is not the number of fingerprints" : why;
}

/* ---- The kind ---------------------------------------------------------- */

static void morton_for_cpu(tamis *f, unsigned cpu)
{
    const morton_table t = morton_of_plan(&f->plan);

    memcpy(f->derived, &t, sizeof t);
    morton_use(f);
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        tamis__morton_use_avx2(f);
    if (cpu & TAMIS_CPU_AVX512)
        tamis__morton_use_avx512(f);
#endif
    (void)cpu;
}

const tamis_ops tamis__morton = {
    .traits = TAMIS_TRAIT_BUILDS_SETS | TAMIS_TRAIT_CAN_GROW | TAMIS_TRAIT_TAG_BITS,
    .limits = { .ceiling = MORTON_CEILING },
    .plan = morton_plan,
    .bytes = morton_bytes,
    .rate = tamis__morton_rate,
    .resize = morton_resize,
    .for_cpu = morton_for_cpu,
    .verify = morton_verify,
    .measure = morton_measure,
    .has = morton_has_wide,
    .count = morton_count,
    .add = morton_add,
    .remove = morton_remove,
    .has_many = morton_has_many,
    .count_many = morton_count_many,
    .add_many = morton_add_many,
    .remove_many = morton_remove_many,
    .move = morton_move,
    .cells = tamis__morton_cells,
    .explain = tamis__morton_explain,
};
