/* sizing.h - slots and blocks of a binary fuse filter, by the number of its keys. */
#ifndef TAMIS_FUSE_SIZING_H
#define TAMIS_FUSE_SIZING_H

#include "fuse/window.h"

/* Parts of up to `keys` keys get blocks of 2^block slots and a window of 2^window blocks, and near
 * blocks of `starts` / 1024 slots a key. Rows began as the fewest slots with which nine in ten of
 * 300 simulated sets (40 above 100,000 keys, a few above a million) were peeled at the first
 * attempt, and were then evened out by hand. A row that is too tight costs time, for another seed,
 * and no key. The last row has no upper end. */
typedef struct sizing {
    uint64_t keys;
    uint32_t block, window, starts;
} sizing;

/* From this many keys on, the filter is larger than the cache next to the processor, and lines
 * count more than a little room. */
enum { MANY_KEYS = 100001 };

static inline sizing row_for(const sizing *row, uint64_t n, unsigned width)
{
    sizing fit;
    unsigned halvings = width <= 8 ? 0 : WIDE_HALVINGS;

    while (row->keys < n)
        row++;
    fit = *row;
    if (n >= MANY_KEYS) {
        fit.block -= halvings;
        fit.window += halvings;
        fit.starts += halvings * STARTS_A_HALVING;
    }
    return fit;
}

static inline uint64_t slots_in_row(const sizing *row, uint64_t n)
{
    uint64_t length = UINT64_C(1) << row->block;
    uint64_t starts = (n * row->starts / 1024 + length - 1) / length;

    return ((starts ? starts : 1) + (UINT64_C(1) << row->window)) * length;
}

/* More keys never get fewer slots: a row begins where the one before it ends. */
static inline tamis_status plan_by(tamis_plan *p, const tamis_spec *spec, const sizing *rows)
{
    uint64_t n = part_room(spec->keys), least = 0;

    p->width = fingerprint_bits(spec->fpr);
    if (p->width > PACKED_WIDEST || spec->keys >= MOST_KEYS)
        return TAMIS_RANGE;
    sizing fit = row_for(rows, n, p->width);
    for (; rows->keys < n; rows++) {
        sizing before = row_for(rows, rows->keys, p->width);
        least = slots_in_row(&before, rows->keys);
    }
    p->hashes = fit.block | fit.window << WINDOW_BITS_AT;
    p->slots = slots_in_row(&fit, n);
    if (p->slots < least)
        p->slots = round_up(least, UINT64_C(1) << fit.block);
    return TAMIS_OK;
}

#endif
