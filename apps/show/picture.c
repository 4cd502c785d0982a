/* picture.c - the cells of a filter, which of them are drawn, and where. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "term/array.h"
#include "term/message.h"
#include "term/unicode.h"

/* ---- Explanations ------------------------------------------------------ */

static bool take_step(void *ctx, const tamis_step *step)
{
    buffer_append(ctx, step, sizeof *step);
    return true;
}

explanation explanation_of(const tamis *f, uint64_t key, const char *label)
{
    buffer steps = { 0 };
    bool found = tamis_explain(f, key, take_step, &steps);

    return (explanation){ .label = label,
                          .key = key,
                          .found = found,
                          .count = tamis_count(f, key),
                          .steps = (void *)steps.bytes,
                          .n = steps.size / sizeof(tamis_step) };
}

void explanation_free(explanation *e)
{
    free(e->steps);
}

/* ---- Cells ------------------------------------------------------------- */

static bool same_name(const tamis_cell *a, const tamis_cell *b)
{
    return a->array == b->array || strcmp(a->array, b->array) == 0;
}

static bool same_array(const tamis_cell *a, const tamis_cell *b)
{
    return a->number == b->number && same_name(a, b);
}

bool picture_same_place(const tamis_cell *a, const tamis_cell *b)
{
    return a->index == b->index && same_array(a, b);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Which cells are taken. */
typedef struct choice {
    buffer cells; /* tamis_cell */
    buffer reads; /* tamis_cell; if there are none, the first `most` are taken */
    uint64_t seen, most, radius;
    buffer numbered;
} choice;

static bool is_numbered(const buffer *names, const char *array)
{
    for (const char *const *name = NULL; (name = buffer_next(names, name, sizeof *name));)
        if (strcmp(*name, array) == 0)
            return true;
    return false;
}

static bool count_cell(void *ctx, const tamis_cell *cell)
{
    choice *c = ctx;

    c->seen++;
    if (cell->number > 0 && cell->index == 0 && !is_numbered(&c->numbered, cell->array))
        buffer_append(&c->numbered, &cell->array, sizeof cell->array);
    return true;
}

static bool is_chosen(const choice *c, const tamis_cell *cell)
{
    for (const tamis_cell *read = NULL; (read = buffer_next(&c->reads, read, sizeof *read));)
        if (same_array(read, cell) && distance(read->index, cell->index) <= c->radius)
            return true;
    return c->reads.size == 0 && c->seen < c->most;
}

static bool take_cell(void *ctx, const tamis_cell *cell)
{
    choice *c = ctx;

    if (is_chosen(c, cell))
        buffer_append(&c->cells, cell, sizeof *cell);
    c->seen++;
    return true;
}

/* Beside each cell that is read, this many at least on either side. */
enum { LEAST_RADIUS = 2 };

/* The first ones, if not all have a place. */
static void choose_around(choice *c, const buffer *reads)
{
    uint64_t room = c->most / (2 * LEAST_RADIUS + 1) + 1, taken = 0;

    for (const explanation *e = NULL; (e = buffer_next(reads, e, sizeof *e));)
        for (size_t j = 0; j < e->n && taken < room; j++)
            if (e->steps[j].type == TAMIS_STEP_CELL) {
                buffer_append(&c->reads, &e->steps[j].cell, sizeof(tamis_cell));
                taken++;
            }
    if (taken > 0)
        c->radius = c->most / (2 * taken + 1);
    c->radius = c->radius < LEAST_RADIUS ? LEAST_RADIUS : c->radius;
}

/* A filter that tells no cell has an empty picture. */
picture picture_of(const tamis *f, uint64_t most, const buffer *reads)
{
    choice c = { .most = UINT64_MAX };

    if (tamis_visit_cells(f, count_cell, &c))
        return (picture){ 0 };
    uint64_t total = c.seen;
    if (most > 0 && total > most) {
        c.most = most;
        choose_around(&c, reads);
    }
    c.seen = 0;
    if (tamis_visit_cells(f, take_cell, &c))
        die(CODE_USAGE, "the filter no longer tells its cells");
    buffer_free(&c.reads);
    return (picture){ .cells = (void *)c.cells.bytes,
                      .n = c.cells.size / sizeof(tamis_cell),
                      .total = total,
                      .numbered = c.numbered };
}

void picture_free(picture *p)
{
    for (const picture_row *row = NULL; (row = buffer_next(&p->rows, row, sizeof *row));) {
        free(row->marks);
        free(row->texts);
    }
    buffer_free(&p->rows);
    buffer_free(&p->numbered);
    free(p->cells);
}

/* ---- Rows of marks ----------------------------------------------------- */

/* Its place in the picture, or n if it is not drawn. */
static size_t place_of(const picture *p, const tamis_cell *cell)
{
    size_t i = 0;

    while (i < p->n && !picture_same_place(&p->cells[i], cell))
        i++;
    return i;
}

void picture_mark_reads(picture *p, const explanation *e)
{
    picture_row row = { .label = e->label, .marks = array_new(p->n + 1, 1, "cells") };

    for (size_t i = 0; i < e->n; i++) {
        const tamis_step *step = &e->steps[i];
        if (step->type != TAMIS_STEP_CELL)
            continue;
        size_t at = place_of(p, &step->cell);
        if (row.marks[at] != ROW_AGAINST)
            row.marks[at] = step->agrees ? ROW_FOR : ROW_AGAINST;
    }
    buffer_append(&p->rows, &row, sizeof row);
}

static bool same_content(const tamis_cell *a, const tamis_cell *b)
{
    bool is_empty = (a->marks & b->marks & TAMIS_MARK_EMPTY) != 0;

    return a->marks == b->marks && (is_empty || a->value == b->value);
}

size_t picture_mark_changes(picture *p, const picture *before)
{
    picture_row row = { .label = "changed", .marks = array_new(p->n + 1, 1, "cells") };
    size_t n = 0, j = 0;

    /* Most pictures have the same cells in the same order. */
    for (size_t i = 0; i < p->n; i++, j++) {
        if (j >= before->n || !picture_same_place(&p->cells[i], &before->cells[j]))
            j = place_of(before, &p->cells[i]);
        if (j < before->n && same_content(&p->cells[i], &before->cells[j]))
            continue;
        row.marks[i] = ROW_CHANGED;
        n++;
    }
    buffer_append(&p->rows, &row, sizeof row);
    return n;
}

static bool speaks_for(const tamis_step *step)
{
    return step->type == TAMIS_STEP_CELL && step->agrees;
}

/* No two cells speak for it in the same role, or of two arrays of one name: it lies in a place of
 * its own, and is not spread. */
static bool has_own_place(const explanation *e)
{
    for (size_t i = 0; i < e->n; i++)
        for (size_t j = 0; j < i; j++) {
            const tamis_step *a = &e->steps[i], *b = &e->steps[j];
            if (speaks_for(a) && speaks_for(b) &&
                (strcmp(a->text, b->text) == 0 ||
                 (a->cell.number != b->cell.number && same_name(&a->cell, &b->cell))))
                return false;
        }
    return true;
}

/* Where cells can be empty, a key lies in one. Where they cannot, it is in all that it reads. */
static bool can_be_empty(const picture *p, const tamis_cell *like)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->cells[i].marks && same_name(&p->cells[i], like))
            return true;
    return false;
}

