/* ribbon_solve.h - from hashes to a part, a template for the kernels.
 *
 * Keys are put in order, eliminated and solved, level after level. A kernel has put_back(), back
 * substitution, for its instruction set. A key is its hash; with PAIRS defined, it has a value
 * beside it, and what its slots add up to is the value and then the fingerprint. */
#ifndef TAMIS_FUSE_RIBBON_SOLVE_H
#define TAMIS_FUSE_RIBBON_SOLVE_H

#include "fuse/ribbon.h"

static void put_back(uint8_t *slots, const uint64_t *rows, const uint64_t *sums, const level *l,
                     unsigned width);

#ifdef PAIRS
typedef tamis_pair entry;

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

/* Slots whose keys are put in order in the cache: sixty-four buckets. */
enum { CHUNK_BITS = 13, CHUNK_CLASSES = (1 << CHUNK_BITS) / BUCKET * CLASSES };

typedef struct {
    entry *keys, *spare; /* two arrays for all keys: from one to the other and back */
    uint32_t *bins;      /* ends of chunks */
    uint32_t *ends;      /* of classes, three for each bucket */
    uint64_t *rows;      /* by the slot of their first one, which is bit 0; 0: the slot is free */
    size_t apart;        /* from a row to what its slots add up to; 0 if there is none */
    uint8_t *part;
    size_t kept;
    shape shape;
    unsigned running;
    bool has_conflict; /* a key has two values */
} workspace;

static inline uint64_t start_in(const workspace *w, const level *l, entry key)
{
    return start_of(l, draw(hash_of(key), l->number), w->shape.part_bits);
}

static inline size_t class_of(uint64_t start)
{
    uint64_t in_bucket = start % BUCKET;

    return start / BUCKET * CLASSES + (in_bucket < CUT[BUMP_MANY]) + (in_bucket < CUT[BUMP_FEW]);
}

static void swap_keys(workspace *w)
{
    entry *keys = w->keys;

    w->keys = w->spare;
    w->spare = keys;
}

/* Counts up from where things begin to where they end. */
static void add_up(uint32_t *counts, size_t n, uint32_t from)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t count = counts[i];
        counts[i] = from;
        from += count;
    }
}

/* Whether the keys are in the order of their chunks as they are. */
static bool count_chunks(workspace *w, const level *l, size_t n)
{
    uint64_t last = 0;
    bool in_order = true;

    for (size_t i = 0; i < n; i++) {
        uint64_t chunk = start_in(w, l, w->keys[i]) >> CHUNK_BITS;
        w->bins[chunk]++;
        in_order &= chunk >= last;
        last = chunk;
    }
    return in_order;
}

static void sort_chunks(workspace *w, const level *l, size_t n)
{
    size_t chunks = (l->slots >> CHUNK_BITS) + 1;

    memset(w->bins, 0, chunks * sizeof *w->bins);
    if (count_chunks(w, l, n)) {
        add_up(w->bins, chunks, 0);
        for (size_t i = 0; i + 1 < chunks; i++)
            w->bins[i] = w->bins[i + 1];
        w->bins[chunks - 1] = (uint32_t)n;
        return;
    }
    add_up(w->bins, chunks, 0);
    for (size_t i = 0; i < n; i++)
        w->spare[w->bins[start_in(w, l, w->keys[i]) >> CHUNK_BITS]++] = w->keys[i];
    swap_keys(w);
}

static void sort_chunk(workspace *w, const level *l, size_t from, size_t to, size_t first_class)
{
    uint32_t at[CHUNK_CLASSES] = { 0 };

    for (size_t i = from; i < to; i++)
        at[class_of(start_in(w, l, w->keys[i])) - first_class]++;
    add_up(at, CHUNK_CLASSES, (uint32_t)from);
    for (size_t i = from; i < to; i++)
        w->spare[at[class_of(start_in(w, l, w->keys[i])) - first_class]++] = w->keys[i];
    memcpy(w->ends + first_class, at, sizeof at);
}

/* By bucket and class; in which order within a class is of no matter. */
static void sort_keys(workspace *w, const level *l, size_t n)
{
    size_t chunks = (l->slots >> CHUNK_BITS) + 1;

    sort_chunks(w, l, n);
    for (size_t i = 0; i < chunks; i++)
        sort_chunk(w, l, i ? w->bins[i - 1] : 0, w->bins[i], i * CHUNK_CLASSES);
    swap_keys(w);
}

/* ---- Elimination ------------------------------------------------------- */

/* A row on its way to a slot. */
typedef struct {
    uint64_t *at; /* or NULL: at its end */
    uint64_t row, sum;
} walker;

/* Each step of a walker waits for the one before it. In a large level, four ranges of buckets take
 * turns; so that they do not meet, the last bucket of each but the last is left to what comes over
 * from the one before it, and bumps all its keys. Rows of a bucket take at most one slot each of
 * those that they reach. */
