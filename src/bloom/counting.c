/* counting.c - Bloom filter of counters.
 *
 * As the classic filter, with a small counter in place of each bit. Adding a key raises its k
 * counters, removing it lowers them; it is present if none of them is 0, and the lowest tells how
 * often it was added, at most: others may have raised all of them. Where the classic filter has a
 * bit that is set, this one has a counter above 0, at the same position: reducing counters to bits
 * gives that filter, byte for byte.
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

#include "bloom/bits.h"
#include "bloom/classic.h"
#include "bloom/conversions.h"
#include "bloom/counters.h"
#include "bloom/family.h"
#include "filter.h"

static geometry shape(const tamis *f)
{
    return (geometry){ .range = f->plan.slots, .step = 0, .bits = f->plan.width };
}

/* ---- Sizing ------------------------------------------------------------ */

static bool width_is_possible(uint32_t width)
{
    return width == 2 || width == 4 || width == 8 || width == 16;
}

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 56 && width_is_possible(p->width) &&
              p->hashes > 0 && p->hashes <= MAX_HASHES && has_no_options(p);

    return ok ? bytes_of_bits(p->slots * p->width) : 0;
}

#include "bloom/sizing.h"

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    p->width = spec->counter_bits ? spec->counter_bits : 4;
    return width_is_possible(p->width) ? size(p, spec) : TAMIS_RANGE;
}

/* ---- Counters of a key ------------------------------------------------- */

typedef struct {
    uint64_t slot[MAX_HASHES];
    unsigned n; /* different ones */
} places;

static unsigned drop_repeats(uint64_t *pos, unsigned k)
{
    unsigned n = 0;

    for (unsigned i = 0; i < k; i++) {
        unsigned j = 0;
        while (j < n && pos[j] != pos[i])
            j++;
        pos[n] = pos[i];
        n += j == n;
    }
    return n;
}

static inline void find_places(places *p, const tamis *f, uint64_t key)
{
    positions(p->slot, f, shape(f), key);
    p->n = drop_repeats(p->slot, f->plan.hashes);
}

static inline uint64_t lowest(const tamis *f, const places *p)
{
    uint64_t least = counter_max(f->plan.width);

    for (unsigned i = 0; i < p->n; i++) {
        uint64_t here = counter_get(f->payload, f->plan.width, p->slot[i]);
        least = here < least ? here : least;
    }
    return least;
}

/* Those that have stopped stay; of the others, none goes beyond the maximum or below 0. */
static inline void raise_each(tamis *f, const places *p, uint64_t times)
{
    uint64_t max = counter_max(f->plan.width);

    for (unsigned i = 0; i < p->n; i++) {
        uint64_t room = max - counter_get(f->payload, f->plan.width, p->slot[i]);
        counter_change(f->payload, f->plan.width, p->slot[i],
                       (int64_t)(times < room ? times : room));
    }
}

static inline void lower_each(tamis *f, const places *p, uint64_t times)
{
    uint64_t max = counter_max(f->plan.width);

    for (unsigned i = 0; i < p->n; i++)
        if (counter_get(f->payload, f->plan.width, p->slot[i]) < max)
            counter_change(f->payload, f->plan.width, p->slot[i], -(int64_t)times);
}

/* The same for one time, without a branch on what a counter holds: keys wait for their lines, and a
 * wrong guess would keep the processor from asking for the next. */
static inline void add_once(tamis *f, const places *p)
{
    unsigned bits = f->plan.width;
    void *counters = f->payload;
    uint64_t raised = 0;

    for (unsigned i = 0; i < p->n; i++) {
        uint64_t step = counter_get(counters, bits, p->slot[i]) != counter_max(bits);
        counter_change(counters, bits, p->slot[i], (int64_t)step);
        raised |= step;
    }
    f->count += raised;
}

static inline bool remove_once(tamis *f, const places *p)
{
    unsigned bits = f->plan.width;
    void *counters = f->payload;
    uint64_t missing = 0, lowered = 0;

    for (unsigned i = 0; i < p->n; i++)
        missing |= counter_get(counters, bits, p->slot[i]) == 0;
    if (missing)
        return false;
    for (unsigned i = 0; i < p->n; i++) {
        uint64_t step = counter_get(counters, bits, p->slot[i]) != counter_max(bits);
        counter_change(counters, bits, p->slot[i], -(int64_t)step);
        lowered |= step;
    }
    counters_forget(f, lowered);
    return true;
}

/* ---- Operations -------------------------------------------------------- */

static bool has(const tamis *f, uint64_t key)
{
    return bits_has(f, shape(f), key);
}

static uint64_t count(const tamis *f, uint64_t key)
{
    places p;

    find_places(&p, f, key);
    return lowest(f, &p);
}

static tamis_status add_times(tamis *f, uint64_t key, uint64_t times)
{
    places p;

    find_places(&p, f, key);
    uint64_t room = counter_max(f->plan.width) - lowest(f, &p);
    raise_each(f, &p, times);
    f->count += times < room ? times : room;
    return TAMIS_OK;
}

