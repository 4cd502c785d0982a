/* cuckoo_buckets.c - cuckoo filter: buckets of four tags, two buckets for each key.
 *
 * A key's tag is in one of two buckets, and from a bucket and a tag the other bucket is known
 * (cuckoo/buckets.h). So tags can make room for each other without their keys, and tables may be
 * 95 % full (cuckoo/buckets_template.h). A lookup reads two lines, compares eight tags, and takes a
 * stranger for a key with probability
 *
 *   1 - (1 - 8 / (slots (2^w - 1)))^n,   about 8 load 2^-w
 *
 * Copies of a key take slots in the same two buckets. There are eight; counts stop at seven, and
 * more copies are the surplus of the key, which is counted apart (surplus.h).
 *
 * Payload: plan.slots / 4 buckets of four tags of plan.width = w bits, one behind the other; then
 * the stash and the surplus. plan.hashes is 2. Zeros are the empty filter.
 *
 * Fan, Andersen, Kaminsky, Mitzenmacher: Cuckoo Filter: Practically Better Than Bloom, 2014.
 * Breslow, Jayasena: Morton Filters, 2018. Wang, Zhou, Shi, Qian: Vacuum Filters, 2019. */
#include <math.h>

#include "base/cpu.h"
#include "cuckoo/buckets.h"

CUCKOO_GROUP_INLINE void cuckoo_buckets_hash_group(cuckoo_group *g, const void *table,
                                                   const uint64_t *keys)
{
    buckets_hash_each(g, 0, table, keys);
}

CUCKOO_GROUP_INLINE uint64_t cuckoo_buckets_hold(const buckets_table *t, const cuckoo_group *g,
                                                 size_t i, size_t end, unsigned how)
{
    return buckets_each_holds(t, g, i, end, how);
}

CUCKOO_GROUP_INLINE bool cuckoo_buckets_bytes_hold(const buckets_table *t, const buckets_key *k)
{
    return buckets_either_holds(t, k, LOOK_BYTES);
}

#include "cuckoo/buckets_template.h"

/* ---- Sizing ------------------------------------------------------------ */

enum { BUCKETS = 2 }; /* that a key has; plan.hashes */

static const double LOAD = 0.95;

/* Slots beyond the load, where they are cheap: tables of few buckets are less even. */
enum { SPARE = SLOTS * BUCKETS, SPARE_WIDTH = 16 };

static const uint64_t MAX_SLOTS = UINT64_C(1) << 48;

static uint64_t cuckoo_buckets_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots % (SLOTS * BUCKETS) == 0 && p->slots <= MAX_SLOTS &&
              p->width >= MIN_TAG && p->width <= MAX_TAG && p->hashes == BUCKETS && p->flags == 0 &&
              p->load == 0 && p->capacity <= p->slots &&
              buckets_number(p) / 2 <= UINT64_C(1) << (CLASS_BITS - p->width);

    if (!ok)
        return 0;
    unsigned bits = buckets_class_bits(p);
    return buckets_bytes(p) + buckets_stash_bytes(bits) +
           surplus_bytes(buckets_surplus_entries(p->slots, p->width, bits));
}

static double cuckoo_buckets_classes(const tamis_plan *p)
{
    return (double)(buckets_number(p) / 2) * packed_mask(p->width);
}

/* A key has each class with the same probability, whatever the load. */
static double cuckoo_buckets_rate(const tamis_plan *p, double n)
{
    return -expm1(n * log1p(-1 / cuckoo_buckets_classes(p)));
}

static void cuckoo_buckets_plan_slots(tamis_plan *p)
{
    double spare = p->width <= SPARE_WIDTH ? SPARE : 0;

    p->slots = round_up((uint64_t)ceil((double)p->capacity / LOAD + spare), SLOTS * BUCKETS);
    if (p->slots == 0)
        p->slots = SLOTS * BUCKETS;
}

static tamis_status cuckoo_buckets_plan(tamis_plan *p, const tamis_spec *spec)
{
    if (spec->keys > MAX_SLOTS / 2)
        return TAMIS_RANGE;
    p->hashes = BUCKETS;
    for (p->width = MIN_TAG; p->width <= MAX_TAG; p->width++) {
        bool is_asked = !spec->tag_bits || p->width == spec->tag_bits;
        cuckoo_buckets_plan_slots(p);
        if (is_asked && cuckoo_buckets_rate(p, (double)p->capacity) <= spec->fpr)
            return TAMIS_OK;
    }
    return TAMIS_RANGE;
}

static tamis_limits cuckoo_buckets_limits(const tamis_plan *p)
{
    (void)p;
    return (tamis_limits){ .ceiling = CEILING };
}

/* ---- The whole filter -------------------------------------------------- */

/* Distinct tags of a bucket; of an odd one those that their even bucket does not hold as well. */
static unsigned cuckoo_buckets_classes_in(const buckets_table *t, uint64_t i)
{
    buckets_bucket b = buckets_read(t, i);
    unsigned n = 0;

    for (unsigned s = 0; s < SLOTS; s++) {
        if (b.tag[s] == 0 || buckets_slot_of(&b, b.tag[s]) != s)
            continue;
        buckets_bucket other = buckets_read(t, buckets_other(t, i, b.tag[s]));
        n += !(i & 1) || !buckets_copies_in(&other, b.tag[s]);
    }
    return n;
}

