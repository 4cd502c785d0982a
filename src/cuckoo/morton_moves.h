/* morton_moves.h - adding to Morton filters: at home, in the other bucket, or by moving others.
 *
 * Moves are looked for before any is made, and a copy of each block is kept until all of them are
 * done: an add that is refused changes nothing. */
#ifndef TAMIS_CUCKOO_MORTON_MOVES_H
#define TAMIS_CUCKOO_MORTON_MOVES_H

#include "cuckoo/morton.h"

/* ---- Undoing ----------------------------------------------------------- */

enum { MOST_STEPS = 256, MOST_DEPTH = 6, MOST_LINES = CEILING * (2 * MOST_DEPTH + 6) };

/* Blocks as they were, in the order of changes. */
typedef struct journal {
    unsigned n;
    struct {
        uint8_t *at, was[LINE];
    } lines[MOST_LINES];
} journal;

static inline void note(journal *j, const table *t, const spot *at)
{
    if (!j)
        return;
    j->lines[j->n].at = line_of(t, at);
    memcpy(j->lines[j->n].was, line_of(t, at), LINE);
    j->n++;
}

static inline void undo(journal *j, unsigned down_to)
{
    while (j->n > down_to) {
        j->n--;
        memcpy(j->lines[j->n].at, j->lines[j->n].was, LINE);
    }
}

/* ---- Moves ------------------------------------------------------------- */

/* A fingerprint that would go from a bucket of the block of another step to a bucket of its own,
 * so that there is room for that other. The first two, without such, are the new one's buckets. */
typedef struct step {
    spot to;
    uint32_t from;
    int before, depth;
} step;

typedef struct search {
    step steps[MOST_STEPS];
    int n;
} search;

static inline bool is_seen(const search *s, const spot *at)
{
    for (int i = 0; i < s->n; i++)
        if (s->steps[i].to.home == at->home && s->steps[i].to.bucket == at->bucket)
            return true;
    return false;
}

/* A step that has room, as the last one; else it is one more to look from. */
static inline bool try_step(search *s, const table *t, int before, const spot *from)
{
    step next = { other_of(t, from), from->bucket, before, s->steps[before].depth + 1 };
    bool ok = has_room(t, line_of(t, &next.to), next.to.bucket);

    if (ok || (next.depth < MOST_DEPTH && s->n < MOST_STEPS - 1 && !is_seen(s, &next.to)))
        s->steps[s->n++] = next;
    return ok;
}

static inline bool try_bucket(search *s, const table *t, int before, unsigned bucket)
{
    const spot at = s->steps[before].to;
    const uint8_t *b = line_of(t, &at);
    run r = run_of(t, b, bucket);

    for (unsigned i = r.start; i < r.end; i++) {
        uint64_t lead = (uint64_t)at.print >> t->s.width << t->s.width;
        spot from = { at.home, bucket, (uint32_t)lead | slot(&t->s, b, i) };
        if (try_step(s, t, before, &from))
            return true;
    }
    return false;
}

enum { FETCHED = 4 }; /* buckets: some six fingerprints, one of which finds room most of the time */

/* Asks for the blocks that look_from() will read first. */
__attribute__((always_inline)) static inline void fetch_from(const table *t, const spot *at)
{
    const uint8_t *b = line_of(t, at);
    counters c = counters_of(t, b);
    uint32_t lead = (uint32_t)((uint64_t)at->print >> t->s.width << t->s.width);
    unsigned buckets = counter_in(c, at->bucket) == BUCKET ? 1 : FETCHED;

    for (unsigned k = 0; k < buckets; k++) {
        unsigned bucket = (at->bucket + k) % t->s.buckets;
        run r = run_in(t, c, bucket);
        for (unsigned i = r.start; i < r.end; i++) {
            spot from = { at->home, bucket, lead | slot(&t->s, b, i) }, to = other_of(t, &from);
            __builtin_prefetch(line_of(t, &to), 1, 3);
        }
    }
}

