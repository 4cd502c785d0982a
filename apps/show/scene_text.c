/* scene_text.c - scenes in a terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "filters/shape.h"
#include "scene.h"
#include "term/unicode.h"

/* Labels are cut to this many letters. */
enum { LABEL_MOST = 20 };

typedef struct page {
    const show *show;
    const scene *scene;
    const picture *picture; /* of the scene */
    unsigned label;         /* letters before the first cell */
    bool in_colour;
} page;

/* ---- Rows -------------------------------------------------------------- */

/* A row is put together before it is printed, so that no blank stands at its end. */
typedef struct row {
    buffer text;
    unsigned letters, pending; /* blanks that are printed if something follows */
} row;

static void row_text(row *r, const char *text, unsigned most)
{
    while (r->pending > 0) {
        buffer_append(&r->text, " ", 1);
        r->letters++;
        r->pending--;
    }
    for (size_t size; *text && most > 0; text += size, most--) {
        size = utf8_size(text);
        size = size ? size : 1;
        buffer_append(&r->text, text, size);
        r->letters++;
    }
}

/* Blanks up to this place. */
static void row_to(row *r, unsigned place)
{
    unsigned at = r->letters + r->pending;

    r->pending += place > at ? place - at : 0;
}

static void row_right(row *r, unsigned end, const char *text)
{
    unsigned size = (unsigned)utf8_length(text);

    row_to(r, end > size ? end - size : 0);
    row_text(r, text, UINT32_MAX);
}

static void row_print(row *r)
{
    printf("%.*s\n", (int)r->text.size, r->text.size ? r->text.bytes : "");
    buffer_free(&r->text);
}

static row row_begin(const page *p, const char *label)
{
    row r = { 0 };

    row_text(&r, label, LABEL_MOST);
    row_to(&r, p->label);
    return r;
}

/* ---- A picture --------------------------------------------------------- */

static const char *colour_of(char mark)
{
    switch (mark) {
    case ROW_FOR:
        return "\033[1;32m";
    case ROW_AGAINST:
        return "\033[1;31m";
    case ROW_CHANGED:
        return "\033[1;33m";
    }
    return NULL;
}

/* Escape codes take no place. */
static void row_colour(const page *p, row *r, const char *code)
{
    if (p->in_colour && code)
        buffer_append(&r->text, code, strlen(code));
}

static void cell_right(const page *p, row *r, unsigned end, const char *text, char mark)
{
    unsigned size = (unsigned)utf8_length(text);

    row_to(r, end > size ? end - size : 0);
    row_text(r, "", 0);
    row_colour(p, r, colour_of(mark));
    row_text(r, text, UINT32_MAX);
    row_colour(p, r, colour_of(mark) ? "\033[0m" : NULL);
}

static unsigned end_of(const page *p, const picture_line *l, size_t cell)
{
    return p->label + (unsigned)(cell - l->from + 1) * l->column;
}

static void print_indexes(const page *p, const picture_line *l)
{
    row r = { 0 };
    char text[24];

    for (size_t i = l->from; i < l->to; i++) {
        uint64_t index = p->picture->cells[i].index + p->picture->first;
        if (i > l->from && index % l->step)
            continue;
        int size = snprintf(text, sizeof text, "%" PRIu64, index);
        unsigned end = end_of(p, l, i), start = end > (unsigned)size ? end - (unsigned)size : 0;
        if (i == l->from || start > r.letters)
            row_right(&r, end, text);
    }
    row_print(&r);
}

static void print_values(const page *p, const picture_line *l)
{
    char text[64];

    picture_array_text(p->picture, &p->picture->cells[l->from], text);
    row r = row_begin(p, text);
    for (size_t i = l->from; i < l->to; i++) {
        picture_cell_text(p->picture, &p->picture->cells[i], text);
        cell_right(p, &r, end_of(p, l, i), text, picture_mark_at(p->picture, i));
    }
    row_print(&r);
}

static void print_marks(const page *p, const picture_line *l)
{
    for (unsigned m = 0; picture_mark_name(m); m++) {
        if (!(l->marks >> m & 1))
            continue;
        row r = row_begin(p, picture_mark_name(m));
        for (size_t i = l->from; i < l->to; i++)
            row_right(&r, end_of(p, l, i), p->picture->cells[i].marks >> m & 1 ? "1" : ".");
        row_print(&r);
    }
}

static const char *text_at(const picture_row *of, size_t cell)
{
    static char mark[2];

    if (of->texts)
        return of->texts[cell];
    mark[0] = of->marks[cell];
    return mark[0] ? mark : NULL;
}

