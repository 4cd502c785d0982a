/* solving.c - what peeling and elimination have in common: what the kind tells of its keys, and how
 * cells are filled in the end. */
#include "explain/solving.h"

#include <string.h>

#include "base/bits.h"
#include "base/sort.h"
#include "explain.h"

/* ---- What the kind tells ----------------------------------------------- */

typedef struct solving_row {
    uint64_t fingerprint;
    tamis_cell cells[MOST_TOUCHED];
    unsigned n;
    bool is_open; /* the step before was the fingerprint, or one of its cells */
} solving_row;

static bool solving_take_step(void *ctx, const tamis_step *step)
{
    solving_row *row = ctx;

    if (step->type != TAMIS_STEP_CELL) {
        row->is_open = strcmp(step->text, "fingerprint") == 0;
        row->fingerprint = row->is_open ? step->value : row->fingerprint;
        return true;
    }
    if (row->is_open && row->n < MOST_TOUCHED)
        row->cells[row->n++] = step->cell;
    return true;
}

static tamis_status solving_row_of(solving_row *row, const tamis *f, uint64_t key)
{
    *row = (solving_row){ .n = 0 };
    if (!tamis_explain(f, key, solving_take_step, row))
        return TAMIS_ABSENT;
    return row->n ? TAMIS_OK : TAMIS_CANNOT;
}

/* Those of the arrays that keys touch, which all have one name, in the order of a picture. */
typedef struct solving_picture {
    const char *name;
    solving_cell *cells; /* NULL: they are counted */
    size_t n, room;
} solving_picture;

static bool solving_take_cell(void *ctx, const tamis_cell *cell)
{
    solving_picture *p = ctx;

    if (strcmp(cell->array, p->name) != 0)
        return true;
    if (p->cells && p->n < p->room)
        p->cells[p->n] = (solving_cell){ .cell = *cell, .value = cell->value };
    p->n++;
    return true;
}

