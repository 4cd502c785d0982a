/* spectral_filter.c - what the spectral kinds do alike with a whole filter: size it, ask whether a
 * key is there, merge, check and measure. Only counts and adds differ. */
#include <string.h>

#include "sketch/spectral.h"

/* ---- Sizing ------------------------------------------------------------ */

static const uint64_t MAX_COUNTERS = UINT64_C(1) << 44;

uint64_t tamis__spectral_bytes(const tamis_plan *p)
{
    uint64_t counters;
    bool ok = p->slots > 1 && p->hashes > 0 && p->hashes <= MAX_HASHES && p->width > 0 &&
              p->flags == 0 && p->load == 0;

    if (!ok || mul_overflows(p->slots, p->hashes, &counters) || counters >= MAX_COUNTERS)
        return 0;
    return spectral_offset(p) + spectral_bytes_of_counters(counters);
}

/* The table starts with room for one counter of a key in 256 keys. */
static bool spectral_size_rows(tamis_plan *p, uint32_t k, double n, double fpr)
{
    double slots = rows_slots(k, n, fpr);

    if (!(slots * k < (double)MAX_COUNTERS))
        return false;
    p->hashes = k;
    p->slots = (uint64_t)fmax(2, ceil(slots));
    while (rows_rate(p, n) > fpr)
        p->slots++;
    p->width = 1 + (uint32_t)fmin(n * k / (256 * LINE_ENTRIES), 0x1p28);
    return true;
}

/* The best number of hashes is log2(1 / rate), rounded up or down: whichever takes less. */
tamis_status tamis__spectral_size(tamis_plan *p, double n, double fpr,
                                  uint64_t (*bytes)(const tamis_plan *p))
{
    uint32_t below = (uint32_t)fmax(1, fmin(floor(-log2(fpr)), MAX_HASHES));
    tamis_plan other = *p;

    if (!spectral_size_rows(p, below, n, fpr))
        return TAMIS_RANGE;
    if (below < MAX_HASHES && spectral_size_rows(&other, below + 1, n, fpr) &&
        bytes(&other) < bytes(p))
        *p = other;
    return TAMIS_OK;
}

tamis_status tamis__spectral_plan(tamis_plan *p, const tamis_spec *spec)
{
    return tamis__spectral_size(p, (double)spec->keys, spec->fpr, tamis__spectral_bytes);
}

/* ---- Lookups ----------------------------------------------------------- */

bool tamis__spectral_has(const tamis *f, uint64_t key)
{
    uint64_t x = hash_key(key, f->salt), start = 0;

    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        if (spectral_nibble(f, start + scale64(x, f->plan.slots)) == 0)
            return false;
        start += f->plan.slots;
        x = rows_next(x);
    }
    return true;
}

void tamis__spectral_touch(const tamis *f, uint64_t key)
{
    uint64_t at[MAX_HASHES];

    spectral_find(at, f, hash_key(key, f->salt));
    spectral_fetch(f, at);
}

__attribute__((always_inline)) static inline void spectral_fetch_one(const tamis *f, uint64_t i)
{
    ahead_read(spectral_nibbles(f) + i / 2, f->is_far);
}

/* Keys that go through the rows side by side: many, since most strangers drop out early. */
enum { GROUP = 256 };

typedef struct spectral_group {
    uint64_t x[GROUP], at[GROUP];
    uint16_t who[GROUP];
    size_t n;
} spectral_group;

/* Those whose counter is 0 drop out; the others fetch their next one while the rest of the row is
 * looked at. Half of the keys would mispredict a branch: they are moved by arithmetic. */
