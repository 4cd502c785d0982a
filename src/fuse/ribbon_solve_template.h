/* ribbon_solve_template.h - TEMPLATE, compiled once for each CPU, for keys and for keys with
 * values: from hashes to a part. The includer defines RIBBON_VALUES if a key comes as a
 * tamis_entry, and not as its hash; and RIBBON_AVX2 for a CPU with it.
 *
 * A level is solved in three steps: keys are put in order, eliminated, and solved back.
 *
 * Order. A level is cut into segments, a segment into buckets of 128 slots. Of a bucket, keys are
 * in three classes, by where they start; these are the cuts of ribbon.h. Classes are tried from 0
 * to 2, and the first that does not fit is bumped, with all those after it:
 *
 *   bucket     | 0 ... 15 | 16 ..... 43 | 44 ................ 127 |
 *   class           2           1                  0
 *
 * Elimination. A row looks for a slot of its own, at which it has its first one: its pivot. If the
 * slot is taken, the row that is there is added to it, which clears that one, and it moves on to
 * its next one:
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
 * `filled` are the slots that a class has taken so far: they are cleared if it is bumped.
 *
 * Back substitution. From the last slot to the first, the pivot of a slot tells its bits, since all
 * slots behind it are known. */
#ifndef TAMIS_FUSE_RIBBON_SOLVE_TEMPLATE_H
#define TAMIS_FUSE_RIBBON_SOLVE_TEMPLATE_H

#include "fuse/ribbon.h"

/* A row that has found its slot, where its first one is, which is bit 0; and what its slots add up
 * to. Of a slot that is free, both are zero. */
typedef struct ribbon_pivot {
    uint64_t row, sum;
} ribbon_pivot;

/* Classes of a bucket; keys that are tried at once; slots that rows of a bucket reach, of which
 * they take at most one each; segments that are solved side by side. */
enum { CLASSES = 3, TRIED = 96, REACH = BUCKET + WINDOW - 1, SIDE_BY_SIDE = 4 };

/* ---- Keys -------------------------------------------------------------- */

#ifdef RIBBON_VALUES
typedef tamis_entry ribbon_entry;

static inline uint64_t ribbon_hash_of(ribbon_entry e)
{
    return e.hash;
}

static inline uint64_t ribbon_sum_of(ribbon_entry e, uint64_t y, const ribbon_shape *s)
{
    return ribbon_sum(s->value_bits ? e.value : 0, y, s);
}

static inline bool ribbon_differ(ribbon_entry a, ribbon_entry b, const ribbon_shape *s)
{
    return s->value_bits && a.value != b.value;
}
#else
typedef uint64_t ribbon_entry;

static inline uint64_t ribbon_hash_of(ribbon_entry e)
{
    return e;
}

static inline uint64_t ribbon_sum_of(ribbon_entry e, uint64_t y, const ribbon_shape *s)
{
    (void)e;
    return ribbon_fingerprint(y, s->width);
}

static inline bool ribbon_differ(ribbon_entry a, ribbon_entry b, const ribbon_shape *s)
{
    (void)a, (void)b, (void)s;
    return false;
}
#endif

/* A row on its way to a free slot. */
typedef struct ribbon_moving {
    ribbon_pivot *at; /* NULL: there is no row left */
    uint64_t row, sum;
} ribbon_moving;

/* A segment that is being solved. The arrays have room for one more than can be in them, as they
 * are written to before it is known whether that counts. */
typedef struct ribbon_segment {
    ribbon_entry *keys;
    const uint32_t *ends; /* of classes */
    ribbon_pivot *pivots;
    uint64_t first, bucket, buckets;  /* in the level; in the segment; of the segment */
    unsigned class_number, threshold; /* of the bucket */
    size_t class_at, at, class_end;   /* in keys: at is the first that was not tried */
    ribbon_entry *bumped;             /* keys */
    size_t n_bumped, n_filled, n_collided;
    size_t next; /* of those that have collided */
    ribbon_moving collided[TRIED + 1];
    uint32_t index[TRIED + 1]; /* of their keys */
    ribbon_pivot *filled[REACH + 1];
} ribbon_segment;

/* Memory of a worker. */
typedef struct ribbon_bench {
    ribbon_pivot *pivots; /* of the segments side by side, by slot */
    ribbon_segment *segments;
    uint32_t *ends; /* of classes, for each of them */
} ribbon_bench;