/* Whether a later cell of the same array speaks for it: the first one is then only on the way. */
static bool is_last(const explanation *e, size_t step)
{
    for (size_t i = step + 1; i < e->n; i++)
        if (speaks_for(&e->steps[i]) && same_array(&e->steps[i].cell, &e->steps[step].cell))
            return false;
    return true;
}

static size_t name_owner(picture *p, const char **texts, const explanation *e)
{
    size_t named = 0;

    for (size_t i = 0; i < e->n; i++) {
        const tamis_cell *cell = &e->steps[i].cell;
        if (!speaks_for(&e->steps[i]) || !is_last(e, i) || cell->marks & TAMIS_MARK_EMPTY ||
            !can_be_empty(p, cell))
            continue;
        size_t at = place_of(p, cell);
        texts[at] = e->label;
        named += at < p->n;
    }
    return named;
}

void picture_mark_owners(picture *p, const buffer *keys)
{
    picture_row row = { .label = "key", .texts = array_new(p->n + 1, sizeof *row.texts, "cells") };
    size_t named = 0;

    for (const explanation *e = NULL; (e = buffer_next(keys, e, sizeof *e));)
        if (has_own_place(e))
            named += name_owner(p, row.texts, e);
    if (named > 0)
        buffer_append(&p->rows, &row, sizeof row);
    else
        free(row.texts);
}

