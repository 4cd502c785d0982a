/* scene_text.c - scenes in a terminal. */
#include <stdio.h>
#include <string.h>

#include "filters/shape.h"
#include "scene.h"
#include "term/unicode.h"

/* Labels are cut to this many letters. */
enum { LABEL_MOST = 20 };

typedef struct page {
    buffer out;
    bool in_colour;
    unsigned label;            /* letters before the first cell */
    unsigned letters, pending; /* of the row at hand: blanks wait for what follows them */
} page;

/* ---- Rows -------------------------------------------------------------- */

static void put_letters(page *p, const char *text, unsigned most)
{
    p->letters += p->pending;
    buffer_print(&p->out, "%*s", (int)p->pending, "");
    p->pending = 0;
    for (size_t size; *text && most > 0; text += size, most--) {
        size = utf8_size(text);
        size = size ? size : 1;
        buffer_append(&p->out, text, size);
        p->letters++;
    }
}

/* Blanks up to this place. */
static void move_to(page *p, unsigned place)
{
    unsigned at = p->letters + p->pending;

    p->pending += place > at ? place - at : 0;
}

static void begin_row(void *ctx, const drawn_row *r)
{
    page *p = ctx;

    p->letters = p->pending = 0;
    put_letters(p, r->label, LABEL_MOST);
    move_to(p, r->look == LOOK_INDEX ? 0 : p->label);
}

static const char *colour_of(char sign)
{
    switch (sign) {
    case ROW_FOR:
        return "\033[1;32m";
    case ROW_AGAINST:
        return "\033[1;31m";
    case ROW_CHANGED:
        return "\033[1;33m";
    }
    return NULL;
}

/* Texts end where their cell does. An index that would touch the one before is left out. */
static void put_cell(void *ctx, const drawn_row *r, size_t cell, const char *text, char sign)
{
    page *p = ctx;
    const char *colour = p->in_colour ? colour_of(sign) : NULL;
    unsigned column = r->line->column, size = (unsigned)utf8_length(text);
    unsigned end = p->label + (unsigned)(cell - r->line->from + 1) * column;

    if (r->look == LOOK_BLANK)
        end = p->label + column - 1 + size;
    unsigned start = end > size ? end - size : 0;
    if (r->look == LOOK_INDEX && cell > r->line->from && start <= p->letters)
        return;
    move_to(p, start);
    put_letters(p, colour ? "" : text, UINT32_MAX);
    if (!colour)
        return;
    buffer_print(&p->out, "%s", colour); /* which takes no place */
    put_letters(p, text, UINT32_MAX);
    buffer_print(&p->out, "\033[0m");
}

static void end_row(void *ctx, const drawn_row *r)
{
    page *p = ctx;

    (void)r;
    buffer_print(&p->out, "\n");
}

/* ---- Pictures ---------------------------------------------------------- */

/* As the cell before. */
static bool same_name(const picture *p, size_t cell)
{
    return strcmp(p->cells[cell].array, p->cells[cell - 1].array) == 0;
}

static void put_line(page *p, const picture *of, const picture_line *l)
{
    static const painter ROWS = { begin_row, put_cell, end_row };

    if (l->step > 0 && l->from > 0 && !(l->is_blank && same_name(of, l->from)))
        buffer_print(&p->out, "\n");
    if (l->is_after_gap && l->from > 0)
        buffer_print(&p->out, "...\n");
    picture_paint(of, l, &ROWS, p);
}

static void put_picture(page *p, const picture *of, unsigned width)
{
    p->label = picture_label_width(of, LABEL_MOST) + 1;
    buffer lines = picture_layout(of, width > p->label ? width - p->label : 1, 2);

    for (const picture_line *l = NULL; (l = buffer_next(&lines, l, sizeof *l));)
        put_line(p, of, l);
    buffer_free(&lines);
}

/* ---- Words ------------------------------------------------------------- */

static void put_explanation(buffer *to, const show *s, const scene *now, const explanation *e)
{
    buffer_print(to, "\n");
    scene_put_answer(to, s, e, "\n");
    for (size_t i = 0; i + 1 < e->n; i++) {
        buffer_print(to, "  ");
        scene_put_step(to, s, now, &e->steps[i]);
        buffer_print(to, "\n");
    }
}

static void put_steps(buffer *to, const scene *now)
{
    if (now->steps.size)
        buffer_print(to, "\nHow it is made, step by step:\n");
    for (const char *step = NULL; (step = buffer_next_text(&now->steps, step));)
        buffer_print(to, "  %s\n", step);
}

static void put_scene(page *p, const show *s, const scene *now, unsigned width)
{
    buffer *to = &p->out;

    buffer_print(to, "\n");
    scene_put_deeds(to, now, false, "\n");
    scene_put_changes(to, now);
    buffer_print(to, now->deeds.size ? "\n" : "");
    put_picture(p, &now->picture, width);
    buffer_print(to, scene_has_rest(now) ? "\n" : "");
    scene_put_rest(to, now);
    put_steps(to, now);
    buffer_print(to, now->members.size ? "\n" : "");
    scene_put_members(to, now);
    for (const explanation *e = NULL; (e = buffer_next(&now->said, e, sizeof *e));)
        if (e->is_asked)
            put_explanation(to, s, now, e);
}

void scene_print(const show *s, unsigned width, bool in_colour)
{
    page p = { .in_colour = in_colour };

    printf("%s: %s, ", s->name, tamis_kind_name(s->plan->kind));
    shape_print(s->plan);
    printf("\n");
    for (const scene *now = NULL; (now = buffer_next(&s->scenes, now, sizeof *now));)
        put_scene(&p, s, now, width);
    fwrite(p.out.bytes, 1, p.out.size, stdout);
    buffer_free(&p.out);
}
