/* buckets_kind.h - what kinds of four-slot buckets have in common, a template: the file that
 * includes it has included a layout of buckets and the kernels made of it. */
#include <math.h>

/* ---- Sizing ------------------------------------------------------------ */

enum { BUCKETS = 2 }; /* that a key has; plan.hashes */

static const double LOAD = 0.95;

/* Slots beyond the load, where they are cheap: tables of few buckets are less even. */
enum { SPARE = SLOTS * BUCKETS, SPARE_WIDTH = 16 };

static const uint64_t MAX_SLOTS = UINT64_C(1) << 48;

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->flags == 0 && p->load == 0 && p->slots > 0 && p->slots % (SLOTS * BUCKETS) == 0 &&
              p->slots <= MAX_SLOTS && p->width >= MIN_TAG && p->width <= MAX_TAG &&
              p->hashes == BUCKETS && p->capacity <= p->slots &&
              buckets_of(p) / 2 <= UINT64_C(1) << (CLASS_BITS - p->width);

    if (!ok)
        return 0;
    return bytes_of_buckets(buckets_of(p), bits_of_bucket(p->width)) +
           bytes_of_stash(buckets_of(p), p->width);
}

static double classes_of(const tamis_plan *p)
{
    return (double)(buckets_of(p) / 2) * packed_mask(p->width);
}

/* A key has each class with the same probability, whatever the load. */
static double rate(const tamis_plan *p, double n)
{
    return -expm1(n * log1p(-1 / classes_of(p)));
}

static void plan_slots(tamis_plan *p)
{
    double spare = p->width <= SPARE_WIDTH ? SPARE : 0;

    p->slots = round_up((uint64_t)ceil((double)p->capacity / LOAD + spare), SLOTS * BUCKETS);
    if (p->slots == 0)
        p->slots = SLOTS * BUCKETS;
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    if (spec->keys > MAX_SLOTS / 2)
        return TAMIS_RANGE;
    p->hashes = BUCKETS;
    for (p->width = MIN_TAG; p->width <= MAX_TAG; p->width++) {
        plan_slots(p);
        if (rate(p, (double)p->capacity) <= spec->fpr)
            return TAMIS_OK;
    }
    return TAMIS_RANGE;
}

static tamis_limits limits(const tamis_plan *p)
{
    (void)p;
    return (tamis_limits){ .ceiling = CEILING };
}

/* ---- One key ----------------------------------------------------------- */

static spot spot_of_key(const table *t, uint64_t key)
{
    return spot_of(t, hash_key(key, t->salt));
}

static tamis_status add_key(tamis *f, uint64_t key, uint64_t times)
{
    table t = table_of(f);
    spot s = spot_of_key(&t, key);

    return times > 1 ? add_spot_times(f, &t, &s, times) : add_spot(f, &t, &s);
}

static tamis_status remove_key(tamis *f, uint64_t key, uint64_t times)
{
    table t = table_of(f);
    spot s = spot_of_key(&t, key);

    return remove_spot(f, &t, &s, times);
}

static uint64_t count_key(const tamis *f, uint64_t key)
{
    table t = table_of(f);
    spot s = spot_of_key(&t, key);

    return copies_of(&t, &s);
}

static void touch(const tamis *f, uint64_t key)
{
    table t = table_of(f);
    spot s = spot_of_key(&t, key);

    fetch_half(&t, half_of(&t, s.first));
    fetch_half(&t, half_of(&t, s.second));
}

/* ---- The whole filter -------------------------------------------------- */

/* Distinct tags of a bucket; of an odd one those that their even bucket does not hold as well. */
static unsigned classes_in(const table *t, uint64_t i)
{
    bucket b = read_bucket(t, i);
    unsigned n = 0;

    for (unsigned s = 0; s < SLOTS; s++) {
        if (b.tag[s] == 0 || slot_of(&b, b.tag[s]) != s)
            continue;
        bucket other = read_bucket(t, other_bucket(t, i, b.tag[s]));
        n += !(i & 1) || !copies_in(&other, b.tag[s]);
    }
    return n;
}

