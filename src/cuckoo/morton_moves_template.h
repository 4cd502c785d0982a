/* morton_moves_template.h - TEMPLATE, part of morton_template.h: one fingerprint is added to its
 * first bucket, to its other one, or by moving others.
 *
 *   new fingerprint  ->  bucket or block is full
 *                          one that is there  ->  its other bucket, which is full as well
 *                                                   one that is there  ->  its other bucket: room
 *
 * Moves are found before any is made, by breadth-first search. A copy of each block is kept until
 * all are made. So an add that is refused changes nothing. */
#include "base/ahead.h"
#include "cuckoo/morton.h"

/* ---- Undoing ----------------------------------------------------------- */

/* Steps of a search, moves of a way, and blocks that moves and a whole add may change. */
enum {
    MOST_STEPS = 256,
    MOST_DEPTH = 6,
    WAY_LINES = 2 * MOST_DEPTH + 2,
    COPY_LINES = WAY_LINES + 4
};

/* A block as it was. */
typedef struct morton_saved {
    uint8_t *at, was[LINE];
} morton_saved;

/* Blocks in the order of changes. */
typedef struct morton_journal {
    unsigned n;
    morton_saved *lines;
} morton_journal;

static inline void morton_note(morton_journal *j, const morton_position *p)
{
    if (!j)
        return;
    j->lines[j->n].at = p->block;
    memcpy(j->lines[j->n].was, p->block, LINE);
    j->n++;
}

static inline void morton_undo(morton_journal *j, unsigned down_to)
{
    while (j->n > down_to) {
        j->n--;
        memcpy(j->lines[j->n].at, j->lines[j->n].was, LINE);
    }
}

/* ---- Looking for moves ------------------------------------------------- */

/* A fingerprint of the block of the step before could move to its other bucket, so that there is
 * room. The first two steps have none before: they are the buckets of the new fingerprint. */
typedef struct morton_step {
    uint64_t home;
    uint32_t fingerprint;
    uint8_t bucket, from; /* it moves to the one; from the other, of the block before */
    uint8_t depth;
    int16_t before;
} morton_step;

typedef struct morton_search {
    morton_step steps[MOST_STEPS];
    int n;
} morton_search;

static inline morton_position morton_step_to(const morton_table *t, const morton_step *x)
{
    return morton_position_at(t, x->home, x->bucket, x->fingerprint);
}

static inline bool morton_is_seen(const morton_search *s, const morton_position *p)
{
    for (int i = 0; i < s->n; i++)
        if (s->steps[i].home == p->home && s->steps[i].bucket == p->bucket)
            return true;
    return false;
}

static inline bool morton_position_has_room(const morton_table *t, const morton_position *p)
{
    return morton_has_room(t, morton_counters_of(t, p->block), p->bucket);
}

/* Adds a step if its bucket has room, which ends the search, or if it can be looked at later. */
static inline bool morton_try_step(morton_search *s, const morton_table *t, int before,
                                   const morton_position *from)
{
    morton_position to = morton_other(t, from);
    unsigned depth = s->steps[before].depth + 1u;
    bool ok = morton_position_has_room(t, &to);

    if (ok || (depth < MOST_DEPTH && s->n < MOST_STEPS - 1 && !morton_is_seen(s, &to)))
        s->steps[s->n++] = (morton_step){
            to.home,        to.fingerprint, (uint8_t)to.bucket, (uint8_t)from->bucket,
            (uint8_t)depth, (int16_t)before
        };
    return ok;
}

/* The fingerprint of slot i, which is in that bucket of a block. */
static inline morton_position
morton_position_in(const morton_table *t, const morton_position *block, unsigned bucket, unsigned i)
{
    uint64_t lead = (uint64_t)block->fingerprint >> t->s.width << t->s.width;
    uint32_t stored = morton_slot(&t->s, block->block, i);

    return (morton_position){ block->home, block->block, bucket, (uint32_t)lead | stored };
}

enum { FETCHED = 4 }; /* buckets: about six fingerprints, one of which mostly finds room */

/* Fetches the blocks that morton_look_from() will read first. */
__attribute__((always_inline)) static inline void morton_fetch_from(const morton_table *t,
                                                                    const morton_position *p)
{
    morton_counters c = morton_counters_of(t, p->block);
    unsigned buckets = morton_counter(c, p->bucket) == BUCKET ? 1 : FETCHED;

    for (unsigned k = 0; k < buckets; k++) {
        unsigned bucket = (p->bucket + k) % t->s.buckets;
        morton_run r = morton_run_of(t, c, bucket);
        for (unsigned i = r.start; i < r.end; i++) {
            morton_position from = morton_position_in(t, p, bucket, i);
            ahead_write(morton_other(t, &from).block, t->is_far);
        }
    }
}

