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
 * Payload: plan.slots = m counters of plan.width = w bits in whole 64-bit words; bits of no counter
 * are zero. plan.hashes = k.
 *
 * Fan, Cao, Almeida, Broder: Summary Cache, 2000. */
#include <math.h>

#include "base/cpu.h"
#include "bloom/probes.h"

enum { COUNTING_WIDEST = 16 };

/* Hot functions are there twice, the second time for the usual width, which the compiler knows. */
static inline bool counting_is_usual(const tamis *f)
{
    return f->plan.width == PROBES_USUAL_BITS;
}

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t counting_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots < UINT64_C(1) << 56 && p->width >= 1 &&
              p->width <= COUNTING_WIDEST && p->hashes > 0 && p->hashes <= PROBES_MAX &&
              !p->flags && !p->load;

    return ok ? counters_bytes(p->slots, p->width) : 0;
}

static tamis_status counting_plan(tamis_plan *p, const tamis_spec *spec)
{
    p->width = spec->counter_bits ? spec->counter_bits : PROBES_USUAL_BITS;
    if (p->width > COUNTING_WIDEST)
        return TAMIS_RANGE;
    return tamis__rates_plan(p, spec, &RATES_CLASSIC);
}

/* ---- One key ----------------------------------------------------------- */

__attribute__((noinline)) static bool counting_has_rest(const tamis *f, uint64_t x, uint64_t base,
                                                        uint32_t left)
{
    return probes_has_rest(f, probes_of_counters(f, f->plan.width), x, base, left);
}

static bool counting_has(const tamis *f, uint64_t key)
{
    return counting_has_rest(f, hash_key(key, f->salt), 0, f->plan.hashes);
}

__attribute__((noinline)) static bool counting_has_rest_usual(const tamis *f, uint64_t x,
                                                              uint64_t base, uint32_t left)
{
    return probes_has_rest(f, probes_of_counters(f, PROBES_USUAL_BITS), x, base, left);
}

static bool counting_has_usual(const tamis *f, uint64_t key)
{
    return probes_has_first(f, probes_of_counters(f, PROBES_USUAL_BITS), key,
                            counting_has_rest_usual);
}

/* Counters of a key, by its k slots, which are written to slots[]. */
MANY_INLINE counters_key counting_find(uint64_t *slots, const tamis *f, unsigned bits, uint64_t key)
{
    probes_shape s = probes_of_counters(f, bits);

    probes_find(slots, f, s, key);
    return (counters_key){ f->payload, slots, s.hashes, bits };
}

static uint64_t counting_count(const tamis *f, uint64_t key)
{
    uint64_t slots[PROBES_MAX];

    return counters_lowest(counting_find(slots, f, f->plan.width, key));
}

static tamis_status counting_add(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t slots[PROBES_MAX];

    counters_raise(counting_find(slots, f, f->plan.width, key), times, &f->count);
    return TAMIS_OK;
}

static tamis_status counting_remove(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t slots[PROBES_MAX];

    return counters_remove(f, counting_find(slots, f, f->plan.width, key), times);
}

/* ---- Many keys --------------------------------------------------------- */

static size_t counting_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    return counting_is_usual(f)
               ? probes_has_many(f, probes_of_counters(f, PROBES_USUAL_BITS), hits, keys, n)
               : probes_has_many(f, probes_of_counters(f, f->plan.width), hits, keys, n);
}

static void counting_touch(const tamis *f, uint64_t key)
{
    probes_shape s = probes_of_counters(f, f->plan.width);
    uint64_t slots[PROBES_MAX];

    probes_find(slots, f, s, key);
    for (uint32_t i = 0; i < f->plan.hashes; i++)
        ahead_read(probes_line(f->payload, s, slots[i]), f->is_far);
}

/* Keys whose lines are on their way, as long as their slots fit. */
enum { COUNTING_AHEAD = 16, COUNTING_SLOTS_AHEAD = 256 };

