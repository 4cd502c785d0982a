/* spectral.c - spectral Bloom filter by minimum selection: how often was this key added?
 *
 * A Bloom filter that counts: adding a key adds to its counter in each row, and the least of them
 * is the answer. Others that share a counter make it too high, never too low, and all k of them
 * must be shared for the answer to be wrong: that happens at the rate of the Bloom filter, and
 * removing undoes adding. Counters have any size (spectral.h).
 *
 *   stream A A B C C     A: 2 3 2     B: 1 3 2     C: 2 2 2     -> 2, 1, 2
 *
 * Payload: as in spectral.h. Every row adds up to the number of adds.
 *
 * Cohen, Matias: Spectral Bloom Filters, 2003. */
#include "sketch/spectral.h"

/* ---- Operations -------------------------------------------------------- */

static inline tamis_status add_at(tamis *f, const places *p, uint64_t times)
{
    tamis_status status = TAMIS_OK;
    change c;

    if (!raise_halves(f, p->at, times)) {
        c.n = 0;
        raise_all(&c, f, p->at, times);
        status = apply(f, &c);
    }
    f->count += status ? 0 : times;
    return status;
}

#define COUNT_AT least_at
#define ADD_FETCHES fetch_places
#include "sketch/spectral_kind.h"

/* Counters only become smaller: there is room. */
static tamis_status remove_times(tamis *f, uint64_t key, uint64_t times)
{
    places p;
    change c;

    find_places(&p, f, key);
    if (least_at(f, &p) < times)
        return TAMIS_ABSENT;
    c.n = 0;
    lower_all(&c, f, p.at, times);
    f->count -= times;
    return apply(f, &c);
}

static const char *verify(const tamis *f)
{
    return check_spectral(f, row_counters(&f->plan), true);
}

const tamis_ops tamis__spectral = {
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
    .remove = remove_times,
    .touch = spectral_touch,
    .has_many = spectral_has_many,
    .count_many = count_many,
    .add_many = add_many,
    .merge = spectral_merge,
    .move = move_table,
};
