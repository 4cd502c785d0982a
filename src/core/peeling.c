/* peeling.c - how a filter was made whose keys are found by the xor of cells.
 *
 * Which cells a key touches, and what their xor shall be, is what the kind tells of a lookup. The
 * rest is the same for all such kinds: as long as a key is alone in a cell, that cell becomes its
 * own and the key is taken off; then cells are filled, that of the key taken last first. Where keys
 * touch cells of a narrow band, rows are eliminated instead: a row whose first cell is another's
 * has that row added to it, and owns the first cell that is nobody's; then cells are filled from
 * the last to the first.
 *
 * Nothing is made here: the filter is there, and all its equations hold. So what a cell is filled
 * with is what it holds, provided that a cell of nobody's keeps what it holds. Which key gets which
 * of its cells is another matter: the order of peeling is free. Cells that are not zero are taken
 * first: no cell is left out then that somebody must have filled, unless it was filled with 0. */
#include <string.h>

#include "base/bits.h"
#include "base/sort.h"
#include "explain.h"

/* Cells that a key touches: any few, or some in a band. */
enum { FEW_TOUCHED = 8, MOST_TOUCHED = 64 };

typedef struct peeling_cell {
    tamis_cell cell;
    uint64_t value;  /* while cells are filled */
    size_t n, keys;  /* how many keys are left that touch it, and the xor of their numbers */
    size_t in_queue; /* number i of the queue is in cell i */
    size_t owner;    /* by elimination: a key and 1; 0: none yet */
} peeling_cell;

typedef struct peeling_key {
    uint64_t fingerprint;
    size_t *cells; /* ascending, if by elimination */
    unsigned n, own;
    size_t other;     /* key whose row was added */
    bool is_repeated; /* an equal one comes before it */
    bool is_off;
    size_t in_order; /* of the keys that were taken off, number i is in key i */
} peeling_key;

/* Cells of which one key is left wait in a queue, from the front if they are not zero, from the
 * back if they are. Each waits once, as keys do not come back. */
typedef struct peeling {
    const tamis *f;
    tamis_visit_peel *visit;
    void *ctx;
    bool has_ended; /* who listens has heard enough */
    peeling_cell *cells;
    size_t n_cells;
    peeling_key *keys;
    size_t *touched; /* the cells of all keys, `most` for each */
    unsigned most;
    size_t n, n_order;
    size_t front, front_end, back, back_end;
} peeling;

/* ---- What the kind tells ----------------------------------------------- */

typedef struct peeling_row {
    uint64_t fingerprint;
    tamis_cell cells[MOST_TOUCHED];
    unsigned n;
    bool is_open; /* the step before was the fingerprint, or one of its cells */
} peeling_row;

static bool peeling_take_step(void *ctx, const tamis_step *step)
{
    peeling_row *row = ctx;

    if (step->type != TAMIS_STEP_CELL) {
        row->is_open = strcmp(step->text, "fingerprint") == 0;
        row->fingerprint = row->is_open ? step->value : row->fingerprint;
        return true;
    }
    if (row->is_open && row->n < MOST_TOUCHED)
        row->cells[row->n++] = step->cell;
    return true;
}

static tamis_status peeling_row_of(peeling_row *row, const tamis *f, uint64_t key)
{
    *row = (peeling_row){ .n = 0 };
    if (!tamis_explain(f, key, peeling_take_step, row))
        return TAMIS_ABSENT;
    return row->n ? TAMIS_OK : TAMIS_CANNOT;
}

/* Those of the arrays that keys touch, which all have one name, in the order of a picture. */
typedef struct peeling_picture {
    const char *name;
    peeling_cell *cells; /* NULL: they are counted */
    size_t n, room;
} peeling_picture;

static bool peeling_take_cell(void *ctx, const tamis_cell *cell)
{
    peeling_picture *p = ctx;

    if (strcmp(cell->array, p->name) != 0)
        return true;
    if (p->cells && p->n < p->room)
        p->cells[p->n] = (peeling_cell){ .cell = *cell, .value = cell->value };
    p->n++;
    return true;
}

