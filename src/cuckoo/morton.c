/* morton.c - Morton filter: a cuckoo filter of many small buckets, packed into cache lines.
 *
 * Each key has a fingerprint and two buckets that may hold it, in two blocks of one cache line. The
 * buckets of a block are many and mostly empty: what they hold is stored without gaps, and counters
 * tell where each begins.
 *
 *   block of 64 bytes:  B low bits of counters | B high bits | O marks | zeros | P slots of w bits
 *
 * Bucket 0 has the first slots, bucket 1 the next, and so on; slots that are not in use are zero. A
 * bucket holds three fingerprints, a block P of them, and P is less than 3 B: a bucket is full one
 * time in thirty, but with 1.4 B / P buckets per key a stranger meets fewer fingerprints than in
 * buckets that are nearly full.
 *
 * A key goes to its first bucket unless that or the block is full; then to its second, or others
 * are moved to theirs. Whenever a fingerprint leaves a bucket, or does not get in, the mark of that
 * bucket is set, one mark for B / O buckets. A lookup reads the second bucket only if the first is
 * marked: most read one line. Marks are never cleared.
 *
 * A stranger is taken for a key with probability
 *
 *   (1 + marked) * (P / B) * load * 2^-w,    marked about 0.15 at a load of 0.95
 *
 * less what coincides; morton_rate.h has it exactly enough. B and w are chosen together, so that
 * the filter is the smallest that meets the rate.
 *
 * The second bucket is found from the first and the fingerprint, and the first from the second in
 * the same way (other_of() in morton.h). It is never more than 128 blocks away. At most four copies
 * of a fingerprint are kept in its two buckets; what has come that far stays.
 *
 * A filter that grows takes one bit of each fingerprint and makes it the last of the number of the
 * block: block i becomes blocks 2 i and 2 i + 1, with the marks of both. Buckets are found as if
 * there had been no doubling, with the whole fingerprint.
 *
 * plan.slots is the number of blocks, plan.width what is stored of fingerprints, plan.hashes is B,
 * plus 256 times the doublings. Zeros are the empty filter.
 *
 * Breslow, Jayasena: Morton Filters: Faster, Space-Efficient Cuckoo Filters via Biasing,
 * Compression, and Decoupled Logical Sparsity, 2018. */
#include "cuckoo/morton_many.h"

#include "base/cpu.h"
#include "cuckoo/morton_rate.h"

/* ---- Sizing ------------------------------------------------------------ */

/* A growing filter becomes many that are as large as it was, with a share of the keys each: few
 * homes would be filled unevenly. */
enum { GROWING_HOMES = 32 };

static const uint64_t MAX_BLOCKS = UINT64_C(1) << 39;
static const double DEFAULT_LOAD = 0.95, HIGHEST_LOAD = 0.97;

static shape shape_of_plan(const tamis_plan *p)
{
    return shape_of(buckets_of(p), p->width);
}

static bool hashes_are_valid(const tamis_plan *p)
{
    unsigned buckets = buckets_of(p), doublings = doublings_of(p);

    return p->hashes < 1u << 16 && buckets_are_valid(buckets) && (doublings == 0 || may_grow(p)) &&
           p->width + doublings <= MAX_WIDTH;
}

/* All places and fingerprints together are fewer than hashes. */
static bool slots_are_valid(const tamis_plan *p)
{
    unsigned doublings = doublings_of(p);
    uint64_t homes = p->slots >> doublings, places = homes * buckets_of(p);

    return p->slots <= MAX_BLOCKS && homes > 0 && homes << doublings == p->slots &&
           places <= UINT64_C(1) << (63 - p->width - doublings);
}

static uint64_t bytes(const tamis_plan *p)
{
    if (p->load || p->flags & ~TAMIS_PLAN_GROWS)
        return 0;
    if (p->width < MIN_WIDTH || p->width > MAX_WIDTH || !hashes_are_valid(p) || !slots_are_valid(p))
        return 0;
    return p->capacity <= p->slots * shape_of_plan(p).slots ? LINE * p->slots : 0;
}

