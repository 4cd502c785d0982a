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

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t bytes(const tamis_plan *p)
{
    return shape_is_possible(p) ? halves_offset(p) + bytes_of_halves(row_counters(p)) : 0;
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    return size_spectral(p, (double)spec->keys, spec->fpr, bytes);
}

/* ---- Operations -------------------------------------------------------- */

static uint64_t count_at(const tamis *f, const places *p)
{
    return least_of(f, p->at);
}

static uint64_t count(const tamis *f, uint64_t key)
{
    places p;

    find_places(&p, f, key);
    return count_at(f, &p);
}

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

static tamis_status add_times(tamis *f, uint64_t key, uint64_t times)
{
    places p;

    find_places(&p, f, key);
    return add_at(f, &p, times);
}

static tamis_status add(tamis *f, uint64_t key)
{
    return add_times(f, key, 1);
}

/* Counters only become smaller: there is room. */
static tamis_status remove_times(tamis *f, uint64_t key, uint64_t times)
{
    places p;
    change c;

    find_places(&p, f, key);
    if (count_at(f, &p) < times)
        return TAMIS_ABSENT;
    c.n = 0;
    lower_all(&c, f, p.at, times);
    f->count -= times;
    return apply(f, &c);
}

static tamis_status remove_key(tamis *f, uint64_t key)
{
    return remove_times(f, key, 1);
}

static const char *verify(const tamis *f)
{
    return check_spectral(f, row_counters(&f->plan), true);
}

/* ---- Many keys --------------------------------------------------------- */

static void count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    read_many(f, counts, keys, n, count_at, fetch_places);
}

static tamis_status try_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    return change_many(f, added, keys, n, add_at, fetch_places);
}

static const tamis_batch *batch(unsigned cpu)
{
    static const tamis_batch PORTABLE = { .has_many = spectral_has_many,
                                          .try_add_many = try_add_many,
                                          .count_many = count_many };

    (void)cpu;
    return &PORTABLE;
}

const tamis_ops tamis__spectral = {
    .plan = plan,
    .bytes = bytes,
    .has = spectral_has,
    .rate = spectral_rate,
    .verify = verify,
    .measure = spectral_measure,
    .add = add,
    .remove = remove_key,
    .count = count,
    .add_times = add_times,
    .remove_times = remove_times,
    .merge = spectral_merge,
    .grower = &TABLE_GROWER,
    .touch = spectral_touch,
    .batch = batch,
};
