/* peeling.c - how keys were taken off, each from a cell that it is alone in.
 *
 * Cells of which one key is left wait in a queue, from the front if they are not zero, from the
 * back if they are. Each waits once, as keys do not come back. */
#include "explain/solving.h"

static void peeling_queue(solving *p, size_t cell)
{
    if (p->cells[cell].n != 1)
        return;
    if (p->cells[cell].value != 0)
        p->cells[p->front_end++].in_queue = cell;
    else
        p->cells[--p->back_end].in_queue = cell;
}

/* The next cell that one key is left of: not zero, if there is such. n_cells: there is none. */
static size_t peeling_next(solving *p)
{
    while (p->front < p->front_end || p->back > p->back_end) {
        size_t at = p->front < p->front_end ? p->front++ : --p->back;
        size_t cell = p->cells[at].in_queue;
        if (p->cells[cell].n == 1)
            return cell;
    }
    return p->n_cells;
}

static void peeling_take_off(solving *p, size_t key)
{
    solving_key *k = &p->keys[key];

    k->is_off = true;
    for (unsigned j = 0; j < k->n; j++) {
        solving_cell *cell = &p->cells[k->cells[j]];
        cell->n--;
        cell->keys ^= key;
        peeling_queue(p, k->cells[j]);
    }
}

static void peeling_take(solving *p, size_t cell)
{
    size_t key = p->cells[cell].keys;
    solving_key *k = &p->keys[key];

    while (k->own < k->n && k->cells[k->own] != cell)
        k->own++;
    p->keys[p->n_order++].in_order = key;
    tamis__solving_tell(p, TAMIS_PEEL_TAKES, key);
    peeling_take_off(p, key);
}

/* Where every cell has two keys left, one of them was stashed when the filter was made, until the
 * others happened to make its xor right. Which one it was makes no difference. */
static void peeling_peel(solving *p)
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
        tamis__solving_tell(p, TAMIS_PEEL_LEAVES, first);
        peeling_take_off(p, first);
    }
}

tamis_status tamis_explain_peeling(const tamis *f, const uint64_t *keys, size_t n,
                                   tamis_visit_peel *visit, void *ctx)
{
    solving p = {
        .f = f, .visit = visit, .ctx = ctx, .n = n, .most = FEW_TOUCHED, .take_off = peeling_peel
    };

    return tamis__solving_explain(&p, TAMIS_TRAIT_IS_PEELED, keys);
}