/* Keys that fit in that many blocks after some doublings. Each 2^doublings-th of them is a filter
 * of as many blocks as there were homes, with a binomial number of keys: six standard deviations
 * above the mean, it is still full to 97 %. */
static uint64_t room_in(const shape *s, uint64_t homes, unsigned doublings)
{
    double slots = (double)homes * s->slots, root = sqrt(9 + HIGHEST_LOAD * slots) - 3;
    double load = doublings ? fmin(DEFAULT_LOAD, root * root / slots) : DEFAULT_LOAD;

    return (uint64_t)(load * ldexp(slots, (int)doublings));
}

/* P[a bucket is not marked by keys that came before the last doubling]: marks are copied. */
static double clear_before(const tamis_plan *p, double n)
{
    uint64_t homes = p->slots >> doublings_of(p);
    double clear = 1;

    for (unsigned d = 0; d < doublings_of(p); d++) {
        shape s = shape_of(buckets_of(p), p->width + doublings_of(p) - d);
        double came = fmin(n, (double)room_in(&s, homes, d));
        flow x = flow_of(&s, ldexp((double)homes, (int)d), came);
        clear *= clear_buckets(&s, &x);
    }
    return clear;
}

/* Many steps, each fed by the one before, make much of the bits in which processors differ: only as
 * many are told as all of them agree on, and as the model is good for. */
static double rounded_up(double rate)
{
    int exponent;
    double mantissa = frexp(rate, &exponent);

    return fmin(1, ldexp(ceil(ldexp(mantissa, 16)), exponent - 16));
}

static double rate_within(const tamis_plan *p, double n)
{
    shape s = shape_of_plan(p);
    flow x = flow_of(&s, (double)p->slots, n);

    return rounded_up(stranger_rate(&s, &x, n, clear_before(p, n)));
}

/* More keys than fit are as many that do, several times. */
static double rate(const tamis_plan *p, double n)
{
    double most = HIGHEST_LOAD * (double)p->slots * shape_of_plan(p).slots;

    return n <= most ? rate_within(p, n) : -expm1(n / most * log1p(-rate_within(p, most)));
}

/* Two buckets take six keys. That no two have more is certain if no fingerprints share both of
 * them, for copies stop before: if distances in equal steps are enough for all, or if there are
 * more than sqrt(5) times as many, where they are multiples of the golden ratio. Else it is as good
 * as certain if pairs of buckets are many. Larger sets of buckets that cannot take their keys are
 * far less likely. */
static bool has_pairs_enough(const tamis_plan *p)
{
    double distances = (double)table_of_plan(p).reach * buckets_of(p) / 2;
    double pairs = distances * (double)p->slots * buckets_of(p) / 2;
    double keys = (double)p->capacity / pairs;
    double apart = p->slots < FEW_HOMES ? 1 : 2.5;

    return distances >= apart * exp2(p->width) || pairs * pow(keys, 7) / 5040 < 1e-9;
}

static bool plan_blocks(tamis_plan *p, const tamis_spec *spec, unsigned buckets, unsigned width)
{
    shape s = shape_of(buckets, width);
    double load = spec->load > 0 ? spec->load : DEFAULT_LOAD;
    double blocks = ceil((double)spec->keys / (load * s.slots));
    double least = spec->can & TAMIS_CAN_GROW ? GROWING_HOMES : 1;

    if (!(blocks < (double)MAX_BLOCKS))
        return false;
    p->width = width;
    p->hashes = buckets;
    p->slots = (uint64_t)fmax(blocks, least);
    return bytes(p) != 0;
}

/* Fewer could not take what slots could. */
static unsigned least_buckets(unsigned width)
{
    unsigned buckets = MIN_BUCKETS;

    while (buckets * BUCKET * 3 / 4 * width < LINE_BITS - 2 * buckets - MIN_MARKS)
        buckets += 2;
    return buckets;
}

/* No rate is lower: what is in the first bucket alone, if full ones have it all. */
static double least_rate(const tamis_plan *p)
{
    double held = (double)p->capacity / ((double)p->slots * buckets_of(p));

    return -expm1(BUCKET * log1p(-exp2(-(double)p->width))) * held / BUCKET;
}