__attribute__((always_inline)) static inline void
spectral_search_row(const tamis *f, spectral_group *g, uint64_t next_start)
{
    size_t left = 0;

    for (size_t i = 0; i < g->n; i++) {
        uint64_t next = rows_next(g->x[i]), now = g->at[i];
        uint64_t next_at = next_start + scale64(next, f->plan.slots);
        uint64_t stays = spectral_nibble(f, now) != 0;
        g->who[left] = g->who[i];
        g->x[left] = next;
        g->at[left] = next_at;
        spectral_fetch_one(f, now ^ ((now ^ next_at) & -stays));
        left += (size_t)stays;
    }
    g->n = left;
}

__attribute__((always_inline)) static inline void spectral_has_group(const tamis *f, uint64_t *hits,
                                                                     const uint64_t *keys, size_t n)
{
    spectral_group g;

    g.n = n;
    for (size_t i = 0; i < n; i++) {
        g.who[i] = (uint16_t)i;
        g.x[i] = hash_key(keys[i], f->salt);
        g.at[i] = scale64(g.x[i], f->plan.slots);
        spectral_fetch_one(f, g.at[i]);
    }
    for (uint32_t row = 1; row < f->plan.hashes; row++)
        spectral_search_row(f, &g, row * f->plan.slots);
    for (size_t i = 0; i < g.n; i++)
        hits[g.who[i] / 64] |= (uint64_t)(spectral_nibble(f, g.at[i]) != 0) << g.who[i] % 64;
}

size_t tamis__spectral_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    size_t words = (n + 63) / 64;

    memset(hits, 0, words * sizeof *hits);
    for (size_t i = 0; i < n; i += GROUP)
        spectral_has_group(f, hits + i / 64, keys + i, n - i < GROUP ? n - i : GROUP);
    return (size_t)count_ones(hits, words * sizeof *hits);
}

/* ---- Two filters ------------------------------------------------------- */

tamis_status tamis__spectral_can_merge(const tamis *f, const tamis *g)
{
    uint64_t entries = 0;

    for (uint64_t i = 0; i < spectral_counters(&f->plan); i++)
        entries += tamis__spectral_entries_of(
            spectral_sum(spectral_counter(f, i), spectral_counter(g, i)));
    return entries > (uint64_t)f->plan.width * LINE_USED ? TAMIS_FULL : TAMIS_OK;
}

/* g may be f. */
void tamis__spectral_add_rows(tamis *f, const tamis *g)
{
    for (uint64_t i = 0; i < spectral_counters(&f->plan); i++) {
        uint64_t old = spectral_counter(f, i), more = spectral_counter(g, i);
        if (more)
            tamis__spectral_put(f, i, old, old + more);
    }
    f->count += g->count;
}

tamis_status tamis__spectral_merge(tamis *f, const tamis *g)
{
    tamis_status status = tamis__spectral_can_merge(f, g);

    if (!status)
        tamis__spectral_add_rows(f, g);
    return status;
}

/* ---- The whole filter -------------------------------------------------- */

/* The last word of counters may stick out of them; what sticks out is zero. */
const char *tamis__spectral_verify(const tamis *f, uint64_t counters, bool exactly)
{
    const char *why = tamis__spectral_verify_table(f, counters);
    uint64_t w = f->plan.slots;

    if (why)
        return why;
    for (uint64_t i = counters; i < spectral_bytes_of_counters(counters) * 2; i++)
        if (spectral_nibble(f, i))
            return "bits past the end are set";
    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        uint64_t sum = 0;
        bool overflows = false;
        for (uint64_t i = row * w; i < (row + 1) * w; i++)
            overflows |= add_overflows(sum, spectral_counter(f, i), &sum);
        if (overflows || sum > f->count || (exactly && sum < f->count))
            return "a row does not add up";
    }
    return NULL;
}

static uint64_t spectral_count_used(const tamis *f, uint32_t row)
{
    uint64_t used = 0, w = f->plan.slots;

    for (uint64_t i = row * w; i < (row + 1) * w; i++)
        used += spectral_nibble(f, i) != 0;
    return used;
}

void tamis__spectral_measure(const tamis *f, tamis_info *info)
{
    rows_measure(f, info, spectral_count_used);
}
