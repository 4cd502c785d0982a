/* acf_moves.c - the search for room.
 *
 * If all cells of a key are taken, what is there may move to other cells of its own. Here X comes
 * in: B moves to an empty cell, A to where B was, and X to where A was.
 *
 *   before    A  .  .  .  B  .  .  .  -        a cell of X is where A is,
 *   after     X  .  .  .  A  .  .  .  B        one of A where B is, one of B is empty
 *
 * Breadth-first search gives the fewest moves. It changes nothing: moves are made once it has found
 * an empty cell. */
#include "cuckoo/acf.h"

/* With 95 % of the cells in use, a search looks at 15 of them on average, at more than 128 in one
 * of 700 adds, and at more than 512 in none of 10^8. A node is a cell in use and the node whose key
 * could move there. `seen` has a bit for each cell, so that none comes twice; of two that share a
 * bit, one is left out. */
enum { SEARCH_MOST = 1024, NODE_BITS = 10, SEEN_PER_NODE = 8 };

typedef struct acf_search {
    const acf_table *t;
    size_t n, roots;
    uint64_t nodes[SEARCH_MOST], seen[SEARCH_MOST * SEEN_PER_NODE / 64];
} acf_search;

/* The first of its cells that is empty. Where it starts to look depends on the key, so that tables
 * fill alike. */
static bool acf_find_empty(const acf_table *t, const acf_places *p, uint64_t h, uint64_t *cell)
{
    for (unsigned i = 0; i < TABLES; i++) {
        *cell = p->cell[(h + i) % TABLES];
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

static uint64_t acf_node_cell(const acf_search *s, size_t node)
{
    return s->nodes[node] >> NODE_BITS;
}

static bool acf_is_seen(acf_search *s, uint64_t cell)
{
    uint64_t bit = scale64(cell * HASH_GOLDEN, SEARCH_MOST * SEEN_PER_NODE);
    uint64_t mask = UINT64_C(1) << bit % 64, word = s->seen[bit / 64];

    s->seen[bit / 64] = word | mask;
    return word & mask;
}

static void acf_add_nodes(acf_search *s, const acf_places *p, size_t parent)
{
    for (unsigned i = 0; i < TABLES && s->n < SEARCH_MOST; i++)
        if (!acf_is_seen(s, p->cell[i])) {
            ahead_read(acf_entry(s->t, p->cell[i]), s->t->is_far);
            s->nodes[s->n++] = p->cell[i] << NODE_BITS | parent;
        }
}

/* The node whose key can move to an empty cell; SEARCH_MOST: there is none. */
static size_t acf_find_path(acf_search *s, const acf_places *p, uint64_t *empty)
{
    acf_add_nodes(s, p, 0);
    s->roots = s->n;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t h = acf_hash(s->t, acf_node_cell(s, i));
        acf_places other = acf_places_of(s->t, h);
        if (acf_find_empty(s->t, &other, h, empty))
            return i;
        acf_add_nodes(s, &other, i);
    }
    return SEARCH_MOST;
}

/* Moves the key of that node to the empty cell, that of its parent to where it was, and so on.
 * Returns the root, which is empty then. */
static uint64_t acf_follow_path(const acf_search *s, size_t node, uint64_t empty)
{
    for (;; node = s->nodes[node] % SEARCH_MOST) {
        uint64_t from = acf_node_cell(s, node);
        acf_put(s->t, empty, acf_hash(s->t, from), acf_copies(s->t, from));
        empty = from;
        if (node < s->roots)
            return empty;
    }
}

static bool acf_make_room(const acf_table *t, const acf_places *p, uint64_t *cell)
{
    acf_search s;

    s.t = t;
    s.n = 0;
    memset(s.seen, 0, sizeof s.seen);
    size_t node = acf_find_path(&s, p, cell);

    if (node < SEARCH_MOST)
        *cell = acf_follow_path(&s, node, *cell);
    return node < SEARCH_MOST;
}

bool tamis__acf_insert(const acf_table *t, uint64_t h, uint64_t copies)
{
    acf_places p = acf_places_of(t, h);
    uint64_t cell;
    bool found = acf_find_empty(t, &p, h, &cell) || acf_make_room(t, &p, &cell);

    if (found)
        acf_put(t, cell, h, copies);
    return found;
}
