/* bitmap.c - exact set of the integers 0 .. capacity - 1, one bit each.
 *
 * Nothing is smaller or faster when the keys are dense. Keys are raw: the integer is the position,
 * and one outside the capacity is refused, not folded in.
 *
 * Payload: plan.slots = capacity bits in whole 64-bit words; bit i is bit i % 8 of byte i / 8, and
 * what sticks out is zero. */
#include <string.h>

#include "base/ahead.h"
#include "base/bits.h"
#include "base/many.h"
#include "explain.h"

static uint64_t bitmap_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 60 && p->capacity <= p->slots &&
              p->width == 0 && p->hashes == 0 && p->flags == 0 && p->load == 0;

    return ok ? bytes_of_bits(p->slots) : 0;
}

static tamis_status bitmap_plan(tamis_plan *p, const tamis_spec *spec)
{
    p->slots = spec->keys ? spec->keys : 1;
    return TAMIS_OK;
}

/* ---- One key ----------------------------------------------------------- */

static uint8_t *bitmap_byte(const tamis *f, uint64_t key)
{
    return (uint8_t *)f->payload + key / 8;
}

static uint8_t bitmap_mask(uint64_t key)
{
    return (uint8_t)(1u << key % 8);
}

static bool bitmap_bit(const tamis *f, uint64_t key)
{
    return __atomic_load_n(bitmap_byte(f, key), __ATOMIC_RELAXED) & bitmap_mask(key);
}

static bool bitmap_has(const tamis *f, uint64_t key)
{
    return key < f->plan.capacity && bitmap_bit(f, key);
}

static tamis_status bitmap_add(tamis *f, uint64_t key, uint64_t times)
{
    (void)times;
    if (key >= f->plan.capacity)
        return TAMIS_RANGE;
    f->count += !bitmap_has(f, key);
    *bitmap_byte(f, key) |= bitmap_mask(key);
    return TAMIS_OK;
}

static tamis_status bitmap_remove(tamis *f, uint64_t key, uint64_t times)
{
    (void)times;
    if (key >= f->plan.capacity)
        return TAMIS_RANGE;
    if (!bitmap_has(f, key))
        return TAMIS_ABSENT;
    *bitmap_byte(f, key) &= (uint8_t)~bitmap_mask(key);
    f->count--;
    return TAMIS_OK;
}

/* ---- Many keys --------------------------------------------------------- */

MANY_INLINE void bitmap_prepare(const void *f, void *group, const uint64_t *keys, size_t n)
{
    (void)f;
    memcpy(group, keys, n * sizeof *keys);
}

MANY_INLINE void bitmap_ask(const tamis *f, uint64_t key)
{
    ahead_read(bitmap_byte(f, key < f->plan.capacity ? key : 0), false);
}

MANY_INLINE void bitmap_fetch(const void *f, const void *group, size_t i)
{
    const uint64_t *keys = group;

    bitmap_ask(f, keys[i]);
}

MANY_INLINE uint64_t bitmap_look(void *f, void *group, size_t i)
{
    const uint64_t *keys = group;

    return bitmap_has(f, keys[i]);
}

static size_t bitmap_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    uint64_t groups[2][MANY];

    return many_lookups(f, hits, keys, n, groups[0], groups[1], bitmap_prepare, bitmap_fetch,
                        bitmap_look, NULL);
}

static void bitmap_touch(const tamis *f, uint64_t key)
{
    bitmap_ask(f, key);
}

/* All keys or none: one that is out of range is found before the first is added. */
static tamis_status bitmap_add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    uint64_t new_keys = 0;

    for (size_t i = 0; i < n; i++)
        if (keys[i] >= f->plan.capacity)
            return TAMIS_RANGE;
    for (size_t i = 0; i < n; i++)
        if (!bitmap_has(f, keys[i])) {
            uint8_t mask = bitmap_mask(keys[i]), *byte = bitmap_byte(f, keys[i]);
            new_keys += !(__atomic_fetch_or(byte, mask, __ATOMIC_RELAXED) & mask);
        }
    __atomic_fetch_add(&f->count, new_keys, __ATOMIC_RELAXED);
    *added = n;
    return TAMIS_OK;
}

