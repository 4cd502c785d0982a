/* cuckoo_moves.c - adds and removes of one key, and the search for room.
 *
 * If all places of a key are taken, what is there may move to other places of its own. Here X comes
 * in: B moves to a free slot, A to where B was, and X to where A was.
 *
 *   before    A  .  .  .  B  .  .  .  -        a place of X is where A is,
 *   after     X  .  .  .  A  .  .  .  B        one of A where B is, one of B is free
 *
 * Breadth-first search gives the fewest moves. It changes nothing: moves are made once it has found
 * a free slot. */
#include "cuckoo/cuckoo.h"

/* ---- The stash --------------------------------------------------------- */

/* How many copies are there; *at tells where the last one is. */
static unsigned cuckoo_stash_find(const cuckoo_table *t, const cuckoo_entry *e, unsigned *at)
{
    unsigned found = 0;

    for (unsigned i = 0; i < cuckoo_stash_size(t); i++) {
        if (cuckoo_is_stashed_at(t, e, i)) {
            *at = i;
            found++;
        }
    }
    return found;
}

unsigned tamis__cuckoo_stashed(cuckoo_table t, cuckoo_entry e)
{
    unsigned at;

    return cuckoo_stash_find(&t, &e, &at);
}

static bool cuckoo_stash_put(const cuckoo_table *t, uint64_t h)
{
    unsigned n = cuckoo_stash_size(t);

    if (n == STASH_MOST)
        return false;
    put_le64(cuckoo_stash_at(t, n), h);
    put_le64(t->stash, n + 1);
    return true;
}

/* The last one takes its place. */
static void cuckoo_stash_take(const cuckoo_table *t, unsigned at)
{
    unsigned last = cuckoo_stash_size(t) - 1;

    put_le64(cuckoo_stash_at(t, at), le64(cuckoo_stash_at(t, last)));
    put_le64(cuckoo_stash_at(t, last), 0);
    put_le64(t->stash, last);
}

/* ---- Searching --------------------------------------------------------- */

/* A search of a few slots is nearly always enough. If it fails, one of many decides, with memory of
 * its own. A node is a slot in use: its number, the node whose entry could move there, and the
 * place that this would be for that entry. Nodes 0 .. roots - 1 are the places of the new entry.
 * `seen` has a bit for each slot, so that none comes twice; of two that share a bit, one is left
 * out. */
enum { SEARCH_FEW = 32, SEARCH_MOST = 4096, NODE_BITS = 12, SEEN_PER_NODE = 8, LONGEST_PATH = 64 };

/* Nodes whose windows are fetched ahead. Two thirds of all nodes are never looked at: to fetch all
 * at once would take longer than the search. */
enum { FETCH_AHEAD = 12 };

typedef struct cuckoo_search {
    const cuckoo_table *t;
    uint64_t *nodes, *seen;
    size_t n, most, roots, fetched;
} cuckoo_search;

static uint64_t cuckoo_node_slot(uint64_t node)
{
    return node >> (NODE_BITS + TAG_BITS);
}

static bool cuckoo_is_seen(cuckoo_search *s, uint64_t slot)
{
    uint64_t bit = scale64(slot * HASH_GOLDEN, s->most * SEEN_PER_NODE);
    uint64_t mask = UINT64_C(1) << bit % 64, word = s->seen[bit / 64];

    s->seen[bit / 64] = word | mask;
    return word & mask;
}

/* Adds places of an entry, all of them taken. */
static void cuckoo_add_nodes(cuckoo_search *s, const cuckoo_entry *e, size_t parent)
{
    for (unsigned i = e->fingerprint == 0; i < PLACES && s->n < s->most; i++) {
        uint64_t slot = cuckoo_slot_of(e, i);
        if (!cuckoo_is_seen(s, slot))
            s->nodes[s->n++] = (slot << NODE_BITS | parent) << TAG_BITS | i;
    }
}

/* Fetches the windows to which the entries of the nodes up to `end` could move. */
CUCKOO_GROUP_INLINE void cuckoo_fetch_nodes(cuckoo_search *s, size_t end)
{
    for (; s->fetched < s->n && s->fetched < end; s->fetched++) {
        uint64_t slot = cuckoo_node_slot(s->nodes[s->fetched]);
        uint64_t start = cuckoo_other_start(s->t, slot, cuckoo_slot(s->t, slot));
        ahead_write(s->t->slots + start * s->t->width / 8, false);
    }
}

