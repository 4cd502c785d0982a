/* picture.c - the cells of a filter, which of them are drawn, and where. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
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

static bool same_place(const tamis_cell *a, const tamis_cell *b)
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
    const char *const *name = (const void *)names->bytes;

    for (size_t i = 0; i < names->size / sizeof *name; i++)
        if (strcmp(name[i], array) == 0)
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
    const tamis_cell *read = (const void *)c->reads.bytes;
    size_t n = c->reads.size / sizeof *read;

    for (size_t i = 0; i < n; i++)
        if (same_array(&read[i], cell) && distance(read[i].index, cell->index) <= c->radius)
            return true;
    return n == 0 && c->seen < c->most;
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
static void choose_around(choice *c, const explanation *reads, size_t n)
{
    uint64_t room = c->most / (2 * LEAST_RADIUS + 1) + 1, taken = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < reads[i].n && taken < room; j++)
            if (reads[i].steps[j].type == TAMIS_STEP_CELL) {
                buffer_append(&c->reads, &reads[i].steps[j].cell, sizeof(tamis_cell));
                taken++;
            }
    if (taken > 0)
        c->radius = c->most / (2 * taken + 1);
    c->radius = c->radius < LEAST_RADIUS ? LEAST_RADIUS : c->radius;
}

/* A filter that tells no cell has an empty picture. */
picture picture_of(const tamis *f, uint64_t most, const explanation *reads, size_t n)
{
    choice c = { .most = UINT64_MAX };

    if (tamis_visit_cells(f, count_cell, &c))
        return (picture){ 0 };
    uint64_t total = c.seen;
    if (most > 0 && total > most) {
        c.most = most;
        choose_around(&c, reads, n);
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
    size_t n;
    const picture_row *rows = picture_rows(p, &n);

    for (size_t i = 0; i < n; i++) {
        free(rows[i].marks);
        free(rows[i].texts);
    }
    buffer_free(&p->rows);
    buffer_free(&p->numbered);
    free(p->cells);
}

/* ---- Rows of marks ----------------------------------------------------- */

const picture_row *picture_rows(const picture *p, size_t *n)
{
    *n = p->rows.size / sizeof(picture_row);
    return (const void *)p->rows.bytes;
}

static void *room_for(size_t n, size_t size)
{
    void *room = calloc(n + 1, size);

    if (!room)
        die(CODE_MEMORY, "out of memory for a picture of %zu cells", n);
    return room;
}

/* Its place in the picture, or n if it is not drawn. */
static size_t place_of(const picture *p, const tamis_cell *cell)
{
    size_t i = 0;

    while (i < p->n && !same_place(&p->cells[i], cell))
        i++;
    return i;
}

void picture_mark_reads(picture *p, const explanation *e)
{
    picture_row row = { .label = e->label, .marks = room_for(p->n, 1) };

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
    picture_row row = { .label = "changed", .marks = room_for(p->n, 1) };
    size_t n = 0, j = 0;

    /* Most pictures have the same cells in the same order. */
    for (size_t i = 0; i < p->n; i++, j++) {
        if (j >= before->n || !same_place(&p->cells[i], &before->cells[j]))
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

void picture_mark_owners(picture *p, const explanation *keys, size_t n)
{
    picture_row row = { .label = "key", .texts = room_for(p->n, sizeof *row.texts) };
    size_t named = 0;

    for (size_t i = 0; i < n; i++)
        if (has_own_place(&keys[i]))
            named += name_owner(p, row.texts, &keys[i]);
    if (named > 0)
        buffer_append(&p->rows, &row, sizeof row);
    else
        free(row.texts);
}

char picture_mark_at(const picture *p, size_t cell)
{
    static const char WORST_LAST[] = { ROW_FOR, ROW_CHANGED, ROW_AGAINST };
    size_t n;
    const picture_row *rows = picture_rows(p, &n);
    char mark = ROW_NONE;

    for (size_t w = 0; w < sizeof WORST_LAST; w++)
        for (size_t i = 0; i < n; i++)
            if (rows[i].marks && rows[i].marks[cell] == WORST_LAST[w])
                mark = WORST_LAST[w];
    return mark;
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
    size_t n;
    const picture_row *rows = picture_rows(p, &n);
    unsigned width = 0;

    for (size_t i = 0; i < n; i++)
        if (rows[i].texts && rows[i].texts[cell])
            width = larger(width, (unsigned)utf8_length(rows[i].texts[cell]));
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

static bool goes_on(const tamis_cell *now, const tamis_cell *next)
{
    return same_array(now, next) && next->index == now->index + 1;
}

/* So many cells in a line: of longer arrays, ten or a multiple if there is room. */
static size_t cells_in_line(const group *g, unsigned columns)
{
    size_t fit = columns / g->line.column;

    return fit > 10 && g->longest > fit ? fit - fit % 10 : fit > 0 ? fit : 1;
}

static bool has_row(const picture *p, size_t cell)
{
    size_t n;
    const picture_row *rows = picture_rows(p, &n);

    for (size_t i = 0; i < n; i++)
        if (rows[i].texts ? rows[i].texts[cell] != NULL : rows[i].marks[cell] != ROW_NONE)
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
        goes_on(&p->cells[last->to - 1], &p->cells[line.from]))
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
        while (at < g.to && at - line.from < most && goes_on(&cells[at - 1], &cells[at]))
            at++;
        line.to = at;
        const tamis_cell *first = &cells[line.from];
        line.is_blank = g.longest > most && !p->with_blanks && is_blank(p, &line);
        line.is_after_gap = first->index > 0 && (line.from == g.from || !goes_on(first - 1, first));
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
    size_t n;
    const picture_row *rows = picture_rows(p, &n);
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
    for (size_t i = 0; i < n; i++)
        width = larger(width, (unsigned)utf8_length(rows[i].label));
    return width < most ? width : most;
}
