/* tamis_explain.h - filters that show what they hold, and say why they answer as they do.
 *
 * For pictures, for teaching and for debugging. The kinds themselves tell: a drawing knows of cells
 * and steps, and of no kind. */
#ifndef TAMIS_EXPLAIN_H
#define TAMIS_EXPLAIN_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is known of a cell beside its value. */
enum tamis_mark {
    TAMIS_MARK_EMPTY = 1 << 0,        /* nothing is stored there; its value means nothing */
    TAMIS_MARK_OCCUPIED = 1 << 1,     /* of the place: some key is at home there */
    TAMIS_MARK_CONTINUATION = 1 << 2, /* the same run as in the cell before */
    TAMIS_MARK_SHIFTED = 1 << 3,      /* what lies there is not at home */
    TAMIS_MARK_RUN_END = 1 << 4,      /* the last cell of its run */
    TAMIS_MARK_COUNT = 1 << 5,        /* a part of a count, not of a key */
    TAMIS_MARK_EXTENSION = 1 << 6,    /* more bits of the key before, to tell it from another */
    TAMIS_MARK_VOID = 1 << 7,         /* no bits are left: it passes for any key of the place */
};

/* The smallest thing that a kind reads or writes: a bit, a counter, a slot. */
typedef struct tamis_cell {
    const char *array;  /* what it is a part of, in the singular: "row", "bucket", "level" */
    uint64_t    number; /* which of the arrays of that name, from 0 on */
    uint64_t    index;  /* its place there, from 0 on */
    uint64_t    value;  /* what it holds */
    unsigned    bits;   /* how many that takes, at most 64 */
    unsigned    marks;  /* TAMIS_MARK_ bits */
} tamis_cell;

/* Called for each cell; false ends the calls. Texts live as long as the library. */
typedef bool tamis_visit_cell(void *ctx, const tamis_cell *cell);
/* All cells, array by array and in the order of a picture. Those of one array come together, from
 * index 0 on without a gap; of one name, the numbers ascend. TAMIS_CANNOT: the kind shows none. */
TAMIS_API tamis_status tamis_visit_cells(const tamis *f, tamis_visit_cell *visit,
                                         void *ctx) TAMIS_CHECKED;

typedef enum tamis_step_type {
    TAMIS_STEP_NUMBER, /* a number was worked out: `text` names it, `value` is it */
    TAMIS_STEP_CELL,   /* a cell was read: `text` says as what, `value` is what it holds */
    TAMIS_STEP_ANSWER, /* the end: `text` says why, `value` is 1 if the key was found, else 0 */
} tamis_step_type;

typedef struct tamis_step {
    tamis_step_type type;
    const char     *text;
    uint64_t        value;
    bool            agrees; /* of a cell or an answer: it speaks for the key being there */
    tamis_cell      cell;   /* of a TAMIS_STEP_CELL */
} tamis_step;

/* Called for each step; false ends the calls. */
typedef bool tamis_visit_step(void *ctx, const tamis_step *step);
/* The answer of tamis_has(), step by step: first the hash, last the answer. Every cell that can
 * speak for or against the key is told, even if one before has settled it. Any kind; one that tells
 * no more has these two steps alone. */
TAMIS_API bool tamis_explain(const tamis *f, uint64_t key, tamis_visit_step *visit, void *ctx);

/* The key with that hash, the number that tamis_explain() tells first: for examples with given
 * hashes. The key itself in kinds for small integers, which do not hash. */
TAMIS_API uint64_t tamis_key_with_hash(const tamis *f, uint64_t hash);

/* How a static filter is made: by peeling or, where the cells of a key are a row of linear
 * equations in a band, by elimination. */
typedef enum tamis_peel_type {
    TAMIS_PEEL_TOUCHES, /* of each key, first of all: the cells whose xor is its fingerprint */
    TAMIS_PEEL_TAKES,   /* it owns cells[own] and goes. No other key that is left touches it; or, by
                         * elimination: no other row begins with it */
    TAMIS_PEEL_LEAVES,  /* it goes without a cell: it is stashed, or repeated, or right by luck */
    TAMIS_PEEL_FILLS,   /* from the last owner to the first: cells[own] makes the xor right */
    TAMIS_PEEL_ADDS,    /* elimination only: a key owned its first cell, whose row was added */
} tamis_peel_type;

typedef struct tamis_peel {
    tamis_peel_type   type;
    size_t            key;         /* which of the keys */
    uint64_t          fingerprint; /* after rows were added: of all of them */
    const tamis_cell *cells;       /* that the key touches, as they are in the filter */
    unsigned          n_cells;     /* at most 8; by elimination 64 */
    unsigned          own;         /* of TAMIS_PEEL_TAKES and TAMIS_PEEL_FILLS */
    size_t            other;       /* of TAMIS_PEEL_ADDS: the key whose row was added */
} tamis_peel;

/* Called for each step; false ends the calls. */
typedef bool tamis_visit_peel(void *ctx, const tamis_peel *step);
/* The construction of a static filter, from the keys that it was made of: all that they touch, then
 * how they get their cells, then how these are filled. Cells that no key owns keep what they hold;
 * those that are not zero get owners first. What cells are filled with is compared with what they
 * hold. TAMIS_CANNOT: the kind is not made this way. TAMIS_ABSENT: a key is not in the filter. */
TAMIS_API tamis_status tamis_explain_peeling(const tamis *f, const uint64_t *keys, size_t n,
                                             tamis_visit_peel *visit, void *ctx) TAMIS_CHECKED;
TAMIS_API tamis_status tamis_explain_elimination(const tamis *f, const uint64_t *keys, size_t n,
                                                 tamis_visit_peel *visit, void *ctx) TAMIS_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