/* Entries of the stash that are neither in their buckets nor among the entries before. */
static unsigned cuckoo_buckets_classes_in_stash(const buckets_table *t)
{
    unsigned n = 0;

    for (unsigned e = 0; e < STASH; e++) {
        uint64_t class = buckets_stash_get(t, e);
        buckets_key k = buckets_key_of_class(t, class);
        if (!(t->stash[0] >> e & 1) || k.first >= t->buckets)
            continue;
        buckets_pair p = buckets_read_pair(t, &k);
        unsigned before = buckets_stash_find(t, class) & ((1u << e) - 1);
        n += !before && !buckets_copies_in(&p.first, k.tag) && !buckets_copies_in(&p.second, k.tag);
    }
    return n;
}

/* n distinct keys have on average C (1 - (1 - 1/C)^n) classes out of C: solved for n. All of them
 * count as all but one. */
static void cuckoo_buckets_measure(const tamis *f, tamis_info *info)
{
    const buckets_table t = buckets_of(f);
    double all = cuckoo_buckets_classes(&f->plan), distinct = cuckoo_buckets_classes_in_stash(&t);

    for (uint64_t i = 0; i < t.buckets; i++)
        distinct += cuckoo_buckets_classes_in(&t, i);
    distinct = fmin(distinct, all);
    info->fill = (double)f->count / (double)f->plan.slots;
    info->fpr = distinct / all;
    info->cardinality = distinct > 0 ? log1p(-fmin(distinct, all - 1) / all) / log1p(-1 / all) : 0;
}

/* Only a bucket of four copies can have a class that is there too often. */
static const char *cuckoo_buckets_check_bucket(const buckets_table *t, uint64_t i,
                                               const buckets_bucket *b)
{
    for (unsigned s = 1; s < SLOTS; s++)
        if (b->tag[s] && !b->tag[s - 1])
            return "an empty slot comes before one in use";
    if (b->tag[0] == 0 || buckets_copies_in(b, b->tag[0]) < SLOTS)
        return NULL;
    buckets_key k = { i, buckets_other(t, i, b->tag[0]), b->tag[0] };
    buckets_pair p = buckets_read_pair(t, &k);
    return buckets_copies(t, &k, &p) > CEILING ? "a key is held too often" : NULL;
}

static const char *cuckoo_buckets_check_entry(const buckets_table *t, unsigned entry,
                                              uint64_t *used)
{
    uint64_t class = buckets_stash_get(t, entry);
    bool is_used = t->stash[0] >> entry & 1;

    *used += is_used;
    if (!is_used)
        return class ? "an unused entry of the stash is set" : NULL;
    buckets_key k = buckets_key_of_class(t, class);
    return k.tag && k.first < t->buckets ? NULL : "an entry of the stash is no key";
}

static bool cuckoo_buckets_is_at_ceiling(const void *table, uint64_t class)
{
    const buckets_table *t = table;
    buckets_key k = buckets_key_of_class(t, class);

    return k.tag && k.first < t->buckets && buckets_count(t, &k) == CEILING;
}

static const char *cuckoo_buckets_verify(const tamis *f)
{
    const buckets_table t = buckets_of(f);
    const surplus s = buckets_surplus_of(&t);
    uint64_t used = 0;
    const char *why = NULL;

    if (t.buckets * t.bits % 8 && t.stash[-1] >> 4)
        return "unused bits are set";
    if (!bytes_are_zero(t.stash + 1 + t.class_bits, s.at))
        return "unused bytes are set";
    for (unsigned e = 0; e < STASH && !why; e++)
        why = cuckoo_buckets_check_entry(&t, e, &used);
    for (uint64_t i = 0; i < t.buckets && !why; i++) {
        buckets_bucket b = buckets_read(&t, i);
        used += buckets_used(&b);
        why = cuckoo_buckets_check_bucket(&t, i, &b);
    }
    if (!why)
        why = tamis__surplus_verify(&s, cuckoo_buckets_is_at_ceiling, &t);
    return !why && used != f->count ? "the number of keys is wrong" : why;
}

/* ---- The kind ---------------------------------------------------------- */

static void cuckoo_buckets_for_cpu(tamis *f, unsigned cpu)
{
    const buckets_table t = buckets_of_plan(&f->plan);

    memcpy(f->derived, &t, sizeof t);
    buckets_use(f);
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        tamis__cuckoo_buckets_use_avx2(f);
#endif
    (void)cpu;
}

const tamis_ops tamis__cuckoo_buckets = {
    .traits = TAMIS_TRAIT_BUILDS_SETS | TAMIS_TRAIT_TAG_BITS | TAMIS_TRAIT_TO_STUDY,
    .plan = cuckoo_buckets_plan,
    .bytes = cuckoo_buckets_bytes,
    .rate = cuckoo_buckets_rate,
    .limits = cuckoo_buckets_limits,
    .for_cpu = cuckoo_buckets_for_cpu,
    .verify = cuckoo_buckets_verify,
    .measure = cuckoo_buckets_measure,
    .has = buckets_has_slowly,
    .count = buckets_count_one,
    .add = buckets_add_one,
    .remove = buckets_remove_one,
    .has_many = buckets_has_many,
    .count_many = buckets_count_many,
    .add_many = buckets_add_many,
    .remove_many = buckets_remove_many,
    .cells = tamis__cuckoo_buckets_cells,
    .explain = tamis__cuckoo_buckets_explain,
};