char picture_mark_at(const picture *p, size_t cell)
{
    static const char WORST_LAST[] = { ROW_NONE, ROW_FOR, ROW_CHANGED, ROW_AGAINST };
    size_t worst = 0;

    for (const picture_row *row = NULL; (row = buffer_next(&p->rows, row, sizeof *row));)
        for (size_t w = worst; row->marks && w < sizeof WORST_LAST; w++)
            worst = row->marks[cell] == WORST_LAST[w] ? w : worst;
    return WORST_LAST[worst];
}

/* ---- Texts ------------------------------------------------------------- */

void picture_cell_text(const picture *p, const tamis_cell *cell, char text[CELL_TEXT_SIZE])
{
    unsigned spare = 64 - cell->bits;

    if (cell->marks & TAMIS_MARK_EMPTY)
        snprintf(text, CELL_TEXT_SIZE, ".");
    else if (p->is_signed && cell->bits > 1)
        snprintf(text, CELL_TEXT_SIZE, "%" PRId64, (int64_t)(cell->value << spare) >> spare);
    else
        snprintf(text, CELL_TEXT_SIZE, "%" PRIu64, cell->value);
}

void picture_array_text(const picture *p, const tamis_cell *cell, char text[64])
{
    if (is_numbered(&p->numbered, cell->array))
        snprintf(text, 64, "%s %" PRIu64, cell->array, cell->number);
    else
        snprintf(text, 64, "%s", cell->array);
}

const char *picture_mark_name(unsigned i)
{
    static const char *const NAMES[] = { "empty",   "occupied", "continued", "shifted",
                                         "run end", "count",    "extension" };

    return i < sizeof NAMES / sizeof *NAMES ? NAMES[i] : NULL;
}

/* ---- Layout ------------------------------------------------------------ */

