/* bitmap.c - exact set of the integers 0 .. capacity - 1, one bit each.
 *
 * Nothing is smaller or faster when the keys are dense. Keys are raw: the integer is the position,
 * and one outside the capacity is refused, not folded in.
 *
 * Payload: plan.slots = capacity bits in whole 64-bit words; bit i is bit i % 8 of byte i / 8, and
 * what sticks out is zero. */
#include "base/bits.h"
#include "base/many.h"
#include "filter.h"

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 60 && p->capacity <= p->slots &&
              p->width == 0 && p->hashes == 0;

    return ok ? bytes_of_bits(p->slots) : 0;
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    p->slots = spec->keys ? spec->keys : 1;
    return TAMIS_OK;
}

/* ---- Operations -------------------------------------------------------- */

static uint8_t *byte_of(const tamis *f, uint64_t key)
{
    return (uint8_t *)f->payload + key / 8;
}

static uint8_t mask_of(uint64_t key)
{
    return (uint8_t)(1u << key % 8);
}

static bool has(const tamis *f, uint64_t key)
{
    if (key >= f->plan.capacity)
        return false;
    return __atomic_load_n(byte_of(f, key), __ATOMIC_RELAXED) & mask_of(key);
}

static tamis_status add(tamis *f, uint64_t key)
{
    if (key >= f->plan.capacity)
        return TAMIS_RANGE;
    f->count += !has(f, key);
    *byte_of(f, key) |= mask_of(key);
    return TAMIS_OK;
}

static tamis_status remove_key(tamis *f, uint64_t key)
{
    if (key >= f->plan.capacity)
        return TAMIS_RANGE;
    if (!has(f, key))
        return TAMIS_ABSENT;
    *byte_of(f, key) &= (uint8_t)~mask_of(key);
    f->count--;
    return TAMIS_OK;
}

/* All keys or none: one that is out of range is found before the first is added. */
static tamis_status add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    uint64_t new_keys = 0;

    for (size_t i = 0; i < n; i++)
        if (keys[i] >= f->plan.capacity)
            return TAMIS_RANGE;
    for (size_t i = 0; i < n; i++)
        if (!has(f, keys[i])) {
            uint8_t mask = mask_of(keys[i]);
            new_keys += !(__atomic_fetch_or(byte_of(f, keys[i]), mask, __ATOMIC_RELAXED) & mask);
        }
    __atomic_fetch_add(&f->count, new_keys, __ATOMIC_RELAXED);
    *added = n;
    return TAMIS_OK;
}

static tamis_status merge(tamis *f, const tamis *g)
{
    uint64_t *to = f->payload;
    const uint64_t *from = g->payload;

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        to[i] |= from[i];
    f->count = count_ones(f->payload, f->plan.bytes);
    return TAMIS_OK;
}

static tamis_status intersect(tamis *f, const tamis *g)
{
    uint64_t *to = f->payload;
    const uint64_t *from = g->payload;

    for (uint64_t i = 0; i < f->plan.bytes / 8; i++)
        to[i] &= from[i];
    f->count = count_ones(f->payload, f->plan.bytes);
    return TAMIS_OK;
}

static tamis_status list(const tamis *f, tamis_visit *visit, void *ctx)
{
    for (uint64_t key = 0; key < f->plan.capacity; key++) {
        if (key % 8 == 0 && *byte_of(f, key) == 0)
            key += 7;
        else if (has(f, key) && !visit(ctx, key, 1))
            break;
    }
    return TAMIS_OK;
}

static const char *verify(const tamis *f)
{
    for (uint64_t i = f->plan.capacity; i < f->plan.bytes * 8; i++)
        if (*byte_of(f, i) & mask_of(i))
            return "bits past the capacity are set";
    if (count_ones(f->payload, f->plan.bytes) != f->count)
        return "the number of keys is wrong";
    return NULL;
}

static void measure(const tamis *f, tamis_info *info)
{
    info->cardinality = (double)count_ones(f->payload, f->plan.bytes);
    info->fill = info->cardinality / (double)f->plan.slots;
}

/* ---- Many keys --------------------------------------------------------- */

static uint64_t place_key(const void *f, uint64_t key)
{
    (void)f;
    return key;
}

static void fetch(const void *f, uint64_t key)
{
    __builtin_prefetch(byte_of(f, key < ((const tamis *)f)->plan.capacity ? key : 0), 0, 3);
}

static bool look(const void *f, uint64_t key)
{
    return has(f, key);
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return many_lookups(f, hits, keys, n, place_key, fetch, look);
}

static void touch(const tamis *f, uint64_t key)
{
    fetch(f, key);
}

static const tamis_batch *batch(unsigned cpu)
{
    static const tamis_batch PORTABLE = { .has_many = has_many };

    (void)cpu;
    return &PORTABLE;
}

const tamis_ops tamis__bitmap = {
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .verify = verify,
    .measure = measure,
    .indexed = true,
    .add = add,
    .remove = remove_key,
    .merge = merge,
    .intersect = intersect,
    .list = list,
    .add_concurrent = add_concurrent,
    .only_sets_bits = true,
    .touch = touch,
    .batch = batch,
};
