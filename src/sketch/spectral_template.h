/* spectral_template.h - TEMPLATE, compiled once for each spectral kind: its calls for one key and
 * for many, and what its table has in common with the others, SPECTRAL_OPS.
 *
 * The includer defines, for a key with hash h whose counters in the rows are at[0], at[1], ...:
 *   SPECTRAL_COUNT(f, h, at)       its count
 *   SPECTRAL_ADD(f, h, at, times)  adds it, or answers TAMIS_FULL and changes nothing
 *   SPECTRAL_FETCH(f, h, at)       asks for the memory that adding reads */

static uint64_t spectral_count(const tamis *f, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt), at[MAX_HASHES];

    spectral_find(at, f, h);
    return SPECTRAL_COUNT(f, h, at);
}

static tamis_status spectral_add(tamis *f, uint64_t key, uint64_t times)
{
    uint64_t h = hash_key(key, f->salt), at[MAX_HASHES];

    spectral_find(at, f, h);
    return SPECTRAL_ADD(f, h, at, times);
}

/* Keys whose lines are on their way, a power of two: fewer if each has many, since they are on the
 * stack. */
enum { AHEAD = 16, AHEAD_COUNTERS = 256 };

static size_t spectral_ahead(const tamis *f)
{
    size_t ahead = AHEAD;

    while (ahead * f->plan.hashes > AHEAD_COUNTERS)
        ahead /= 2;
    return ahead;
}

static void spectral_count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    uint64_t hashes[AHEAD], counters[AHEAD_COUNTERS];
    size_t ahead = spectral_ahead(f);

    for (size_t i = 0; i < n + ahead; i++) {
        uint64_t *h = &hashes[i & (ahead - 1)], *at = counters + (i & (ahead - 1)) * f->plan.hashes;
        if (i >= ahead)
            counts[i - ahead] = SPECTRAL_COUNT(f, *h, at);
        if (i < n) {
            *h = hash_key(keys[i], f->salt);
            spectral_find(at, f, *h);
            spectral_fetch(f, at);
        }
    }
}

static tamis_status spectral_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    uint64_t hashes[AHEAD], counters[AHEAD_COUNTERS];
    size_t ahead = spectral_ahead(f);
    tamis_status status = TAMIS_OK;

    *added = 0;
    for (size_t i = 0; i < n + ahead && !status; i++) {
        uint64_t *h = &hashes[i & (ahead - 1)], *at = counters + (i & (ahead - 1)) * f->plan.hashes;
        if (i >= ahead) {
            status = SPECTRAL_ADD(f, *h, at, 1);
            *added += !status;
        }
        if (i < n) {
            *h = hash_key(keys[i], f->salt);
            spectral_find(at, f, *h);
            SPECTRAL_FETCH(f, *h, at);
        }
    }
    return status;
}

#define SPECTRAL_OPS                                                              \
    .traits = TAMIS_TRAIT_GROWS_COUNTS | TAMIS_TRAIT_TO_STUDY, .rate = rows_rate, \
    .resize = tamis__spectral_resize, .measure = tamis__spectral_measure,         \
    .has = tamis__spectral_has, .count = spectral_count, .add = spectral_add,     \
    .touch = tamis__spectral_touch, .has_many = tamis__spectral_has_many,         \
    .count_many = spectral_count_many, .add_many = spectral_add_many, .move = tamis__spectral_move
