/* scene_svg.c - scenes as a picture for pages. */
#include <math.h>
#include <string.h>

#include "scene.h"
#include "text/svg.h"

/* Pixels: a letter of a cell, its box, the other rows, what is free around all. */
enum { LETTER = 8, BOX = 25, ROW = 19, MARGIN = 14, WIDTH = 780, LABEL_MOST = 18 };

typedef struct canvas {
    svg svg;
    const show *show;
    double x, y;  /* where cells begin; where the next row begins */
    double width; /* as far as something was drawn */
} canvas;

static void text_at(canvas *c, double x, double y, svg_font font, const char *text)
{
    double right = x + svg_text_width(font, text);

    svg_text(&c->svg, x, y, font, text);
    if (!font.anchor && right > c->width)
        c->width = right;
}

/* Draws the lines that were put together, and empties them. */
static void draw_lines(canvas *c, svg_colour colour, buffer *lines)
{
    char *rest = lines->size ? lines->bytes : NULL;

    for (char *line; (line = strsep(&rest, "\n")) && *line; c->y += ROW)
        text_at(c, MARGIN, c->y + 13, (svg_font){ .colour = colour }, line);
    lines->size = 0;
}

/* ---- Cells ------------------------------------------------------------- */

/* How high a row is, where its label stands, and in which colour. */
static const struct {
    double height, label;
    svg_colour colour;
} LOOKS[] = { [LOOK_INDEX] = { 15, 11, SVG_DIM },
              [LOOK_VALUE] = { BOX, 18, SVG_INK },
              [LOOK_MARK] = { ROW, 13, SVG_DIM },
              [LOOK_SIGN] = { ROW, 13, SVG_INK },
              [LOOK_BLANK] = { ROW, 13, SVG_INK } };

static void label(canvas *c, picture_look look, const char *text)
{
    char cut[4 * LABEL_MOST + 1];

    snprintf(cut, sizeof cut, "%.*s", (int)sizeof cut - 1, text);
    svg_text(&c->svg, c->x - 8, c->y + LOOKS[look].label,
             (svg_font){ .colour = LOOKS[look].colour, .size = 12, .anchor = 'e' }, cut);
}

static void begin_row(void *ctx, const drawn_row *r)
{
    if (*r->label)
        label(ctx, r->look, r->label);
}

/* What holds something is tinted; what has changed has an edge in the colour of marks. */
static void draw_value(canvas *c, const tamis_cell *cell, svg_point at, double width,
                       const char *text, char sign)
{
    bool is_empty = (cell->marks & TAMIS_MARK_EMPTY) != 0;

    svg_rect(&c->svg, at.x - width / 2 + 1, at.y + 1, width - 2, BOX - 2,
             is_empty || cell->value == 0 ? SVG_NONE : SVG_TINT0,
             sign == ROW_CHANGED ? SVG_MARK : SVG_DIM);
    if (!is_empty)
        svg_text(&c->svg, at.x, at.y + 18,
                 (svg_font){ .colour = SVG_INK, .size = 12, .anchor = 'm', .is_mono = true }, text);
}

/* For it: a dot. Against it: a cross. Changed: a star. Names as they are. */
static void draw_sign(canvas *c, svg_point at, const char *text, char sign)
{
    svg_font font = { .colour = sign == ROW_AGAINST ? SVG_MARK : SVG_INK,
                      .size = 12,
                      .anchor = 'm' };

    if (sign == ROW_FOR)
        svg_dot(&c->svg, (svg_point){ at.x, at.y + 9 }, 4.5, SVG_COLOUR2);
    else
        svg_text(&c->svg, at.x, at.y + 13, font, sign == ROW_AGAINST ? "\xE2\x9C\x95" : text);
}

