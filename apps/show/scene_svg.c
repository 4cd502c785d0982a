/* scene_svg.c - scenes as a picture for pages. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "scene.h"
#include "text/svg.h"

/* Pixels: a letter of a cell, its box, the other rows, what is free around all. */
enum { LETTER = 8, BOX = 25, ROW = 19, MARGIN = 14, WIDTH = 780, LABEL_MOST = 18 };

typedef struct canvas {
    svg svg;
    const show *show;
    const scene *scene;
    const picture *picture; /* of the scene */
    double x, y;            /* where cells begin; where the next row begins */
    double width;           /* as far as something was drawn */
} canvas;

static void text_at(canvas *c, double x, double y, svg_font font, const char *text)
{
    double right = x + svg_text_width(font, text);

    svg_text(&c->svg, x, y, font, text);
    if (!font.anchor && right > c->width)
        c->width = right;
}

static void sentence(canvas *c, svg_font font, buffer text)
{
    text_at(c, MARGIN, c->y + 13, font, text.bytes);
    c->y += ROW;
    buffer_free(&text);
}

/* ---- Cells ------------------------------------------------------------- */

static double cell_width(const picture_line *l)
{
    return LETTER * (double)l->column;
}

static double cell_x(const canvas *c, const picture_line *l, size_t cell)
{
    return c->x + cell_width(l) * (double)(cell - l->from);
}

static double cell_middle(const canvas *c, const picture_line *l, size_t cell)
{
    return cell_x(c, l, cell) + cell_width(l) / 2;
}

static void label(canvas *c, double y, svg_colour colour, const char *text)
{
    char cut[4 * LABEL_MOST + 1];

    snprintf(cut, sizeof cut, "%.*s", (int)sizeof cut - 1, text);
    svg_text(&c->svg, c->x - 8, y, (svg_font){ .colour = colour, .size = 12, .anchor = 'e' }, cut);
}

static void draw_indexes(canvas *c, const picture_line *l)
{
    svg_font font = { .colour = SVG_DIM, .size = 10, .anchor = 'm' };
    char text[24];

    for (size_t i = l->from; i < l->to; i++) {
        uint64_t index = c->picture->cells[i].index + c->picture->first;
        if (i > l->from && index % l->step)
            continue;
        snprintf(text, sizeof text, "%" PRIu64, index);
        svg_text(&c->svg, cell_middle(c, l, i), c->y + 11, font, text);
    }
    c->y += 15;
}

/* What holds something is tinted; what has changed has an edge in the colour of marks. */
static void draw_cell(canvas *c, const picture_line *l, size_t i)
{
    const tamis_cell *cell = &c->picture->cells[i];
    bool is_empty = (cell->marks & TAMIS_MARK_EMPTY) != 0;
    bool has_changed = picture_mark_at(c->picture, i) == ROW_CHANGED;
    svg_colour fill = is_empty || cell->value == 0 ? SVG_NONE : SVG_TINT0;
    char text[CELL_TEXT_SIZE];

    svg_rect(&c->svg, cell_x(c, l, i) + 1, c->y + 1, cell_width(l) - 2, BOX - 2, fill,
             has_changed ? SVG_MARK : SVG_DIM);
    if (is_empty)
        return;
    picture_cell_text(c->picture, cell, text);
    svg_text(&c->svg, cell_middle(c, l, i), c->y + 18,
             (svg_font){ .colour = SVG_INK, .size = 12, .anchor = 'm', .is_mono = true }, text);
}

static void draw_values(canvas *c, const picture_line *l)
{
    char text[64];

    picture_array_text(c->picture, &c->picture->cells[l->from], text);
    label(c, c->y + 18, SVG_INK, text);
    for (size_t i = l->from; i < l->to; i++)
        draw_cell(c, l, i);
    c->y += BOX;
    double right = cell_x(c, l, l->to);
    c->width = right > c->width ? right : c->width;
}