/* A row without marks in this line is left out. */
static void print_row(const page *p, const picture_line *l, const picture_row *of)
{
    row r = row_begin(p, of->label);
    bool is_empty = true;

    for (size_t i = l->from; i < l->to; i++) {
        const char *text = text_at(of, i);
        if (!text)
            continue;
        unsigned size = (unsigned)utf8_length(text), end = end_of(p, l, i);
        cell_right(p, &r, size < end ? end : size, text, of->marks ? of->marks[i] : ROW_NONE);
        is_empty = false;
    }
    if (is_empty)
        buffer_free(&r.text);
    else
        row_print(&r);
}

static void print_blank(const page *p, const picture_line *l)
{
    buffer text = scene_blank_text(p->scene, l);
    char array[64];

    picture_array_text(p->picture, &p->picture->cells[l->from], array);
    row r = row_begin(p, array);
    row_to(&r, p->label + l->column - 1);
    row_text(&r, text.bytes, UINT32_MAX);
    row_print(&r);
    buffer_free(&text);
}

/* As the cell before. */
static bool same_name(const picture *p, size_t cell)
{
    return strcmp(p->cells[cell].array, p->cells[cell - 1].array) == 0;
}

static void print_line(const page *p, const picture_line *l)
{
    size_t n;
    const picture_row *rows = picture_rows(p->picture, &n);

    bool is_below = l->is_blank && l->from > 0 && same_name(p->picture, l->from);

    if (l->step > 0 && l->from > 0 && !is_below)
        printf("\n");
    if (l->is_after_gap && l->from > 0)
        printf("...\n");
    if (l->is_blank) {
        print_blank(p, l);
        return;
    }
    if (l->step > 0)
        print_indexes(p, l);
    print_values(p, l);
    print_marks(p, l);
    for (size_t i = 0; i < n; i++)
        print_row(p, l, &rows[i]);
}

static void print_picture(page p, unsigned width)
{
    p.label = picture_label_width(p.picture, LABEL_MOST) + 1;
    buffer lines = picture_layout(p.picture, width > p.label ? width - p.label : 1, 2);
    const picture_line *line = (const void *)lines.bytes;

    for (size_t i = 0; i < lines.size / sizeof *line; i++)
        print_line(&p, &line[i]);
    buffer_free(&lines);
}

/* ---- Words ------------------------------------------------------------- */

static void print_sentence(const char *before, buffer text)
{
    printf("%s%s\n", before, text.bytes);
    buffer_free(&text);
}

static void print_explanation(const show *s, const scene *now, const explanation *e)
{
    printf("\n");
    print_sentence("", scene_answer_text(s, e));
    for (size_t i = 0; i + 1 < e->n; i++)
        print_sentence("  ", scene_step_text(s, now, &e->steps[i]));
}

/* One by one; what is built has all keys at once. */
static void print_deeds(const deed *deeds, size_t n)
{
    bool is_built = n > 0 && deeds[0].type == DEED_BUILD;

    if (is_built)
        print_sentence("", scene_deeds_text(deeds, n));
    for (size_t i = 0; i < n && !is_built; i++)
        print_sentence("", scene_deeds_text(&deeds[i], 1));
}

static void print_steps(const scene *now)
{
    const char *at = now->steps.bytes, *end = at + now->steps.size;

    if (now->steps.size)
        printf("\nHow it is made, step by step:\n");
    for (; at < end; at += strlen(at) + 1)
        printf("  %s\n", at);
}

static void print_scene(const show *s, const scene *now, unsigned width, bool in_colour)
{
    size_t n;
    const deed *deeds = scene_deeds(now, &n);

    printf("\n");
    print_deeds(deeds, n);
    if (now->has_changes)
        print_sentence("", scene_changes_text(now));
    if (n > 0)
        printf("\n");
    print_picture(
        (page){ .show = s, .scene = now, .picture = &now->picture, .in_colour = in_colour }, width);
    if (now->picture.n != now->picture.total || now->picture.n == 0)
        print_sentence("\n", scene_rest_text(now));
    print_steps(now);
    if (now->members.size)
        print_sentence("\n", scene_members_text(now));
    const explanation *said = scene_said(now, &n);
    for (size_t i = 0; i < n; i++)
        if (said[i].is_asked)
            print_explanation(s, now, &said[i]);
}

void scene_print(const show *s, unsigned width, bool in_colour)
{
    size_t n;
    const scene *scenes = show_scenes(s, &n);

    printf("%s: %s, ", s->name, tamis_kind_name(s->plan->kind));
    shape_print(s->plan);
    printf("\n");
    for (size_t i = 0; i < n; i++)
        print_scene(s, &scenes[i], width, in_colour);
}
