/* ribbon_solve.h - from hashes to a part, a template for the kernels.
 *
 * Keys are put in order, eliminated and solved, level after level. A kernel has put_back(), back
 * substitution, for its instruction set. A key is its hash; with PAIRS defined, it has a value
 * beside it, and what its slots add up to is the value and then the fingerprint. */
#ifndef TAMIS_FUSE_RIBBON_SOLVE_H
#define TAMIS_FUSE_RIBBON_SOLVE_H

#include "fuse/ribbon.h"

/* A row that has found the slot where its first one is, which is bit 0, and what its slots add up
 * to. Of a slot that is free, both are zero. */
typedef struct {
    uint64_t row, sum;
} pivot;

static void put_back(uint8_t *slots, const pivot *pivots, uint64_t segment, unsigned segments,
                     unsigned width);

#ifdef PAIRS
typedef tamis_entry entry;

static inline uint64_t hash_of(entry e)
{
    return e.hash;
}

static inline uint64_t sum_of(entry e, uint64_t y, const shape *s)
{
    return with_fingerprint(s->value_bits ? e.value : 0, y, s);
}

static inline bool is_other_value(entry a, entry b, const shape *s)
{
    return s->value_bits && a.value != b.value;
}
#else
typedef uint64_t entry;

static inline uint64_t hash_of(entry e)
{
    return e;
}

static inline uint64_t sum_of(entry e, uint64_t y, const shape *s)
{
    (void)e;
    return fingerprint_of(y, s->width);
}

static inline bool is_other_value(entry a, entry b, const shape *s)
{
    (void)a, (void)b, (void)s;
    return false;
}
#endif

/* ---- Order of keys ----------------------------------------------------- */

/* The keys of a bucket in the three classes that its cuts make, those that start last first. */
enum { CLASSES = 3 };

typedef struct {
    entry *keys, *spare; /* two arrays for all keys: from one to the other and back */
    uint32_t *bins;      /* of segments */
    uint32_t *ends;      /* of classes, for each of the segments that are solved side by side */
    pivot *pivots;       /* of these segments, by slot */
    uint8_t *part;
    size_t kept;
    shape shape;
    bool has_conflict; /* a key has two values */
} workspace;

static inline uint64_t segment_in(const workspace *w, const level *l, entry key)
{
    return segment_of(l, draw(hash_of(key), l->number), w->shape.part_bits);
}

static inline size_t class_of(uint64_t start)
{
    uint64_t in_bucket = start % BUCKET;

    return start / BUCKET * CLASSES + (in_bucket < CUT[BUMP_MANY]) + (in_bucket < CUT[BUMP_FEW]);
}

/* Counts up from where things begin to where they end. */
static void add_up(uint32_t *counts, size_t n)
{
    uint32_t from = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t count = counts[i];
        counts[i] = from;
        from += count;
    }
}

/* Hashes come in groups of equal leading bits, ascending; pairs in no order. */
static bool is_in_order(const level *l, size_t n)
{
#ifdef PAIRS
    (void)n;
    return l->segment_bits == 0;
#else
    return l->segment_bits == 0 || (l->number == 0 && group_bits(n) >= l->segment_bits);
#endif
}

static void sort_segments(workspace *w, const level *l, size_t n)
{
    entry *keys = w->keys;

    if (is_in_order(l, n))
        return;
    memset(w->bins, 0, sizeof *w->bins << l->segment_bits);
    for (size_t i = 0; i < n; i++)
        w->bins[segment_in(w, l, keys[i])]++;
    add_up(w->bins, (size_t)1 << l->segment_bits);
    for (size_t i = 0; i < n; i++)
        w->spare[w->bins[segment_in(w, l, keys[i])]++] = keys[i];
    w->keys = w->spare;
    w->spare = keys;
}

