/* ribbon_eliminate_template.h - TEMPLATE, compiled once for each CPU, for keys and for keys with
 * values: the second step of solving a level (ribbon_solve_template.h), in which each row finds a
 * slot.
 *
 * A row looks for a slot of its own, at which it has its first one: its pivot. If the slot is
 * taken, the row that is there is added to it, which clears that one, and it moves on to its next
 * one:
 *
 *   slots            5  6  7  8  9
 *   pivot of slot 5  1  0  1  1  0      a row that starts at 5, too:
 *   row              1  0  0  1  1      slot 5 is taken, the two are added,
 *                    0  0  1  0  1      the row moves to slot 7: if that is free, it is its pivot
 *
 * A row of which nothing is left has no slot. It is a duplicate of a key, or its class is bumped.
 *
 * Each move waits for the row that the move before has met. To have something to do meanwhile, up
 * to 96 keys of a class are tried at once: rows whose first slot is free take it, the others have
 * `collided`. These move one after the other, in four segments side by side, a move in each by
 * turns:
 *
 *   segment 0    try 96 | move a | move a | move a | move b | ...       a and b have collided
 *   segment 1      try 96 | move c | move d | move d | ...
 *   segment 2        try 96 | move e | ...
 *
 * `filled` are the slots that a class has taken so far: they are cleared if it is bumped. */
#ifndef TAMIS_FUSE_RIBBON_ELIMINATE_TEMPLATE_H
#define TAMIS_FUSE_RIBBON_ELIMINATE_TEMPLATE_H

#include "fuse/ribbon_order_template.h"

/* ---- Classes ----------------------------------------------------------- */

/* Whether the key is there already: then it needs no row, if it has the same value. What was found
 * comes first, so that copies of few keys, of which there may be many, are found at once. */
static bool ribbon_is_duplicate(ribbon_solver *w, ribbon_entry *keys, size_t n, ribbon_entry key)
{
    for (size_t i = 0; i < n; i++)
        if (ribbon_hash_of(keys[i]) == ribbon_hash_of(key)) {
            ribbon_entry found = keys[i];
            keys[i] = keys[0];
            keys[0] = found;
            w->has_conflict |= ribbon_differ(found, key, &w->shape);
            return true;
        }
    return false;
}

/* Not inline: for a size that it knows, the compiler takes instructions that are slow to start. */
__attribute__((noinline)) static void ribbon_clear(ribbon_pivot *pivots, size_t n)
{
    memset(pivots, 0, n * sizeof *pivots);
}

/* Rows reach into the next bucket. */
static void ribbon_open_bucket(ribbon_segment *s)
{
    if (s->bucket + 1 < s->buckets)
        ribbon_clear(s->pivots + (s->bucket + 1) * RIBBON_BUCKET, RIBBON_BUCKET);
    s->class_number = 0;
    s->threshold = RIBBON_BUMP_NONE;
    s->class_at = s->at;
    s->class_end = s->ends[s->bucket * RIBBON_CLASSES];
}

/* To the next class that has keys; false when the segment is at its end. */
static bool ribbon_next_class(ribbon_solver *w, const ribbon_level *l, ribbon_segment *s)
{
    while (s->at == s->class_end) {
        uint64_t bucket = s->first + s->bucket;
        w->distinct += s->n_filled;
        s->n_filled = 0;
        s->class_at = s->at;
        if (++s->class_number < RIBBON_CLASSES) {
            s->class_end = s->ends[s->bucket * RIBBON_CLASSES + s->class_number];
            continue;
        }
        w->part[l->at + bucket / 4] |= (uint8_t)(s->threshold << bucket % 4 * 2);
        if (++s->bucket == s->buckets)
            return false;
        ribbon_open_bucket(s);
    }
    return true;
}

/* A row whose first slot is free takes it at once, without a branch that nobody could predict: half
 * of them do. */
