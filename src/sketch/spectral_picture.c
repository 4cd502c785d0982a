/* spectral_picture.c - what the spectral kinds tell of their counters.
 *
 * A counter is shown whole: its four bits, and the digits that the table has of it. */
#include "sketch/spectral.h"

static tamis_cell spectral_cell(const tamis *f, const spectral_rows *rows, uint64_t i)
{
    uint64_t value = spectral_counter(f, i), row = (i - rows->start) / rows->slots;
    unsigned bits = 4 + DIGIT_BITS * tamis__spectral_entries_of(value);

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
    uint64_t at[MAX_HASHES];

    spectral_find(at, f, hash_key(key, f->salt));
    tamis__spectral_tell_counters(f, spectral_rows_of(f), at, t);
    return tamis__tell_count(t, spectral_least(f, at));
}