/* What has to change so that an entry is in: distinct slots, with what they will hold. */
typedef struct cuckoo_path {
    size_t n;
    struct {
        uint64_t slot, value;
    } at[LONGEST_PATH];
} cuckoo_path;

static bool cuckoo_lengthen(cuckoo_path *p, uint64_t slot, uint64_t value)
{
    if (p->n == LONGEST_PATH)
        return false;
    p->at[p->n].slot = slot;
    p->at[p->n++].value = value;
    return true;
}

/* The entry of node i can move to a free slot, the one of its parent to where that was, and so on
 * back to a root, where the new entry goes. */
static bool cuckoo_trace(cuckoo_path *p, const cuckoo_search *s, const cuckoo_entry *e, size_t i,
                         uint64_t free, unsigned place)
{
    for (p->n = 0;; i = s->nodes[i] >> TAG_BITS & ((1u << NODE_BITS) - 1)) {
        uint64_t slot = cuckoo_node_slot(s->nodes[i]), value = cuckoo_slot(s->t, slot);
        if (!cuckoo_lengthen(p, free, (value & ~(uint64_t)TAG_MASK) | place))
            return false;
        free = slot;
        place = s->nodes[i] & TAG_MASK;
        if (i < s->roots)
            return cuckoo_lengthen(p, free, cuckoo_value(e, place));
    }
}

/* Bit i: place i is free. */
static unsigned cuckoo_vacant(const cuckoo_table *t, const cuckoo_entry *e)
{
    return (cuckoo_window_holds(t, e->first, 0, 0) | cuckoo_window_holds(t, e->second, 0, 0) << 2) &
           cuckoo_usable(e);
}

static bool cuckoo_find_path(cuckoo_path *p, cuckoo_search *s, const cuckoo_entry *e)
{
    cuckoo_add_nodes(s, e, 0);
    s->roots = s->n;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t slot = cuckoo_node_slot(s->nodes[i]);
        cuckoo_fetch_nodes(s, i + FETCH_AHEAD);
        cuckoo_entry other = cuckoo_entry_in(s->t, slot, cuckoo_slot(s->t, slot));
        unsigned free = cuckoo_vacant(s->t, &other);
        if (free) {
            unsigned place = (unsigned)__builtin_ctz(free);
            return cuckoo_trace(p, s, e, i, cuckoo_slot_of(&other, place), place);
        }
        cuckoo_add_nodes(s, &other, i);
    }
    return false;
}

static bool cuckoo_search_few(cuckoo_path *p, const cuckoo_table *t, const cuckoo_entry *e)
{
    uint64_t nodes[SEARCH_FEW], seen[SEARCH_FEW * SEEN_PER_NODE / 64] = { 0 };
    cuckoo_search s = { .t = t, .nodes = nodes, .seen = seen, .most = SEARCH_FEW };

    return cuckoo_find_path(p, &s, e);
}

static tamis_status cuckoo_search_many(cuckoo_path *p, const tamis *f, const cuckoo_table *t,
                                       const cuckoo_entry *e)
{
    const size_t seen_size = SEARCH_MOST * SEEN_PER_NODE / 8;
    const size_t size = SEARCH_MOST * sizeof(uint64_t) + seen_size;
    uint64_t *nodes = tamis__scratch_new(f, size);

    if (!nodes)
        return TAMIS_NOMEM;
    cuckoo_search s = { .t = t, .nodes = nodes, .seen = nodes + SEARCH_MOST, .most = SEARCH_MOST };
    memset(s.seen, 0, seen_size);
    bool found = cuckoo_find_path(p, &s, e);
    tamis__scratch_free(f, nodes, size);
    return found ? TAMIS_OK : TAMIS_FULL;
}

static tamis_status cuckoo_find_room(cuckoo_path *p, const tamis *f, const cuckoo_table *t,
                                     const cuckoo_entry *e)
{
    unsigned free = cuckoo_vacant(t, e);

    if (!free)
        return cuckoo_search_few(p, t, e) ? TAMIS_OK : cuckoo_search_many(p, f, t, e);
    unsigned place = (unsigned)__builtin_ctz(free);
    p->n = 0;
    cuckoo_lengthen(p, cuckoo_slot_of(e, place), cuckoo_value(e, place));
    return TAMIS_OK;
}

