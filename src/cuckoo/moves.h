/* moves.h - making room where entries have several places: the search, and how to undo moves.
 *
 * If all places of an entry are taken, what is there may move to other places of its own. Here X
 * comes in: B moves to a free place, A to where B was, and X to where A was.
 *
 *   before    A  .  .  .  B  .  .  .  -        a place of X is where A is,
 *   after     X  .  .  .  A  .  .  .  B        one of A where B is, one of B is free
 *
 * Breadth-first search gives the fewest moves. It changes nothing: a kind makes the moves once a
 * free place is found, from there back to a place of the new entry. */
#ifndef TAMIS_CUCKOO_MOVES_H
#define TAMIS_CUCKOO_MOVES_H

#include "base/bits.h"
#include "base/hash.h"
#include "base/le.h"
#include "filter.h"

/* ---- Searching --------------------------------------------------------- */

/* A place. All but the last of a search are taken. In one word: many of them are on the stack. */
typedef struct moves_node {
    uint64_t place : 46; /* slot or bucket: no machine has memory for more */
    uint64_t
        before : 12; /* the node that an entry would come from; of a place of the new one: none */
    uint64_t by : 6; /* which entry of it: in words of the kind */
} moves_node;

static inline moves_node moves_node_at(uint64_t place, unsigned before, unsigned by)
{
    return (moves_node){ .place = place & (UINT64_MAX >> 18),
                         .before = before & (UINT64_MAX >> 52),
                         .by = by & (UINT64_MAX >> 58) };
}

typedef struct moves {
    moves_node *nodes;    /* room for `most`, and for the free place */
    uint64_t *seen;       /* MOVES_SEEN bits for each node, or NULL: a place may come twice */
    unsigned most;        /* nodes */
    unsigned deepest;     /* most moves in a row */
    unsigned n, n_looked; /* nodes, and those that were looked from */
    unsigned n_roots;     /* places of the new entry: the first nodes */
    unsigned depth;       /* moves in a row to what is found from the node at hand, less one */
    unsigned level_end;   /* nodes up to here are of that depth */
} moves;

enum { MOVES_SEEN = 8, MOVES_FEW = 32 };

/* So that no place comes twice. Of two that share a bit, one is left out. */
static inline bool moves_is_seen(moves *m, uint64_t place)
{
    if (!m->seen)
        return false;
    uint64_t bit = scale64(place * HASH_GOLDEN, (uint64_t)m->most * MOVES_SEEN);
    uint64_t mask = UINT64_C(1) << bit % 64, word = m->seen[bit / 64];
    m->seen[bit / 64] = word | mask;
    return word & mask;
}

static inline void moves_add(moves *m, moves_node x)
{
    if (m->n < m->most && !moves_is_seen(m, x.place))
        m->nodes[m->n++] = x;
}

/* A place of the new entry. */
static inline void moves_add_root(moves *m, uint64_t place, uint8_t by)
{
    moves_add(m, moves_node_at(place, 0, by));
    m->n_roots = m->level_end = m->n;
}

/* What is at a node could move to that place. Returns is_free, which ends the search. */
static inline bool moves_add_place(moves *m, unsigned from, uint64_t place, uint8_t by,
                                   bool is_free)
{
    moves_node x = moves_node_at(place, from, by);

    if (is_free)
        m->nodes[m->n] = x;
    else if (m->depth < m->deepest)
        moves_add(m, x);
    return is_free;
}

/* Adds all places to which something at a node could move, up to the first that is free. */
typedef bool moves_look(moves *m, void *self, unsigned from);

/* The free place, or NULL. Called again, it goes on with the next node. */
__attribute__((always_inline)) static inline const moves_node *moves_search(moves *m, void *self,
                                                                            moves_look *look)
{
    while (m->n_looked < m->n) {
        if (m->n_looked == m->level_end) {
            m->depth++;
            m->level_end = m->n;
        }
        if (look(m, self, m->n_looked++))
            return &m->nodes[m->n];
    }
    return NULL;
}

static inline bool moves_is_root(const moves *m, const moves_node *x)
{
    return x < m->nodes + m->n_roots;
}

static inline const moves_node *moves_before(const moves *m, const moves_node *x)
{
    return &m->nodes[x->before];
}

/* Searches, and makes the moves if there are any. */
typedef bool moves_attempt(moves *m, void *self);

/* A search of a few nodes is nearly always enough. If it fails, one of many decides, with memory
 * of its own. m has most, deepest, and whether nodes are seen. */
static inline tamis_status moves_make_room(const tamis *f, moves m, bool is_seen,
                                           moves_attempt *attempt, void *self)
{
    const size_t seen_size = m.most * MOVES_SEEN / 8;
    const size_t size = seen_size + (m.most + 1) * sizeof(moves_node);
    moves_node few[MOVES_FEW + 1];
    uint64_t seen[MOVES_FEW * MOVES_SEEN / 64] = { 0 };
    moves first = {
        .nodes = few, .seen = is_seen ? seen : NULL, .most = MOVES_FEW, .deepest = m.deepest
    };

    if (attempt(&first, self))
        return TAMIS_OK;
    uint64_t *memory = tamis__scratch_new(f, size);
    if (!memory)
        return TAMIS_NOMEM;
    m.nodes = (moves_node *)(void *)((uint8_t *)memory + seen_size);
    m.seen = is_seen ? memset(memory, 0, seen_size) : NULL;
    bool found = attempt(&m, self);
    tamis__scratch_free(f, memory, size);
    return found ? TAMIS_OK : TAMIS_FULL;
}

/* ---- Undoing ----------------------------------------------------------- */

/* Words as they were before each change. */
typedef struct moves_word {
    uint8_t *at;
    uint64_t was;
} moves_word;

typedef struct moves_journal {
    moves_word *words;
    size_t n;
} moves_journal;

/* So many bytes will change, a multiple of eight. The journal may be NULL. */
static inline void moves_note(moves_journal *j, uint8_t *at, size_t size)
{
    for (size_t i = 0; j && i < size; i += 8)
        j->words[j->n++] = (moves_word){ at + i, le64(at + i) };
}

static inline void moves_undo(moves_journal *j, size_t down_to)
{
    while (j->n > down_to) {
        j->n--;
        put_le64(j->words[j->n].at, j->words[j->n].was);
    }
}

#endif