/* Each worker has one of its own. */
typedef struct ribbon_solver {
    ribbon_entry *keys, *spare; /* two arrays for all keys: from one to the other and back */
    uint32_t *bins;             /* of segments */
    ribbon_bench bench;
    uint8_t *part;
    size_t distinct;
    ribbon_shape shape;
    bool has_conflict; /* a key has two values */
} ribbon_solver;

/* ---- Order ------------------------------------------------------------- */

static inline uint64_t ribbon_segment_in(const ribbon_solver *w, const ribbon_level *l,
                                         ribbon_entry key)
{
    return ribbon_segment_of(l, ribbon_rehash(ribbon_hash_of(key), l->number), w->shape.part_bits);
}

/* Counts up from where things begin to where they end. */
static void ribbon_add_up(uint32_t *counts, size_t n)
{
    uint32_t from = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t count = counts[i];
        counts[i] = from;
        from += count;
    }
}

/* Hashes come in groups of equal leading bits, ascending; keys with values in no order. */
static bool ribbon_is_in_order(const ribbon_level *l, size_t n)
{
#ifdef RIBBON_VALUES
    (void)n;
    return l->segment_bits == 0;
#else
    return l->segment_bits == 0 || (l->number == 0 && group_bits(n) >= l->segment_bits);
#endif
}

static void ribbon_sort_segments(ribbon_solver *w, const ribbon_level *l, size_t n)
{
    ribbon_entry *keys = w->keys;

    if (ribbon_is_in_order(l, n))
        return;
    memset(w->bins, 0, sizeof *w->bins << l->segment_bits);
    for (size_t i = 0; i < n; i++)
        w->bins[ribbon_segment_in(w, l, keys[i])]++;
    ribbon_add_up(w->bins, (size_t)1 << l->segment_bits);
    for (size_t i = 0; i < n; i++)
        w->spare[w->bins[ribbon_segment_in(w, l, keys[i])]++] = keys[i];
    w->keys = w->spare;
    w->spare = keys;
}

/* The first key of a segment, or of one after it, of those from one number to another. */
static size_t ribbon_first_in(const ribbon_solver *w, const ribbon_level *l, size_t from, size_t to,
                              uint64_t segment)
{
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (ribbon_segment_in(w, l, w->keys[middle]) < segment)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* What it takes to find a start in a segment, in variables of its own: a loop that writes to memory
 * would have to read a level again and again. */
typedef struct ribbon_finder {
    uint64_t starts;
    unsigned skip, number;
} ribbon_finder;

static inline ribbon_finder ribbon_finder_of(const ribbon_solver *w, const ribbon_level *l)
{
    unsigned skip = l->segment_bits + (l->number ? 0 : w->shape.part_bits);

    return (ribbon_finder){ l->starts, skip, l->number };
}

static inline uint64_t ribbon_class_of(ribbon_finder f, ribbon_entry key)
{
    uint64_t y = ribbon_rehash(ribbon_hash_of(key), f.number);
    uint64_t start = scale64(y << f.skip, f.starts), in_bucket = start % BUCKET;

    return start / BUCKET * CLASSES + (in_bucket < CUT[BUMP_MANY]) + (in_bucket < CUT[BUMP_FEW]);
}

/* Keys of a segment by bucket and class; in which order within a class is of no matter. */
static void ribbon_sort_classes(const ribbon_solver *w, const ribbon_level *l,
                                const ribbon_entry *keys, size_t n, ribbon_entry *to,
                                uint32_t *ends)
{
    const size_t classes = (size_t)(l->segment / BUCKET) * CLASSES;
    const ribbon_finder f = ribbon_finder_of(w, l);

    memset(ends, 0, classes * sizeof *ends);
    for (size_t i = 0; i < n; i++)
        ends[ribbon_class_of(f, keys[i])]++;
    ribbon_add_up(ends, classes);
    for (size_t i = 0; i < n; i++)
        to[ends[ribbon_class_of(f, keys[i])]++] = keys[i];
}

/* ---- Elimination: classes ---------------------------------------------- */

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
        ribbon_clear(s->pivots + (s->bucket + 1) * BUCKET, BUCKET);
    s->class_number = 0;
    s->threshold = BUMP_NONE;
    s->class_at = s->at;
    s->class_end = s->ends[s->bucket * CLASSES];
}