static int solving_compare(const tamis_cell *a, const tamis_cell *b)
{
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* The number of a cell; n_cells if there is none like it. */
static size_t solving_find(const solving *p, const tamis_cell *cell)
{
    size_t low = 0, high = p->n_cells;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (solving_compare(&p->cells[middle].cell, cell) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < p->n_cells && solving_compare(&p->cells[low].cell, cell) == 0;
    return is_there ? low : p->n_cells;
}

/* ---- Memory ------------------------------------------------------------ */

/* NULL: there is none, or not as much as that. */
static void *solving_array(const tamis *f, size_t n, size_t size)
{
    uint64_t bytes;

    return mul_overflows(n, size, &bytes) ? NULL : tamis__scratch_new(f, bytes);
}

static tamis_status solving_begin(solving *p, const char *name)
{
    solving_picture count = { .name = name }, all = { .name = name };
    tamis_status status = tamis_visit_cells(p->f, solving_take_cell, &count);

    if (status || count.n == 0)
        return status ? status : TAMIS_CANNOT;
    p->n_cells = all.room = count.n;
    p->cells = all.cells = solving_array(p->f, p->n_cells, sizeof *p->cells);
    p->keys = solving_array(p->f, p->n, sizeof *p->keys);
    p->touched = solving_array(p->f, p->n, p->most * sizeof *p->touched);
    if (!p->cells || !p->keys || !p->touched)
        return TAMIS_NOMEM;
    return tamis_visit_cells(p->f, solving_take_cell, &all);
}

static void solving_end(solving *p)
{
    if (p->cells)
        tamis__scratch_free(p->f, p->cells, p->n_cells * sizeof *p->cells);
    if (p->keys)
        tamis__scratch_free(p->f, p->keys, p->n * sizeof *p->keys);
    if (p->touched)
        tamis__scratch_free(p->f, p->touched, p->n * p->most * sizeof *p->touched);
}

/* ---- Repeated keys ----------------------------------------------------- */

typedef struct solving_pair {
    uint64_t key, number;
} solving_pair;

/* Of equal keys, all but the first. */
static tamis_status solving_find_repeated(solving *p, const uint64_t *keys)
{
    solving_pair *pairs = solving_array(p->f, p->n, sizeof *pairs);
    size_t first = 0;

    if (!pairs)
        return TAMIS_NOMEM;
    for (size_t i = 0; i < p->n; i++) {
        pairs[i] = (solving_pair){ keys[i], i };
        p->keys[i] = (solving_key){ .cells = p->touched + i * p->most };
    }
    tamis__sort_pairs(pairs, p->n);
    for (size_t i = 1; i < p->n; i++) {
        bool is_earlier = pairs[i].number < pairs[first].number;
        if (pairs[i].key == pairs[first].key)
            p->keys[pairs[is_earlier ? first : i].number].is_repeated = true;
        if (pairs[i].key != pairs[first].key || is_earlier)
            first = i;
    }
    tamis__scratch_free(p->f, pairs, p->n * sizeof *pairs);
    return TAMIS_OK;
}

/* ---- Telling ----------------------------------------------------------- */

void tamis__solving_tell(solving *p, tamis_peel_type type, size_t key)
{
    const solving_key *k = &p->keys[key];
    tamis_cell cells[MOST_TOUCHED];

    for (unsigned j = 0; j < k->n; j++)
        cells[j] = p->cells[k->cells[j]].cell;
    const tamis_peel step = { .type = type,
                              .key = key,
                              .fingerprint = k->fingerprint,
                              .cells = cells,
                              .n_cells = k->n,
                              .own = k->own,
                              .other = k->other };
    p->has_ended = p->has_ended || !p->visit(p->ctx, &step);
}

/* ---- Which cells a key touches ----------------------------------------- */

static uint64_t solving_sum(const solving *p, const solving_key *k)
{
    uint64_t sum = 0;

    for (unsigned j = 0; j < k->n; j++)
        sum ^= p->cells[k->cells[j]].value;
    return sum;
}

/* If the xor is not the fingerprint, the filter has the key elsewhere: it is stashed. */
static tamis_status solving_touch(solving *p, size_t key, uint64_t from)
{
    solving_key *k = &p->keys[key];
    solving_row row;
    tamis_status status = solving_row_of(&row, p->f, from);

    if (status || row.n > p->most)
        return status ? status : TAMIS_CANNOT;
    k->fingerprint = row.fingerprint;
    k->n = row.n;
    for (unsigned j = 0; j < row.n; j++) {
        k->cells[j] = solving_find(p, &row.cells[j]);
        if (k->cells[j] == p->n_cells)
            return TAMIS_CANNOT;
    }
    k->is_off = k->is_repeated || solving_sum(p, k) != k->fingerprint;
    for (unsigned j = 0; j < row.n && !k->is_off; j++) {
        p->cells[k->cells[j]].n++;
        p->cells[k->cells[j]].keys ^= key;
    }
    tamis__solving_tell(p, TAMIS_PEEL_TOUCHES, key);
    if (k->is_off)
        tamis__solving_tell(p, TAMIS_PEEL_LEAVES, key);
    return TAMIS_OK;
}

/* ---- Filling ----------------------------------------------------------- */

/* Cells of keys are empty, and then get what makes the xor right. */
static tamis_status solving_fill(solving *p)
{
    for (size_t i = 0; i < p->n_order; i++) {
        const solving_key *k = &p->keys[p->keys[i].in_order];
        p->cells[k->cells[k->own]].value = 0;
    }
    for (size_t i = p->n_order; i-- > 0 && !p->has_ended;) {
        size_t key = p->keys[i].in_order;
        const solving_key *k = &p->keys[key];
        solving_cell *own = &p->cells[k->cells[k->own]];
        own->value = solving_sum(p, k) ^ k->fingerprint;
        if (own->value != own->cell.value)
            return TAMIS_CORRUPT;
        tamis__solving_tell(p, TAMIS_PEEL_FILLS, key);
    }
    return TAMIS_OK;
}

static tamis_status solving_run(solving *p, const uint64_t *keys)
{
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < p->n && !status && !p->has_ended; i++)
        status = solving_touch(p, i, keys[i]);
    if (status || p->has_ended)
        return status;
    p->take_off(p);
    return p->has_ended ? TAMIS_OK : solving_fill(p);
}

tamis_status tamis__solving_explain(solving *p, unsigned trait, const uint64_t *keys)
{
    solving_row row;

    if (!(p->f->ops.traits & trait))
        return TAMIS_CANNOT;
    if (p->n == 0)
        return TAMIS_OK;
    tamis_status status = solving_row_of(&row, p->f, keys[0]);
    if (!status)
        status = solving_begin(p, row.cells[0].array);
    if (!status)
        status = solving_find_repeated(p, keys);
    if (!status)
        status = solving_run(p, keys);
    solving_end(p);
    return status;
}
