/* picture.h - what a filter holds, as cells with marks below them, and why it answers as it does.
 * All of it is what the library tells: nothing here knows a kind. */
#ifndef TAMIS_APPS_SHOW_PICTURE_H
#define TAMIS_APPS_SHOW_PICTURE_H

#include <stdio.h>

#include "tamis_explain.h"
#include "term/buffer.h"

typedef struct named_key {
    const char *label; /* as it was given, for people */
    uint64_t key;
} named_key;

/* What a filter says of a key. */
typedef struct explanation {
    const char *label; /* the key as it was given, for people */
    uint64_t key;
    bool found;
    bool is_mistake;   /* it is known that the answer is wrong */
    uint64_t count;    /* how often it is there, in kinds that count */
    tamis_step *steps; /* the last one is the answer */
    size_t n;
    bool is_asked; /* it is told in words, too */
} explanation;

explanation explanation_of(const tamis *f, uint64_t key, const char *label);
void explanation_free(explanation *e);

/* What stands in a row of marks. */
enum {
    ROW_NONE = 0,
    ROW_FOR = '^',     /* the cell speaks for the key */
    ROW_AGAINST = 'x', /* the cell speaks against it */
    ROW_CHANGED = '*'
};

/* A row below the cells: what one key reads, what has changed, who lies there. */
typedef struct picture_row {
    const char *label;
    char *marks;        /* ROW_, one for each cell */
    const char **texts; /* or these instead, NULL for none */
} picture_row;

typedef struct picture {
    tamis_cell *cells; /* those that are drawn */
    size_t n;
    uint64_t total;   /* cells of the filter */
    buffer numbered;  /* const char *: names that several arrays have */
    buffer rows;      /* picture_row */
    uint64_t first;   /* the index of the first cell of an array, as people count */
    bool is_signed;   /* values are two's complements */
    bool with_blanks; /* long rows of empty cells are drawn, too */
} picture;

/* `most` cells; 0: all of them. If there are more, these are the first ones or, if some are read,
 * those around what is read. */
picture picture_of(const tamis *f, uint64_t most, const buffer *reads); /* explanation */
void picture_free(picture *p);

/* Adds the row of a key, and that of what differs from the picture before. Returns how many cells
 * that are. */
void picture_mark_reads(picture *p, const explanation *e);
size_t picture_mark_changes(picture *p, const picture *before);
/* Adds a row that names the cells in which keys lie, where a key has one of its own. */
void picture_mark_owners(picture *p, const buffer *keys); /* explanation */

/* What is drawn at a cell in all rows: the worst of them. */
char picture_mark_at(const picture *p, size_t cell);

/* ---- Layout ------------------------------------------------------------ */

enum { CELL_TEXT_SIZE = 24 };

/* The same cell, at two times or in two filters. */
bool picture_same_place(const tamis_cell *a, const tamis_cell *b);
/* Whether `next` is behind `now` in its array. */
bool picture_goes_on(const tamis_cell *now, const tamis_cell *next);
/* "17", "-3"; "." if it is empty. */
void picture_cell_text(const picture *p, const tamis_cell *cell, char text[CELL_TEXT_SIZE]);
/* "row 3"; "bits" if there is only one of that name. */
void picture_array_text(const picture *p, const tamis_cell *cell, char text[64]);
/* The marks of cells by name; NULL after the last. */
const char *picture_mark_name(unsigned i);

/* Cells that stand side by side, all of one array. */
typedef struct picture_line {
    size_t from, to; /* cells */
    unsigned column; /* letters that a cell takes, a blank before it included */
    unsigned step;   /* every so many cells have their index above; 0: they stand there already */
    unsigned marks;  /* TAMIS_MARK_ bits that have a row here */
    bool is_after_gap;
    bool is_blank; /* nothing is in these cells, however many: no need to draw them */
} picture_line;

/* picture_line, from top to bottom; `columns` letters are free in each, and a cell takes `least` of
 * them or more. */
buffer picture_layout(const picture *p, unsigned columns, unsigned least);
/* The longest label of arrays, marks and rows, at most `most`. */
unsigned picture_label_width(const picture *p, unsigned most);

/* ---- Drawing ----------------------------------------------------------- */

/* What a row of a line shows: where cells are, what they hold, whether a mark is set there ("1" or
 * "."), what speaks for and against keys; or that all its cells are empty. */
typedef enum picture_look { LOOK_INDEX, LOOK_VALUE, LOOK_MARK, LOOK_SIGN, LOOK_BLANK } picture_look;

typedef struct drawn_row {
    const picture *picture;
    const picture_line *line;
    picture_look look;
    const char *label;
    unsigned mark;          /* of LOOK_MARK */
    const picture_row *row; /* of LOOK_SIGN */
} drawn_row;

/* How rows are drawn; `ctx` is the painter's own. */
typedef struct painter {
    void (*begin)(void *ctx, const drawn_row *r);
    void (*cell)(void *ctx, const drawn_row *r, size_t cell, const char *text, char sign);
    void (*end)(void *ctx, const drawn_row *r);
} painter;

/* All rows of a line, from top to bottom; those without a sign are left out. */
void picture_paint(const picture *p, const picture_line *l, const painter *with, void *ctx);

#endif
