/* morton_moves_template.h - TEMPLATE, part of morton_template.h: one fingerprint is added to its
 * first bucket, to its other one, or by moving others.
 *
 *   new fingerprint  ->  bucket or block is full
 *                          one that is there  ->  its other bucket, which is full as well
 *                                                   one that is there  ->  its other bucket: room
 *
 * Moves are found before any is made (moves.h). Blocks are noted as they were until all are made.
 * So an add that is refused changes nothing. */
#include "base/ahead.h"
#include "cuckoo/morton_change.h"
#include "cuckoo/moves.h"

/* Nodes of a search, and of these the deepest. Blocks that moves and a whole add may change. */
enum {
    MORTON_SEARCH = 255,
    MORTON_DEEPEST = 5,
    MORTON_WAY_BLOCKS = 2 * (MORTON_DEEPEST + 1) + 2,
    MORTON_ADD_BLOCKS = MORTON_WAY_BLOCKS + 4,
};

static inline void morton_note(moves_journal *j, const morton_position *p)
{
    moves_note(j, p->block, MORTON_LINE);
}

/* ---- Looking for moves ------------------------------------------------- */

typedef struct morton_search {
    const morton_table *t;
    uint32_t fingerprints[MORTON_SEARCH + 1]; /* that would come to the nodes */
} morton_search;

/* Of a node: a home and a bucket. Blocks of one home are as good as one. */
static inline uint64_t morton_place(const morton_position *p)
{
    return p->home * MORTON_MAX_BUCKETS + p->bucket;
}

/* Where the fingerprint of a node would come to. */
static inline morton_position morton_at_node(const morton_search *s, const moves *m,
                                             const moves_node *x)
{
    return morton_position_at(s->t, x->place / MORTON_MAX_BUCKETS,
                              (uint32_t)(x->place % MORTON_MAX_BUCKETS),
                              s->fingerprints[x - m->nodes]);
}

static inline bool morton_is_seen(const moves *m, uint64_t place)
{
    for (unsigned i = 0; i < m->n; i++)
        if (m->nodes[i].place == place)
            return true;
    return false;
}

static inline bool morton_position_has_room(const morton_table *t, const morton_position *p)
{
    return morton_has_room(t, morton_counters_of(t, p->block), p->bucket);
}

/* The fingerprint of slot i, which is in that bucket of a block. */
static inline morton_position
morton_position_in(const morton_table *t, const morton_position *block, unsigned bucket, unsigned i)
{
    uint64_t lead = (uint64_t)block->fingerprint >> t->s.width << t->s.width;
    uint32_t stored = morton_slot(&t->s, block->block, i);

    return (morton_position){ block->home, block->block, bucket, (uint32_t)lead | stored };
}

enum { MORTON_FETCHED = 4 }; /* buckets: about six fingerprints, one of which mostly finds room */

/* Fetches the blocks that morton_look_from() will read first. */
__attribute__((always_inline)) static inline void morton_fetch_from(const morton_table *t,
                                                                    const morton_position *p)
{
    morton_counters c = morton_counters_of(t, p->block);
    unsigned buckets = morton_counter(c, p->bucket) == MORTON_BUCKET ? 1 : MORTON_FETCHED;

    for (unsigned k = 0; k < buckets; k++) {
        unsigned bucket = (p->bucket + k) % t->s.buckets;
        morton_run r = morton_run_of(t, c, bucket);
        for (unsigned i = r.start; i < r.end; i++) {
            morton_position from = morton_position_in(t, p, bucket, i);
            ahead_write(morton_other(t, &from).block, t->is_far);
        }
    }
}

/* Adds the other bucket of a fingerprint that is at a node. */
static inline bool morton_look_at(moves *m, morton_search *s, unsigned from,
                                  const morton_position *p)
{
    morton_position to = morton_other(s->t, p);
    uint64_t place = morton_place(&to);
    bool is_free = morton_position_has_room(s->t, &to);

    if (!is_free && (m->depth == MORTON_DEEPEST || morton_is_seen(m, place)))
        return false;
    s->fingerprints[m->n] = to.fingerprint;
    return moves_add_place(m, from, place, (uint8_t)p->bucket, is_free);
}

/* A full bucket has to give away one of its own. A full block may give away any, the nearest
 * first. */