/* Slots and path swap what they hold: the second time, everything is as it was. */
static void cuckoo_swap(const cuckoo_table *t, cuckoo_path *p)
{
    for (size_t i = 0; i < p->n; i++) {
        uint64_t value = cuckoo_slot(t, p->at[i].slot);
        cuckoo_put(t, p->at[i].slot, p->at[i].value);
        p->at[i].value = value;
    }
}

/* ---- Adding ------------------------------------------------------------ */

/* In the slots, or with an empty path in the stash. */
static tamis_status cuckoo_insert(cuckoo_path *p, const tamis *f, const cuckoo_table *t, uint64_t h,
                                  const cuckoo_entry *e)
{
    tamis_status status = cuckoo_find_room(p, f, t, e);

    if (!status)
        cuckoo_swap(t, p);
    if (status != TAMIS_FULL)
        return status;
    p->n = 0;
    return cuckoo_stash_put(t, h) ? TAMIS_OK : TAMIS_FULL;
}

void tamis__cuckoo_add_surplus(cuckoo_table t, cuckoo_entry e, uint64_t times)
{
    const surplus s = cuckoo_surplus_of(&t);

    tamis__surplus_add(&s, cuckoo_class(&t, &e), times);
}

/* All of them or none. */
tamis_status tamis__cuckoo_add(tamis *f, uint64_t h, const cuckoo_entry *e, uint64_t times)
{
    cuckoo_table t = cuckoo_table_of(f);
    unsigned room = CEILING - cuckoo_copies(&t, e), wanted = times < room ? (unsigned)times : room;
    cuckoo_path paths[CEILING];

    for (unsigned i = 0; i < wanted; i++) {
        tamis_status status = cuckoo_insert(&paths[i], f, &t, h, e);
        if (!status)
            continue;
        while (i-- > 0) {
            if (paths[i].n == 0)
                cuckoo_stash_take(&t, cuckoo_stash_size(&t) - 1);
            cuckoo_swap(&t, &paths[i]);
        }
        return status;
    }
    f->count += wanted;
    if (times > wanted)
        tamis__cuckoo_add_surplus(t, *e, times - wanted);
    return TAMIS_OK;
}

/* ---- Removing ---------------------------------------------------------- */

static void cuckoo_take_copy(const cuckoo_table *t, const cuckoo_entry *e)
{
    unsigned at, held = cuckoo_holding(t, e);

    if (cuckoo_stash_find(t, e, &at))
        cuckoo_stash_take(t, at);
    else
        cuckoo_put(t, cuckoo_slot_of(e, 31 - (unsigned)__builtin_clz(held)), 0);
}

/* What found no room before may find some now; if there is no memory to search, it stays. Each is
 * tried once: if a free slot does not help, the moves of another entry do not either. */
static void cuckoo_empty_stash(const tamis *f, const cuckoo_table *t)
{
    for (unsigned i = cuckoo_stash_size(t); i-- > 0;) {
        cuckoo_entry e = cuckoo_entry_of(t, le64(cuckoo_stash_at(t, i)));
        cuckoo_path p;

        if (cuckoo_find_room(&p, f, t, &e))
            continue;
        cuckoo_swap(t, &p);
        cuckoo_stash_take(t, i);
    }
}

static bool cuckoo_remove_surplus(const cuckoo_table *t, const cuckoo_entry *e, uint64_t *times)
{
    const surplus s = cuckoo_surplus_of(t);

    return tamis__surplus_remove(&s, cuckoo_class(t, e), CEILING, times);
}

tamis_status tamis__cuckoo_remove(tamis *f, const cuckoo_entry *e, uint64_t times)
{
    const cuckoo_table t = cuckoo_table_of(f);
    unsigned copies = cuckoo_copies(&t, e);
    bool is_there = copies >= times;

    if (copies == CEILING)
        is_there = cuckoo_remove_surplus(&t, e, &times);
    if (!is_there)
        return TAMIS_ABSENT;
    for (uint64_t i = 0; i < times; i++)
        cuckoo_take_copy(&t, e);
    f->count -= times;
    if (cuckoo_stash_size(&t))
        cuckoo_empty_stash(f, &t);
    return TAMIS_OK;
}