static tamis_status add(tamis *f, uint64_t key, uint64_t times)
{
    places p;

    if (times > 1)
        return add_times(f, key, times);
    find_places(&p, f, key);
    add_once(f, &p);
    return TAMIS_OK;
}

static tamis_status remove_times(tamis *f, uint64_t key, uint64_t times)
{
    places p;

    find_places(&p, f, key);
    uint64_t held = lowest(f, &p);
    if (held == counter_max(f->plan.width))
        return TAMIS_OK;
    if (held < times)
        return TAMIS_ABSENT;
    lower_each(f, &p, times);
    counters_forget(f, times);
    return TAMIS_OK;
}

static tamis_status remove_key(tamis *f, uint64_t key, uint64_t times)
{
    places p;

    if (times > 1)
        return remove_times(f, key, times);
    find_places(&p, f, key);
    return remove_once(f, &p) ? TAMIS_OK : TAMIS_ABSENT;
}

/* ---- Many keys --------------------------------------------------------- */

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return bits_has_many(f, shape(f), hits, keys, n);
}

/* Keys whose lines are on their way. */
enum { AHEAD = 16 };

__attribute__((always_inline)) static inline void fetch_places(const tamis *f, const places *p)
{
    for (unsigned i = 0; i < p->n; i++)
        fetch_slot(f->payload, shape(f), p->slot[i]);
}

typedef bool change(tamis *f, const places *p);

/* Returns for how many keys the change said so. */
__attribute__((always_inline)) static inline size_t change_many(tamis *f, const uint64_t *keys,
                                                                size_t n, change *apply)
{
    places coming[AHEAD];
    size_t changed = 0;

    for (size_t i = 0; i < n + AHEAD; i++) {
        places *p = &coming[i % AHEAD];
        if (i >= AHEAD)
            changed += apply(f, p);
        if (i < n) {
            find_places(p, f, keys[i]);
            fetch_places(f, p);
        }
    }
    return changed;
}

static inline bool add_each(tamis *f, const places *p)
{
    add_once(f, p);
    return true;
}

static tamis_status add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    *added = change_many(f, keys, n, add_each);
    return TAMIS_OK;
}

static size_t remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    return change_many(f, keys, n, remove_once);
}

static inline bool raise_shared(tamis *f, const places *p)
{
    bool raised = false;

    for (unsigned i = 0; i < p->n; i++)
        raised |= counter_raise_shared(f->payload, f->plan.width, p->slot[i]);
    return raised;
}

static tamis_status add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    size_t counted = change_many(f, keys, n, raise_shared);

    __atomic_fetch_add(&f->count, counted, __ATOMIC_RELAXED);
    *added = n;
    return TAMIS_OK;
}

static void touch(const tamis *f, uint64_t key)
{
    uint64_t pos[MAX_HASHES];

    positions(pos, f, shape(f), key);
    for (uint32_t i = 0; i < f->plan.hashes; i++)
        fetch_slot(f->payload, shape(f), pos[i]);
}

/* ---- The whole filter -------------------------------------------------- */

tamis_status tamis__counting_to_bloom(tamis **out, tamis_kind to, const tamis *f,
                                      const tamis_allocator *a)
{
    tamis_status status = tamis__new_bloom(out, to, f, a);

    if (status)
        return status;
    for (uint64_t i = 0; i < f->plan.slots; i++)
        if (counter_get(f->payload, f->plan.width, i))
            set_bit((*out)->payload, i);
    return TAMIS_OK;
}

void tamis__counting_follow(tamis *to, const tamis *from, uint64_t key)
{
    uint64_t pos[MAX_HASHES];

    positions(pos, from, shape(from), key);
    for (uint32_t i = 0; i < from->plan.hashes; i++)
        put_bit_seen(to->payload, pos[i],
                     counter_get(from->payload, from->plan.width, pos[i]) != 0);
}

static const char *verify(const tamis *f)
{
    return has_stray_bits(f->payload, f->plan.slots * f->plan.width) ? "bits past the end are set"
                                                                     : NULL;
}

static void measure(const tamis *f, tamis_info *info)
{
    double m = (double)f->plan.slots;
    counters_tally t = counters_tell(f);

    info->fill = fmin(1, (double)t.used / m);
    info->fpr = pow(info->fill, f->plan.hashes);
    info->cardinality = keys_from_clear(1 - info->fill, m, 1 / m) / f->plan.hashes;
    info->saturated = t.at_max;
}

const tamis_ops tamis__counting = {
    .traits = TAMIS_TRAIT_COUNTER_BITS,
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .verify = verify,
    .measure = measure,
    .add = add,
    .remove = remove_key,
    .count = count,
    .limits = counters_limits,
    .merge = counters_merge,
    .intersect = counters_intersect,
    .add_concurrent = add_concurrent,
    .touch = touch,
    .has_many = has_many,
    .add_many = add_many,
    .remove_many = remove_many,
};