/* A full bucket has to give away one of its own. A full block may give away any, the nearest
 * first. */
static inline bool morton_look_from(morton_search *s, const morton_table *t, int before)
{
    const morton_position p = morton_step_to(t, &s->steps[before]);
    const morton_counters c = morton_counters_of(t, p.block);
    bool is_full = morton_counter(c, p.bucket) == BUCKET;

    for (unsigned k = 0; k < (is_full ? 1 : t->s.buckets); k++) {
        unsigned bucket = (p.bucket + k) % t->s.buckets;
        morton_run r = morton_run_of(t, c, bucket);
        for (unsigned i = r.start; i < r.end; i++) {
            morton_position from = morton_position_in(t, &p, bucket, i);
            if (morton_try_step(s, t, before, &from))
                return true;
        }
    }
    return false;
}

/* Makes the moves, from the last step, which has room, to the first. A bucket that one leaves is
 * marked. False: one move made another impossible. */
static inline bool morton_carry_out(const morton_search *s, const morton_table *t,
                                    morton_journal *j, int *first)
{
    const morton_step *x = &s->steps[s->n - 1];
    morton_position to = morton_step_to(t, x);

    for (; x->before >= 0; x = &s->steps[x->before], to = morton_step_to(t, x)) {
        morton_position from =
            morton_position_at(t, s->steps[x->before].home, x->from, x->fingerprint);
        morton_note(j, &from);
        morton_note(j, &to);
        if (!morton_position_has_room(t, &to) || !morton_take(t, &from))
            return false;
        morton_try_put(t, &to);
        morton_mark(t, &from);
    }
    *first = (int)(x - s->steps);
    morton_note(j, &to);
    return morton_try_put(t, &to);
}

/* Makes room in either bucket, and puts the fingerprint there. */
static bool morton_put_by_moves(const morton_table *t, const morton_position *p,
                                const morton_position *other, morton_journal *j)
{
    morton_search s;
    unsigned start = j->n;
    int first;

    morton_fetch_from(t, p);
    morton_fetch_from(t, other);
    s.n = 2;
    s.steps[0] = (morton_step){ p->home, p->fingerprint, (uint8_t)p->bucket, 0, 0, -1 };
    s.steps[1] = (morton_step){ other->home, p->fingerprint, (uint8_t)other->bucket, 0, 0, -1 };
    for (int i = 0; i < s.n; i++) {
        if (!morton_look_from(&s, t, i))
            continue;
        if (morton_carry_out(&s, t, j, &first)) {
            morton_note(j, p);
            if (first == 1)
                morton_mark(t, p);
            return true;
        }
        morton_undo(j, start);
        s.n--;
    }
    return false;
}

/* ---- Adding ------------------------------------------------------------ */

static inline bool morton_put_elsewhere(const morton_table *t, const morton_position *p,
                                        const morton_position *other, morton_journal *j)
{
    morton_note(j, other);
    if (morton_try_put(t, other)) {
        morton_note(j, p);
        morton_mark(t, p);
        return true;
    }
    if (j)
        return morton_put_by_moves(t, p, other, j);
    morton_saved lines[WAY_LINES];
    morton_journal own = { 0, lines };
    return morton_put_by_moves(t, p, other, &own);
}

/* Copies of a fingerprint in its two buckets stop at the ceiling, and then none is stored. Both
 * buckets are marked, so that each key with that fingerprint sees all copies. */
__attribute__((noinline)) static tamis_status morton_add_copy(const morton_table *t,
                                                              const morton_position *p,
                                                              morton_journal *j, uint64_t *stored)
{
    unsigned near = morton_copies(t, p), all = 0;
    morton_position other = *p;

    if (near || morton_is_marked(t, p->block, p->bucket)) {
        other = morton_other(t, p);
        all = near + morton_copies(t, &other);
    }
    if (all < CEILING) {
        morton_note(j, p);
        if (!morton_try_put(t, p)) {
            other = morton_other(t, p);
            if (!morton_put_elsewhere(t, p, &other, j))
                return TAMIS_FULL;
        }
        ++*stored;
    }
    if (all + 1 >= CEILING) {
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