static void draw_marks(canvas *c, const picture_line *l)
{
    for (unsigned m = 0; picture_mark_name(m); m++) {
        if (!(l->marks >> m & 1))
            continue;
        label(c, c->y + 13, SVG_DIM, picture_mark_name(m));
        for (size_t i = l->from; i < l->to; i++) {
            bool is_set = c->picture->cells[i].marks >> m & 1;
            svg_rect(&c->svg, cell_middle(c, l, i) - 5, c->y + 4, 10, 10,
                     is_set ? SVG_COLOUR0 : SVG_NONE, SVG_FAINT);
        }
        c->y += ROW;
    }
}

static bool has_marks(const picture_row *row, const picture_line *l)
{
    for (size_t i = l->from; i < l->to; i++)
        if (row->texts ? row->texts[i] != NULL : row->marks[i] != ROW_NONE)
            return true;
    return false;
}

/* For it: a dot. Against it: a cross. Changed: a star. Names as they are. */
static void draw_mark(canvas *c, double x, char mark, const char *text)
{
    svg_font font = { .colour = mark == ROW_AGAINST ? SVG_MARK : SVG_INK,
                      .size = 12,
                      .anchor = 'm' };

    if (mark == ROW_FOR)
        svg_dot(&c->svg, (svg_point){ x, c->y + 9 }, 4.5, SVG_COLOUR2);
    else if (text)
        svg_text(&c->svg, x, c->y + 13, font, text);
    else
        svg_text(&c->svg, x, c->y + 13, font, mark == ROW_AGAINST ? "\xE2\x9C\x95" : "*");
}

static void draw_row(canvas *c, const picture_line *l, const picture_row *row)
{
    if (!has_marks(row, l))
        return;
    label(c, c->y + 13, SVG_INK, row->label);
    for (size_t i = l->from; i < l->to; i++)
        if (row->texts ? row->texts[i] != NULL : row->marks[i] != ROW_NONE)
            draw_mark(c, cell_middle(c, l, i), row->marks ? row->marks[i] : ROW_NONE,
                      row->texts ? row->texts[i] : NULL);
    c->y += ROW;
}

static void draw_blank(canvas *c, const picture_line *l)
{
    buffer text = scene_blank_text(c->scene, l);
    char array[64];

    picture_array_text(c->picture, &c->picture->cells[l->from], array);
    label(c, c->y + 13, SVG_INK, array);
    text_at(c, c->x + 2, c->y + 13, (svg_font){ .colour = SVG_DIM, .size = 12 }, text.bytes);
    c->y += ROW;
    buffer_free(&text);
}

static void draw_line(canvas *c, const picture_line *l)
{
    size_t n;
    const picture_row *rows = picture_rows(c->picture, &n);

    if (l->step > 0 && l->from > 0)
        c->y += 8;
    if (l->is_after_gap && l->from > 0)
        label(c, c->y + 11, SVG_DIM, "...");
    if (l->is_blank) {
        draw_blank(c, l);
        return;
    }
    if (l->step > 0)
        draw_indexes(c, l);
    draw_values(c, l);
    draw_marks(c, l);
    for (size_t i = 0; i < n; i++)
        draw_row(c, l, &rows[i]);
}

/* ---- Scenes ------------------------------------------------------------ */

static void draw_picture(canvas *c)
{
    c->x = MARGIN + 8 + 7.5 * (double)picture_label_width(c->picture, LABEL_MOST);
    buffer lines = picture_layout(c->picture, (unsigned)(WIDTH - MARGIN - c->x) / LETTER, 3);
    const picture_line *line = (const void *)lines.bytes;

    for (size_t i = 0; i < lines.size / sizeof *line; i++)
        draw_line(c, &line[i]);
    buffer_free(&lines);
}

/* How many of them one sentence tells. */
static size_t deeds_alike(const deed *d, size_t n)
{
    size_t i = 1;

    while (i < n && d[i].type == d[0].type && !d[i].status && !d[0].status)
        i++;
    return i;
}