/* Returns how many keys were there. */
__attribute__((always_inline)) static inline size_t
counting_change_many(tamis *f, unsigned bits, const uint64_t *keys, size_t n,
                     counters_change_key *change, uint64_t *counted)
{
    uint64_t slots[COUNTING_SLOTS_AHEAD];
    size_t k = f->plan.hashes, ahead = k * COUNTING_AHEAD <= COUNTING_SLOTS_AHEAD
                                           ? COUNTING_AHEAD
                                           : COUNTING_SLOTS_AHEAD / k;
    size_t done = 0, at = 0;
    probes_shape s = probes_of_counters(f, bits);
    void *counters = f->payload;
    bool is_far = f->is_far;

    for (size_t i = 0; i < n + ahead; i++, at = at + 1 < ahead ? at + 1 : 0) {
        uint64_t *here = slots + at * k;
        if (i >= ahead)
            done += change((counters_key){ counters, here, (unsigned)k, bits }, 1, counted);
        if (i >= n)
            continue;
        probes_find(here, f, s, keys[i]);
        for (size_t j = 0; j < k; j++)
            ahead_write(probes_line(counters, s, here[j]), is_far);
    }
    return done;
}

static tamis_status counting_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    uint64_t counted = 0;

    *added = counting_is_usual(f)
                 ? counting_change_many(f, PROBES_USUAL_BITS, keys, n, counters_raise, &counted)
                 : counting_change_many(f, f->plan.width, keys, n, counters_raise, &counted);
    f->count += counted;
    return TAMIS_OK;
}

static size_t counting_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t counted = 0;
    size_t removed =
        counting_is_usual(f)
            ? counting_change_many(f, PROBES_USUAL_BITS, keys, n, counters_lower, &counted)
            : counting_change_many(f, f->plan.width, keys, n, counters_lower, &counted);

    counters_forget(f, counted);
    return removed;
}

static tamis_status counting_add_concurrent(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    uint64_t counted = 0;

    *added = counting_change_many(f, f->plan.width, keys, n, counters_raise_atomic, &counted);
    __atomic_fetch_add(&f->count, counted, __ATOMIC_RELAXED);
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

    probes_find(slots, from, probes_of_counters(from, from->plan.width), key);
    for (uint32_t i = 0; i < from->plan.hashes; i++)
        bitset_put_atomic(to->payload, slots[i],
                          counters_get(from->payload, from->plan.width, slots[i]) != 0);
}

static const char *counting_verify(const tamis *f)
{
    return counters_verify(f, f->plan.slots);
}

static void counting_measure(const tamis *f, tamis_info *info)
{
    double m = (double)f->plan.slots;

    info->fill = fmin(1, (double)counters_measure(f, info) / m);
    info->fpr = pow(info->fill, f->plan.hashes);
    info->cardinality = tamis__rates_keys(1 - info->fill, m, 1 / m) / f->plan.hashes;
}

/* ---- Pictures and words ------------------------------------------------ */

static tamis_cell counting_cell(const tamis *f, uint64_t slot)
{
    return (tamis_cell){ .array = "counters",
                         .index = slot,
                         .value = counters_get(f->payload, f->plan.width, slot),
                         .bits = f->plan.width };
}

static void counting_cells(const tamis *f, tamis_telling *t)
{
    for (uint64_t i = 0; i < f->plan.slots && tamis__tell_cell(t, counting_cell(f, i)); i++)
        continue;
}

static bool counting_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    uint64_t slots[PROBES_MAX];
    counters_key k = counting_find(slots, f, f->plan.width, key);

    for (unsigned i = 0; i < k.n; i++) {
        if (counters_came_before(k, i))
            continue;
        tamis_cell cell = counting_cell(f, slots[i]);
        tamis__tell_read(t, "counter", cell, cell.value != 0);
    }
    return tamis__tell_count(t, counters_lowest(k));
}

static void counting_for_cpu(tamis *f, unsigned cpu)
{
    probes_shape s = { .range = f->plan.slots, .hashes = f->plan.hashes };

    memcpy(f->derived, &s, sizeof s);
    if (counting_is_usual(f))
        f->ops.has = counting_has_usual;
#if defined(__x86_64__)
    if (counting_is_usual(f) && cpu & TAMIS_CPU_AVX512)
        tamis__probes_use_avx512(f, true);
#endif
    (void)cpu;
}

const tamis_ops tamis__counting = {
    COUNTERS_OPS,
    .plan = counting_plan,
    .bytes = counting_bytes,
    .rate = tamis__rates_classic,
    .for_cpu = counting_for_cpu,
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
    .cells = counting_cells,
    .explain = counting_explain,
};