/* To the next class that has keys; false when the segment is at its end. */
static bool ribbon_next_class(ribbon_solver *w, const ribbon_level *l, ribbon_segment *s)
{
    while (s->at == s->class_end) {
        uint64_t bucket = s->first + s->bucket;
        w->distinct += s->n_filled;
        s->n_filled = 0;
        s->class_at = s->at;
        if (++s->class_number < CLASSES) {
            s->class_end = s->ends[s->bucket * CLASSES + s->class_number];
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
    const size_t from = s->at, end = s->class_end - from < TRIED ? s->class_end : from + TRIED;
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
    size_t end = s->ends[s->bucket * CLASSES + CLASSES - 1];

    if (ribbon_is_duplicate(w, s->keys + at, i - at, s->keys[i]))
        return;
    while (s->n_filled > 0)
        *s->filled[--s->n_filled] = (ribbon_pivot){ 0, 0 };
    s->threshold = s->class_number;
    s->next = s->n_collided = 0;
    memcpy(s->bumped + s->n_bumped, s->keys + at, (end - at) * sizeof *s->keys);
    s->n_bumped += end - at;
    s->at = s->class_end = end;
    s->class_number = CLASSES - 1;
}

/* ---- Elimination: rows ------------------------------------------------- */

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
    ribbon_segment *s[SIDE_BY_SIDE];
    ribbon_moving x[SIDE_BY_SIDE];

    for (unsigned i = 0; i < n; i++) {
        s[i] = &w->bench.segments[i];
        ribbon_next_row(w, l, s[i], &x[i]);
    }
    while ((n = ribbon_close_up(s, x, n)) == SIDE_BY_SIDE)
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
    uint64_t i = number % SIDE_BY_SIDE, buckets = l->segment / BUCKET;
    uint32_t *ends = w->bench.ends + i * MOST_SEGMENT / BUCKET * CLASSES;
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
    ribbon_clear(s->pivots, BUCKET);
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

/* ---- Back substitution ------------------------------------------------- */

/* From the last slot to the first; column j of the 64 slots from here on is in columns[j]. Free
 * slots have neither row nor sum: they become zero. */
static void ribbon_step_back(uint64_t *columns, const ribbon_pivot *p, unsigned width)
{
    for (unsigned j = 0; j < width; j++) {
        uint64_t bit = ribbon_parity(columns[j] << 1 & p->row) ^ (p->sum >> j & 1);
        columns[j] = columns[j] << 1 | bit;
    }
}

#ifdef RIBBON_AVX2
#include "fuse/ribbon_back_avx2_template.h"
#else
static void ribbon_put_back(uint8_t *slots, const ribbon_pivot *pivots, uint64_t segment,
                            unsigned segments, unsigned width)
{
    for (unsigned n = 0; n < segments; n++) {
        uint64_t columns[MOST_COLUMNS] = { 0 };
        for (uint64_t i = segment; i-- > 0;) {
            ribbon_step_back(columns, &pivots[i], width);
            for (unsigned j = 0; j < width && i % 64 == 0; j++)
                put_le64(slots + (i / 64 * width + j) * 8, columns[j]);
        }
        slots += segment / 8 * width;
        pivots += segment;
    }
}
#endif

/* ---- Levels ------------------------------------------------------------ */

/* Segments that one worker solves, one after the other or side by side. They begin with one whose
 * number is a multiple of SIDE_BY_SIDE, so that no two runs share a byte of thresholds. */
typedef struct ribbon_run {
    uint64_t first, end; /* segments */
    size_t from, to;     /* its keys */
    size_t left;         /* those that are bumped, which are the first of them then */
    size_t distinct;
    bool has_conflict;
} ribbon_run;

/* What all workers share. */
typedef struct ribbon_sharing {
    const ribbon_solver *w;
    const ribbon_level *l;
    ribbon_run *runs;
    uint8_t *benches;
    size_t bench_slots; /* of each */
} ribbon_sharing;

static uint64_t ribbon_bench_size(uint64_t slots)
{
    return slots * sizeof(ribbon_pivot) + SIDE_BY_SIDE * sizeof(ribbon_segment) +
           round_up(slots / BUCKET * CLASSES * sizeof(uint32_t), 64);
}

static ribbon_bench ribbon_bench_of(const ribbon_sharing *s, unsigned worker)
{
    ribbon_bench b;

    b.pivots = (ribbon_pivot *)(s->benches + worker * ribbon_bench_size(s->bench_slots));
    b.segments = (ribbon_segment *)(b.pivots + s->bench_slots);
    b.ends = (uint32_t *)(b.segments + SIDE_BY_SIDE);
    return b;
}

static size_t ribbon_solve_segments(ribbon_solver *w, const ribbon_level *l, const ribbon_run *r)
{
    size_t left = r->from, froms[SIDE_BY_SIDE + 1] = { r->from };

    for (uint64_t i = r->first; i < r->end; i += SIDE_BY_SIDE) {
        const unsigned at_once = r->end - i < SIDE_BY_SIDE ? (unsigned)(r->end - i) : SIDE_BY_SIDE;
        uint8_t *slots = w->part + l->slots_at + i * l->segment / 8 * w->shape.width;
        for (unsigned j = 0; j < at_once; j++)
            froms[j + 1] = ribbon_first_in(w, l, froms[j], r->to, i + j + 1);
        left = ribbon_eliminate(w, l, i, at_once, froms, left);
        ribbon_put_back(slots, w->bench.pivots, l->segment, at_once, w->shape.width);
        froms[0] = froms[at_once];
    }
    return left - r->from;
}

static void ribbon_solve_run(void *ctx, size_t piece, unsigned worker)
{
    const ribbon_sharing *s = ctx;
    ribbon_run *r = &s->runs[piece];
    ribbon_solver mine = *s->w;

    mine.spare += r->from;
    mine.bench = ribbon_bench_of(s, worker);
    mine.distinct = 0;
    r->left = ribbon_solve_segments(&mine, s->l, r);
    r->distinct = mine.distinct;
    r->has_conflict = mine.has_conflict;
}

/* Runs of a level: with several workers so many that those who are done early take more. */
static size_t ribbon_most_runs(unsigned workers)
{
    return workers > 1 ? 4 * (size_t)workers : 1;
}

static size_t ribbon_cut_runs(const ribbon_sharing *s, size_t n, unsigned workers)
{
    const uint64_t segments = UINT64_C(1) << s->l->segment_bits;
    const uint64_t groups = (segments + SIDE_BY_SIDE - 1) / SIDE_BY_SIDE;
    size_t most = ribbon_most_runs(workers), runs = groups < most ? (size_t)groups : most;
    size_t from = 0;

    for (size_t i = 0; i < runs; i++) {
        uint64_t first = groups * i / runs * SIDE_BY_SIDE;
        uint64_t end = groups * (i + 1) / runs * SIDE_BY_SIDE;
        end = end < segments ? end : segments;
        size_t to = i + 1 < runs ? ribbon_first_in(s->w, s->l, from, n, end) : n;
        s->runs[i] = (ribbon_run){ .first = first, .end = end, .from = from, .to = to };
        from = to;
    }
    return runs;
}

/* Returns the number of keys that are bumped, which are then the keys. */
static size_t ribbon_solve_level(ribbon_solver *w, ribbon_sharing *s, size_t n,
                                 const tamis_team *team)
{
    size_t left = 0;

    ribbon_sort_segments(w, s->l, n);
    size_t runs = ribbon_cut_runs(s, n, team ? team->workers : 1);
    if (runs > 1)
        team->run(team, ribbon_solve_run, s, runs);
    else
        ribbon_solve_run(s, 0, 0);
    for (size_t i = 0; i < runs; i++) {
        const ribbon_run *r = &s->runs[i];
        memmove(w->keys + left, w->keys + r->from, r->left * sizeof *w->keys);
        left += r->left;
        w->distinct += r->distinct;
        w->has_conflict |= r->has_conflict;
    }
    return left;
}

/* ---- The last level ---------------------------------------------------- */

/* Whether the row was independent of those that are there; then it has found its slot. */
static bool ribbon_insert(ribbon_pivot *at, uint64_t row, uint64_t sum)
{
    while (at->row) {
        row ^= at->row;
        sum ^= at->sum;
        if (row == 0)
            return false;
        at += __builtin_ctzll(row);
        row >>= __builtin_ctzll(row);
    }
    *at = (ribbon_pivot){ row, sum };
    return true;
}

/* Whether all keys find a slot; duplicates, once found, are dropped for good. */
static bool ribbon_try_seed(ribbon_solver *w, const ribbon_level *l, size_t *n, unsigned seed)
{
    ribbon_clear(w->bench.pivots, (size_t)l->slots);
    for (size_t i = 0; i < *n;) {
        uint64_t y = ribbon_rehash(ribbon_hash_of(w->keys[i]), l->number + seed - 1);
        ribbon_pivot *start = w->bench.pivots + ribbon_start(l, y, w->shape.part_bits);
        if (ribbon_insert(start, ribbon_row_in(l, y), ribbon_sum_of(w->keys[i], y, &w->shape)))
            i++;
        else if (ribbon_is_duplicate(w, w->keys, i, w->keys[i]))
            w->keys[i] = w->keys[--*n];
        else
            return false;
    }
    return true;
}

static tamis_status ribbon_solve_last(ribbon_solver *w, const ribbon_level *l, size_t n)
{
    const unsigned width = w->shape.width;
    uint64_t columns[MOST_COLUMNS] = { 0 };
    unsigned seed = 1;

    while (!ribbon_try_seed(w, l, &n, seed))
        if (++seed > UINT8_MAX)
            return TAMIS_FULL;
    for (uint64_t i = l->slots; i-- > 0;) {
        ribbon_step_back(columns, &w->bench.pivots[i], width);
        for (unsigned j = 0; j < width && i % 8 == 0; j++)
            w->part[l->slots_at + (j * l->slots + i) / 8] = (uint8_t)columns[j];
    }
    w->part[l->end - LAST_STATE] = (uint8_t)seed;
    w->distinct += n;
    return TAMIS_OK;
}

/* ---- Building ---------------------------------------------------------- */

/* Slots that are solved at a time, in any level. */
static uint64_t ribbon_most_slots(const ribbon_level *first)
{
    if (first->segment_bits)
        return (uint64_t)MOST_SEGMENT * (first->segment_bits == 1 ? 2 : SIDE_BY_SIDE);
    return first->is_last ? first->slots : MOST_LAST + first->slots;
}

/* Benches of workers, runs, bins, and a second array for the keys. */
static inline uint64_t ribbon_scratch_for(const ribbon_shape *s, uint64_t n, unsigned workers)
{
    ribbon_level first = ribbon_first_level(s);

    return workers * ribbon_bench_size(ribbon_most_slots(&first)) +
           ribbon_most_runs(workers) * sizeof(ribbon_run) + n * sizeof(ribbon_entry) +
           (sizeof(uint32_t) << first.segment_bits);
}

static tamis_status ribbon_solve_part(const ribbon_shape *s, void *part, ribbon_entry *keys,
                                      size_t *n, void *scratch, const tamis_team *team)
{
    const unsigned workers = team ? team->workers : 1;
    ribbon_solver w = { .keys = keys, .part = part, .shape = *s };
    ribbon_level l = ribbon_first_level(s);
    ribbon_sharing all = { .w = &w, .l = &l, .benches = scratch };
    size_t left = *n;

    /* A part of zeros says no to all; one that is solved, at the planned rate. */
    if (*n == 0)
        return TAMIS_OK;
    all.bench_slots = (size_t)ribbon_most_slots(&l);
    all.runs = (ribbon_run *)(all.benches + workers * ribbon_bench_size(all.bench_slots));
    w.spare = (ribbon_entry *)(all.runs + ribbon_most_runs(workers));
    w.bins = (uint32_t *)(w.spare + *n);
    w.bench = ribbon_bench_of(&all, 0);
    for (; !l.is_last; l = ribbon_next_level(&l, s->width))
        left = ribbon_solve_level(&w, &all, left, team);
    tamis_status status = ribbon_solve_last(&w, &l, left);
    *n = w.distinct;
    return w.has_conflict ? TAMIS_CONFLICT : status;
}

#ifndef RIBBON_VALUES
/* Of the table of the ribbon filter. */
static tamis_status ribbon_solve(const tamis *f, enum tamis_stage stage, void *part, void *items,
                                 size_t *n, void *scratch, const tamis_team *team)
{
    (void)stage;
    return ribbon_solve_part(&ribbon_derived_in(f)->shape, part, items, n, scratch, team);
}
#endif

#endif
