/* scene_json.c - scenes for machines. */

#include "filters/shape.h"
#include "scene.h"
#include "text/json.h"

static void put_marks(json *j, unsigned marks)
{
    json_open(j, "marks", '[');
    for (unsigned i = 0; picture_mark_name(i); i++)
        if (marks >> i & 1)
            json_text(j, NULL, picture_mark_name(i));
    json_close(j, ']');
}

static void put_cell(json *j, const char *name, const tamis_cell *cell)
{
    json_open(j, name, '{');
    json_text(j, "array", cell->array);
    json_count(j, "number", cell->number);
    json_count(j, "index", cell->index);
    json_count(j, "value", cell->value);
    json_count(j, "bits", cell->bits);
    put_marks(j, cell->marks);
    json_close(j, '}');
}

static void put_cells(json *j, const picture *p)
{
    json_count(j, "total_cells", p->total);
    json_open(j, "cells", '[');
    for (size_t i = 0; i < p->n; i++)
        put_cell(j, NULL, &p->cells[i]);
    json_close(j, ']');
}

/* What the deeds before the picture changed: the places in "cells". */
static void put_changes(json *j, const scene *s)
{
    const picture_row *row = NULL;

    json_open(j, "changed", '[');
    while ((row = buffer_next(&s->picture.rows, row, sizeof *row)))
        for (size_t i = 0; row->marks && i < s->picture.n; i++)
            if (row->marks[i] == ROW_CHANGED)
                json_count(j, NULL, i);
    json_close(j, ']');
}

static void put_deeds(json *j, const scene *s)
{
    json_open(j, "changes", '[');
    for (const deed *d = NULL; (d = buffer_next(&s->deeds, d, sizeof *d));) {
        json_open(j, NULL, '{');
        json_text(j, "change", scene_deed_name(d->type));
        json_text(j, "key", d->label);
        json_text(j, "status", tamis_status_text(d->status));
        json_count(j, "keys", d->keys);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_step(json *j, const tamis_step *step)
{
    json_open(j, NULL, '{');
    if (step->type == TAMIS_STEP_NUMBER) {
        json_text(j, "number", step->text);
        json_count(j, "value", step->value);
    } else {
        json_text(j, step->type == TAMIS_STEP_CELL ? "read" : "answer", step->text);
        json_bool(j, "agrees", step->agrees);
    }
    if (step->type == TAMIS_STEP_CELL)
        put_cell(j, "cell", &step->cell);
    json_close(j, '}');
}

static void put_explanation(json *j, const explanation *e)
{
    json_open(j, NULL, '{');
    json_text(j, "key", e->label);
    json_count(j, "key_number", e->key);
    json_bool(j, "found", e->found);
    json_count(j, "count", e->count);
    json_open(j, "steps", '[');
    for (size_t i = 0; i < e->n; i++)
        put_step(j, &e->steps[i]);
    json_close(j, ']');
    json_close(j, '}');
}

/* How it was made, if that was asked for. */
static void put_steps(json *j, const scene *s)
{
    json_open(j, "steps", '[');
    for (const char *step = NULL; (step = buffer_next_text(&s->steps, step));)
        json_text(j, NULL, step);
    json_close(j, ']');
}

static void put_scene(json *j, const scene *s)
{
    json_open(j, NULL, '{');
    put_deeds(j, s);
    put_cells(j, &s->picture);
    put_changes(j, s);
    put_steps(j, s);
    json_open(j, "asked", '[');
    for (const explanation *e = NULL; (e = buffer_next(&s->said, e, sizeof *e));)
        if (e->is_asked)
            put_explanation(j, e);
    json_close(j, ']');
    json_close(j, '}');
}

void scene_json(const show *s)
{
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_text(&j, "name", s->name);
    json_text(&j, "kind", tamis_kind_name(s->plan->kind));
    shape_json(&j, "shape", s->plan);
    json_open(&j, "pictures", '[');
    for (const scene *now = NULL; (now = buffer_next(&s->scenes, now, sizeof *now));)
        put_scene(&j, now);
    json_close(&j, ']');
    json_close(&j, '}');
}
