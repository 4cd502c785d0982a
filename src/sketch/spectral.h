/* spectral.h - what the spectral kinds share: rows of counters of any size, most of them small.
 *
 * A key has one counter in each of k rows of w (rows.h). Most counters of a multiset are small, and
 * a few are large. Each has four bits of its own: up to 14 they are its value; 15 says that the
 * rest of it, value - 15, is in a table, as digits to the base 2^16, the lowest first. No table
 * entry stands for a rest of 0. When the table is full, the filter takes one twice as large:
 * counters never stop, and one that is small again gives its entries back.
 *
 *   payload   64 bytes of state: entries in use, then zeros
 *             the table, plan.width lines of eight entries
 *             the counters, two per byte, the even one in the low half
 *   entry     digit (16 bits) | there is a higher one (1) | number of the digit (2) | counter (45)
 *
 *   counter 7 is 100000:   bits of its own   15
 *                          rest              99985 = 1 * 65536 + 34449
 *                          entries           34449 | 1 | 0 | 7   and   1 | 0 | 1 | 7
 *
 * All four bits of a key's counters have to be 15 before the table is looked at: a count reads one
 * line per row, as a Bloom filter does, and hashes again for frequent keys alone.
 *
 * spectral_table.c has the table, spectral_rows.c what kinds do alike with the rows. */
#ifndef TAMIS_SKETCH_SPECTRAL_H
#define TAMIS_SKETCH_SPECTRAL_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "explain.h"
#include "sketch/rows.h"

/* ---- Layout ------------------------------------------------------------ */

enum {
    SPECTRAL_MAX_HASHES = 64,
    SPECTRAL_STATE_BYTES = 64,
    SPECTRAL_LINE_BYTES = 64,
    SPECTRAL_LINE_ENTRIES = 8,
    SPECTRAL_LINE_USED = 6, /* entries in use, at most, on average */
    SPECTRAL_ESCAPE = 15,
    SPECTRAL_DIGIT_BITS = 16,
};

/* Of the k rows; recurring minimum has more behind them. */
static inline uint64_t spectral_counters(const tamis_plan *p)
{
    return p->slots * p->hashes;
}

static inline uint64_t spectral_bytes_of_counters(uint64_t counters)
{
    return bytes_of_bits(4 * counters);
}

/* Where the counters start. */
static inline uint64_t spectral_offset(const tamis_plan *p)
{
    return SPECTRAL_STATE_BYTES + (uint64_t)p->width * SPECTRAL_LINE_BYTES;
}

static inline uint8_t *spectral_nibbles(const tamis *f)
{
    return (uint8_t *)f->payload + spectral_offset(&f->plan);
}

static inline unsigned spectral_nibble(const tamis *f, uint64_t i)
{
    return spectral_nibbles(f)[i / 2] >> i % 2 * 4 & 15;
}

static inline void spectral_put_nibble(tamis *f, uint64_t i, unsigned x)
{
    uint8_t *byte = spectral_nibbles(f) + i / 2;
    unsigned shift = i % 2 * 4;

    *byte = (uint8_t)((*byte & ~(15u << shift)) | x << shift);
}

/* ---- The table: spectral_table.c --------------------------------------- */

/* The value of a counter whose four bits are SPECTRAL_ESCAPE, as far as 64 bits go: views may hold
 * more. */
uint64_t tamis__spectral_large(const tamis *f, uint64_t i);

static inline uint64_t spectral_counter(const tamis *f, uint64_t i)
{
    unsigned nibble = spectral_nibble(f, i);

    return nibble < SPECTRAL_ESCAPE ? nibble : tamis__spectral_large(f, i);
}

/* How many entries may be in use. */
static inline uint64_t spectral_entries_most(const tamis_plan *p)
{
    return (uint64_t)p->width * SPECTRAL_LINE_USED;
}

/* Entries that a counter of that value has. */
unsigned tamis__spectral_entries_of(uint64_t value);
/* Counter i, which is `old`, becomes `value`. There is room for its entries. */
void tamis__spectral_put(tamis *f, uint64_t i, uint64_t old, uint64_t value);

/* Counters of a key, one in each row: `times` is added to each, and then none is below `to`. */
typedef struct spectral_raise {
    const uint64_t *at;
    uint64_t times, to;
} spectral_raise;

