/* spectral_kind.h - calls of a spectral kind, one by one and in batches, from what it does with the
 * counters of a key.
 *
 * A template: the kind includes spectral.h, defines add_at(), names COUNT_AT, which counts, and
 * ADD_FETCHES, which asks for the memory that add_at() will read, and includes this once. */

static uint64_t count(const tamis *f, uint64_t key)
{
    places p;

    find_places(&p, f, key);
    return COUNT_AT(f, &p);
}

static tamis_status add(tamis *f, uint64_t key, uint64_t times)
{
    places p;

    find_places(&p, f, key);
    return add_at(f, &p, times);
}

static void count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    read_many(f, counts, keys, n, COUNT_AT, fetch_places);
}

static tamis_status add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    return change_many(f, added, keys, n, add_at, ADD_FETCHES);
}
