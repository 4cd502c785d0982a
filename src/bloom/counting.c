/* counting.c - Bloom filter of counters.
 *
 * As the classic filter, with a small counter in place of each bit. Adding a key raises its k
 * counters, removing it lowers them. It is present if none of them is 0, and the lowest tells how
 * often it was added, at most: others may have raised all of them. Where the classic filter has a
 * bit that is set, this one has a counter above 0, at the same position: the bits of all counters
 * that are not 0 are that filter, byte for byte.
 *
 *   counters   0 3 0 0 1 0 2 0 0 3 2 1 0 2 1 0
 *   bits       0 1 0 0 1 0 1 0 0 1 1 1 0 1 1 0
 *
 * Two of a key's positions may be one. It is raised once: the k counters of a key alone are then
 * all the number of its copies.
 *
 * Counters of w bits stop at 2^w - 1 (counters.h). When half of them are in use, a counter of four
 * bits has stopped with probability 2 * 10^-15: only keys with many copies come there.
 *
 * Payload: plan.slots = m counters of plan.width = w bits in whole 64-bit words; what sticks out is
 * zero. plan.hashes = k.
 *
 * Fan, Cao, Almeida, Broder: Summary Cache, 2000. */
#include <math.h>

#include "bloom/conversions.h"
#include "bloom/probes.h"

static probes_shape counting_shape(const tamis *f)
{
    return (probes_shape){ .range = f->plan.slots, .step = 0, .bits = f->plan.width };
}

/* ---- Sizing ------------------------------------------------------------ */

static bool counting_is_width(uint32_t width)
{
    return width == 2 || width == 4 || width == 8 || width == 16;
}

static uint64_t counting_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 56 && counting_is_width(p->width) &&
              p->hashes > 0 && p->hashes <= PROBES_MAX && !p->flags && !p->load;

    return ok ? bytes_of_bits(p->slots * p->width) : 0;
}

static tamis_status counting_plan(tamis_plan *p, const tamis_spec *spec)
{
    p->width = spec->counter_bits ? spec->counter_bits : 4;
    if (!counting_is_width(p->width))
        return TAMIS_RANGE;
    return tamis__rates_plan(p, spec, tamis__rates_classic_slots, RATES_CLASSIC_UNIT);
}

/* ---- Counters of a key ------------------------------------------------- */

/* Returns how many of its k slots are different; these come first. */
static inline unsigned counting_find(uint64_t *slots, const tamis *f, uint64_t key)
{
    unsigned n = 0;

    probes_find(slots, f, counting_shape(f), key);
    for (unsigned i = 0; i < f->plan.hashes; i++) {
        unsigned j = 0;
        while (j < n && slots[j] != slots[i])
            j++;
        slots[n] = slots[i];
        n += j == n;
    }
    return n;
}

static inline uint64_t counting_lowest(const tamis *f, const uint64_t *slots, unsigned n)
{
    uint64_t least = counters_max(f->plan.width);

    for (unsigned i = 0; i < n; i++) {
        uint64_t here = counters_get(f->payload, f->plan.width, slots[i]);
        least = here < least ? here : least;
    }
    return least;
}

/* No counter goes beyond the maximum. */
static void counting_add_times(tamis *f, const uint64_t *slots, unsigned n, uint64_t times)
{
    uint64_t max = counters_max(f->plan.width), room = max - counting_lowest(f, slots, n);

    for (unsigned i = 0; i < n; i++) {
        uint64_t here = max - counters_get(f->payload, f->plan.width, slots[i]);
        counters_change(f->payload, f->plan.width, slots[i],
                        (int64_t)(times < here ? times : here));
    }
    f->count += times < room ? times : room;
}

/* No counter goes below 0, and those that have stopped stay. */
static bool counting_remove_times(tamis *f, const uint64_t *slots, unsigned n, uint64_t times)
{
    uint64_t max = counters_max(f->plan.width), held = counting_lowest(f, slots, n);

    if (held == max)
        return true;
    if (held < times)
        return false;
    for (unsigned i = 0; i < n; i++)
        if (counters_get(f->payload, f->plan.width, slots[i]) < max)
            counters_change(f->payload, f->plan.width, slots[i], -(int64_t)times);
    counters_forget(f, times);
    return true;
}

/* The same for one time, without a branch on what a counter holds: keys wait for their lines, and a
 * wrong guess would keep the processor from asking for the next. */
static inline bool counting_add_once(tamis *f, const uint64_t *slots, unsigned n)
{
    unsigned bits = f->plan.width;
    void *counters = f->payload;
    uint64_t raised = 0;

    for (unsigned i = 0; i < n; i++) {
        uint64_t step = counters_get(counters, bits, slots[i]) != counters_max(bits);
        counters_change(counters, bits, slots[i], (int64_t)step);
        raised |= step;
    }
    f->count += raised;
    return true;
}

static inline bool counting_remove_once(tamis *f, const uint64_t *slots, unsigned n)
{
    unsigned bits = f->plan.width;
    void *counters = f->payload;
    uint64_t missing = 0, lowered = 0;

    for (unsigned i = 0; i < n; i++)
        missing |= counters_get(counters, bits, slots[i]) == 0;
    if (missing)
        return false;
    for (unsigned i = 0; i < n; i++) {
        uint64_t step = counters_get(counters, bits, slots[i]) != counters_max(bits);
        counters_change(counters, bits, slots[i], -(int64_t)step);
        lowered |= step;
    }
    counters_forget(f, lowered);
    return true;
}

