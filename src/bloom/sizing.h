/* sizing.h - slots and hashes of a kind whose positions are a walk as in bits.h.
 *
 * A template: the kind defines bytes(), rate(), fewest_slots() and SLOT_UNIT, sets plan.width and
 * includes this once. */
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
static tamis_status size(tamis_plan *p, const tamis_spec *spec)
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