static void draw_scene(canvas *c, const scene *now)
{
    size_t n;
    const deed *deeds = scene_deeds(now, &n);

    for (size_t i = 0, run; i < n; i += run) {
        run = deeds_alike(deeds + i, n - i);
        sentence(c, (svg_font){ .colour = SVG_DIM }, scene_deeds_text(deeds + i, run));
    }
    c->y += n > 0 ? 8 : 0;
    c->scene = now;
    c->picture = &now->picture;
    draw_picture(c);
    c->y += 6;
    if (now->picture.n != now->picture.total || now->picture.n == 0)
        sentence(c, (svg_font){ .colour = SVG_DIM }, scene_rest_text(now));
    if (now->members.size)
        sentence(c, (svg_font){ .colour = SVG_INK }, scene_members_text(now));
    const explanation *said = scene_said(now, &n);
    for (size_t i = 0; i < n; i++)
        if (said[i].is_asked)
            sentence(c, (svg_font){ .colour = SVG_INK }, scene_answer_text(c->show, &said[i]));
    c->y += 10;
}

static void draw_all(canvas *c)
{
    size_t n;
    const scene *scenes = show_scenes(c->show, &n);
    svg_font font = { .colour = SVG_INK, .size = 14, .is_bold = true };

    c->y = MARGIN;
    c->width = 0;
    text_at(c, MARGIN, c->y + 12, font, tamis_kind_name(c->show->plan->kind));
    c->y += 24;
    for (size_t i = 0; i < n; i++)
        draw_scene(c, &scenes[i]);
}

/* ---- For screen readers ------------------------------------------------ */

static void tell(buffer *to, const char *text)
{
    buffer_append(to, text, strlen(text));
}

static void tell_sentence(buffer *to, buffer text)
{
    tell(to, text.bytes);
    tell(to, ".\n");
    buffer_free(&text);
}

/* Arrays and what they hold. */
static void tell_cells(buffer *to, const picture *p)
{
    char text[64];

    for (size_t i = 0; i < p->n; i++) {
        const tamis_cell *cell = &p->cells[i], *last = cell - 1;
        bool goes_on = i > 0 && cell->index == last->index + 1 && cell->number == last->number &&
                       strcmp(cell->array, last->array) == 0;
        if (!goes_on) {
            picture_array_text(p, cell, text);
            tell(to, i ? ".\n" : "");
            tell(to, text);
            tell(to, ":");
        }
        picture_cell_text(p, cell, text);
        tell(to, " ");
        tell(to, strcmp(text, ".") == 0 ? "empty" : text);
    }
    tell(to, p->n ? ".\n" : "");
}

static void tell_scene(buffer *to, const show *s, const scene *now)
{
    size_t n;
    const deed *deeds = scene_deeds(now, &n);

    for (size_t i = 0, run; i < n; i += run) {
        run = deeds_alike(deeds + i, n - i);
        tell_sentence(to, scene_deeds_text(deeds + i, run));
    }
    tell_cells(to, &now->picture);
    const explanation *said = scene_said(now, &n);
    for (size_t i = 0; i < n; i++)
        if (said[i].is_asked)
            tell_sentence(to, scene_answer_text(s, &said[i]));
}

void scene_svg(const show *s, const char *path)
{
    canvas c = { .show = s };
    buffer about = { 0 };
    size_t n;
    const scene *scenes = show_scenes(s, &n);
    char title[80];

    for (size_t i = 0; i < n; i++)
        tell_scene(&about, s, &scenes[i]);
    buffer_append(&about, "", 1);
    snprintf(title, sizeof title, "The cells of a %s filter", tamis_kind_name(s->plan->kind));
    /* Once to see how large it is. */
    draw_all(&c);
    buffer_free(&c.svg);
    svg_begin(&c.svg, ceil(c.width + MARGIN), ceil(c.y), title, about.bytes);
    draw_all(&c);
    svg_end(&c.svg);
    svg_save(&c.svg, path);
    buffer_free(&about);
}