static void draw_cell(void *ctx, const drawn_row *r, size_t cell, const char *text, char sign)
{
    canvas *c = ctx;
    double width = LETTER * (double)r->line->column;
    svg_point at = { c->x + width * ((double)(cell - r->line->from) + 0.5), c->y };

    switch (r->look) {
    case LOOK_INDEX:
        svg_text(&c->svg, at.x, at.y + 11,
                 (svg_font){ .colour = SVG_DIM, .size = 10, .anchor = 'm' }, text);
        break;
    case LOOK_VALUE:
        draw_value(c, &r->picture->cells[cell], at, width, text, sign);
        c->width = fmax(c->width, at.x + width / 2);
        break;
    case LOOK_MARK:
        svg_rect(&c->svg, at.x - 5, at.y + 4, 10, 10, *text == '1' ? SVG_COLOUR0 : SVG_NONE,
                 SVG_FAINT);
        break;
    case LOOK_SIGN:
        draw_sign(c, at, text, sign);
        break;
    case LOOK_BLANK:
        text_at(c, c->x + 2, at.y + 13, (svg_font){ .colour = SVG_DIM, .size = 12 }, text);
        break;
    }
}

static void end_row(void *ctx, const drawn_row *r)
{
    canvas *c = ctx;

    c->y += LOOKS[r->look].height;
}

/* ---- Scenes ------------------------------------------------------------ */

static void draw_picture(canvas *c, const picture *p)
{
    static const painter ROWS = { begin_row, draw_cell, end_row };

    c->x = MARGIN + 8 + 7.5 * (double)picture_label_width(p, LABEL_MOST);
    buffer lines = picture_layout(p, (unsigned)(WIDTH - MARGIN - c->x) / LETTER, 3);
    for (const picture_line *l = NULL; (l = buffer_next(&lines, l, sizeof *l));) {
        c->y += l->step > 0 && l->from > 0 ? 8 : 0;
        if (l->is_after_gap && l->from > 0)
            label(c, LOOK_INDEX, "...");
        picture_paint(p, l, &ROWS, c);
    }
    buffer_free(&lines);
}

static void put_answers(buffer *to, const show *s, const scene *now, const char *end)
{
    for (const explanation *e = NULL; (e = buffer_next(&now->said, e, sizeof *e));)
        if (e->is_asked)
            scene_put_answer(to, s, e, end);
}

static void draw_scene(canvas *c, const scene *now)
{
    buffer text = { 0 };

    scene_put_deeds(&text, now, true, "\n");
    draw_lines(c, SVG_DIM, &text);
    c->y += now->deeds.size ? 8 : 0;
    draw_picture(c, &now->picture);
    c->y += 6;
    scene_put_rest(&text, now);
    draw_lines(c, SVG_DIM, &text);
    scene_put_members(&text, now);
    put_answers(&text, c->show, now, "\n");
    draw_lines(c, SVG_INK, &text);
    buffer_free(&text);
    c->y += 10;
}

static void draw_all(canvas *c)
{
    svg_font font = { .colour = SVG_INK, .size = 14, .is_bold = true };

    c->y = MARGIN;
    c->width = 0;
    text_at(c, MARGIN, c->y + 12, font, tamis_kind_name(c->show->plan->kind));
    c->y += 24;
    for (const scene *now = NULL; (now = buffer_next(&c->show->scenes, now, sizeof *now));)
        draw_scene(c, now);
}

/* ---- For screen readers ------------------------------------------------ */

/* Arrays and what they hold. */
static void tell_cells(buffer *to, const picture *p)
{
    char text[64];

    for (size_t i = 0; i < p->n; i++) {
        if (i == 0 || !picture_goes_on(&p->cells[i - 1], &p->cells[i])) {
            picture_array_text(p, &p->cells[i], text);
            buffer_print(to, "%s%s:", i ? ".\n" : "", text);
        }
        picture_cell_text(p, &p->cells[i], text);
        buffer_print(to, " %s", strcmp(text, ".") == 0 ? "empty" : text);
    }
    buffer_print(to, p->n ? ".\n" : "");
}

void scene_svg(const show *s, const char *path)
{
    canvas c = { .show = s };
    buffer about = { 0 };
    char title[80];

    for (const scene *now = NULL; (now = buffer_next(&s->scenes, now, sizeof *now));) {
        scene_put_deeds(&about, now, true, ".\n");
        tell_cells(&about, &now->picture);
        put_answers(&about, s, now, ".\n");
    }
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