static bool is_enough(const tamis_plan *p, double fpr)
{
    return least_rate(p) <= fpr && has_pairs_enough(p) && rate(p, (double)p->capacity) <= fpr;
}

/* More buckets take more room and lower the rate: the fewest that do, with this width. */
static bool plan_buckets(tamis_plan *p, const tamis_spec *spec, unsigned width)
{
    unsigned low = least_buckets(width) / 2, high = 31;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (plan_blocks(p, spec, 2 * middle, width) && is_enough(p, spec->fpr))
            high = middle;
        else
            low = middle + 1;
    }
    return plan_blocks(p, spec, low < 31 ? 2 * low : MAX_BUCKETS, width) && is_enough(p, spec->fpr);
}

/* Wider fingerprints are tried until even the fewest buckets take more room. Those of a filter that
 * grows have a bit to give. */
static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    unsigned least = spec->can & TAMIS_CAN_GROW ? MIN_WIDTH + 1 : MIN_WIDTH;

    if (spec->can & TAMIS_CAN_GROW)
        p->flags |= TAMIS_PLAN_GROWS;
    tamis_plan best = *p;
    if (spec->load > HIGHEST_LOAD)
        return TAMIS_RANGE;
    best.slots = UINT64_MAX;
    for (unsigned width = least; width <= MAX_WIDTH; width++) {
        if (plan_blocks(p, spec, least_buckets(width), width) && p->slots >= best.slots)
            break;
        if (plan_buckets(p, spec, width) && p->slots < best.slots)
            best = *p;
    }
    *p = best;
    return best.slots < UINT64_MAX ? TAMIS_OK : TAMIS_RANGE;
}

static tamis_limits limits(const tamis_plan *p)
{
    (void)p;
    return (tamis_limits){ .ceiling = CEILING };
}

/* ---- Growing ----------------------------------------------------------- */

static tamis_status resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    if (p->width == MIN_WIDTH || p->slots > MAX_BLOCKS / 2)
        return TAMIS_RANGE;
    p->slots *= 2;
    p->width--;
    p->hashes += 1 << DOUBLINGS_SHIFT;
    shape s = shape_of_plan(p);
    p->capacity = room_in(&s, p->slots >> doublings_of(p), doublings_of(p));
    return TAMIS_OK;
}

/* The fingerprint of slot i, which is in that bucket of the block. */
static spot spot_at(const table *t, uint64_t block, unsigned bucket, unsigned i)
{
    uint64_t lead = (block & below(t->doublings)) << t->s.width;

    return (spot){ block >> t->doublings, bucket,
                   (uint32_t)lead | slot(&t->s, t->at + LINE * block, i) };
}

/* Marks of one block of g go to all that it becomes in f. */
static void move_block(const table *to, const table *from, uint64_t block)
{
    const uint8_t *b = from->at + LINE * block;
    unsigned more = to->doublings - from->doublings;

    for (unsigned bucket = 0; bucket < from->s.buckets; bucket++) {
        run r = run_of(from, b, bucket);
        for (unsigned i = r.start; i < r.end; i++) {
            spot at = spot_at(from, block, bucket, i);
            try_put(to, &at);
        }
        for (uint64_t k = 0; is_marked(from, b, bucket) && k < UINT64_C(1) << more; k++) {
            uint64_t lead = ((block << more | k) & below(to->doublings)) << to->s.width;
            mark(to, &(spot){ block >> from->doublings, bucket, (uint32_t)lead });
        }
    }
}

/* There is room: a block that is split leaves to each part no more than it held, and slots become
 * no fewer. */
static tamis_status move(tamis *f, const tamis *g)
{
    const table to = table_of(f), from = table_of(g);

    for (uint64_t i = 0; i < g->plan.slots; i++)
        move_block(&to, &from, i);
    f->count = g->count;
    return TAMIS_OK;
}

/* ---- The whole filter -------------------------------------------------- */

/* A fingerprint is found by strangers with that place of their own, and by those whose other bucket
 * it is in, if their own is marked. Those that it shares with another are counted once. */
