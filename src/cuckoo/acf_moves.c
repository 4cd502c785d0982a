/* acf_moves.c - puts in a key that is not there, and makes room for it (moves.h). */
#include "cuckoo/acf.h"
#include "cuckoo/moves.h"

/* With 95 % of the cells in use, a search looks at 15 of them on average, at more than 128 in one
 * of 700 adds, and at more than 512 in none of 10^8. */
enum { ACF_SEARCH = 1024, ACF_DEEPEST = 254 };

/* The first of its cells that is empty. Where it starts to look depends on the key, so that tables
 * fill alike. */
static bool acf_find_empty(const acf_table *t, const acf_places *p, uint64_t h, uint64_t *cell)
{
    for (unsigned i = 0; i < ACF_TABLES; i++) {
        *cell = p->cell[(h + i) % ACF_TABLES];
        if (acf_cell(t, *cell) == 0)
            return true;
    }
    return false;
}

/* A key that has moved starts with selector 0. */
static void acf_put(const acf_table *t, uint64_t cell, uint64_t h, uint64_t copies)
{
    acf_put_cell(t, cell, acf_places_of(t, h).value[0]);
    acf_put_entry(t, cell, h, copies);
}

/* The cells of the key at a node: the first that is empty, or else all. */
static bool acf_look_from(moves *m, void *self, unsigned from)
{
    const acf_table *t = self;
    uint64_t h = acf_hash(t, m->nodes[from].place), cell;
    acf_places p = acf_places_of(t, h);

    if (acf_find_empty(t, &p, h, &cell))
        return moves_add_place(m, from, cell, 0, true);
    for (unsigned i = 0; i < ACF_TABLES; i++) {
        ahead_read(acf_entry(t, p.cell[i]), t->is_far);
        moves_add_place(m, from, p.cell[i], 0, false);
    }
    return false;
}

/* *cell is one of the key, and empty then. */
static bool acf_make_room(acf_table *t, const acf_places *p, uint64_t *cell)
{
    moves_node nodes[ACF_SEARCH + 1];
    uint64_t seen[ACF_SEARCH * MOVES_SEEN / 64] = { 0 };
    moves m = { nodes, seen, ACF_SEARCH, ACF_DEEPEST, 0, 0 };

    for (unsigned i = 0; i < ACF_TABLES; i++)
        moves_add_root(&m, p->cell[i], 0);
    const moves_node *x = moves_search(&m, t, acf_look_from);
    if (!x)
        return false;
    for (; x->depth; x = moves_before(&m, x)) {
        uint64_t from = moves_before(&m, x)->place;
        acf_put(t, x->place, acf_hash(t, from), acf_copies(t, from));
    }
    *cell = x->place;
    return true;
}

bool tamis__acf_insert(acf_table t, uint64_t h, uint64_t copies)
{
    acf_places p = acf_places_of(&t, h);
    uint64_t cell;
    bool found = acf_find_empty(&t, &p, h, &cell) || acf_make_room(&t, &p, &cell);

    if (found)
        acf_put(&t, cell, h, copies);
    return found;
}