static unsigned digits(uint64_t x)
{
    unsigned n = 1;

    while (x /= 10)
        n++;
    return n;
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static unsigned owner_width(const picture *p, size_t cell)
{
    unsigned width = 0;

    for (const picture_row *row = NULL; (row = buffer_next(&p->rows, row, sizeof *row));)
        if (row->texts && row->texts[cell])
            width = larger(width, (unsigned)utf8_length(row->texts[cell]));
    return width;
}

/* Arrays up to this long have the index of each cell above it. */
enum { ALL_INDEXED = 100 };

/* What the lines of one name have in common. */
typedef struct group {
    size_t from, to;
    uint64_t longest; /* cells of its arrays */
    picture_line line;
} group;

/* Marks that say something: of parts of counts and keys, not if all cells are such parts. */
static unsigned telling_marks(unsigned some, unsigned all)
{
    return some & ~(unsigned)TAMIS_MARK_EMPTY &
           ~(all & (unsigned)(TAMIS_MARK_COUNT | TAMIS_MARK_EXTENSION));
}

static group group_from(const picture *p, size_t from, unsigned least)
{
    group g = { .from = from, .to = from };
    unsigned value = 1, index = 1, some = 0, all = UINT32_MAX;
    uint64_t last = 0;
    char text[CELL_TEXT_SIZE];

    for (; g.to < p->n && same_name(&p->cells[from], &p->cells[g.to]); g.to++) {
        const tamis_cell *cell = &p->cells[g.to];
        picture_cell_text(p, cell, text);
        value = larger(larger(value, (unsigned)strlen(text)), owner_width(p, g.to));
        last = cell->index > last ? cell->index : last;
        some |= cell->marks;
        all &= cell->marks;
    }
    g.line.marks = telling_marks(some, all);
    index = digits(last + p->first);
    g.longest = last + 1;
    value = last < ALL_INDEXED ? larger(value, index) : value;
    g.line.column = larger(1 + value, least);
    for (g.line.step = 1; g.line.step * g.line.column <= index; g.line.step *= 10)
        continue;
    return g;
}

bool picture_goes_on(const tamis_cell *now, const tamis_cell *next)
{
    return same_array(now, next) && next->index == now->index + 1;
}

/* So many cells in a line: of longer arrays, ten or a multiple if there is room. */
static size_t cells_in_line(const group *g, unsigned columns)
{
    size_t fit = columns / g->line.column;

    return fit > 10 && g->longest > fit ? fit - fit % 10 : fit > 0 ? fit : 1;
}

static bool has_sign(const picture_row *row, size_t cell)
{
    return row->texts ? row->texts[cell] != NULL : row->marks[cell] != ROW_NONE;
}

static bool has_row(const picture *p, size_t cell)
{
    for (const picture_row *row = NULL; (row = buffer_next(&p->rows, row, sizeof *row));)
        if (has_sign(row, cell))
            return true;
    return false;
}

static bool is_blank(const picture *p, const picture_line *l)
{
    size_t i = l->from;

    while (i < l->to && p->cells[i].marks == TAMIS_MARK_EMPTY && !has_row(p, i))
        i++;
    return i == l->to;
}

/* Blank lines that follow each other are one. */
static void put_line(buffer *lines, const picture *p, picture_line line)
{
    picture_line *last =
        lines->size ? (picture_line *)(void *)(lines->bytes + lines->size) - 1 : NULL;

    if (last && last->is_blank && line.is_blank &&
        picture_goes_on(&p->cells[last->to - 1], &p->cells[line.from]))
        last->to = line.to;
    else
        buffer_append(lines, &line, sizeof line);
}

static void put_group(buffer *lines, const picture *p, group g, unsigned columns)
{
    size_t most = cells_in_line(&g, columns);
    const tamis_cell *cells = p->cells, *above = NULL; /* above: the cells that indexes stand on */
    uint64_t above_to = 0;

    for (size_t at = g.from; at < g.to;) {
        picture_line line = g.line;
        line.from = at++;
        while (at < g.to && at - line.from < most && picture_goes_on(&cells[at - 1], &cells[at]))
            at++;
        line.to = at;
        const tamis_cell *first = &cells[line.from];
        line.is_blank = g.longest > most && !p->with_blanks && is_blank(p, &line);
        line.is_after_gap =
            first->index > 0 && (line.from == g.from || !picture_goes_on(first - 1, first));
        if (above && above->index == first->index && cells[at - 1].index <= above_to)
            line.step = 0;
        else if (!line.is_blank)
            above = first, above_to = cells[at - 1].index;
        put_line(lines, p, line);
    }
}

buffer picture_layout(const picture *p, unsigned columns, unsigned least)
{
    buffer lines = { 0 };

    for (size_t at = 0; at < p->n;) {
        group g = group_from(p, at, least);
        put_group(&lines, p, g, columns);
        at = g.to;
    }
    return lines;
}

unsigned picture_label_width(const picture *p, unsigned most)
{
    unsigned width = 0, marks = 0;
    char text[64];

    for (size_t i = 0; i < p->n; i++) {
        picture_array_text(p, &p->cells[i], text);
        width = larger(width, (unsigned)utf8_length(text));
        marks |= p->cells[i].marks & ~(unsigned)TAMIS_MARK_EMPTY;
    }
    for (unsigned i = 0; picture_mark_name(i); i++)
        if (marks >> i & 1)
            width = larger(width, (unsigned)utf8_length(picture_mark_name(i)));
    for (const picture_row *row = NULL; (row = buffer_next(&p->rows, row, sizeof *row));)
        width = larger(width, (unsigned)utf8_length(row->label));
    return width < most ? width : most;
}

/* ---- Drawing ----------------------------------------------------------- */

static void put_blank_text(const drawn_row *r, char text[64])
{
    const tamis_cell *first = &r->picture->cells[r->line->from];
    const tamis_cell *last = &r->picture->cells[r->line->to - 1];
    uint64_t from = first->index + r->picture->first, to = last->index + r->picture->first;

    if (first == last)
        snprintf(text, 64, "%" PRIu64 " is empty", from);
    else
        snprintf(text, 64, "%" PRIu64 " to %" PRIu64 " are empty", from, to);
}

/* What stands in a row at a cell: in `text`, or what is returned; NULL: nothing. */
static const char *text_at(const drawn_row *r, size_t i, char text[64])
{
    const tamis_cell *cell = &r->picture->cells[i];
    uint64_t index = cell->index + r->picture->first;

    switch (r->look) {
    case LOOK_INDEX:
        snprintf(text, 64, "%" PRIu64, index);
        return i == r->line->from || index % r->line->step == 0 ? text : NULL;
    case LOOK_VALUE:
        picture_cell_text(r->picture, cell, text);
        return text;
    case LOOK_MARK:
        return cell->marks >> r->mark & 1 ? "1" : ".";
    case LOOK_SIGN:
        snprintf(text, 64, "%c", r->row->marks ? r->row->marks[i] : ROW_NONE);
        return !has_sign(r->row, i) ? NULL : r->row->texts ? r->row->texts[i] : text;
    case LOOK_BLANK:
        put_blank_text(r, text);
        return i == r->line->from ? text : NULL;
    }
    return NULL;
}

static char sign_at(const drawn_row *r, size_t i)
{
    if (r->look == LOOK_VALUE)
        return picture_mark_at(r->picture, i);
    return r->look == LOOK_SIGN && r->row->marks ? r->row->marks[i] : ROW_NONE;
}

static void paint_row(drawn_row r, const painter *with, void *ctx)
{
    bool has_begun = false;
    char room[64];

    for (size_t i = r.line->from; i < r.line->to; i++) {
        const char *text = text_at(&r, i, room);
        if (text && !has_begun)
            with->begin(ctx, &r);
        if (text)
            with->cell(ctx, &r, i, text, sign_at(&r, i));
        has_begun = has_begun || text;
    }
    if (has_begun)
        with->end(ctx, &r);
}

void picture_paint(const picture *p, const picture_line *l, const painter *with, void *ctx)
{
    char array[64];

    picture_array_text(p, &p->cells[l->from], array);
    if (l->is_blank) {
        paint_row((drawn_row){ p, l, LOOK_BLANK, .label = array }, with, ctx);
        return;
    }
    if (l->step > 0)
        paint_row((drawn_row){ p, l, LOOK_INDEX, .label = "" }, with, ctx);
    paint_row((drawn_row){ p, l, LOOK_VALUE, .label = array }, with, ctx);
    for (unsigned m = 0; picture_mark_name(m); m++)
        if (l->marks >> m & 1)
            paint_row((drawn_row){ p, l, LOOK_MARK, picture_mark_name(m), .mark = m }, with, ctx);
    for (const picture_row *row = NULL; (row = buffer_next(&p->rows, row, sizeof *row));)
        paint_row((drawn_row){ p, l, LOOK_SIGN, row->label, .row = row }, with, ctx);
}