static void ribbon_try_keys(const ribbon_solver *w, const ribbon_level *l, ribbon_segment *s)
{
    const size_t from = s->at,
                 end = s->class_end - from < RIBBON_TRIED ? s->class_end : from + RIBBON_TRIED;
    const ribbon_finder f = ribbon_finder_of(w, l);
    const ribbon_shape shape = w->shape;
    const ribbon_entry *keys = s->keys;
    ribbon_pivot *pivots = s->pivots;
    size_t filled = s->n_filled, both = filled - from;

    for (size_t i = from; i < end; i++) {
        uint64_t y = ribbon_rehash(ribbon_hash_of(keys[i]), f.number);
        uint64_t row = ribbon_row(y), sum = ribbon_sum_of(keys[i], y, &shape);
        ribbon_pivot *at = pivots + scale64(y << f.skip, f.starts);
        uint64_t is_free = at->row == 0;
        size_t collided = i + both - filled;

        s->collided[collided] = (ribbon_moving){ at, row, sum };
        s->index[collided] = (uint32_t)i;
        s->filled[filled] = at;
        at->row |= row & -is_free;
        at->sum |= sum & -is_free;
        filled += (size_t)is_free;
    }
    s->n_collided = end + both - filled;
    s->n_filled = filled;
    s->at = end;
    s->next = 0;
}

/* Tries keys until some have collided; false when the segment is at its end. */
__attribute__((noinline)) static bool ribbon_try_more(ribbon_solver *w, const ribbon_level *l,
                                                      ribbon_segment *s)
{
    while (s->next == s->n_collided) {
        if (s->at == s->class_end && !ribbon_next_class(w, l, s))
            return false;
        ribbon_try_keys(w, l, s);
    }
    return true;
}

/* The row that moved last has no slot: unless its key is a duplicate, its class and all that follow
 * in the bucket are bumped. */
__attribute__((noinline)) static void ribbon_reject(ribbon_solver *w, ribbon_segment *s)
{
    size_t i = s->index[s->next - 1], at = s->class_at;
    size_t end = s->ends[s->bucket * RIBBON_CLASSES + RIBBON_CLASSES - 1];

    if (ribbon_is_duplicate(w, s->keys + at, i - at, s->keys[i]))
        return;
    while (s->n_filled > 0)
        *s->filled[--s->n_filled] = (ribbon_pivot){ 0, 0 };
    s->threshold = s->class_number;
    s->next = s->n_collided = 0;
    memcpy(s->bumped + s->n_bumped, s->keys + at, (end - at) * sizeof *s->keys);
    s->n_bumped += end - at;
    s->at = s->class_end = end;
    s->class_number = RIBBON_CLASSES - 1;
}

/* ---- Rows -------------------------------------------------------------- */

/* False when the segment is at its end. */
static inline bool ribbon_next_row(ribbon_solver *w, const ribbon_level *l, ribbon_segment *s,
                                   ribbon_moving *x)
{
    if (__builtin_expect(s->next == s->n_collided, 0) && !ribbon_try_more(w, l, s)) {
        x->at = NULL;
        return false;
    }
    const ribbon_moving *next = &s->collided[s->next++];
    x->at = next->at;
    x->row = next->row;
    x->sum = next->sum;
    return true;
}

/* At a free slot, or with nothing left of the row. Then the next one is on its way. */
static inline bool ribbon_arrive(ribbon_solver *w, const ribbon_level *l, ribbon_segment *s,
                                 ribbon_moving *x)
{
    if (__builtin_expect(x->row == 0, 0)) {
        ribbon_reject(w, s);
    } else {
        *x->at = (ribbon_pivot){ x->row, x->sum };
        s->filled[s->n_filled++] = x->at;
    }
    return ribbon_next_row(w, l, s, x);
}

/* The row that is there takes away the first one; the other goes on to its next. A free slot takes
 * nothing away, and there it stays: what is zero or odd goes nowhere. */
FUSE_INLINE bool ribbon_move(ribbon_solver *w, const ribbon_level *l, ribbon_segment *s,
                             ribbon_moving *x)
{
    x->row ^= x->at->row;
    x->sum ^= x->at->sum;
    if ((x->row & -x->row) <= 1)
        return ribbon_arrive(w, l, s, x);
    x->at += __builtin_ctzll(x->row);
    x->row >>= __builtin_ctzll(x->row);
    return true;
}

