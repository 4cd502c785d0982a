/* scattered.h - the operations of a kind whose positions are a walk as in bits.h.
 *
 * A template: the kind defines shape(), bytes(), rate(), fewest_slots() and SLOT_UNIT, then
 * includes this once and has its plan() and its operations, compiled for its geometry. */
#include "bloom/bits.h"
#include "bloom/sizing.h"

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    return size(p, spec);
}

static bool has(const tamis *f, uint64_t key)
{
    return bits_has(f, shape(f), key);
}

static tamis_status add(tamis *f, uint64_t key, uint64_t times)
{
    (void)times;
    bits_add(f, shape(f), key);
    return TAMIS_OK;
}

static tamis_status add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    bits_add_concurrent(f, shape(f), keys, n);
    *added = n;
    return TAMIS_OK;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return bits_has_many(f, shape(f), hits, keys, n);
}

static tamis_status add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    bits_add_many(f, shape(f), keys, n);
    *added = n;
    return TAMIS_OK;
}
