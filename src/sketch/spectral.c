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

static tamis_status spectral_add(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t at[SPECTRAL_MAX_HASHES];
    spectral_raise r = { .at = at, .times = times };

    spectral_find(at, f, spectral_rows_of(f), hash_key(key, f->salt));
    tamis_status status = tamis__spectral_raise(f, &r, 1);
    f->count += status ? 0 : times;
    return status;
}

static tamis_status spectral_remove(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t at[SPECTRAL_MAX_HASHES];

    spectral_find(at, f, spectral_rows_of(f), hash_key(key, f->salt));
    if (spectral_least(f, at) < times)
        return TAMIS_ABSENT;
    tamis__spectral_lower(f, at, times);
    f->count -= times;
    return TAMIS_OK;
}

static const char *spectral_verify(const tamis *f)
{
    return tamis__spectral_verify(f, spectral_counters(&f->plan), true);
}

const tamis_ops tamis__spectral = {
    SPECTRAL_ROWS_OPS,
    .verify = spectral_verify,
    .add = spectral_add,
    .remove = spectral_remove,
};
