/* elimination.c - how the rows of keys in a band were added to each other. */
#include "explain/solving.h"

#include <string.h>

/* What one of the two rows touches and the other does not. Both begin with the same cell, and lie
 * in the band that begins there: there is room for all of it. */
static void elimination_add_row(solving *p, size_t key, size_t other)
{
    solving_key *k = &p->keys[key];
    const solving_key *o = &p->keys[other];
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
    tamis__solving_tell(p, TAMIS_PEEL_ADDS, key);
}

/* A row of which nothing is left is right if the others are. */
static void elimination_of_key(solving *p, size_t key)
{
    solving_key *k = &p->keys[key];

    while (k->n && p->cells[k->cells[0]].owner && !p->has_ended)
        elimination_add_row(p, key, p->cells[k->cells[0]].owner - 1);
    if (k->n)
        p->cells[k->cells[0]].owner = key + 1;
    tamis__solving_tell(p, k->n ? TAMIS_PEEL_TAKES : TAMIS_PEEL_LEAVES, key);
}

/* The first cell of a row is filled after all that come behind it. */
static void elimination_run(solving *p)
{
    for (size_t key = 0; key < p->n && !p->has_ended; key++)
        if (!p->keys[key].is_off)
            elimination_of_key(p, key);
    for (size_t cell = 0; cell < p->n_cells && !p->has_ended; cell++)
        if (p->cells[cell].owner)
            p->keys[p->n_order++].in_order = p->cells[cell].owner - 1;
}

tamis_status tamis_explain_elimination(const tamis *f, const uint64_t *keys, size_t n,
                                       tamis_visit_peel *visit, void *ctx)
{
    solving p = { .f = f,
                  .visit = visit,
                  .ctx = ctx,
                  .n = n,
                  .most = MOST_TOUCHED,
                  .take_off = elimination_run };

    return tamis__solving_explain(&p, TAMIS_TRAIT_IS_ELIMINATED, keys);
}
