/* spectral_mi.c - spectral Bloom filter by minimal increase.
 *
 * As the spectral filter, but adding a key raises its counters no further than to the count that
 * it has then: those that others have made higher stay. The least is still never too low, and no
 * counter is higher than minimum selection would have made it, so that counts are closer to the
 * truth. The price: a counter is no longer the sum of what its keys have added, and nothing can be
 * removed. The sum of two such counters is still not below what their keys have added to both, so
 * that filters can be merged; but it may be more than adding all keys to one filter would give.
 *
 * Payload: as in spectral.h. No row adds up to more than the number of adds.
 *
 * Cohen, Matias: Spectral Bloom Filters, 2003. */
#include "sketch/spectral.h"

/* Raises the counters that are below `to`, if there is room for that. */
static tamis_status spectral_mi_raise_to(tamis *f, const uint64_t *at, uint64_t to)
{
    uint64_t more = 0;

    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        uint64_t old = spectral_counter(f, at[i]);
        if (old < to)
            more += tamis__spectral_entries_of(to) - tamis__spectral_entries_of(old);
    }
    if (more > tamis__spectral_entries_free(f))
        return TAMIS_FULL;
    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        uint64_t old = spectral_counter(f, at[i]);
        if (old < to)
            tamis__spectral_put(f, at[i], old, to);
    }
    return TAMIS_OK;
}

/* Up to ESCAPE no counter needs the table. */
static inline tamis_status spectral_mi_add_at(tamis *f, const uint64_t *at, uint64_t times)
{
    uint64_t to = spectral_least(f, at) + times;
    tamis_status status = TAMIS_OK;

    if (to > ESCAPE)
        status = spectral_mi_raise_to(f, at, to);
    else
        for (uint32_t i = 0; i < f->plan.hashes; i++)
            if (spectral_nibble(f, at[i]) < to)
                spectral_put_nibble(f, at[i], (unsigned)to);
    f->count += status ? 0 : times;
    return status;
}

#define SPECTRAL_COUNT(f, h, at) spectral_least(f, at)
#define SPECTRAL_ADD(f, h, at, times) spectral_mi_add_at(f, at, times)
#define SPECTRAL_FETCH(f, h, at) spectral_fetch(f, at)
#include "sketch/spectral_template.h"

static const char *spectral_mi_verify(const tamis *f)
{
    return tamis__spectral_verify(f, spectral_counters(&f->plan), false);
}

const tamis_ops tamis__spectral_mi = {
    SPECTRAL_OPS,
    .plan = tamis__spectral_plan,
    .bytes = tamis__spectral_bytes,
    .verify = spectral_mi_verify,
    .merge = tamis__spectral_merge,
    .cells = tamis__spectral_cells,
    .explain = tamis__spectral_explain,
};
