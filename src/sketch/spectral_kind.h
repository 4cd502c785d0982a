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

static void count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    read_many(f, counts, keys, n, COUNT_AT, fetch_places);
}

static tamis_status try_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    return change_many(f, added, keys, n, add_at, ADD_FETCHES);
}

static const tamis_batch *batch(unsigned cpu)
{
    static const tamis_batch PORTABLE = { .has_many = spectral_has_many,
                                          .try_add_many = try_add_many,
                                          .count_many = count_many };

    (void)cpu;
    return &PORTABLE;
}
