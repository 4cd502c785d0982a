/* aleph_many.h - lookups and changes, of one key and of many, a template for the kernels: what
 * instructions they are made of is up to the options of the file that includes it. */
#include "base/many.h"
#include "quotient/aleph.h"

/* ---- One key ----------------------------------------------------------- */

static bool has(const tamis *f, uint64_t key)
{
    aleph a = aleph_of(f);
    spot at = spot_of(&a, hash_key(key, a.salt));

    return has_in(&a.t, &at);
}

static tamis_status add(tamis *f, uint64_t key, uint64_t times)
{
    aleph a = aleph_of(f);
    spot at = spot_of(&a, hash_key(key, a.salt));
    tamis_status status = add_in(&a, &at);

    (void)times;
    f->count += !status;
    return status;
}

/* Copies of voids stay when the keys that they stood for are gone: they are nobody's to remove. */
static tamis_status remove_key(tamis *f, uint64_t key, uint64_t times)
{
    aleph a = aleph_of(f);
    spot at = spot_of(&a, hash_key(key, a.salt));

    (void)times;
    if (f->count == 0 || !remove_in(&a, &at))
        return TAMIS_ABSENT;
    f->count--;
    return TAMIS_OK;
}

/* ---- Many lookups ------------------------------------------------------ */

__attribute__((always_inline)) static inline void fetch_block(const uint8_t *b, unsigned j,
                                                              unsigned width)
{
    __builtin_prefetch(b, 0, 3);
    __builtin_prefetch(b + OFFSET, 0, 3);
    __builtin_prefetch(b + SLOTS + (j * width + 32) / 8, 0, 3);
}

__attribute__((always_inline)) static inline void fetch_spot(const aleph *a, uint64_t h)
{
    uint64_t q = spot_of(a, h).quotient;

    fetch_block(a->t.at + q / BLOCK * a->t.stride, q % BLOCK, a->t.width);
}

/* Keys on their way: the block of each, and which slot and fingerprint in it. */
typedef struct places {
    const uint8_t *block[MANY];
    uint32_t fresh[MANY];
    uint8_t slot[MANY];
    size_t n;
} places;

static inline void place_group(places *g, const aleph *a, const uint64_t *keys, size_t from,
                               size_t n)
{
    g->n = many_group(from, n);
    for (size_t i = 0; i < g->n; i++) {
        spot at = spot_of(a, hash_key(keys[from + i], a->salt));
        g->block[i] = a->t.at + at.quotient / BLOCK * a->t.stride;
        g->slot[i] = at.quotient % BLOCK;
        g->fresh[i] = at.fresh;
    }
}

static inline bool look(const places *g, const aleph *a, const lanes *l, size_t i,
                        const uint64_t *keys)
{
    int seen = look_in(l, g->block[i], g->slot[i], g->fresh[i], a->t.width);

    if (seen >= 0)
        return seen;
    spot at = spot_of(a, hash_key(keys[i], a->salt));
    return has_in(&a->t, &at);
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const aleph a = aleph_of(f);
    const lanes l = lanes_of(a.t.width);
    places groups[2];
    size_t found = 0;

    place_group(&groups[0], &a, keys, 0, n);
    for (size_t i = 0; i < groups[0].n; i++)
        fetch_block(groups[0].block[i], groups[0].slot[i], a.t.width);
    for (size_t from = 0; from < n; from += MANY) {
        const places *now = &groups[from / MANY % 2];
        places *next = &groups[from / MANY % 2 ^ 1];
        uint64_t word = 0;
        place_group(next, &a, keys, from + MANY, n);
        for (size_t i = 0; i < now->n; i++) {
            if (i < next->n)
                fetch_block(next->block[i], next->slot[i], a.t.width);
            word |= (uint64_t)look(now, &a, &l, i, keys + from) << i;
        }
        hits[from / MANY] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

/* ---- Many changes ------------------------------------------------------ */

/* The hashes of the keys from `from` on, MANY at most, whose blocks are on their way. */
static inline void fetch_group(uint64_t *hashes, const aleph *a, const uint64_t *keys, size_t from,
                               size_t n)
{
    for (size_t i = 0; i < many_group(from, n); i++) {
        hashes[i] = hash_key(keys[from + i], a->salt);
        fetch_spot(a, hashes[i]);
    }
}

static tamis_status add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    aleph a = aleph_of(f);
    uint64_t hashes[MANY];
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n; ++*added) {
        if (*added % MANY == 0)
            fetch_group(hashes, &a, keys, *added, n);
        spot at = spot_of(&a, hashes[*added % MANY]);
        status = add_in(&a, &at);
        if (status)
            break;
    }
    f->count += *added;
    return status;
}

static size_t remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    aleph a = aleph_of(f);
    uint64_t hashes[MANY];
    size_t removed = 0;

    for (size_t i = 0; i < n && removed < f->count; i++) {
        if (i % MANY == 0)
            fetch_group(hashes, &a, keys, i, n);
        spot at = spot_of(&a, hashes[i % MANY]);
        removed += remove_in(&a, &at);
    }
    f->count -= removed;
    return removed;
}