static int peeling_compare(const tamis_cell *a, const tamis_cell *b)
{
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* The number of a cell; n_cells if there is none like it. */
static size_t peeling_find(const peeling *p, const tamis_cell *cell)
{
    size_t low = 0, high = p->n_cells;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (peeling_compare(&p->cells[middle].cell, cell) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < p->n_cells && peeling_compare(&p->cells[low].cell, cell) == 0;
    return is_there ? low : p->n_cells;
}

/* ---- Memory ------------------------------------------------------------ */

/* NULL: there is none, or not as much as that. */
static void *peeling_array(const tamis *f, size_t n, size_t size)
{
    uint64_t bytes;

    return mul_overflows(n, size, &bytes) ? NULL : tamis__scratch_new(f, bytes);
}

static tamis_status peeling_begin(peeling *p, const char *name)
{
    peeling_picture count = { .name = name }, all = { .name = name };
    tamis_status status = tamis_visit_cells(p->f, peeling_take_cell, &count);

    if (status || count.n == 0)
        return status ? status : TAMIS_CANNOT;
    p->n_cells = all.room = count.n;
    p->cells = all.cells = peeling_array(p->f, p->n_cells, sizeof *p->cells);
    p->keys = peeling_array(p->f, p->n, sizeof *p->keys);
    p->touched = peeling_array(p->f, p->n, p->most * sizeof *p->touched);
    if (!p->cells || !p->keys || !p->touched)
        return TAMIS_NOMEM;
    return tamis_visit_cells(p->f, peeling_take_cell, &all);
}

static void peeling_end(peeling *p)
{
    if (p->cells)
        tamis__scratch_free(p->f, p->cells, p->n_cells * sizeof *p->cells);
    if (p->keys)
        tamis__scratch_free(p->f, p->keys, p->n * sizeof *p->keys);
    if (p->touched)
        tamis__scratch_free(p->f, p->touched, p->n * p->most * sizeof *p->touched);
}

/* ---- Repeated keys ----------------------------------------------------- */

typedef struct peeling_pair {
    uint64_t key, number;
} peeling_pair;

/* Of equal keys, all but the first. */
static tamis_status peeling_find_repeated(peeling *p, const uint64_t *keys)
{
    peeling_pair *pairs = peeling_array(p->f, p->n, sizeof *pairs);
    size_t first = 0;

    if (!pairs)
        return TAMIS_NOMEM;
    for (size_t i = 0; i < p->n; i++) {
        pairs[i] = (peeling_pair){ keys[i], i };
        p->keys[i] = (peeling_key){ .cells = p->touched + i * p->most };
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

static void peeling_tell(peeling *p, tamis_peel_type type, size_t key)
{
    const peeling_key *k = &p->keys[key];
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

static uint64_t peeling_sum(const peeling *p, const peeling_key *k)
{
    uint64_t sum = 0;

    for (unsigned j = 0; j < k->n; j++)
        sum ^= p->cells[k->cells[j]].value;
    return sum;
}

/* If the xor is not the fingerprint, the filter has the key elsewhere: it is stashed. */
static tamis_status peeling_touch(peeling *p, size_t key, uint64_t from)
{
    peeling_key *k = &p->keys[key];
    peeling_row row;
    tamis_status status = peeling_row_of(&row, p->f, from);

    if (status || row.n > p->most)
        return status ? status : TAMIS_CANNOT;
    k->fingerprint = row.fingerprint;
    k->n = row.n;
    for (unsigned j = 0; j < row.n; j++) {
        k->cells[j] = peeling_find(p, &row.cells[j]);
        if (k->cells[j] == p->n_cells)
            return TAMIS_CANNOT;
    }
    k->is_off = k->is_repeated || peeling_sum(p, k) != k->fingerprint;
    for (unsigned j = 0; j < row.n && !k->is_off; j++) {
        p->cells[k->cells[j]].n++;
        p->cells[k->cells[j]].keys ^= key;
    }
    peeling_tell(p, TAMIS_PEEL_TOUCHES, key);
    if (k->is_off)
        peeling_tell(p, TAMIS_PEEL_LEAVES, key);
    return TAMIS_OK;
}

/* ---- Peeling ----------------------------------------------------------- */

static void peeling_queue(peeling *p, size_t cell)
{
    if (p->cells[cell].n != 1)
        return;
    if (p->cells[cell].value != 0)
        p->cells[p->front_end++].in_queue = cell;
    else
        p->cells[--p->back_end].in_queue = cell;
}

/* The next cell that one key is left of: not zero, if there is such. n_cells: there is none. */
static size_t peeling_next(peeling *p)
{
    while (p->front < p->front_end || p->back > p->back_end) {
        size_t at = p->front < p->front_end ? p->front++ : --p->back;
        size_t cell = p->cells[at].in_queue;
        if (p->cells[cell].n == 1)
            return cell;
    }
    return p->n_cells;
}

static void peeling_take_off(peeling *p, size_t key)
{
    peeling_key *k = &p->keys[key];

    k->is_off = true;
    for (unsigned j = 0; j < k->n; j++) {
        peeling_cell *cell = &p->cells[k->cells[j]];
        cell->n--;
        cell->keys ^= key;
        peeling_queue(p, k->cells[j]);
    }
}

static void peeling_take(peeling *p, size_t cell)
{
    size_t key = p->cells[cell].keys;
    peeling_key *k = &p->keys[key];

    while (k->own < k->n && k->cells[k->own] != cell)
        k->own++;
    p->keys[p->n_order++].in_order = key;
    peeling_tell(p, TAMIS_PEEL_TAKES, key);
    peeling_take_off(p, key);
}

/* Where every cell has two keys left, one of them was stashed when the filter was made, until the
 * others happened to make its xor right. Which one it was makes no difference. */
static void peeling_peel(peeling *p)
{
    size_t first = 0;

    p->back = p->back_end = p->n_cells;
    for (size_t cell = 0; cell < p->n_cells; cell++)
        peeling_queue(p, cell);
    while (!p->has_ended) {
        size_t cell = peeling_next(p);
        if (cell < p->n_cells) {
            peeling_take(p, cell);
            continue;
        }
        while (first < p->n && p->keys[first].is_off)
            first++;
        if (first == p->n)
            break;
        peeling_tell(p, TAMIS_PEEL_LEAVES, first);
        peeling_take_off(p, first);
    }
}

/* ---- Elimination ------------------------------------------------------- */

/* What one of the two rows touches and the other does not. Both begin with the same cell, and lie
 * in the band that begins there: there is room for all of it. */
static void peeling_add_row(peeling *p, size_t key, size_t other)
{
    peeling_key *k = &p->keys[key];
    const peeling_key *o = &p->keys[other];
    size_t sum[MOST_TOUCHED];
    unsigned n = 0;

    for (unsigned i = 0, j = 0; i < k->n || j < o->n;) {
        size_t a = i < k->n ? k->cells[i] : p->n_cells, b = j < o->n ? o->cells[j] : p->n_cells;
        if (a != b && n < MOST_TOUCHED)
            sum[n++] = a < b ? a : b;
        i += a <= b;
        j += b <= a;
    }
    memcpy(k->cells, sum, n * sizeof *sum);
    k->n = n;
    k->fingerprint ^= o->fingerprint;
    k->other = other;
    peeling_tell(p, TAMIS_PEEL_ADDS, key);
}

/* A row of which nothing is left is right if the others are. */
static void peeling_eliminate_key(peeling *p, size_t key)
{
    peeling_key *k = &p->keys[key];

    while (k->n && p->cells[k->cells[0]].owner && !p->has_ended)
        peeling_add_row(p, key, p->cells[k->cells[0]].owner - 1);
    if (k->n)
        p->cells[k->cells[0]].owner = key + 1;
    peeling_tell(p, k->n ? TAMIS_PEEL_TAKES : TAMIS_PEEL_LEAVES, key);
}

/* The first cell of a row is filled after all that come behind it. */
static void peeling_eliminate(peeling *p)
{
    for (size_t key = 0; key < p->n && !p->has_ended; key++)
        if (!p->keys[key].is_off)
            peeling_eliminate_key(p, key);
    for (size_t cell = 0; cell < p->n_cells && !p->has_ended; cell++)
        if (p->cells[cell].owner)
            p->keys[p->n_order++].in_order = p->cells[cell].owner - 1;
}

/* ---- Filling ----------------------------------------------------------- */

/* Cells of keys are empty, and then get what makes the xor right. */
static tamis_status peeling_fill(peeling *p)
{
    for (size_t i = 0; i < p->n_order; i++) {
        const peeling_key *k = &p->keys[p->keys[i].in_order];
        p->cells[k->cells[k->own]].value = 0;
    }
    for (size_t i = p->n_order; i-- > 0 && !p->has_ended;) {
        size_t key = p->keys[i].in_order;
        const peeling_key *k = &p->keys[key];
        peeling_cell *own = &p->cells[k->cells[k->own]];
        own->value = peeling_sum(p, k) ^ k->fingerprint;
        if (own->value != own->cell.value)
            return TAMIS_CORRUPT;
        peeling_tell(p, TAMIS_PEEL_FILLS, key);
    }
    return TAMIS_OK;
}

static tamis_status peeling_run(peeling *p, const uint64_t *keys)
{
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < p->n && !status && !p->has_ended; i++)
        status = peeling_touch(p, i, keys[i]);
    if (status || p->has_ended)
        return status;
    if (p->f->ops.traits & TAMIS_TRAIT_IS_PEELED)
        peeling_peel(p);
    else
        peeling_eliminate(p);
    return p->has_ended ? TAMIS_OK : peeling_fill(p);
}

/* Of kinds with that trait, whose keys touch so many cells at most. */
static tamis_status peeling_explain(peeling *p, unsigned trait, unsigned most, const uint64_t *keys)
{
    peeling_row row;

    if (!(p->f->ops.traits & trait))
        return TAMIS_CANNOT;
    if (p->n == 0)
        return TAMIS_OK;
    p->most = most;
    tamis_status status = peeling_row_of(&row, p->f, keys[0]);
    if (!status)
        status = peeling_begin(p, row.cells[0].array);
    if (!status)
        status = peeling_find_repeated(p, keys);
    if (!status)
        status = peeling_run(p, keys);
    peeling_end(p);
    return status;
}

tamis_status tamis_explain_peeling(const tamis *f, const uint64_t *keys, size_t n,
                                   tamis_visit_peel *visit, void *ctx)
{
    peeling p = { .f = f, .visit = visit, .ctx = ctx, .n = n };

    return peeling_explain(&p, TAMIS_TRAIT_IS_PEELED, FEW_TOUCHED, keys);
}

tamis_status tamis_explain_elimination(const tamis *f, const uint64_t *keys, size_t n,
                                       tamis_visit_peel *visit, void *ctx)
{
    peeling p = { .f = f, .visit = visit, .ctx = ctx, .n = n };

    return peeling_explain(&p, TAMIS_TRAIT_IS_ELIMINATED, MOST_TOUCHED, keys);
}
