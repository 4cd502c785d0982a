/* spectral_rows.c - what the spectral kinds do alike with rows of counters: size them, ask whether
 * a key is there, merge, check, measure and show. Only adds differ, and counts of one kind. */
#include "sketch/spectral.h"

/* ---- Sizing ------------------------------------------------------------ */

static const uint64_t SPECTRAL_MAX_COUNTERS = UINT64_C(1) << 44;

uint64_t tamis__spectral_bytes(const tamis_plan *p)
{
    uint64_t counters;
    bool ok = p->slots > 1 && p->hashes > 0 && p->hashes <= SPECTRAL_MAX_HASHES && p->width > 0 &&
              p->flags == 0 && p->load == 0;

    if (!ok || mul_overflows(p->slots, p->hashes, &counters) || counters >= SPECTRAL_MAX_COUNTERS)
        return 0;
    return spectral_offset(p) + spectral_bytes_of_counters(counters);
}

/* The table starts with room for one counter of a key in 256 keys. */
static bool spectral_size_rows(tamis_plan *p, uint32_t k, double n, double fpr)
{
    double slots = rows_slots(k, n, fpr);

    if (!(slots * k < (double)SPECTRAL_MAX_COUNTERS))
        return false;
    p->hashes = k;
    p->slots = (uint64_t)fmax(2, ceil(slots));
    while (rows_rate(p, n) > fpr)
        p->slots++;
    p->width = 1 + (uint32_t)fmin(n * k / (256 * SPECTRAL_LINE_ENTRIES), 0x1p28);
    return true;
}

/* The best number of hashes is log2(1 / rate), rounded up or down: whichever takes less. */
tamis_status tamis__spectral_size(tamis_plan *p, double n, double fpr,
                                  uint64_t (*bytes)(const tamis_plan *p))
{
    uint32_t below = (uint32_t)fmax(1, fmin(floor(-log2(fpr)), SPECTRAL_MAX_HASHES));
    tamis_plan other = *p;

    if (!spectral_size_rows(p, below, n, fpr))
        return TAMIS_RANGE;
    if (below < SPECTRAL_MAX_HASHES && spectral_size_rows(&other, below + 1, n, fpr) &&
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
    uint64_t x = hash_key(key, f->salt), w = f->plan.slots;

    for (uint32_t i = 0; i < f->plan.hashes; i++, x = rows_next(x))
        if (spectral_nibble(f, i * w + scale64(x, w)) == 0)
            return false;
    return true;
}

uint64_t tamis__spectral_count(const tamis *f, uint64_t key)
{
    uint64_t at[SPECTRAL_MAX_HASHES];

    spectral_find(at, f, spectral_rows_of(f), hash_key(key, f->salt));
    return spectral_least(f, at);
}

/* ---- Two filters ------------------------------------------------------- */

tamis_status tamis__spectral_can_merge(const tamis *f, const tamis *g)
{
    uint64_t entries = 0;

    for (uint64_t i = 0; i < spectral_counters(&f->plan); i++)
        entries += tamis__spectral_entries_of(
            spectral_sum(spectral_counter(f, i), spectral_counter(g, i)));
    return entries > spectral_entries_most(&f->plan) ? TAMIS_FULL : TAMIS_OK;
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

/* ---- Pictures and words ------------------------------------------------ */

/* A counter is shown whole: its four bits, and the digits that the table has of it. */
static tamis_cell spectral_cell(const tamis *f, const spectral_rows *rows, uint64_t i)
{
    uint64_t value = spectral_counter(f, i), row = (i - rows->start) / rows->slots;
    unsigned bits = 4 + SPECTRAL_DIGIT_BITS * tamis__spectral_entries_of(value);

    return (tamis_cell){ .array = rows->name,
                         .number = row,
                         .index = i - rows->start - row * rows->slots,
                         .value = value,
                         .bits = bits < 64 ? bits : 64 };
}

void tamis__spectral_tell_rows(const tamis *f, spectral_rows rows, tamis_telling *t)
{
    uint64_t end = rows.start + rows.slots * f->plan.hashes;

    for (uint64_t i = rows.start; i < end && tamis__tell_cell(t, spectral_cell(f, &rows, i)); i++)
        continue;
}

void tamis__spectral_tell_counters(const tamis *f, spectral_rows rows, const uint64_t *at,
                                   tamis_telling *t)
{
    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        tamis_cell cell = spectral_cell(f, &rows, at[i]);
        tamis__tell_read(t, "counter", cell, cell.value != 0);
    }
}

void tamis__spectral_cells(const tamis *f, tamis_telling *t)
{
    tamis__spectral_tell_rows(f, spectral_rows_of(f), t);
    tamis__spectral_tell_table(f, t);
}

bool tamis__spectral_explain(const tamis *f, uint64_t key, tamis_telling *t)
{
    uint64_t at[SPECTRAL_MAX_HASHES];

    spectral_find(at, f, spectral_rows_of(f), hash_key(key, f->salt));
    tamis__spectral_tell_counters(f, spectral_rows_of(f), at, t);
    return tamis__tell_count(t, spectral_least(f, at));
}
