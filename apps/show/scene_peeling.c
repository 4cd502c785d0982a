/* scene_peeling.c - how a filter by peeling or by elimination was made, in sentences. */
#include <inttypes.h>
#include <stdlib.h>

#include "scene.h"
#include "term/array.h"

typedef struct telling {
    buffer *to;
    const picture *picture;
    const named_key *keys;
    bool is_eliminated;
} telling;

/* "cell 3 of block 1" after some text. */
static void tell_cell(const telling *t, const char *before, const tamis_cell *cell)
{
    char array[64];

    picture_array_text(t->picture, cell, array);
    buffer_print(t->to, "%scell %" PRIu64 " of %s", before, cell->index + t->picture->first, array);
}

static void tell_touches(const telling *t, const tamis_peel *step)
{
    for (unsigned i = 0; i < step->n_cells; i++)
        tell_cell(t,
                  i == 0                  ? " touches "
                  : i + 1 < step->n_cells ? ", "
                                          : " and ",
                  &step->cells[i]);
}

static bool tell_step(void *ctx, const tamis_peel *step)
{
    const telling *t = ctx;
    const tamis_cell *own = &step->cells[step->own];

    buffer_print(t->to, "%s", t->keys[step->key].label);
    switch (step->type) {
    case TAMIS_PEEL_TOUCHES:
        tell_touches(t, step);
        break;
    case TAMIS_PEEL_TAKES:
        tell_cell(t, " goes, and owns ", own);
        buffer_print(t->to, t->is_eliminated ? ", which no other row begins with"
                                             : ", which no other key that is left touches");
        break;
    case TAMIS_PEEL_LEAVES:
        buffer_print(t->to, " goes without a cell of its own");
        break;
    case TAMIS_PEEL_FILLS:
        tell_cell(t, ": ", own);
        buffer_print(t->to, " becomes %" PRIu64 ", so that the xor is its fingerprint, %" PRIu64,
                     own->value, step->fingerprint);
        break;
    case TAMIS_PEEL_ADDS:
        buffer_print(t->to, " takes on the row of %s%s", t->keys[step->other].label,
                     step->n_cells ? ", and" : ", of which nothing is left");
        tell_touches(t, step);
        break;
    }
    buffer_append(t->to, "", 1);
    return true;
}

tamis_status scene_tell_peeling(buffer *sentences, const tamis *f, const picture *p,
                                const named_key *keys, size_t n)
{
    telling t = { .to = sentences, .picture = p, .keys = keys };
    uint64_t *numbers = array_new(n, sizeof *numbers, "cells");

    for (size_t i = 0; i < n; i++)
        numbers[i] = keys[i].key;
    tamis_status status = tamis_explain_peeling(f, numbers, n, tell_step, &t);
    t.is_eliminated = status == TAMIS_CANNOT;
    if (t.is_eliminated)
        status = tamis_explain_elimination(f, numbers, n, tell_step, &t);
    free(numbers);
    return status;
}