/* ---- The whole set ----------------------------------------------------- */

static tamis_status bitmap_merge(tamis *f, const tamis *g)
{
    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        ((uint64_t *)f->payload)[i] |= ((const uint64_t *)g->payload)[i];
    f->count = count_ones(f->payload, f->plan.bytes);
    return TAMIS_OK;
}

static tamis_status bitmap_reduce(tamis *f, const tamis *g, tamis_operation op)
{
    uint64_t flip = op == TAMIS_INTERSECT ? 0 : UINT64_MAX;

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        ((uint64_t *)f->payload)[i] &= ((const uint64_t *)g->payload)[i] ^ flip;
    f->count = count_ones(f->payload, f->plan.bytes);
    return TAMIS_OK;
}

/* at[0] is the first key not looked at. Eight that are absent are skipped at once. */
static bool bitmap_next(tamis_cursor *c)
{
    for (uint64_t key = c->at[0]; key < c->f->plan.capacity; key++) {
        if (key % 8 == 0 && *bitmap_byte(c->f, key) == 0) {
            key += 7;
        } else if (bitmap_has(c->f, key)) {
            *c = (tamis_cursor){ .f = c->f, .fingerprint = key, .count = 1, .at = { key + 1 } };
            return true;
        }
    }
    return false;
}

static const char *bitmap_verify(const tamis *f)
{
    for (uint64_t i = f->plan.capacity; i < f->plan.bytes * 8; i++)
        if (*bitmap_byte(f, i) & bitmap_mask(i))
            return "bits past the capacity are set";
    if (count_ones(f->payload, f->plan.bytes) != f->count)
        return "the number of keys is wrong";
    return NULL;
}

static void bitmap_measure(const tamis *f, tamis_info *info)
{
    info->cardinality = (double)count_ones(f->payload, f->plan.bytes);
    info->fill = info->cardinality / (double)f->plan.slots;
}

/* ---- Pictures and words ------------------------------------------------ */

static tamis_cell bitmap_cell(const tamis *f, uint64_t i)
{
    return (tamis_cell){ .array = "bits", .index = i, .value = bitmap_bit(f, i), .bits = 1 };
}

static void bitmap_cells(const tamis *f, tamis_telling *t)
{
    for (uint64_t i = 0; i < f->plan.slots && tamis__tell_cell(t, bitmap_cell(f, i)); i++)
        continue;
}

static bool bitmap_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    if (key >= f->plan.capacity)
        return tamis__tell_answer(t, false, "it is too large a number to have a bit");
    tamis_cell bit = bitmap_cell(f, key);
    tamis__tell_read(t, "its bit", bit, bit.value);
    return tamis__tell_answer(t, bit.value, bit.value ? "its bit is set" : "its bit is clear");
}

static uint64_t bitmap_item(const tamis *f, uint64_t key)
{
    (void)f;
    return key;
}

const tamis_ops tamis__bitmap = {
    .traits = TAMIS_TRAIT_ONLY_SETS_BITS,
    .plan = bitmap_plan,
    .bytes = bitmap_bytes,
    .verify = bitmap_verify,
    .measure = bitmap_measure,
    .item = bitmap_item,
    .has = bitmap_has,
    .add = bitmap_add,
    .remove = bitmap_remove,
    .touch = bitmap_touch,
    .has_many = bitmap_has_many,
    .add_concurrent = bitmap_add_concurrent,
    .merge = bitmap_merge,
    .reduce = bitmap_reduce,
    .next = bitmap_next,
    .cells = bitmap_cells,
    .explain = bitmap_explain,
};
