/* scene.c - what is said of a filter and its keys, in words. */
#include <inttypes.h>
#include <string.h>

#include "scene.h"

const char *scene_deed_name(deed_type type)
{
    static const char *const NAMES[] = {
        [DEED_ASK] = "ask", [DEED_ADD] = "add", [DEED_REMOVE] = "remove", [DEED_BUILD] = "build"
    };

    return NAMES[type];
}

/* Of n deeds of one type. */
static void put_deeds(buffer *to, const deed *d, size_t n)
{
    buffer_print(to, "%s ", scene_deed_name(d->type));
    for (; n > 1; n--, d++)
        buffer_print(to, "%s, ", d->label);
    buffer_print(to, "%s: ", d->label);
    if (d->status == TAMIS_ABSENT)
        buffer_print(to, "it is not there, and nothing changes");
    else
        buffer_print(to,
                     d->type == DEED_BUILD ? "it is made of %" PRIu64 " key%s at once"
                                           : "it holds %" PRIu64 " key%s",
                     d->keys, d->keys == 1 ? "" : "s");
}

/* So many from this one on fit in one sentence. */
static size_t deeds_alike(const deed *d, size_t n)
{
    size_t i = 1;

    while (i < n && d[i].type == d[0].type && !d[i].status && !d[0].status)
        i++;
    return i;
}

/* What is built has all keys at once. */
void scene_put_deeds(buffer *to, const scene *now, bool together, const char *end)
{
    const deed *d = (const void *)now->deeds.bytes;
    size_t n = now->deeds.size / sizeof *d;

    for (size_t run; n > 0; d += run, n -= run) {
        run = together || d->type == DEED_BUILD ? deeds_alike(d, n) : 1;
        put_deeds(to, d, run);
        buffer_print(to, "%s", end);
    }
}

static void put_marks(buffer *to, unsigned marks)
{
    for (unsigned i = 1; picture_mark_name(i); i++)
        if (marks >> i & 1)
            buffer_print(to, ", %s", picture_mark_name(i));
}

static bool reads(const explanation *e, const tamis_step *step)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->steps[i].type == TAMIS_STEP_CELL && e->steps[i].agrees &&
            picture_same_place(&e->steps[i].cell, &step->cell) &&
            strcmp(e->steps[i].text, step->text) == 0)
            return true;
    return false;
}

/* The keys that made a cell what it is. */
static void put_origin(buffer *to, const scene *now, const tamis_step *step)
{
    const char *before = " from ";

    for (const explanation *e = NULL; (e = buffer_next(&now->present, e, sizeof *e));)
        if (reads(e, step)) {
            buffer_print(to, "%s%s", before, e->label);
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

void scene_put_step(buffer *to, const show *s, const scene *now, const tamis_step *step)
{
    if (step->type == TAMIS_STEP_NUMBER)
        put_number(to, s, step);
    else if (step->type == TAMIS_STEP_CELL)
        put_cell(to, s, now, step);
    else
        buffer_print(to, "%s", step->text);
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

void scene_put_answer(buffer *to, const show *s, const explanation *e, const char *end)
{
    bool counts = (tamis_kind_can(s->plan->kind) & TAMIS_CAN_COUNT) != 0;

    buffer_print(to, "%s", e->label);
    if (s->with_keys)
        buffer_print(to, ", key %" PRIu64, e->key);
    buffer_print(to, "? %s", answer_of(s, e));
    if (e->found && counts)
        buffer_print(to, " (%" PRIu64 " time%s)", e->count, e->count == 1 ? "" : "s");
    buffer_print(to, ": %s%s", e->n > 0 ? e->steps[e->n - 1].text : "", end);
}

void scene_put_changes(buffer *to, const scene *now)
{
    const char *whose = now->picture.n < now->picture.total ? " of those shown" : "";

    if (now->has_changes)
        buffer_print(to, "%zu cell%s%s changed\n", now->changes, now->changes == 1 ? "" : "s",
                     whose);
}

bool scene_has_rest(const scene *now)
{
    return now->picture.n != now->picture.total || now->picture.n == 0;
}

void scene_put_rest(buffer *to, const scene *now)
{
    if (now->picture.total == 0)
        buffer_print(to, "filters of this kind do not show their cells\n");
    else if (scene_has_rest(now))
        buffer_print(to, "%zu of %" PRIu64 " cells are shown; --all shows all of them\n",
                     now->picture.n, now->picture.total);
}

void scene_put_members(buffer *to, const scene *now)
{
    const char *before = "members {";

    for (const uint64_t *m = NULL; (m = buffer_next(&now->members, m, sizeof *m)); before = ", ")
        buffer_print(to, "%s%" PRIu64, before, *m);
    if (now->members.size)
        buffer_print(to, "}\n");
}