/* The first key of a segment, or of one after it. */
static size_t first_in(const workspace *w, const level *l, size_t n, uint64_t segment)
{
    size_t from = 0, to = n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (segment_in(w, l, w->keys[middle]) < segment)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* What it takes to find a start in a segment, in variables of its own: a loop that writes to memory
 * would have to read a level again and again. */
typedef struct {
    uint64_t starts;
    unsigned skip, number;
} finder;

static inline finder finder_of(const workspace *w, const level *l)
{
    return (finder){ l->starts, l->segment_bits + (l->number ? 0 : w->shape.part_bits), l->number };
}

static inline size_t class_in(finder f, entry key)
{
    return class_of(scale64(draw(hash_of(key), f.number) << f.skip, f.starts));
}

/* By bucket and class; in which order within a class is of no matter. */
static void sort_keys(const workspace *w, const level *l, const entry *keys, size_t n, entry *to,
                      uint32_t *ends)
{
    const size_t classes = l->segment / BUCKET * CLASSES;
    const finder f = finder_of(w, l);

    memset(ends, 0, classes * sizeof *ends);
    for (size_t i = 0; i < n; i++)
        ends[class_in(f, keys[i])]++;
    add_up(ends, classes);
    for (size_t i = 0; i < n; i++)
        to[ends[class_in(f, keys[i])]++] = keys[i];
}

/* ---- Elimination ------------------------------------------------------- */

/* A row on its way to a slot. */
typedef struct {
    pivot *at; /* or NULL: at its end */
    uint64_t row, sum;
} walker;

/* Keys of a class that are tried at a time. Rows of a bucket take at most one slot each of those
 * that they reach. */
enum { PIECE = 96, REACH = BUCKET + WINDOW - 1 };

/* A segment that is being solved. Each step of a walker waits for the one before it, so that four
 * of these take turns. */
typedef struct {
    const entry *keys;
    const uint32_t *ends;
    pivot *pivots;
    uint64_t first, bucket, buckets;
    size_t class_at, at, class_end;
    entry *bumped;
    size_t n_bumped, n_taken, n_waiting, next;
    unsigned class_number, threshold;
    walker waiting[PIECE + 1];
    uint32_t index[PIECE + 1]; /* of their keys */
    pivot *taken[REACH + 1];
} stream;

/* A twin needs no row, if it has the same value. */
static bool has_twin(workspace *w, const entry *keys, size_t n, entry key)
{
    for (size_t i = 0; i < n; i++)
        if (hash_of(keys[i]) == hash_of(key)) {
            w->has_conflict |= is_other_value(keys[i], key, &w->shape);
            return true;
        }
    return false;
}

static void bump_from(stream *s, size_t at)
{
    size_t n = s->ends[s->bucket * CLASSES + CLASSES - 1] - at;

    memcpy(s->bumped + s->n_bumped, s->keys + at, n * sizeof *s->keys);
    s->n_bumped += n;
    s->at = s->class_end = at + n;
    s->class_number = CLASSES - 1;
}

/* Not inline: for a number that it knows, the compiler takes instructions that are slow to start.
 */
static __attribute__((noinline)) void clear(pivot *pivots, size_t n)
{
    memset(pivots, 0, n * sizeof *pivots);
}

static void open_bucket(stream *s)
{
    if (s->bucket + 1 < s->buckets)
        clear(s->pivots + (s->bucket + 1) * BUCKET, BUCKET);
    s->class_number = 0;
    s->threshold = BUMP_NONE;
    s->class_at = s->at;
    s->class_end = s->ends[s->bucket * CLASSES];
}

static void close_bucket(const workspace *w, const level *l, const stream *s)
{
    uint64_t bucket = s->first + s->bucket;

    w->part[l->at + bucket / 4] |= (uint8_t)(s->threshold << bucket % 4 * 2);
}

/* To the next class that has keys; false when the stream is at its end. */
static bool next_class(workspace *w, const level *l, stream *s)
{
    while (s->at == s->class_end) {
        w->kept += s->n_taken;
        s->n_taken = 0;
        s->class_at = s->at;
        if (++s->class_number < CLASSES) {
            s->class_end = s->ends[s->bucket * CLASSES + s->class_number];
            continue;
        }
        close_bucket(w, l, s);
        if (++s->bucket == s->buckets)
            return false;
        open_bucket(s);
    }
    return true;
}

/* A row whose first slot is free takes it at once, without a branch that nobody could predict: half
 * of them do. The others wait, and walk one after the other. */
static void try_piece(const workspace *w, const level *l, stream *s)
{
    const size_t from = s->at, end = s->class_end - from < PIECE ? s->class_end : from + PIECE;
    const finder f = finder_of(w, l);
    const shape of = w->shape;
    const entry *keys = s->keys;
    pivot *pivots = s->pivots;
    size_t taken = s->n_taken, both = taken - from;

    for (size_t i = from; i < end; i++) {
        uint64_t y = draw(hash_of(keys[i]), f.number);
        uint64_t row = row_of(y), sum = sum_of(keys[i], y, &of);
        pivot *at = pivots + scale64(y << f.skip, f.starts);
        uint64_t is_free = at->row == 0;
        size_t waiting = i + both - taken;

        s->waiting[waiting] = (walker){ at, row, sum };
        s->index[waiting] = (uint32_t)i;
        s->taken[taken] = at;
        at->row |= row & -is_free;
        at->sum |= sum & -is_free;
        taken += is_free;
    }
    s->n_waiting = end + both - taken;
    s->n_taken = taken;
    s->at = end;
    s->next = 0;
}

/* Somebody to walk; false when the stream is at its end. */
static __attribute__((noinline)) bool refill(workspace *w, const level *l, stream *s)
{
    while (s->next == s->n_waiting) {
        if (s->at == s->class_end && !next_class(w, l, s))
            return false;
        try_piece(w, l, s);
    }
    return true;
}

/* From the first class that does not fit on, all keys of the bucket are bumped. A twin of a key
 * that has its row needs none. */
static __attribute__((noinline)) void reject(workspace *w, stream *s)
{
    size_t i = s->index[s->next - 1];

    if (has_twin(w, s->keys + s->class_at, i - s->class_at, s->keys[i]))
        return;
    while (s->n_taken > 0)
        *s->taken[--s->n_taken] = (pivot){ 0, 0 };
    s->threshold = s->class_number;
    s->next = s->n_waiting = 0;
    bump_from(s, s->class_at);
}

static inline bool next_walker(workspace *w, const level *l, stream *s, walker *x)
{
    if (__builtin_expect(s->next == s->n_waiting, 0) && !refill(w, l, s)) {
        x->at = NULL;
        return false;
    }
    const walker *next = &s->waiting[s->next++];
    x->at = next->at;
    x->row = next->row;
    x->sum = next->sum;
    return true;
}

/* At a free slot, or with nothing left of its row. Then the next one is on its way. */
static inline bool arrive(workspace *w, const level *l, stream *s, walker *x)
{
    if (__builtin_expect(x->row == 0, 0)) {
        reject(w, s);
    } else {
        *x->at = (pivot){ x->row, x->sum };
        s->taken[s->n_taken++] = x->at;
    }
    return next_walker(w, l, s, x);
}

/* The row that is there takes away the first one; the walker goes on to the next. A free slot takes
 * nothing away, and there it stays: what is zero or odd goes nowhere. */
static inline __attribute__((always_inline)) bool step(workspace *w, const level *l, stream *s,
                                                       walker *x)
{
    x->row ^= x->at->row;
    x->sum ^= x->at->sum;
    if ((x->row & -x->row) <= 1)
        return arrive(w, l, s, x);
    x->at += __builtin_ctzll(x->row);
    x->row >>= __builtin_ctzll(x->row);
    return true;
}

static void walk_one(workspace *w, const level *l, stream **s, walker *x)
{
    walker a = x[0];

    while (step(w, l, s[0], &a))
        ;
    x[0] = a;
}

/* Two and four walk until one of them is at its end. */
static void walk_two(workspace *w, const level *l, stream **s, walker *x)
{
    walker a = x[0], b = x[1];

    while (step(w, l, s[0], &a) && step(w, l, s[1], &b))
        ;
    x[0] = a, x[1] = b;
}

static void walk_four(workspace *w, const level *l, stream **s, walker *x)
{
    walker a = x[0], b = x[1], c = x[2], d = x[3];

    while (step(w, l, s[0], &a) && step(w, l, s[1], &b) && step(w, l, s[2], &c) &&
           step(w, l, s[3], &d))
        ;
    x[0] = a, x[1] = b, x[2] = c, x[3] = d;
}

/* Those that are not at their end move up. */
static unsigned close_up(stream **s, walker *x, unsigned n)
{
    unsigned left = 0;

    for (unsigned i = 0; i < n; i++) {
        s[left] = s[i];
        x[left] = x[i];
        left += x[i].at != NULL;
    }
    return left;
}

static void walk(workspace *w, const level *l, stream *streams, unsigned n)
{
    stream *s[STREAMS];
    walker x[STREAMS];

    for (unsigned i = 0; i < n; i++) {
        s[i] = &streams[i];
        next_walker(w, l, s[i], &x[i]);
    }
    while ((n = close_up(s, x, n)) == STREAMS)
        walk_four(w, l, s, x);
    while ((n = close_up(s, x, n)) >= 2)
        walk_two(w, l, s, x);
    if (n)
        walk_one(w, l, s, x);
}

/* Its keys are put in order at the same place in `to`; where they were, the bumped ones go. */
static void open_stream(const workspace *w, const level *l, stream *s, uint64_t segment,
                        size_t from, size_t n, entry *to)
{
    uint64_t i = segment % STREAMS;
    uint32_t *ends = w->ends + i * MOST_SEGMENT / BUCKET * CLASSES;

    sort_keys(w, l, w->keys + from, n, to, ends);
    s->keys = to;
    s->ends = ends;
    s->pivots = w->pivots + i * l->segment;
    s->buckets = l->segment / BUCKET;
    s->first = segment * s->buckets;
    s->bucket = 0;
    s->at = 0;
    s->bumped = w->keys + from;
    s->n_bumped = s->n_taken = s->n_waiting = s->next = 0;
    clear(s->pivots, BUCKET);
    open_bucket(s);
}

/* Of n segments, of which segment + i has the keys from froms[i] on. The bumped ones move up to
 * those that were bumped before; returns how many there are then. */
static size_t eliminate(workspace *w, const level *l, uint64_t segment, unsigned n,
                        const size_t *froms, size_t left)
{
    stream streams[STREAMS];

    for (unsigned i = 0; i < n; i++)
        open_stream(w, l, &streams[i], segment + i, froms[i], froms[i + 1] - froms[i],
                    w->spare + (froms[i] - froms[0]));
    walk(w, l, streams, n);
    for (unsigned i = 0; i < n; i++) {
        memmove(w->keys + left, streams[i].bumped, streams[i].n_bumped * sizeof *w->keys);
        left += streams[i].n_bumped;
    }
    return left;
}

/* ---- Back substitution ------------------------------------------------- */

/* From the last slot to the first; column j of the 64 slots from here on is in columns[j]. */
static void step_back(uint64_t *columns, const pivot *p, unsigned width)
{
    for (unsigned j = 0; j < width; j++) {
        uint64_t bit = parity(columns[j] << 1 & p->row) ^ (p->sum >> j & 1);
        columns[j] = columns[j] << 1 | bit;
    }
}

static void put_columns(const workspace *w, const level *l)
{
    uint64_t columns[MOST_COLUMNS] = { 0 };
    const unsigned width = w->shape.width;

    for (uint64_t i = l->slots; i-- > 0;) {
        step_back(columns, &w->pivots[i], width);
        if (i % 8 == 0)
            for (unsigned j = 0; j < width; j++)
                w->part[l->slots_at + (j * l->slots + i) / 8] = (uint8_t)columns[j];
    }
}

/* Returns the number of keys that are bumped, which are then the keys. */
static size_t solve_level(workspace *w, const level *l, size_t n)
{
    const uint64_t segments = UINT64_C(1) << l->segment_bits;
    size_t left = 0, froms[STREAMS + 1] = { 0 };

    sort_segments(w, l, n);
    for (uint64_t i = 0; i < segments; i += STREAMS) {
        const unsigned at_once = segments - i < STREAMS ? (unsigned)(segments - i) : STREAMS;
        uint8_t *slots = w->part + l->slots_at + i * l->segment / 8 * w->shape.width;
        for (unsigned j = 0; j < at_once; j++)
            froms[j + 1] = first_in(w, l, n, i + j + 1);
        left = eliminate(w, l, i, at_once, froms, left);
        put_back(slots, w->pivots, l->segment, at_once, w->shape.width);
        froms[0] = froms[at_once];
    }
    return left;
}

/* ---- The last level ---------------------------------------------------- */

/* Whether the row was independent of those that are there; then it has found its slot. */
static bool insert(pivot *at, uint64_t row, uint64_t sum)
{
    while (at->row) {
        row ^= at->row;
        sum ^= at->sum;
        if (row == 0)
            return false;
        at += __builtin_ctzll(row);
        row >>= __builtin_ctzll(row);
    }
    *at = (pivot){ row, sum };
    return true;
}

/* Whether all keys find a slot; twins, once found, are dropped for good. */
static bool try_seed(workspace *w, const level *l, size_t *n, unsigned seed)
{
    clear(w->pivots, l->slots);
    for (size_t i = 0; i < *n;) {
        uint64_t y = draw(hash_of(w->keys[i]), l->number + seed - 1);
        pivot *start = w->pivots + start_of(l, y, w->shape.part_bits);
        if (insert(start, row_in(l, y), sum_of(w->keys[i], y, &w->shape)))
            i++;
        else if (has_twin(w, w->keys, i, w->keys[i]))
            w->keys[i] = w->keys[--*n];
        else
            return false;
    }
    return true;
}

static tamis_status solve_last(workspace *w, const level *l, size_t n)
{
    for (unsigned seed = 1; seed <= UINT8_MAX; seed++)
        if (try_seed(w, l, &n, seed)) {
            put_columns(w, l);
            w->part[l->end - LAST_STATE] = (uint8_t)seed;
            w->kept += n;
            return TAMIS_OK;
        }
    return TAMIS_FULL;
}

/* ---- Building ---------------------------------------------------------- */

/* Slots that are solved at a time, in any level. */
static size_t most_slots(const level *first)
{
    if (first->segment_bits)
        return (size_t)MOST_SEGMENT * (first->segment_bits == 1 ? 2 : STREAMS);
    return (size_t)(first->is_last ? first->slots : MOST_LAST + first->slots);
}

static inline size_t scratch_for(const shape *s, size_t n)
{
    level first = first_level(s);
    size_t slots = most_slots(&first);

    return n * sizeof(entry) + slots * sizeof(pivot) + slots / BUCKET * CLASSES * sizeof(uint32_t) +
           (sizeof(uint32_t) << first.segment_bits);
}

static tamis_status solve(const shape *s, void *part, entry *keys, size_t *n, void *room)
{
    workspace w = { .keys = keys, .spare = room, .part = part, .shape = *s };
    level l = first_level(s);
    size_t left = *n;

    /* A part of zeros says no to all; one that is solved, at the planned rate. */
    if (*n == 0)
        return TAMIS_OK;
    w.pivots = (pivot *)(w.spare + *n);
    w.ends = (uint32_t *)(w.pivots + most_slots(&l));
    w.bins = w.ends + most_slots(&l) / BUCKET * CLASSES;
    for (; !l.is_last; l = next_level(&l, s->width))
        left = solve_level(&w, &l, left);
    tamis_status status = solve_last(&w, &l, left);
    *n = w.kept;
    return w.has_conflict ? TAMIS_CONFLICT : status;
}

#endif
