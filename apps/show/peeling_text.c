/* peeling_text.c - how a filter by peeling or by elimination was made, in sentences. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "peeling_text.h"
#include "term/message.h"

typedef struct telling {
    buffer *to;
    const picture *picture;
    const peeled_key *keys;
    bool is_eliminated;
} telling;

static void append(buffer *to, const char *text)
{
    buffer_append(to, text, strlen(text));
}

/* "cell 3 of block 1" */
static void append_cell(const telling *t, const tamis_cell *cell)
{
    char array[64], text[96];

    picture_array_text(t->picture, cell, array);
    snprintf(text, sizeof text, "cell %" PRIu64 " of %s", cell->index + t->picture->first, array);
    append(t->to, text);
}

static void tell_touches(const telling *t, const tamis_peel *step)
{
    append(t->to, " touches ");
    for (unsigned i = 0; i < step->n_cells; i++) {
        append(t->to, i == 0 ? "" : i + 1 < step->n_cells ? ", " : " and ");
        append_cell(t, &step->cells[i]);
    }
}

static void tell_fills(const telling *t, const tamis_peel *step)
{
    char text[96];

    append(t->to, ": ");
    append_cell(t, &step->cells[step->own]);
    snprintf(text, sizeof text,
             " becomes %" PRIu64 ", so that the xor is its fingerprint, %" PRIu64,
             step->cells[step->own].value, step->fingerprint);
    append(t->to, text);
}

static bool tell_step(void *ctx, const tamis_peel *step)
{
    const telling *t = ctx;

    append(t->to, t->keys[step->key].label);
    switch (step->type) {
    case TAMIS_PEEL_TOUCHES:
        tell_touches(t, step);
        break;
    case TAMIS_PEEL_TAKES:
        append(t->to, " goes, and owns ");
        append_cell(t, &step->cells[step->own]);
        append(t->to, t->is_eliminated ? ", which no other row begins with"
                                       : ", which no other key that is left touches");
        break;
    case TAMIS_PEEL_LEAVES:
        append(t->to, " goes without a cell of its own");
        break;
    case TAMIS_PEEL_FILLS:
        tell_fills(t, step);
        break;
    case TAMIS_PEEL_ADDS:
        append(t->to, " takes on the row of ");
        append(t->to, t->keys[step->other].label);
        append(t->to, step->n_cells ? ", and" : ", of which nothing is left");
        if (step->n_cells)
            tell_touches(t, step);
        break;
    }
    buffer_append(t->to, "", 1);
    return true;
}

tamis_status peeling_tell(buffer *sentences, const tamis *f, const picture *p,
                          const peeled_key *keys, size_t n)
{
    telling t = { .to = sentences, .picture = p, .keys = keys };
    uint64_t *numbers = calloc(n + 1, sizeof *numbers);

    if (!numbers)
        die(CODE_MEMORY, "out of memory for %zu keys", n);
    for (size_t i = 0; i < n; i++)
        numbers[i] = keys[i].key;
    tamis_status status = tamis_explain_peeling(f, numbers, n, tell_step, &t);
    t.is_eliminated = status == TAMIS_CANNOT;
    if (t.is_eliminated)
        status = tamis_explain_elimination(f, numbers, n, tell_step, &t);
    free(numbers);
    return status;
}