static inline bool counting_raise_atomic(tamis *f, const uint64_t *slots, unsigned n)
{
    bool raised = false;

    for (unsigned i = 0; i < n; i++)
        raised |= counters_raise_atomic(f->payload, f->plan.width, slots[i]);
    return raised;
}

/* ---- One key ----------------------------------------------------------- */

static bool counting_has(const tamis *f, uint64_t key)
{
    return probes_has(f, counting_shape(f), key);
}

static uint64_t counting_count(const tamis *f, uint64_t key)
{
    uint64_t slots[PROBES_MAX];
    unsigned n = counting_find(slots, f, key);

    return counting_lowest(f, slots, n);
}

static tamis_status counting_add(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t slots[PROBES_MAX];
    unsigned n = counting_find(slots, f, key);

    if (times == 1)
        counting_add_once(f, slots, n);
    else
        counting_add_times(f, slots, n, times);
    return TAMIS_OK;
}

static tamis_status counting_remove(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t slots[PROBES_MAX];
    unsigned n = counting_find(slots, f, key);
    bool was_there =
        times == 1 ? counting_remove_once(f, slots, n) : counting_remove_times(f, slots, n, times);

    return was_there ? TAMIS_OK : TAMIS_ABSENT;
}

/* ---- Many keys --------------------------------------------------------- */

static size_t counting_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return probes_has_many(f, counting_shape(f), hits, keys, n);
}

__attribute__((always_inline)) static inline void counting_fetch(const tamis *f,
                                                                 const uint64_t *slots, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        probes_fetch(f->payload, counting_shape(f), slots[i]);
}

static void counting_touch(const tamis *f, uint64_t key)
{
    uint64_t slots[PROBES_MAX];

    probes_find(slots, f, counting_shape(f), key);
    counting_fetch(f, slots, f->plan.hashes);
}

/* Keys whose lines are on their way, as long as their slots fit. */
enum { AHEAD = 16, SLOTS_AHEAD = 256 };

typedef bool counting_change(tamis *f, const uint64_t *slots, unsigned n);

/* Returns for how many keys the change said so. */
__attribute__((always_inline)) static inline size_t
counting_change_many(tamis *f, const uint64_t *keys, size_t n, counting_change *change)
{
    uint64_t coming[SLOTS_AHEAD];
    unsigned used[AHEAD], k = f->plan.hashes, at = 0;
    size_t ahead = k * AHEAD <= SLOTS_AHEAD ? AHEAD : SLOTS_AHEAD / k, changed = 0;

    for (size_t i = 0; i < n + ahead; i++, at = at + 1 < ahead ? at + 1 : 0) {
        uint64_t *slots = coming + at * k;
        if (i >= ahead)
            changed += change(f, slots, used[at]);
        if (i < n) {
            used[at] = counting_find(slots, f, keys[i]);
            counting_fetch(f, slots, used[at]);
        }
    }
    return changed;
}

static tamis_status counting_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    *added = counting_change_many(f, keys, n, counting_add_once);
    return TAMIS_OK;
}

static size_t counting_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    return counting_change_many(f, keys, n, counting_remove_once);
}

static tamis_status counting_add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    size_t counted = counting_change_many(f, keys, n, counting_raise_atomic);

    __atomic_fetch_add(&f->count, counted, __ATOMIC_RELAXED);
    *added = n;
    return TAMIS_OK;
}

/* ---- The whole filter -------------------------------------------------- */

tamis_status tamis__counting_to_bloom(tamis **out, tamis_kind to, const tamis *f,
                                      const tamis_allocator *a)
{
    tamis_status status = bitset_new_like(out, to, f, a);

    for (uint64_t i = 0; i < f->plan.slots && !status; i++)
        if (counters_get(f->payload, f->plan.width, i))
            bitset_set((*out)->payload, i);
    return status;
}

void tamis__counting_follow(tamis *to, const tamis *from, uint64_t key)
{
    uint64_t slots[PROBES_MAX];

    probes_find(slots, from, counting_shape(from), key);
    for (uint32_t i = 0; i < from->plan.hashes; i++)
        bitset_put_atomic(to->payload, slots[i],
                          counters_get(from->payload, from->plan.width, slots[i]) != 0);
}

static const char *counting_verify(const tamis *f)
{
    return bitset_verify_end(f->payload, f->plan.slots * f->plan.width);
}

static void counting_measure(const tamis *f, tamis_info *info)
{
    double m = (double)f->plan.slots;

    info->fill = fmin(1, (double)counters_measure(f, info) / m);
    info->fpr = pow(info->fill, f->plan.hashes);
    info->cardinality = tamis__rates_keys(1 - info->fill, m, 1 / m) / f->plan.hashes;
}

const tamis_ops tamis__counting = {
    .traits = TAMIS_TRAIT_COUNTER_BITS,
    .plan = counting_plan,
    .bytes = counting_bytes,
    .rate = tamis__rates_classic,
    .limits = counters_limits,
    .verify = counting_verify,
    .measure = counting_measure,
    .has = counting_has,
    .count = counting_count,
    .add = counting_add,
    .remove = counting_remove,
    .touch = counting_touch,
    .has_many = counting_has_many,
    .add_many = counting_add_many,
    .remove_many = counting_remove_many,
    .add_concurrent = counting_add_concurrent,
    .merge = counters_merge,
    .intersect = counters_intersect,
};
