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

static tamis_status spectral_mi_add(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t at[SPECTRAL_MAX_HASHES];
    spectral_raise r = { .at = at };

    spectral_find(at, f, spectral_rows_of(f), hash_key(key, f->salt));
    r.to = spectral_least(f, at) + times;
    tamis_status status = tamis__spectral_raise(f, &r, 1);
    f->count += status ? 0 : times;
    return status;
}

static const char *spectral_mi_verify(const tamis *f)
{
    return tamis__spectral_verify(f, spectral_counters(&f->plan), false);
}

const tamis_ops tamis__spectral_mi = {
    SPECTRAL_ROWS_OPS,
    .verify = spectral_mi_verify,
    .add = spectral_mi_add,
};
