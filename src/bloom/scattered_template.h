/* scattered_template.h - TEMPLATE, compiled once for each kind of scattered bits: what it does
 * most.
 *
 * The includer defines scattered_name(), which makes a name its own, and SCATTERED_HAS_ROWS:
 * whether each probe has a row of plan.slots bits, or all have one. */
#include "base/cpu.h"
#include "bloom/scattered.h"

/* The compiler is to know whether there is a step. */
static inline probes_shape scattered_name(shape)(const tamis *f)
{
    const probes_shape *s = probes_derived(f);

    return (probes_shape){ .range = s->range,
                           .step = SCATTERED_HAS_ROWS ? s->range : 0,
                           .hashes = s->hashes };
}

static void scattered_name(for_cpu)(tamis *f, unsigned cpu)
{
    probes_shape s = { .range = f->plan.slots,
                       .step = SCATTERED_HAS_ROWS ? f->plan.slots : 0,
                       .hashes = f->plan.hashes };

    memcpy(f->derived, &s, sizeof s);
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX512)
        tamis__probes_use_avx512(f, false);
#endif
    (void)cpu;
}

static uint64_t scattered_name(bytes)(const tamis_plan *p)
{
    uint64_t bits, rows = SCATTERED_HAS_ROWS ? p->hashes : 1;
    bool ok = p->slots > 0 && p->width == 0 && p->hashes > 0 && p->hashes <= PROBES_MAX &&
              !p->flags && !p->load && !mul_overflows(p->slots, rows, &bits) &&
              bits < UINT64_C(1) << 60;

    return ok ? bytes_of_bits(bits) : 0;
}

__attribute__((noinline)) static bool scattered_name(has_rest)(const tamis *f, uint64_t x,
                                                               uint64_t base, uint32_t left)
{
    return probes_has_rest(f, scattered_name(shape)(f), x, base, left);
}

static bool scattered_name(has)(const tamis *f, uint64_t key)
{
    return probes_has_first(f, scattered_name(shape)(f), key, scattered_name(has_rest));
}

static size_t scattered_name(has_many)(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                       size_t n)
{
    return probes_has_many(f, scattered_name(shape)(f), hits, keys, n);
}

static tamis_status scattered_name(add)(tamis *f, uint64_t key, uint64_t times)
{
    (void)times;
    scattered_set_key(f, scattered_name(shape)(f), key);
    f->count++;
    return TAMIS_OK;
}

static tamis_status scattered_name(add_many)(tamis *f, size_t *added, const uint64_t *keys,
                                             size_t n)
{
    scattered_set_many(f, scattered_name(shape)(f), keys, n, bitset_set);
    f->count += n;
    *added = n;
    return TAMIS_OK;
}

static tamis_status scattered_name(add_concurrent)(tamis *f, size_t *added, const uint64_t *keys,
                                                   size_t n)
{
    scattered_set_many(f, scattered_name(shape)(f), keys, n, bitset_set_atomic);
    __atomic_fetch_add(&f->count, n, __ATOMIC_RELAXED);
    *added = n;
    return TAMIS_OK;
}
