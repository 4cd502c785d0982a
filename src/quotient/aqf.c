/* aqf.c - adaptive quotient filter: a reported false positive does not come again.
 *
 * The fingerprint of a key is scale64(hash_key(key), slots << width), as in cqf, and an absent
 * key is found among n keys with a probability of about load * 2^-width.
 *
 * When a false positive is reported, the item that the absent key was taken for is extended by
 * more bits of its own key's hash, up to the first chunk in which the two differ (quotient/aqf.h).
 * Items never become shorter, whatever is asked. Hashes of 64-bit keys are a permutation of them,
 * so that any two keys differ within the 64 bits of a tail.
 *
 * To extend an item, the hash of its key is needed. Behind the table there is one for each slot, of
 * 8 bytes, which only changes read: lookups touch the table alone. Or the filter asks for it:
 * TAMIS_PLAN_ASKS_KEYS.
 *
 * A chunk takes a slot, and excludes 1 - 2^(1 - width) of the absent keys that it was made against:
 * z false positives take about z slots. Keys take `load` of the slots, 0.9 if nothing else is
 * asked for; 31 of 32 may be in use.
 *
 *   payload:  2^b shards of equal size, a multiple of 64 bytes
 *   shard:    slots in use, 8 bytes | zeros, 56 bytes
 *             blocks of 64 slots of width + 1 bits | zeros, at least 8 bytes, to a line's end
 *             8 bytes for each slot: the hash, where an item starts; else 0
 *
 * plan.hashes is 1. Zeros are the empty filter. Before any adaptation, what it holds decides every
 * byte, unless keys that shared a fingerprint were removed.
 *
 * Wen, McCoy, Tench, Tagliavini, Bender, Conway, Farach-Colton, Johnson, Pandey: Adaptive Quotient
 * Filters, 2024. */
#include <math.h>

#include "base/cpu.h"
#include "quotient/aqf_template.h"

/* ---- Sizing ------------------------------------------------------------ */

/* Of a plan that is being tried: too many slots for the width are refused only after that. */
static double aqf_fingerprints(const tamis_plan *p)
{
    return ldexp((double)p->slots, (int)p->width);
}

/* That no other of n keys has the fingerprint of one, and chunks equal to its own: chunks of which
 * a share `pass` of random tails has the same make another key collide with probability
 * pass / fingerprints. */
static double aqf_probability_unique(const tamis_plan *p, double n, double pass)
{
    return exp(fmax(n - 1, 0) * log1p(-pass / aqf_fingerprints(p)));
}

/* The share of absent keys with the same fingerprint that one chunk lets pass. */
static double aqf_chunk_pass(const tamis_plan *p)
{
    return ldexp(1, 1 - (int)p->width);
}

static const double AQF_LEAST_PASS = 1e-18;

/* Of the absent keys with the fingerprint of a key that is extended by k chunks, a share of 2^-k
 * chunks passes. */
static double aqf_rate(const tamis_plan *p, double n)
{
    double unique = aqf_probability_unique(p, n, 1), sum = unique;

    for (double pass = aqf_chunk_pass(p); pass > AQF_LEAST_PASS; pass *= aqf_chunk_pass(p)) {
        double by_more = aqf_probability_unique(p, n, pass);
        sum += pass * (by_more - unique);
        unique = by_more;
    }
    return fmin(n / aqf_fingerprints(p) * sum, 1);
}

/* Keys and the chunks that tell each from as many others: the mean and six standard deviations, as
 * if each chunk came with another. Twice the keys in twice the slots take no more than twice as
 * many. */
static uint64_t aqf_slots_beside(const tamis_plan *p, double others)
{
    double n = (double)p->capacity, chunks = 0;

    for (double pass = 1; pass > AQF_LEAST_PASS; pass *= aqf_chunk_pass(p))
        chunks += n * (1 - aqf_probability_unique(p, others + 1, pass));
    return p->capacity + (uint64_t)(chunks + 6 * sqrt(2 * chunks));
}

static uint64_t aqf_slots_of_keys(const tamis_plan *p)
{
    return aqf_slots_beside(p, (double)p->capacity);
}

/* A key keeps the chunks that told it from others, removed ones too. It meets the n that are there
 * when it comes; and those that come while it stays, n of them if the oldest is removed each time,
 * and n on average if any is. */
static uint64_t aqf_slots_of_churn(const tamis_plan *p)
{
    return aqf_slots_beside(p, 2.0 * (double)p->capacity);
}