/* A full bucket has to give away one of its own; a full block, any, the nearest first. */
static inline bool look_from(search *s, const table *t, int i)
{
    const spot at = s->steps[i].to;
    bool is_full = counter(t, line_of(t, &at), at.bucket) == BUCKET;

    for (unsigned k = 0; k < (is_full ? 1 : t->s.buckets); k++)
        if (try_bucket(s, t, i, (at.bucket + k) % t->s.buckets))
            return true;
    return false;
}

/* From the last step, which has room, to the first. A bucket that is left is marked. False: a step
 * stood in the way of another. */
static inline bool carry_out(const search *s, const table *t, journal *j, int *first)
{
    const step *x = &s->steps[s->n - 1];

    for (; x->before >= 0; x = &s->steps[x->before]) {
        spot from = { s->steps[x->before].to.home, x->from, x->to.print };
        note(j, t, &from);
        note(j, t, &x->to);
        if (!has_room(t, line_of(t, &x->to), x->to.bucket) || !take(t, &from))
            return false;
        try_put(t, &x->to);
        mark(t, &from);
    }
    *first = (int)(x - s->steps);
    note(j, t, &x->to);
    return try_put(t, &x->to);
}

/* Makes room in either bucket, and puts the fingerprint there. */
static bool put_by_moves(const table *t, const spot *at, const spot *other, journal *j)
{
    search s;
    unsigned start = j->n;
    int first;

    fetch_from(t, at);
    fetch_from(t, other);
    s.n = 2;
    s.steps[0] = (step){ *at, 0, -1, 0 };
    s.steps[1] = (step){ *other, 0, -1, 0 };
    for (int i = 0; i < s.n; i++) {
        if (!look_from(&s, t, i))
            continue;
        if (carry_out(&s, t, j, &first)) {
            note(j, t, at);
            if (first == 1)
                mark(t, at);
            return true;
        }
        undo(j, start);
        s.n--;
    }
    return false;
}

/* ---- Adding ------------------------------------------------------------ */

static inline void mark_both(const table *t, const spot *at, const spot *other, journal *j)
{
    note(j, t, at);
    note(j, t, other);
    mark(t, at);
    mark(t, other);
}

static inline bool put_elsewhere(const table *t, const spot *at, const spot *other, journal *j)
{
    note(j, t, other);
    if (try_put(t, other)) {
        note(j, t, at);
        mark(t, at);
        return true;
    }
    if (j)
        return put_by_moves(t, at, other, j);
    journal own;
    own.n = 0;
    return put_by_moves(t, at, other, &own);
}

/* Copies of one fingerprint in its two buckets stop at the ceiling. From then on each key that has
 * it sees all of them, so that none is ever removed: both buckets are marked. */
static tamis_status add_copy(const table *t, const spot *at, journal *j, uint64_t *stored)
{
    unsigned near = copies_at(t, at), all = 0;
    spot other = *at;

    if (near || is_marked(t, line_of(t, at), at->bucket)) {
        other = other_of(t, at);
        all = near + copies_at(t, &other);
    }
    if (all < CEILING) {
        note(j, t, at);
        if (!try_put(t, at)) {
            other = other_of(t, at);
            if (!put_elsewhere(t, at, &other, j))
                return TAMIS_FULL;
        }
        ++*stored;
    }
    if (all + 1 >= CEILING)
        mark_both(t, at, &other, j);
    return TAMIS_OK;
}

/* Most fingerprints are new to a bucket that has room and has never been left. */
__attribute__((always_inline)) static inline bool try_simply(const table *t, uint8_t *b,
                                                             unsigned bucket, uint32_t x)
{
    counters c = counters_of(t, b);
    bool is_new = !find(t, b, c, bucket, x).bits, was_left = is_marked(t, b, bucket);

    if (!(is_new & !was_left & has_room_in(t, c, bucket)))
        return false;
    put_in(t, b, c, bucket, x);
    return true;
}

#endif