static inline bool morton_look_from(moves *m, void *self, unsigned from)
{
    morton_search *s = self;
    const morton_table *t = s->t;
    const morton_position p = morton_at_node(s, m, &m->nodes[from]);
    const morton_counters c = morton_counters_of(t, p.block);
    bool is_full = morton_counter(c, p.bucket) == MORTON_BUCKET;

    for (unsigned k = 0; k < (is_full ? 1 : t->s.buckets); k++) {
        unsigned bucket = (p.bucket + k) % t->s.buckets;
        morton_run r = morton_run_of(t, c, bucket);
        for (unsigned i = r.start; i < r.end; i++) {
            morton_position mover = morton_position_in(t, &p, bucket, i);
            if (morton_look_at(m, s, from, &mover))
                return true;
        }
    }
    return false;
}

/* Makes the moves, from the free place to one of the new fingerprint, *x. A bucket that one leaves
 * is marked. False: one move made another impossible. */
static inline bool morton_carry_out(const morton_search *s, const moves *m, const moves_node **x,
                                    moves_journal *j)
{
    const morton_table *t = s->t;

    for (; !moves_is_root(m, *x); *x = moves_before(m, *x)) {
        uint64_t home = moves_before(m, *x)->place / MORTON_MAX_BUCKETS;
        morton_position to = morton_at_node(s, m, *x);
        morton_position from = morton_position_at(t, home, (*x)->by, to.fingerprint);
        morton_note(j, &from);
        morton_note(j, &to);
        if (!morton_position_has_room(t, &to) || !morton_take(t, &from))
            return false;
        morton_try_put(t, &to);
        morton_mark(t, &from);
    }
    morton_position root = morton_at_node(s, m, *x);
    morton_note(j, &root);
    return morton_try_put(t, &root);
}

/* Makes room in either bucket, and puts the fingerprint there. */
static bool morton_put_by_moves(const morton_table *t, const morton_position *p,
                                const morton_position *other, moves_journal *j)
{
    moves_node nodes[MORTON_SEARCH + 1];
    moves m = { .nodes = nodes, .most = MORTON_SEARCH, .deepest = MORTON_DEEPEST };
    morton_search s;
    size_t before = j->n;

    morton_fetch_from(t, p);
    morton_fetch_from(t, other);
    s.t = t;
    s.fingerprints[0] = s.fingerprints[1] = p->fingerprint;
    moves_add_root(&m, morton_place(p), 0);
    moves_add_root(&m, morton_place(other), 0);
    for (const moves_node *x; (x = moves_search(&m, &s, morton_look_from));) {
        if (morton_carry_out(&s, &m, &x, j)) {
            morton_note(j, p);
            if (x != nodes)
                morton_mark(t, p);
            return true;
        }
        moves_undo(j, before);
    }
    return false;
}

/* ---- Adding ------------------------------------------------------------ */

static inline bool morton_put_elsewhere(const morton_table *t, const morton_position *p,
                                        const morton_position *other, moves_journal *j)
{
    morton_note(j, other);
    if (morton_try_put(t, other)) {
        morton_note(j, p);
        morton_mark(t, p);
        return true;
    }
    if (j)
        return morton_put_by_moves(t, p, other, j);
    moves_word words[MORTON_WAY_BLOCKS * MORTON_LINE / 8];
    moves_journal own = { words, 0 };
    return morton_put_by_moves(t, p, other, &own);
}

/* Copies of a fingerprint in its two buckets stop at the ceiling, and then none is stored. Both
 * buckets are marked, so that each key with that fingerprint sees all copies. */
__attribute__((noinline)) static tamis_status
morton_add_copy(const morton_table *t, const morton_position *p, moves_journal *j, uint64_t *stored)
{
    unsigned near = morton_copies(t, p), all = 0;
    morton_position other = *p;

    if (near || morton_is_marked(t, p->block, p->bucket)) {
        other = morton_other(t, p);
        all = near + morton_copies(t, &other);
    }
    if (all < MORTON_CEILING) {
        morton_note(j, p);
        if (!morton_try_put(t, p)) {
            other = morton_other(t, p);
            if (!morton_put_elsewhere(t, p, &other, j))
                return TAMIS_FULL;
        }
        ++*stored;
    }
    if (all + 1 >= MORTON_CEILING) {
        morton_note(j, p);
        morton_note(j, &other);
        morton_mark(t, p);
        morton_mark(t, &other);
    }
    return TAMIS_OK;
}

/* The usual case: the fingerprint is new to its bucket, which has room and no mark. */
__attribute__((always_inline)) static inline bool morton_try_simply(const morton_table *t,
                                                                    const morton_position *p)
{
    morton_counters c = morton_counters_of(t, p->block);
    bool is_new = !morton_find_in(t, p, c).bits;
    bool was_left = morton_is_marked(t, p->block, p->bucket);

    if (!(is_new & !was_left & morton_has_room(t, c, p->bucket)))
        return false;
    morton_put(t, p, c);
    return true;
}
