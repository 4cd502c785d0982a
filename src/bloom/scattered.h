/* scattered.h - the operations of a kind whose positions are a walk as in bits.h.
 *
 * A template: the kind defines shape(), bytes(), rate(), fewest_slots() and SLOT_UNIT, then
 * includes this once and has its plan() and its operations, compiled for its geometry. */
#include "bloom/bits.h"
#include "bloom/family.h"

/* The kind's closed form comes close; the rest is steps. */
static bool size_for(tamis_plan *p, uint32_t k, double n, double fpr)
{
    double slots = fewest_slots(k, n, fpr);

    if (!(slots < 0x1p50))
        return false;
    p->hashes = k;
    p->slots = round_for_folding((uint64_t)slots + 1, SLOT_UNIT);
    while (rate(p, n) > fpr)
        p->slots = round_for_folding(p->slots + 1, SLOT_UNIT);
    return true;
}

/* The best number of hashes is log2(1 / rate), rounded up or down. */
static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    double n = (double)spec->keys;
    uint32_t below = (uint32_t)fmax(1, fmin(floor(-log2(spec->fpr)), MAX_HASHES));
    tamis_plan other = *p;

    if (!size_for(p, below, n, spec->fpr))
        return TAMIS_RANGE;
    if (below < MAX_HASHES && size_for(&other, below + 1, n, spec->fpr) && bytes(&other) < bytes(p))
        *p = other;
    return TAMIS_OK;
}

static bool has(const tamis *f, uint64_t key)
{
    return bits_has(f, shape(f), key);
}

static tamis_status add(tamis *f, uint64_t key)
{
    bits_add(f, shape(f), key);
    return TAMIS_OK;
}

static tamis_status add_shared(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    bits_add_shared(f, shape(f), keys, n);
    *added = n;
    return TAMIS_OK;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return bits_has_many(f, shape(f), hits, keys, n);
}

static void add_many(tamis *f, const uint64_t *keys, size_t n)
{
    bits_add_many(f, shape(f), keys, n);
}

static const tamis_batch *batch(unsigned cpu)
{
    static const tamis_batch PORTABLE = { .has = has, .has_many = has_many, .add_many = add_many };

    (void)cpu;
    return &PORTABLE;
}
