/* cuckoo_moves.c - adds and removes of one key, of which some make room (moves.h). */
#include "cuckoo/cuckoo.h"
#include "cuckoo/moves.h"

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

    if (n == CUCKOO_STASH_MOST)
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

/* Nodes of a search, and how far from the new entry the last of them are. */
enum { CUCKOO_SEARCH = 4096, CUCKOO_DEEPEST = 62 };

/* Nodes whose windows are fetched ahead. Two thirds of all nodes are never looked at: to fetch all
 * at once would take longer than the search. */
enum { CUCKOO_FETCHED = 12 };

/* An entry that comes, and where changes are noted. */
typedef struct cuckoo_arrival {
    const cuckoo_table *t;
    const cuckoo_entry *e;
    moves_journal *j;
    unsigned fetched; /* nodes */
} cuckoo_arrival;

/* A slot of up to 64 bits lies in nine bytes; behind the last slot is the stash. */
enum { CUCKOO_NOTED = 16, CUCKOO_CHANGES = CUCKOO_DEEPEST + 2 };

static void cuckoo_change(const cuckoo_arrival *a, uint64_t slot, uint64_t value)
{
    moves_note(a->j, a->t->slots + slot * a->t->width / 8, CUCKOO_NOTED);
    cuckoo_put(a->t, slot, value);
}

/* Fetches the windows to which the entries of the nodes up to `end` could move. */
CUCKOO_GROUP_INLINE void cuckoo_fetch_nodes(cuckoo_arrival *a, const moves *m, unsigned end)
{
    const cuckoo_table *t = a->t;

    for (; a->fetched < m->n && a->fetched < end; a->fetched++) {
        uint64_t slot = m->nodes[a->fetched].place;
        uint64_t start = cuckoo_other_start(t, slot, cuckoo_slot(t, slot));
        ahead_write(t->slots + start * t->width / 8, false);
    }
}

/* Bit i: place i is free. */
static unsigned cuckoo_vacant(const cuckoo_table *t, const cuckoo_entry *e)
{
    return (cuckoo_window_holds(t, e->first, 0, 0) | cuckoo_window_holds(t, e->second, 0, 0) << 2) &
           cuckoo_usable(e);
}

/* The places of the entry at a node: the lowest that is free, or else all. */
static bool cuckoo_look_from(moves *m, void *self, unsigned from)
{
    cuckoo_arrival *a = self;
    uint64_t slot = m->nodes[from].place;

    cuckoo_fetch_nodes(a, m, from + CUCKOO_FETCHED);
    cuckoo_entry e = cuckoo_entry_in(a->t, slot, cuckoo_slot(a->t, slot));
    unsigned free = cuckoo_vacant(a->t, &e);
    uint8_t place = free ? (uint8_t)__builtin_ctz(free) : e.fingerprint == 0;
    if (free)
        return moves_add_place(m, from, cuckoo_slot_of(&e, place), place, true);
    for (; place < CUCKOO_PLACES; place++)
        moves_add_place(m, from, cuckoo_slot_of(&e, place), place, false);
    return false;
}

/* All places of the entry are taken. */
static bool cuckoo_put_by_moves(moves *m, void *self)
{
    cuckoo_arrival *a = self;

    a->fetched = 0;
    for (uint8_t place = a->e->fingerprint == 0; place < CUCKOO_PLACES; place++)
        moves_add_root(m, cuckoo_slot_of(a->e, place), place);
    const moves_node *x = moves_search(m, a, cuckoo_look_from);
    if (!x)
        return false;
    for (; !moves_is_root(m, x); x = moves_before(m, x)) {
        uint64_t value = cuckoo_slot(a->t, moves_before(m, x)->place);
        cuckoo_change(a, x->place, (value & ~(uint64_t)CUCKOO_TAG_MASK) | x->by);
    }
    cuckoo_change(a, x->place, cuckoo_value(a->e, x->by));
    return true;
}

static tamis_status cuckoo_put_entry(const tamis *f, const cuckoo_table *t, const cuckoo_entry *e,
                                     moves_journal *j)
{
    cuckoo_arrival a = { t, e, j, 0 };
    unsigned free = cuckoo_vacant(t, e), place = free ? (unsigned)__builtin_ctz(free) : 0;

    if (!free)
        return moves_make_room(f, (moves){ .most = CUCKOO_SEARCH, .deepest = CUCKOO_DEEPEST }, true,
                               cuckoo_put_by_moves, &a);
    cuckoo_change(&a, cuckoo_slot_of(e, place), cuckoo_value(e, place));
    return TAMIS_OK;
}

/* ---- Adding ------------------------------------------------------------ */

void tamis__cuckoo_add_surplus(cuckoo_table t, cuckoo_entry e, uint64_t times)
{
    const surplus s = cuckoo_surplus_of(&t);

    tamis__surplus_add(&s, cuckoo_class(&t, &e), times);
}

/* All of them or none. Once a copy is in the stash, no other moves any more. */
tamis_status tamis__cuckoo_add(tamis *f, uint64_t h, const cuckoo_entry *e, uint64_t times)
{
    cuckoo_table t = cuckoo_table_of(f);
    unsigned room = CUCKOO_CEILING - cuckoo_copies(&t, e),
             wanted = times < room ? (unsigned)times : room;
    unsigned stashed = cuckoo_stash_size(&t);
    moves_word words[CUCKOO_CEILING * CUCKOO_CHANGES * CUCKOO_NOTED / 8];
    moves_journal j = { words, 0 };

    for (unsigned i = 0; i < wanted; i++) {
        tamis_status status = cuckoo_put_entry(f, &t, e, wanted > 1 ? &j : NULL);
        if (!status || (status == TAMIS_FULL && cuckoo_stash_put(&t, h)))
            continue;
        while (cuckoo_stash_size(&t) > stashed)
            cuckoo_stash_take(&t, cuckoo_stash_size(&t) - 1);
        moves_undo(&j, 0);
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

        if (cuckoo_put_entry(f, t, &e, NULL) == TAMIS_OK)
            cuckoo_stash_take(t, i);
    }
}

tamis_status tamis__cuckoo_remove(tamis *f, const cuckoo_entry *e, uint64_t times)
{
    const cuckoo_table t = cuckoo_table_of(f);
    const surplus s = cuckoo_surplus_of(&t);

    if (!tamis__surplus_remove(&s, cuckoo_class(&t, e), cuckoo_copies(&t, e), CUCKOO_CEILING,
                               &times))
        return TAMIS_ABSENT;
    for (uint64_t i = 0; i < times; i++)
        cuckoo_take_copy(&t, e);
    f->count -= times;
    if (cuckoo_stash_size(&t))
        cuckoo_empty_stash(f, &t);
    return TAMIS_OK;
}
