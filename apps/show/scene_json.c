/* scene_json.c - scenes for machines. */
#include <string.h>

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
    size_t n;
    const picture_row *rows = picture_rows(&s->picture, &n);

    json_open(j, "changed", '[');
    for (size_t i = 0; s->has_changes && i < s->picture.n; i++)
        if (rows[n - 1].marks[i] == ROW_CHANGED)
            json_count(j, NULL, i);
    json_close(j, ']');
}

static void put_deeds(json *j, const scene *s)
{
    size_t n;
    const deed *deeds = scene_deeds(s, &n);

    json_open(j, "changes", '[');
    for (size_t i = 0; i < n; i++) {
        json_open(j, NULL, '{');
        json_text(j, "change", scene_deed_name(deeds[i].type));
        json_text(j, "key", deeds[i].label);
        json_text(j, "status", tamis_status_text(deeds[i].status));
        json_count(j, "keys", deeds[i].keys);
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
    const char *at = s->steps.bytes, *end = at + s->steps.size;

    json_open(j, "steps", '[');
    for (; at < end; at += strlen(at) + 1)
        json_text(j, NULL, at);
    json_close(j, ']');
}

static void put_scene(json *j, const scene *s)
{
    size_t n;
    const explanation *said = scene_said(s, &n);

    json_open(j, NULL, '{');
    put_deeds(j, s);
    put_cells(j, &s->picture);
    put_changes(j, s);
    put_steps(j, s);
    json_open(j, "asked", '[');
    for (size_t i = 0; i < n; i++)
        if (said[i].is_asked)
            put_explanation(j, &said[i]);
    json_close(j, ']');
    json_close(j, '}');
}

void scene_json(const show *s)
{
    size_t n;
    const scene *scenes = show_scenes(s, &n);
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_text(&j, "name", s->name);
    json_text(&j, "kind", tamis_kind_name(s->plan->kind));
    shape_json(&j, "shape", s->plan);
    json_open(&j, "pictures", '[');
    for (size_t i = 0; i < n; i++)
        put_scene(&j, &scenes[i]);
    json_close(&j, ']');
    json_close(&j, '}');
}
