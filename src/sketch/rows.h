/* rows.h - what sketches share: rows of counters, of which a key has one in each.
 *
 * Rows have w = plan.slots counters, and there are d = plan.hashes of them. Row i of a key has
 * counter scale64(x_i, w), where x_0 is hash_key(key) and x_{i+1} = rows_next(x_i).
 *
 * n distinct keys leave a counter of a row unused with probability (1 - 1/w)^n, and rows know
 * nothing of each other: all counters of a stranger are in use, or all counters of a key shared,
 * with probability
 *
 *   (1 - (1 - 1/w)^n)^d      exactly, for a stranger; for a key, with n - 1. */
#ifndef TAMIS_SKETCH_ROWS_H
#define TAMIS_SKETCH_ROWS_H

#include <math.h>

#include "filter.h"

/* One multiplication: its high bits depend on all bits of x, and the shift carries them down for
 * the next row. */
static inline uint64_t rows_next(uint64_t x)
{
    return (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
}

static inline double rows_rate(const tamis_plan *p, double n)
{
    return pow(-expm1(n * log1p(-1 / (double)p->slots)), p->hashes);
}

/* Counters in a row: each of d rows may be filled to fpr^(1/d). */
static inline double rows_slots(double d, double n, double fpr)
{
    return n > 0 ? -1 / expm1(log1p(-pow(fpr, 1 / d)) / n) : 1;
}

typedef uint64_t rows_count_used(const tamis *f, uint32_t row);

/* Each row is a witness of its own: rates multiply, estimates are averaged. A row without an unused
 * counter tells no more than that: it is taken for one that has one. */
static inline void rows_measure(const tamis *f, tamis_info *info, rows_count_used *count_used)
{
    double w = (double)f->plan.slots, fill = 0, fpr = 1, keys = 0;

    for (uint32_t row = 0; row < f->plan.hashes; row++) {
        double used = (double)count_used(f, row);
        fill += used / w;
        fpr *= used / w;
        keys += log1p(-fmin(used, w - 1) / w) / log1p(-1 / w);
    }
    info->fill = fill / f->plan.hashes;
    info->fpr = fpr;
    info->cardinality = keys / f->plan.hashes;
}

#endif
