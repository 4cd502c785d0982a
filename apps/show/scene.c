/* scene.c - what is said of a filter and its keys, in words. */
#include <inttypes.h>
#include <string.h>

#include "scene.h"
#include "term/message.h"

const scene *show_scenes(const show *s, size_t *n)
{
    *n = s->scenes.size / sizeof(scene);
    return (const void *)s->scenes.bytes;
}

const deed *scene_deeds(const scene *s, size_t *n)
{
    *n = s->deeds.size / sizeof(deed);
    return (const void *)s->deeds.bytes;
}

const explanation *scene_said(const scene *s, size_t *n)
{
    *n = s->said.size / sizeof(explanation);
    return (const void *)s->said.bytes;
}

/* ---- Sentences --------------------------------------------------------- */

const char *scene_deed_name(deed_type type)
{
    static const char *const NAMES[] = {
        [DEED_ASK] = "ask", [DEED_ADD] = "add", [DEED_REMOVE] = "remove", [DEED_BUILD] = "build"
    };

    return NAMES[type];
}

buffer scene_deeds_text(const deed *d, size_t n)
{
    buffer text = { 0 };

    buffer_print(&text, "%s ", scene_deed_name(d->type));
    for (; n > 1; n--, d++)
        buffer_print(&text, "%s, ", d->label);
    buffer_print(&text, "%s: ", d->label);
    if (d->type == DEED_BUILD)
        buffer_print(&text, "it is made of %" PRIu64 " key%s at once", d->keys,
                     d->keys == 1 ? "" : "s");
    else if (d->status == TAMIS_ABSENT)
        buffer_print(&text, "it is not there, and nothing changes");
    else
        buffer_print(&text, "it holds %" PRIu64 " key%s", d->keys, d->keys == 1 ? "" : "s");
    return text;
}

static void put_marks(buffer *to, unsigned marks)
{
    for (unsigned i = 1; picture_mark_name(i); i++)
        if (marks >> i & 1)
            buffer_print(to, ", %s", picture_mark_name(i));
}

static bool reads(const explanation *e, const tamis_step *step)
{
    for (size_t i = 0; i < e->n; i++) {
        const tamis_step *other = &e->steps[i];
        if (other->type == TAMIS_STEP_CELL && other->agrees &&
            other->cell.index == step->cell.index && other->cell.number == step->cell.number &&
            strcmp(other->cell.array, step->cell.array) == 0 &&
            strcmp(other->text, step->text) == 0)
            return true;
    }
    return false;
}

/* The keys that made a cell what it is. */
static void put_origin(buffer *to, const scene *now, const tamis_step *step)
{
    const explanation *present = (const void *)now->present.bytes;
    const char *before = " from ";

    for (size_t i = 0; i < now->present.size / sizeof *present; i++)
        if (reads(&present[i], step)) {
            buffer_print(to, "%s%s", before, present[i].label);
            before = ", ";
        }
}

static void put_cell(buffer *to, const show *s, const scene *now, const tamis_step *step)
{
    const tamis_cell *cell = &step->cell;
    char array[64], value[CELL_TEXT_SIZE];

    picture_array_text(&now->picture, cell, array);
    picture_cell_text(&now->picture, cell, value);
    buffer_print(to, "%s: cell %" PRIu64 " of %s ", step->text, cell->index + s->first, array);
    if (cell->marks & TAMIS_MARK_EMPTY)
        buffer_print(to, "is empty");
    else
        buffer_print(to, "holds %s", value);
    put_origin(to, now, step);
    put_marks(to, cell->marks);
    buffer_print(to, ", %s", step->agrees ? "for it" : "against it");
}

static void put_number(buffer *to, const show *s, const tamis_step *step)
{
    unsigned bits = s->plan->width;

    if (strcmp(step->text, "hash") == 0)
        buffer_print(to, "hash is 0x%016" PRIx64, step->value);
    else if (s->is_signed && bits > 0 && bits < 64 && step->value >> (bits - 1) == 1)
        buffer_print(to, "%s is %" PRId64, step->text,
                     (int64_t)(step->value - (UINT64_C(1) << bits)));
    else
        buffer_print(to, "%s is %" PRIu64, step->text, step->value);
}

buffer scene_step_text(const show *s, const scene *now, const tamis_step *step)
{
    buffer text = { 0 };

    if (step->type == TAMIS_STEP_NUMBER)
        put_number(&text, s, step);
    else if (step->type == TAMIS_STEP_CELL)
        put_cell(&text, s, now, step);
    else
        buffer_print(&text, "%s", step->text);
    return text;
}

static const char *answer_of(const show *s, const explanation *e)
{
    if (e->is_mistake)
        return e->found ? "yes, by mistake" : "no, by mistake";
    if (!e->found)
        return "no";
    return s->is_known || tamis_kind_can(s->plan->kind) & TAMIS_IS_EXACT ? "yes"
                                                                         : "yes, or so it seems";
}

buffer scene_answer_text(const show *s, const explanation *e)
{
    bool counts = (tamis_kind_can(s->plan->kind) & TAMIS_CAN_COUNT) != 0;
    buffer text = { 0 };

    buffer_print(&text, "%s", e->label);
    if (s->with_keys)
        buffer_print(&text, ", key %" PRIu64, e->key);
    buffer_print(&text, "? %s", answer_of(s, e));
    if (e->found && counts)
        buffer_print(&text, " (%" PRIu64 " time%s)", e->count, e->count == 1 ? "" : "s");
    buffer_print(&text, ": %s", e->n > 0 ? e->steps[e->n - 1].text : "");
    return text;
}

buffer scene_changes_text(const scene *now)
{
    const char *whose = now->picture.n < now->picture.total ? " of those shown" : "";
    buffer text = { 0 };

    buffer_print(&text, "%zu cell%s%s changed", now->changes, now->changes == 1 ? "" : "s", whose);
    return text;
}

buffer scene_blank_text(const scene *now, const picture_line *l)
{
    const picture *p = &now->picture;
    buffer text = { 0 };

    buffer_print(&text, "%" PRIu64, p->cells[l->from].index + p->first);
    if (l->to > l->from + 1)
        buffer_print(&text, " to %" PRIu64, p->cells[l->to - 1].index + p->first);
    buffer_print(&text, l->to > l->from + 1 ? " are empty" : " is empty");
    return text;
}

buffer scene_rest_text(const scene *now)
{
    buffer text = { 0 };

    if (now->picture.total == 0)
        buffer_print(&text, "filters of this kind do not show their cells");
    else
        buffer_print(&text, "%zu of %" PRIu64 " cells are shown; --all shows all of them",
                     now->picture.n, now->picture.total);
    return text;
}

buffer scene_members_text(const scene *now)
{
    const uint64_t *member = (const void *)now->members.bytes;
    buffer text = { 0 };

    buffer_print(&text, "members {");
    for (size_t i = 0; i < now->members.size / sizeof *member; i++)
        buffer_print(&text, "%s%" PRIu64, i ? ", " : "", member[i]);
    buffer_print(&text, "}");
    return text;
}