/* Entries of the stash that are neither in their buckets nor among the entries before. */
static unsigned classes_in_stash(const table *t)
{
    unsigned n = 0;

    for (unsigned e = 0; e < STASH; e++) {
        uint64_t class = stash_get(t, e);
        spot s = spot_of_class(t, class);
        if (!(t->stash[0] >> e & 1) || s.first >= t->buckets)
            continue;
        pair p = read_pair(t, &s);
        unsigned before = stash_find(t, class) & ((1u << e) - 1);
        n += !before && !copies_in(&p.first, s.tag) && !copies_in(&p.second, s.tag);
    }
    return n;
}

/* n distinct keys have on average C (1 - (1 - 1/C)^n) classes out of C: solved for n. All of them
 * count as all but one. */
static void measure(const tamis *f, tamis_info *info)
{
    table t = table_of(f);
    double all = classes_of(&f->plan), distinct = classes_in_stash(&t);

    for (uint64_t i = 0; i < t.buckets; i++)
        distinct += classes_in(&t, i);
    distinct = fmin(distinct, all);
    info->fill = (double)f->count / (double)f->plan.slots;
    info->fpr = distinct / all;
    info->cardinality = distinct > 0 ? log1p(-fmin(distinct, all - 1) / all) / log1p(-1 / all) : 0;
}

/* ---- Whether it is whole ----------------------------------------------- */

/* Only a bucket of four copies can have a class that is there too often. */
static const char *check_copies(const table *t, uint64_t i, const bucket *b)
{
    if (b->tag[0] == 0 || copies_in(b, b->tag[0]) < SLOTS)
        return NULL;
    spot s = { i, other_bucket(t, i, b->tag[0]), b->tag[0] };
    pair p = read_pair(t, &s);
    return copies_in_pair(t, &s, &p) > CEILING ? "a key is held too often" : NULL;
}

static const char *check_buckets(const table *t, uint64_t *used)
{
    const char *why = NULL;

    for (uint64_t i = 0; i < t->buckets && !why; i++) {
        bucket b = read_bucket(t, i);
        *used += used_in(&b);
        why = check_bucket(t, i, &b);
        if (!why)
            why = check_copies(t, i, &b);
    }
    return why;
}

static const char *check_entry(const table *t, unsigned entry, uint64_t *used)
{
    uint64_t class = stash_get(t, entry);
    bool is_used = t->stash[0] >> entry & 1;

    *used += is_used;
    if (!is_used)
        return class ? "an unused entry of the stash is set" : NULL;
    spot s = { .first = class >> t->width << 1, .tag = (uint32_t) class & packed_mask(t->width) };
    return s.tag && s.first < t->buckets ? NULL : "an entry of the stash is no key";
}

static const char *check_stash(const table *t, uint64_t *used)
{
    const char *why = NULL;

    for (unsigned e = 0; e < STASH && !why; e++)
        why = check_entry(t, e, used);
    return why;
}

/* Between the last bucket and the stash, and behind that. */
static const char *check_rest(const tamis *f, const table *t)
{
    const uint8_t *end = (const uint8_t *)f->payload + f->plan.bytes;

    if (t->buckets * t->bits % 8 && t->stash[-1] >> 4)
        return "unused bits are set";
    for (const uint8_t *at = t->stash + 1 + t->class_bits; at < end; at++)
        if (*at)
            return "unused bytes are set";
    return NULL;
}

static const char *verify(const tamis *f)
{
    table t = table_of(f);
    uint64_t used = 0;
    const char *why = check_rest(f, &t);

    if (!why)
        why = check_stash(&t, &used);
    if (!why)
        why = check_buckets(&t, &used);
    if (!why && used != f->count)
        why = "the number of keys is wrong";
    return why;
}