/* Does it for n lists without a counter in common, all of it or nothing: TAMIS_FULL. */
tamis_status tamis__spectral_raise(tamis *f, const spectral_raise *lists, size_t n);
/* Takes from each counter; none is less. */
void tamis__spectral_lower(tamis *f, const uint64_t *at, uint64_t times);

tamis_status tamis__spectral_resize(tamis_plan *p, uint64_t keys);
tamis_status tamis__spectral_move(tamis *f, const tamis *g);
/* Of a filter of that many counters in all. */
const char *tamis__spectral_verify_table(const tamis *f, uint64_t counters);
void tamis__spectral_tell_table(const tamis *f, tamis_telling *t);

/* ---- The counters of a key --------------------------------------------- */

/* As many rows as the plan has hashes: what they are called, the counter that comes first, and how
 * many are in a row. */
typedef struct spectral_rows {
    const char *name;
    uint64_t start, slots;
} spectral_rows;

static inline spectral_rows spectral_rows_of(const tamis *f)
{
    return (spectral_rows){ "row", 0, f->plan.slots };
}

/* One counter in each row, of which there is one at least. */
static inline void spectral_find(uint64_t *at, const tamis *f, spectral_rows rows, uint64_t h)
{
    uint32_t i = 0;

    do {
        at[i] = rows.start + i * rows.slots + scale64(h, rows.slots);
        h = rows_next(h);
    } while (++i < f->plan.hashes);
}

static inline uint64_t spectral_least(const tamis *f, const uint64_t *at)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        uint64_t here = spectral_counter(f, at[i]);
        least = here < least ? here : least;
    }
    return least;
}

/* a + b, as far as 64 bits go. */
static inline uint64_t spectral_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return add_overflows(a, b, &sum) ? UINT64_MAX : sum;
}

/* ---- The whole filter: spectral_rows.c --------------------------------- */

/* Payload bytes of kinds that have nothing but k rows. */
uint64_t tamis__spectral_bytes(const tamis_plan *p);
tamis_status tamis__spectral_plan(tamis_plan *p, const tamis_spec *spec);
/* The same for a rate, and for kinds of other sizes. */
tamis_status tamis__spectral_size(tamis_plan *p, double n, double fpr,
                                  uint64_t (*bytes)(const tamis_plan *p));

bool tamis__spectral_has(const tamis *f, uint64_t key);
/* Of kinds whose count is the least counter. */
uint64_t tamis__spectral_count(const tamis *f, uint64_t key);

tamis_status tamis__spectral_merge(tamis *f, const tamis *g);
/* Its two steps: is there room for the sums of all counters of the rows? Then add them up. */
tamis_status tamis__spectral_can_merge(const tamis *f, const tamis *g);
void tamis__spectral_add_rows(tamis *f, const tamis *g);

/* Each row adds up to the number of adds exactly, or to no more than it. */
const char *tamis__spectral_verify(const tamis *f, uint64_t counters, bool exactly);
void tamis__spectral_measure(const tamis *f, tamis_info *info);

/* All cells of kinds that have nothing but k rows; and those of some rows. */
void tamis__spectral_cells(const tamis *f, tamis_telling *t);
void tamis__spectral_tell_rows(const tamis *f, spectral_rows rows, tamis_telling *t);
/* Of kinds whose count is the least counter; and the step that reads those of a key. */
bool tamis__spectral_explain(const tamis *f, uint64_t key, tamis_telling *t);
void tamis__spectral_tell_counters(const tamis *f, spectral_rows rows, const uint64_t *at,
                                   tamis_telling *t);

/* What the tables of these kinds have in common; and those of kinds that have nothing but k rows.
 */
#define SPECTRAL_OPS                                                              \
    .traits = TAMIS_TRAIT_GROWS_COUNTS | TAMIS_TRAIT_TO_STUDY, .rate = rows_rate, \
    .resize = tamis__spectral_resize, .measure = tamis__spectral_measure,         \
    .has = tamis__spectral_has, .move = tamis__spectral_move

#define SPECTRAL_ROWS_OPS                                                         \
    SPECTRAL_OPS, .plan = tamis__spectral_plan, .bytes = tamis__spectral_bytes,   \
                  .count = tamis__spectral_count, .merge = tamis__spectral_merge, \
                  .cells = tamis__spectral_cells, .explain = tamis__spectral_explain

#endif