/* One, two or four segments take turns until one of them is at its end. How many is known when this
 * is compiled, so that rows on their way are in registers. */
FUSE_INLINE void ribbon_take_turns(ribbon_solver *w, const ribbon_level *l, ribbon_segment **s,
                                   ribbon_moving *x, unsigned n)
{
    ribbon_moving a = x[0], b = x[n > 1], c = x[n > 2 ? 2 : 0], d = x[n > 2 ? 3 : 0];

    while (ribbon_move(w, l, s[0], &a) && (n < 2 || ribbon_move(w, l, s[1], &b)) &&
           (n < 4 || (ribbon_move(w, l, s[2], &c) && ribbon_move(w, l, s[3], &d))))
        ;
    x[0] = a;
    if (n > 1)
        x[1] = b;
    if (n > 2)
        x[2] = c, x[3] = d;
}

/* Segments that are not at their end move up; returns how many. */
static unsigned ribbon_close_up(ribbon_segment **s, ribbon_moving *x, unsigned n)
{
    unsigned left = 0;

    for (unsigned i = 0; i < n; i++) {
        s[left] = s[i];
        x[left] = x[i];
        left += x[i].at != NULL;
    }
    return left;
}

static void ribbon_move_all(ribbon_solver *w, const ribbon_level *l, unsigned n)
{
    ribbon_segment *s[RIBBON_SIDE_BY_SIDE];
    ribbon_moving x[RIBBON_SIDE_BY_SIDE];

    for (unsigned i = 0; i < n; i++) {
        s[i] = &w->bench.segments[i];
        ribbon_next_row(w, l, s[i], &x[i]);
    }
    while ((n = ribbon_close_up(s, x, n)) == RIBBON_SIDE_BY_SIDE)
        ribbon_take_turns(w, l, s, x, 4);
    while ((n = ribbon_close_up(s, x, n)) >= 2)
        ribbon_take_turns(w, l, s, x, 2);
    if (n)
        ribbon_take_turns(w, l, s, x, 1);
}

/* Its n keys are put in order at the same place in `to`; where they were, the bumped ones go. */
static void ribbon_open_segment(const ribbon_solver *w, const ribbon_level *l, uint64_t number,
                                ribbon_entry *keys, size_t n, ribbon_entry *to)
{
    uint64_t i = number % RIBBON_SIDE_BY_SIDE, buckets = l->segment / RIBBON_BUCKET;
    uint32_t *ends = w->bench.ends + i * RIBBON_MOST_SEGMENT / RIBBON_BUCKET * RIBBON_CLASSES;
    ribbon_segment *s = &w->bench.segments[i];

    ribbon_sort_classes(w, l, keys, n, to, ends);
    s->keys = to;
    s->ends = ends;
    s->pivots = w->bench.pivots + i * l->segment;
    s->buckets = buckets;
    s->first = number * buckets;
    s->bucket = 0;
    s->at = 0;
    s->bumped = keys;
    s->n_bumped = s->n_filled = s->n_collided = s->next = 0;
    ribbon_clear(s->pivots, RIBBON_BUCKET);
    ribbon_open_bucket(s);
}

/* Of n segments, of which number + i has the keys from froms[i] on. The bumped ones move up to
 * those that were bumped before; returns how many there are then. */
static size_t ribbon_eliminate(ribbon_solver *w, const ribbon_level *l, uint64_t number, unsigned n,
                               const size_t *froms, size_t left)
{
    for (unsigned i = 0; i < n; i++)
        ribbon_open_segment(w, l, number + i, w->keys + froms[i], froms[i + 1] - froms[i],
                            w->spare + (froms[i] - froms[0]));
    ribbon_move_all(w, l, n);
    for (unsigned i = 0; i < n; i++) {
        const ribbon_segment *s = &w->bench.segments[i];
        memmove(w->keys + left, s->bumped, s->n_bumped * sizeof *w->keys);
        left += s->n_bumped;
    }
    return left;
}

#endif
