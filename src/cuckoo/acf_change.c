/* acf_change.c - keys that come, for which others make room (moves.h), and go; cells that adapt;
 * two filters. */
#include "cuckoo/acf.h"
#include "cuckoo/moves.h"

/* ---- The search for room ----------------------------------------------- */

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
    moves m = { .nodes = nodes, .seen = seen, .most = ACF_SEARCH, .deepest = ACF_DEEPEST };

    for (unsigned i = 0; i < ACF_TABLES; i++)
        moves_add_root(&m, p->cell[i], 0);
    const moves_node *x = moves_search(&m, t, acf_look_from);
    if (!x)
        return false;
    for (; !moves_is_root(&m, x); x = moves_before(&m, x)) {
        uint64_t from = moves_before(&m, x)->place;
        acf_put(t, x->place, acf_hash(t, from), acf_copies(t, from));
    }
    *cell = x->place;
    return true;
}

static bool acf_insert(acf_table t, uint64_t h, uint64_t copies)
{
    acf_places p = acf_places_of(&t, h);
    uint64_t cell;
    bool found = acf_find_empty(&t, &p, h, &cell) || acf_make_room(&t, &p, &cell);

    if (found)
        acf_put(&t, cell, h, copies);
    return found;
}

/* ---- One key ----------------------------------------------------------- */

bool tamis__acf_find(const acf_table *t, uint64_t h, uint64_t *cell)
{
    const acf_places p = acf_places_of(t, h);

    for (unsigned i = 0; i < ACF_TABLES; i++) {
        *cell = p.cell[i];
        if (acf_matches(t, &p, i) && acf_hash(t, *cell) == h && acf_copies(t, *cell))
            return true;
    }
    return false;
}

static bool acf_add_hash(const acf_table *t, uint64_t h, uint64_t copies)
{
    uint64_t cell;

    if (!tamis__acf_find(t, h, &cell))
        return acf_insert(*t, h, copies);
    acf_put_entry(t, cell, h, acf_copies(t, cell) + copies);
    return true;
}

tamis_status tamis__acf_add(tamis *f, uint64_t key, uint64_t times)
{
    const acf_table t = acf_of(f);

    if (!acf_add_hash(&t, hash_key(key, f->salt), times))
        return TAMIS_FULL;
    f->count += times;
    return TAMIS_OK;
}

tamis_status tamis__acf_remove(tamis *f, uint64_t key, uint64_t times)
{
    const acf_table t = acf_of(f);
    uint64_t cell, h = hash_key(key, f->salt);

    if (!tamis__acf_find(&t, h, &cell) || acf_copies(&t, cell) < times)
        return TAMIS_ABSENT;
    uint64_t left = acf_copies(&t, cell) - times;
    acf_put_entry(&t, cell, left ? h : 0, left);
    if (left == 0)
        acf_put_cell(&t, cell, 0);
    f->count -= times;
    return TAMIS_OK;
}

/* ---- Adapting ---------------------------------------------------------- */

/* Recomputes the fingerprint of a cell in use. */
static void acf_select(const acf_table *t, uint64_t cell, unsigned selector)
{
    acf_put_cell(t, cell, acf_places_of(t, acf_hash(t, cell)).value[selector]);
}

tamis_status tamis__acf_adapt(tamis *f, uint64_t key)
{
    const acf_table t = acf_of(f);
    const acf_places p = acf_places_of(&t, hash_key(key, f->salt));
    uint64_t cell;

    if (tamis__acf_find(&t, hash_key(key, f->salt), &cell))
        return TAMIS_PRESENT;
    for (unsigned i = 0; i < ACF_TABLES; i++)
        if (acf_matches(&t, &p, i))
            acf_select(&t, p.cell[i], !acf_selector(&t, acf_cell(&t, p.cell[i])));
    return TAMIS_OK;
}

tamis_status tamis__acf_forget(tamis *f)
{
    const acf_table t = acf_of(f);

    for (uint64_t i = 0; i < acf_cells(&t); i++)
        if (acf_selector(&t, acf_cell(&t, i)))
            acf_select(&t, i, 0);
    return TAMIS_OK;
}

/* ---- Two filters ------------------------------------------------------- */

/* Puts what is in a cell into the same table of another filter, with fingerprint and selector;
 * false if its cell there is taken. */
static bool acf_copy(const acf_table *to, const acf_table *from, uint64_t i)
{
    uint64_t h = acf_hash(from, i), cell = acf_places_of(to, h).cell[i / from->buckets];

    if (acf_cell(to, cell))
        return false;
    acf_put_cell(to, cell, acf_cell(from, i));
    acf_put_entry(to, cell, h, acf_copies(from, i));
    return true;
}

/* A key that is new keeps its selector if it need not move. */
static bool acf_add_cell(const acf_table *to, const acf_table *from, uint64_t i)
{
    uint64_t h = acf_hash(from, i), there;

    if (acf_copies(from, i) == 0 || (!tamis__acf_find(to, h, &there) && acf_copy(to, from, i)))
        return true;
    return acf_add_hash(to, h, acf_copies(from, i));
}

/* What was moved cannot be moved back: there is a copy beside, for the case that it does not fit.
 */
tamis_status tamis__acf_merge(tamis *f, const tamis *g)
{
    const acf_table to = acf_of(f), from = acf_of(g);
    size_t size = (size_t)f->plan.bytes;
    void *before = tamis__scratch_new(f, size);

    if (!before)
        return TAMIS_NOMEM;
    memcpy(before, f->payload, size);
    bool fits = true;
    for (uint64_t i = 0; i < acf_cells(&from) && fits; i++)
        fits = acf_add_cell(&to, &from, i);
    if (fits)
        f->count += g->count;
    else
        memcpy(f->payload, before, size);
    tamis__scratch_free(f, before, size);
    return fits ? TAMIS_OK : TAMIS_FULL;
}

/* Each cell becomes two or more: no two keys meet. */
tamis_status tamis__acf_move(tamis *f, const tamis *g)
{
    const acf_table to = acf_of(f), from = acf_of(g);

    for (uint64_t i = 0; i < acf_cells(&from); i++)
        if (acf_copies(&from, i))
            (void)acf_copy(&to, &from, i);
    f->count = g->count;
    return TAMIS_OK;
}
