/* acf.h - cells, mirrored keys and the places of a key: what the files of the kind share. acf.c
 * says what it means. */
#ifndef TAMIS_CUCKOO_ACF_H
#define TAMIS_CUCKOO_ACF_H

#include "base/ahead.h"
#include "base/bits.h"
#include "base/hash.h"
#include "base/packed.h"
#include "filter.h"

/* A cell has a selector bit above the fingerprint, which has 4 to 31 bits; an entry is a hash and
 * how many copies of its key there are. */
enum { ACF_TABLES = 4, ACF_LEAST_BITS = 5, ACF_MOST_BITS = PACKED_WIDEST, ACF_ENTRY = 16 };

#define ACF_INLINE __attribute__((always_inline)) static inline

typedef struct acf_table {
    uint8_t *cells;
    uint64_t buckets; /* cells of each of the tables */
    unsigned bits;    /* of a cell */
    bool is_far;
} acf_table;

static inline uint64_t acf_buckets(const tamis_plan *p)
{
    return p->slots << p->width;
}

static inline acf_table acf_of(const tamis *f)
{
    return (acf_table){ f->payload, acf_buckets(&f->plan), f->plan.hashes, f->is_far };
}

/* ---- A key ------------------------------------------------------------- */

/* Where it may be, one cell in each table, and what its cell holds if the selector is 0, or 1. */
typedef struct acf_places {
    uint64_t cell[ACF_TABLES];
    uint32_t value[2];
} acf_places;

static inline uint64_t acf_swap_halves(uint64_t x)
{
    return x << 32 | x >> 32;
}

/* How many fingerprints there are for each selector. 0 is not one of them: it is an empty cell. */
static inline uint32_t acf_prints(unsigned bits)
{
    return packed_mask(bits - 1);
}

ACF_INLINE acf_places acf_places_of(const acf_table *t, uint64_t h)
{
    uint64_t b = t->buckets, g = mix64(h ^ HASH_GOLDEN), print = mul_fold64(h, g);
    uint64_t prints = acf_prints(t->bits);

    return (acf_places){
        { scale64(h, b), b + scale64(acf_swap_halves(h), b), 2 * b + scale64(g, b),
          3 * b + scale64(acf_swap_halves(g), b) },
        { (uint32_t)(1 + ((print >> 32) * prints >> 32)),
          (uint32_t)(prints + 2 + ((uint32_t)print * prints >> 32)) },
    };
}

/* ---- Cells ------------------------------------------------------------- */

static inline uint64_t acf_cells(const acf_table *t)
{
    return ACF_TABLES * t->buckets;
}

/* Entries follow the cells: loads and stores of eight bytes end in the payload, whatever the bits.
 */
static inline uint64_t acf_cells_bytes(uint64_t cells, unsigned bits)
{
    return round_up((cells * bits + 7) / 8, 64);
}

ACF_INLINE uint32_t acf_cell(const acf_table *t, uint64_t i)
{
    uint64_t bit = i * t->bits;

    if (t->bits <= PACKED_NARROW)
        return le32(t->cells + bit / 8) >> bit % 8 & packed_mask(t->bits);
    return (uint32_t)(le64(t->cells + bit / 8) >> bit % 8) & packed_mask(t->bits);
}

static inline void acf_put_cell(const acf_table *t, uint64_t i, uint32_t value)
{
    packed_put_odd(t->cells, i, t->bits, value);
}

/* Whether a lookup finds the key in that table: no empty cell has either value. */
ACF_INLINE bool acf_matches(const acf_table *t, const acf_places *p, unsigned table)
{
    uint32_t value = acf_cell(t, p->cell[table]);

    return (value == p->value[0]) | (value == p->value[1]);
}

static inline unsigned acf_selector(const acf_table *t, uint32_t value)
{
    return value >> (t->bits - 1) & 1;
}

/* ---- Entries ----------------------------------------------------------- */

static inline uint8_t *acf_entry(const acf_table *t, uint64_t i)
{
    return t->cells + acf_cells_bytes(acf_cells(t), t->bits) + i * ACF_ENTRY;
}

static inline uint64_t acf_hash(const acf_table *t, uint64_t i)
{
    return le64(acf_entry(t, i));
}

/* 0: the cell is empty. */
static inline uint64_t acf_copies(const acf_table *t, uint64_t i)
{
    return le64(acf_entry(t, i) + 8);
}

static inline void acf_put_entry(const acf_table *t, uint64_t i, uint64_t h, uint64_t copies)
{
    put_le64(acf_entry(t, i), h);
    put_le64(acf_entry(t, i) + 8, copies);
}

/* ---- acf_change.c ------------------------------------------------------ */

/* The cell of the very key with that hash; false if it has none. */
bool tamis__acf_find(const acf_table *t, uint64_t h, uint64_t *cell);

/* As in tamis_ops. A place is the number of a table. */
tamis_status tamis__acf_add(tamis *f, uint64_t key, uint64_t times);
tamis_status tamis__acf_remove(tamis *f, uint64_t key, uint64_t times);
tamis_status tamis__acf_adapt(tamis *f, uint64_t key);
tamis_status tamis__acf_forget(tamis *f);
tamis_status tamis__acf_merge(tamis *f, const tamis *g);
tamis_status tamis__acf_move(tamis *f, const tamis *g);

/* ---- acf.c ------------------------------------------------------------- */

/* How many distinct absent keys were queried, and the standard error: of so many cells in use, some
 * have selector 1. `values` are all that a cell can be matched by: its buckets times the
 * fingerprints.
 */
double tamis__acf_queried(double values, double used, double ones, double *error);

/* ---- acf_explain.c ----------------------------------------------------- */

void tamis__acf_cells(const tamis *f, tamis_telling *to);
bool tamis__acf_explain(const tamis *f, uint64_t key, tamis_telling *to);

#endif
