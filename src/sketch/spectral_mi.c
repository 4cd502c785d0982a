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

/* ---- Operations -------------------------------------------------------- */

/* No counter needs the table for that. */
static inline void lift_halves(tamis *f, const uint64_t *at, unsigned to)
{
    for (uint32_t i = 0; i < f->plan.hashes; i++)
        if (half_get(f, at[i]) < to)
            half_put(f, at[i], to);
}

static inline tamis_status lift(tamis *f, const uint64_t *at, uint64_t to)
{
    change c;

    c.n = 0;
    for (uint32_t i = 0; i < f->plan.hashes; i++)
        if (counter_get(f, at[i]) < to)
            change_to(&c, at[i], to);
    return apply(f, &c);
}

static inline tamis_status add_at(tamis *f, const places *p, uint64_t times)
{
    uint64_t to = least_at(f, p) + times;
    tamis_status status = TAMIS_OK;

    if (to <= ESCAPE)
        lift_halves(f, p->at, (unsigned)to);
    else
        status = lift(f, p->at, to);
    f->count += status ? 0 : times;
    return status;
}

#define COUNT_AT least_at
#define ADD_FETCHES fetch_places
#include "sketch/spectral_kind.h"

static const char *verify(const tamis *f)
{
    return check_spectral(f, row_counters(&f->plan), false);
}

const tamis_ops tamis__spectral_mi = {
    .traits = TAMIS_TRAIT_GROWS_COUNTS,
    .plan = plan_rows,
    .bytes = bytes_of_rows,
    .rate = spectral_rate,
    .resize = spectral_resize,
    .verify = verify,
    .measure = spectral_measure,
    .has = spectral_has,
    .count = count,
    .add = add,
    .touch = spectral_touch,
    .has_many = spectral_has_many,
    .count_many = count_many,
    .add_many = add_many,
    .merge = spectral_merge,
    .move = move_table,
};
