/* solving.h - how a filter was made whose keys are found by the xor of cells.
 *
 * Which cells a key touches, and what their xor shall be, is what the kind tells of a lookup. The
 * rest is the same for all such kinds: as long as a key is alone in a cell, that cell becomes its
 * own and the key is taken off; then cells are filled, that of the key taken last first. Where keys
 * touch cells of a narrow band, rows are eliminated instead: a row whose first cell is another's
 * has that row added to it, and owns the first cell that is nobody's; then cells are filled from
 * the last to the first.
 *
 * Nothing is made here: the filter is there, and all its equations hold. So what a cell is filled
 * with is what it holds, provided that a cell of nobody's keeps what it holds. Which key gets which
 * of its cells is another matter: the order of peeling is free. Cells that are not zero are taken
 * first: no cell is left out then that somebody must have filled, unless it was filled with 0. */
#ifndef TAMIS_EXPLAIN_SOLVING_H
#define TAMIS_EXPLAIN_SOLVING_H

#include "filter.h"
#include "tamis_explain.h"

/* Cells that a key touches: any few, or some in a band. */
enum { FEW_TOUCHED = 8, MOST_TOUCHED = 64 };

typedef struct solving_cell {
    tamis_cell cell;
    uint64_t value;  /* while cells are filled */
    size_t n, keys;  /* how many keys are left that touch it, and the xor of their numbers */
    size_t in_queue; /* number i of the queue is in cell i */
    size_t owner;    /* by elimination: a key and 1; 0: none yet */
} solving_cell;

typedef struct solving_key {
    uint64_t fingerprint;
    size_t *cells; /* ascending, if by elimination */
    unsigned n, own;
    size_t other;     /* key whose row was added */
    bool is_repeated; /* an equal one comes before it */
    bool is_off;
    size_t in_order; /* of the keys that were taken off, number i is in key i */
} solving_key;

typedef struct solving {
    const tamis *f;
    tamis_visit_peel *visit;
    void *ctx;
    void (*take_off)(struct solving *p); /* all keys, in an order that is kept */
    bool has_ended;                      /* who listens has heard enough */
    solving_cell *cells;
    size_t n_cells;
    solving_key *keys;
    size_t *touched; /* the cells of all keys, `most` for each */
    unsigned most;
    size_t n, n_order;
    size_t front, front_end, back, back_end;
} solving;

/* Tells of a step with that key. */
void tamis__solving_tell(solving *p, tamis_peel_type type, size_t key);

/* All steps for these keys. TAMIS_CANNOT: the kind has not this trait. */
tamis_status tamis__solving_explain(solving *p, unsigned trait, const uint64_t *keys);

#endif