static const shards_rule AQF_RULE = {
    .most_width = 31,
    .flags = TAMIS_PLAN_GROWS | TAMIS_PLAN_ASKS_KEYS,
    .load = 0.9,
    .unused = 32,
    .rate = aqf_rate,
    .slots_of_keys = aqf_slots_of_keys,
};

static bool aqf_keeps_keys(const tamis_plan *p)
{
    return !(p->flags & TAMIS_PLAN_ASKS_KEYS);
}

static uint64_t aqf_shard_bytes(const tamis_plan *p)
{
    uint64_t slots = p->slots >> shards_bits(p->slots);

    return runs_bytes(slots, p->width + 1) + (aqf_keeps_keys(p) ? 8 * slots : 0);
}

static uint64_t aqf_bytes(const tamis_plan *p)
{
    return tamis__shards_are_valid(p, &AQF_RULE) ? aqf_shard_bytes(p) << shards_bits(p->slots) : 0;
}

/* Slots that it takes to tell excluded keys from the others: the mean and six standard deviations
 * of those that pass, and one more for each that the first chunk does not keep away. */
static uint64_t aqf_slots_to_exclude(const tamis_spec *spec)
{
    if (spec->universe <= spec->keys)
        return 0;
    double passing = (double)(spec->universe - spec->keys) * spec->fpr;
    return (uint64_t)fmin(1.5 * passing + 6 * sqrt(passing) + 6, 0x1p62);
}

static double aqf_keys_at_load(const tamis_plan *p)
{
    return (double)p->slots * p->load / SHARDS_LOAD_UNIT;
}

static tamis_status aqf_plan(tamis_plan *p, const tamis_spec *spec)
{
    const uint64_t keys = p->capacity;
    shards_rule rule = AQF_RULE;

    if (spec->can & TAMIS_CAN_REMOVE)
        rule.slots_of_keys = aqf_slots_of_churn;
    if (spec->can & TAMIS_CAN_ASK_KEYS && spec->can & TAMIS_CAN_EXACT_DELETE)
        return TAMIS_CANNOT;
    p->flags = (spec->can & TAMIS_CAN_GROW ? TAMIS_PLAN_GROWS : 0) |
               (spec->can & TAMIS_CAN_ASK_KEYS ? TAMIS_PLAN_ASKS_KEYS : 0);
    p->capacity += aqf_slots_to_exclude(spec);
    tamis_status status = tamis__shards_plan(p, spec, &rule);
    p->capacity = keys;
    /* One that grows will have other slots, and as many of them in use as the load allows. */
    while (!status && aqf_keeps_keys(p) && p->flags & TAMIS_PLAN_GROWS && !spec->tag_bits &&
           p->width < AQF_RULE.most_width && aqf_rate(p, aqf_keys_at_load(p)) > spec->fpr)
        p->width++;
    return status;
}

/* With the hashes at hand, remainders are as long in any size, and the rate stays. A filter that
 * asks for them has no more bits of most than it holds. */
static tamis_status aqf_resize(tamis_plan *p, uint64_t keys)
{
    return tamis__shards_resize(p, keys, aqf_keeps_keys(p), &AQF_RULE);
}

/* ---- The table --------------------------------------------------------- */

static void aqf_for_cpu(tamis *f, unsigned cpu)
{
    const tamis_plan *p = &f->plan;

    tamis__shards_derive(f, shards_bits(p->slots), p->width, p->width + 1,
                         tamis__shards_room(p, &AQF_RULE), aqf_keeps_keys(p));
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        tamis__aqf_use_avx2(&f->ops);
#endif
    (void)cpu;
}

const tamis_ops tamis__aqf = {
    .traits = TAMIS_TRAIT_CAN_GROW | TAMIS_TRAIT_KEEPS_RATE | TAMIS_TRAIT_KEEPS_LOAD |
              TAMIS_TRAIT_QUOTIENT_BITS | TAMIS_TRAIT_TAG_BITS,
    .plan = aqf_plan,
    .bytes = aqf_bytes,
    .rate = aqf_rate,
    .resize = aqf_resize,
    .for_cpu = aqf_for_cpu,
    .verify = tamis__aqf_verify,
    .measure = tamis__aqf_measure,
    .has = aqf_has,
    .count = aqf_count,
    .add = aqf_add,
    .remove = aqf_remove,
    .touch = aqf_touch,
    .has_many = aqf_has_many,
    .add_many = tamis__aqf_add_many,
    .remove_many = tamis__aqf_remove_many,
    .next = tamis__aqf_next,
    .append = tamis__aqf_append,
    .room = tamis__aqf_room,
    .adapt = aqf_adapt,
    .forget = tamis__aqf_forget,
    .cells = tamis__aqf_cells,
    .explain = tamis__aqf_explain,
};
