/* morton_moves_template.h - TEMPLATE, part of morton_template.h: adding to Morton filters, at home,
 * in the other bucket, or by moving others.
 *
 * Moves are looked for before any is made, and a copy of each block is kept until all of them are
 * done: an add that is refused changes nothing.
 *
 *   a new fingerprint   ->  a full bucket or block
 *                              one of those there   ->  its other bucket, full as well
 *                                                          one of those there  ->  room */
#include "cuckoo/morton.h"

/* ---- Undoing ----------------------------------------------------------- */

/* Moves of a way, and blocks that one copy may change. */
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

/* A fingerprint that would go from a bucket of the block of another step to a bucket of its own, so
 * that there is room for that other. The first two, without such, are the new one's buckets. */
typedef struct morton_step {
    uint64_t home;
    uint32_t fingerprint;
    uint8_t bucket, from; /* to the first; from the other, of the block of the step before */
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

/* A step that has room, as the last one; else it is one more to look from. */
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

enum { FETCHED = 4 }; /* buckets: some six fingerprints, one of which finds room most of the time */

/* Asks for the blocks that morton_look_from() will read first. */
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
            __builtin_prefetch(morton_other(t, &from).block, 1, 3);
        }
    }
}

/* A full bucket has to give away one of its own; a full block, any, the nearest first. */
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

/* From the last step, which has room, to the first. A bucket that is left is marked. False: a step
 * stood in the way of another. */
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

/* Copies of one fingerprint in its two buckets stop at the ceiling. From then on each key that has
 * it sees all of them, so that none is ever removed: both buckets are marked. */
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

/* Most fingerprints are new to a bucket that has room and has never been left. */
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
