/* hashmap.c - exact map from 64-bit keys to 64-bit values, which may be changed at any time.
 *
 * The table is that of robin_hood.c, with plan.width = 128: eight bytes for the key and eight for
 * its value in each slot. Any key and any value will do, 0 and 2^64 - 1 too. A key that is put
 * again gets the new value. A table that is full moves to one with room for twice as many keys and
 * one more; hashes are kept whole, so that tables of different sizes can be put together. Its bytes
 * depend on the pairs and the size alone. */
#include "exact/robin_hood.h"

enum { HASHMAP_WIDTH = 128, VALUE_BITS = 64 };

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t hashmap_bytes(const tamis_plan *p)
{
    return p->width == HASHMAP_WIDTH ? tamis__robin_hood_bytes(p) : 0;
}

static tamis_status hashmap_plan(tamis_plan *p, const tamis_spec *spec)
{
    if (spec->value_bits > VALUE_BITS)
        return TAMIS_RANGE;
    return tamis__robin_hood_plan(p, spec->keys, HASHMAP_WIDTH);
}

static tamis_status hashmap_resize(tamis_plan *p, uint64_t keys)
{
    p->capacity = keys;
    return tamis__robin_hood_plan(p, keys, HASHMAP_WIDTH);
}

const tamis_ops tamis__hashmap = {
    ROBIN_HOOD_OPS,
    .traits = TAMIS_TRAIT_TAKES_VALUES | TAMIS_TRAIT_GROWS | TAMIS_TRAIT_KEEPS_RATE,
    .plan = hashmap_plan,
    .bytes = hashmap_bytes,
    .resize = hashmap_resize,
    .get = tamis__robin_hood_get,
    .add = tamis__robin_hood_put,
    .move = tamis__robin_hood_merge,
};