enum { REACH = BUCKET + WINDOW - 1 };

typedef struct {
    uint64_t bucket, end;
    size_t class_at, at, class_end;
    entry *bumped;
    size_t n_bumped, n_taken;
    unsigned class_number, threshold;
    bool is_final;
    uint64_t *taken[REACH];
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

static void clear_rows(workspace *w, uint64_t from, uint64_t n)
{
    memset(w->rows + from, 0, n * sizeof *w->rows);
    memset(w->rows + w->apart + from, 0, n * sizeof *w->rows);
}

static size_t keys_end(const workspace *w, uint64_t bucket)
{
    return w->ends[bucket * CLASSES + CLASSES - 1];
}

static void bump_from(const workspace *w, stream *s, size_t at)
{
    size_t n = keys_end(w, s->bucket) - at;

    memcpy(s->bumped + s->n_bumped, w->keys + at, n * sizeof *w->keys);
    s->n_bumped += n;
    s->at = s->class_end = at + n;
    s->class_number = CLASSES - 1;
}

static void open_bucket(workspace *w, stream *s)
{
    size_t at = s->bucket ? keys_end(w, s->bucket - 1) : 0;

    if (s->bucket + 1 < s->end)
        clear_rows(w, (s->bucket + 1) * BUCKET, BUCKET);
    s->class_number = 0;
    s->threshold = BUMP_NONE;
    s->at = s->class_at = at;
    s->class_end = w->ends[s->bucket * CLASSES];
    if (s->bucket + 1 == s->end && !s->is_final) {
        s->threshold = BUMP_ALL;
        bump_from(w, s, at);
    }
}

static void close_bucket(const workspace *w, const level *l, const stream *s)
{
    w->part[l->at + s->bucket / 4] |= (uint8_t)(s->threshold << s->bucket % 4 * 2);
}

/* To the next class that has keys; false when the stream is at its end. */
static bool next_class(workspace *w, const level *l, stream *s)
{
    while (s->at == s->class_end) {
        w->kept += s->n_taken;
        s->n_taken = 0;
        s->class_at = s->at;
        if (++s->class_number < CLASSES) {
            s->class_end = w->ends[s->bucket * CLASSES + s->class_number];
            continue;
        }
        close_bucket(w, l, s);
        if (++s->bucket == s->end)
            return false;
        open_bucket(w, s);
    }
    return true;
}

/* From the first class that does not fit on, all keys of the bucket are bumped. A twin of a key
 * that has its row needs none. */
static void reject(workspace *w, stream *s)
{
    if (has_twin(w, w->keys + s->class_at, s->at - 1 - s->class_at, w->keys[s->at - 1]))
        return;
    while (s->n_taken > 0) {
        uint64_t *at = s->taken[--s->n_taken];
        at[0] = at[w->apart] = 0;
    }
    s->threshold = s->class_number;
    bump_from(w, s, s->class_at);
}

static inline walker next_walker(workspace *w, const level *l, stream *s)
{
    if (__builtin_expect(s->at == s->class_end, 0) && !next_class(w, l, s)) {
        w->running--;
        return (walker){ NULL, 0, 0 };
    }
    entry key = w->keys[s->at++];
    uint64_t y = draw(hash_of(key), l->number);
    uint64_t *start = w->rows + start_of(l, y, w->shape.part_bits);
    return (walker){ start, row_of(y), sum_of(key, y, &w->shape) };
}

/* The row that is there takes away the first one; the walker goes on to the next. A free slot takes
 * nothing away, and there it stays. */
static inline walker step(workspace *w, const level *l, stream *s, walker x, size_t apart)
{
    x.row ^= *x.at;
    x.sum ^= x.at[apart];
    if (x.row & 1) {
        *x.at = x.row;
        x.at[apart] = x.sum;
        s->taken[s->n_taken++] = x.at;
        return next_walker(w, l, s);
    }
    if (__builtin_expect(x.row == 0, 0)) {
        reject(w, s);
        return next_walker(w, l, s);
    }
    size_t zeros = (size_t)__builtin_ctzll(x.row);
    x.row >>= zeros;
    x.at += zeros;
    return x;
}

static void walk_on(workspace *w, const level *l, stream *s, walker x)
{
    while (x.at)
        x = step(w, l, s, x, w->apart);
}

/* Until one of them is at its end; the others are near theirs. */
static void walk_four(workspace *w, const level *l, stream *s)
{
    const size_t apart = w->apart;
    walker a = next_walker(w, l, &s[0]), b = next_walker(w, l, &s[1]);
    walker c = next_walker(w, l, &s[2]), d = next_walker(w, l, &s[3]);

    while (w->running == STREAMS) {
        a = step(w, l, &s[0], a, apart);
        b = step(w, l, &s[1], b, apart);
        c = step(w, l, &s[2], c, apart);
        d = step(w, l, &s[3], d, apart);
    }
    walk_on(w, l, &s[0], a);
    walk_on(w, l, &s[1], b);
    walk_on(w, l, &s[2], c);
    walk_on(w, l, &s[3], d);
}

static void open_stream(workspace *w, stream *s, uint64_t bucket, uint64_t end, bool is_final)
{
    s->bucket = bucket;
    s->end = end;
    s->is_final = is_final;
    s->bumped = w->spare + (bucket ? keys_end(w, bucket - 1) : 0);
    s->n_bumped = s->n_taken = 0;
    clear_rows(w, bucket * BUCKET, BUCKET);
    open_bucket(w, s);
}

/* Returns the number of keys that are bumped, which are then the keys. */
static size_t eliminate(workspace *w, const level *l)
{
    stream streams[STREAMS];
    unsigned n = streams_of(l);
    size_t left = 0;

    for (unsigned i = 0; i < n; i++)
        open_stream(w, &streams[i], l->slots / BUCKET * i / n, l->slots / BUCKET * (i + 1) / n,
                    i + 1 == n);
    w->running = n;
    if (n == STREAMS)
        walk_four(w, l, streams);
    else
        walk_on(w, l, streams, next_walker(w, l, streams));
    swap_keys(w);
    for (unsigned i = 0; i < n; i++) {
        memmove(w->keys + left, streams[i].bumped, streams[i].n_bumped * sizeof *w->keys);
        left += streams[i].n_bumped;
    }
    return left;
}

/* ---- Back substitution ------------------------------------------------- */

/* From the last slot to the first; column j of the 64 slots from here on is in columns[j]. */
static void step_back(uint64_t *columns, uint64_t row, uint64_t sum, unsigned width)
{
    for (unsigned j = 0; j < width; j++) {
        uint64_t bit = parity(columns[j] << 1 & row) ^ (sum >> j & 1);
        columns[j] = columns[j] << 1 | bit;
    }
}

static void put_columns(const workspace *w, const level *l)
{
    uint64_t columns[MOST_COLUMNS] = { 0 };
    const unsigned width = w->shape.width;

    for (uint64_t i = l->slots; i-- > 0;) {
        step_back(columns, w->rows[i], w->rows[w->apart + i], width);
        if (i % 8 == 0)
            for (unsigned j = 0; j < width; j++)
                w->part[l->slots_at + (j * l->slots + i) / 8] = (uint8_t)columns[j];
    }
}

/* ---- The last level ---------------------------------------------------- */

/* Whether the row was independent of those that are there; then it has found its slot. */
static bool insert(uint64_t *at, uint64_t row, uint64_t sum, size_t apart)
{
    while (*at) {
        row ^= at[0];
        sum ^= at[apart];
        if (row == 0)
            return false;
        at += __builtin_ctzll(row);
        row >>= __builtin_ctzll(row);
    }
    at[0] = row;
    at[apart] = sum;
    return true;
}

/* Whether all keys find a slot; twins, once found, are dropped for good. */
static bool try_seed(workspace *w, const level *l, size_t *n, unsigned seed)
{
    clear_rows(w, 0, l->slots);
    for (size_t i = 0; i < *n;) {
        uint64_t y = draw(hash_of(w->keys[i]), l->number + seed - 1);
        uint64_t *start = w->rows + start_of(l, y, w->shape.part_bits);
        if (insert(start, row_in(l, y), sum_of(w->keys[i], y, &w->shape), w->apart))
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

/* Room for the rows of any level. */
static size_t most_rows(const shape *s)
{
    return (size_t)(s->room > LAST_KEYS ? s->room : 2 * LAST_KEYS);
}

static size_t most_chunks(const shape *s)
{
    return (size_t)(s->room >> CHUNK_BITS) + 1;
}

static inline size_t scratch_for(const shape *s, size_t n)
{
    return n * sizeof(entry) + most_rows(s) * 2 * sizeof(uint64_t) +
           most_chunks(s) * (1 + CHUNK_CLASSES) * sizeof(uint32_t);
}

static tamis_status solve(const shape *s, void *part, entry *keys, size_t *n, void *room)
{
    workspace w = { .keys = keys, .spare = room, .part = part, .shape = *s };
    level l = first_level(s);
    size_t left = *n;

    /* A part of zeros says no to all; one that is solved, at the planned rate. */
    if (*n == 0)
        return TAMIS_OK;
    w.rows = (uint64_t *)(w.spare + *n);
    w.apart = most_rows(s);
    w.bins = (uint32_t *)(w.rows + 2 * most_rows(s));
    w.ends = w.bins + most_chunks(s);
    for (; !l.is_last; l = next_level(&l, s->width)) {
        sort_keys(&w, &l, left);
        left = eliminate(&w, &l);
        put_back(w.part + l.slots_at, w.rows, w.rows + w.apart, &l, s->width);
    }
    tamis_status status = solve_last(&w, &l, left);
    *n = w.kept;
    return w.has_conflict ? TAMIS_CONFLICT : status;
}

#endif