static unsigned ways_to(const table *t, const uint8_t *b, const spot *at, unsigned i)
{
    run r = run_of(t, b, at->bucket);
    spot other = other_of(t, at);

    for (unsigned k = r.start; k < i; k++)
        if (slot(&t->s, b, k) == stored_of(t, at))
            return 0;
    return 1u + (is_marked(t, line_of(t, &other), other.bucket) && !copies_at(t, &other));
}

static uint64_t ways_to_block(const table *t, uint64_t block, uint64_t *held)
{
    const uint8_t *b = t->at + LINE * block;
    uint64_t ways = 0;

    for (unsigned bucket = 0; bucket < t->s.buckets; bucket++) {
        run r = run_of(t, b, bucket);
        for (unsigned i = r.start; i < r.end; i++, ++*held) {
            spot at = spot_at(t, block, bucket, i);
            ways += ways_to(t, b, &at, i);
        }
    }
    return ways;
}

static void measure(const tamis *f, tamis_info *info)
{
    const table t = table_of(f);
    uint64_t ways = 0, held = 0;

    for (uint64_t i = 0; i < f->plan.slots; i++)
        ways += ways_to_block(&t, i, &held);
    double places = ldexp((double)f->plan.slots * t.s.buckets, (int)t.s.width);
    info->fpr = fmin(1, (double)ways / places);
    info->fill = (double)held / ((double)f->plan.slots * t.s.slots);
    info->cardinality = (double)held;
}

static bool is_zero(const uint8_t *b, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (b[i / 8] >> i % 8 & 1)
            return false;
    return true;
}

static const char *check_copies(const table *t, uint64_t block)
{
    const uint8_t *b = t->at + LINE * block;

    for (unsigned bucket = 0; bucket < t->s.buckets; bucket++) {
        run r = run_of(t, b, bucket);
        for (unsigned i = r.start; i < r.end; i++) {
            spot at = spot_at(t, block, bucket, i), other = other_of(t, &at);
            if (copies_at(t, &at) + copies_at(t, &other) > CEILING)
                return "more copies of a fingerprint than the ceiling";
        }
    }
    return NULL;
}

static const char *check_block(const table *t, uint64_t block, uint64_t *held)
{
    const uint8_t *b = t->at + LINE * block;
    unsigned used = count_before(t, b, t->s.buckets), marks_end = 2 * t->s.buckets + t->s.marks;

    if (used > t->s.slots)
        return "counters of a block exceed its slots";
    if (!is_zero(b, marks_end, slot_bit(&t->s, 0)))
        return "bits between marks and slots are set";
    if (!is_zero(b, slot_bit(&t->s, used), LINE_BITS))
        return "unused slots are not zero";
    *held += used;
    return check_copies(t, block);
}

static const char *verify(const tamis *f)
{
    const table t = table_of(f);
    uint64_t held = 0;
    const char *why = NULL;

    for (uint64_t i = 0; i < f->plan.slots && !why; i++)
        why = check_block(&t, i, &held);
    if (!why && held != f->count)
        why = "count is not the number of fingerprints";
    return why;
}

/* ---- Speed ------------------------------------------------------------- */

static void for_cpu(tamis *f, unsigned cpu)
{
    const table t = table_of_plan(&f->plan);

    memcpy(f->derived, &t, sizeof t);
    use_kernels(&f->ops);
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        tamis__morton_use_avx2(&f->ops);
#endif
    (void)cpu;
}

const tamis_ops tamis__morton = {
    .traits = TAMIS_TRAIT_BUILDS_SETS | TAMIS_TRAIT_CAN_GROW,
    .plan = plan,
    .bytes = bytes,
    .rate = rate,
    .limits = limits,
    .resize = resize,
    .for_cpu = for_cpu,
    .verify = verify,
    .measure = measure,
    .has = has,
    .count = count,
    .add = add,
    .remove = remove_key,
    .has_many = has_many,
    .count_many = count_many,
    .add_many = add_many,
    .remove_many = remove_many,
    .move = move,
};
