/* ribbon.c - ribbon filter with bumping: within half a percent of the least space there can be.
 *
 * Every key asks for one linear equation over bits: of the 64 slots from its start on, those that
 * its row picks shall add up (exclusive or) to its fingerprint of plan.width bits. A solved system
 * answers yes for its keys, and for strangers at a rate of 2^-width.
 *
 * Solving is cheap because each equation touches a narrow band. Rows are taken in the order of
 * their buckets; a row that finds the slot of its first one taken is added to the row that is
 * there, which clears that one, and goes on to its next one, until it finds a slot that is free.
 * There are more keys than slots, so that hardly a slot stays free. A key that finds none is bumped
 * to a smaller filter of the same form, together with all keys of its bucket that start below one
 * of three cuts: two bits in a bucket tell which keys live on the next level. The last level is
 * small, has a little more slots than keys, and tries seeds until its system has a solution.
 *
 *   slots   . . . . . . . . . . . . .        bucket of 128: starts below the cut are bumped
 *   key a     1 0 1 1 0 1
 *   key b         1 1 0 0 1 1                rows of 64, the first one at the start
 *   key c         1 0 1 1 0 1
 *
 * Which slots become the first ones of rows follows from the set of equations alone, and slots that
 * stay free are zero: the bytes depend on the set of keys, not on the order of elimination.
 *
 * Payload: parts (base/parts.h), each a chain of levels (fuse/ribbon.h). Slots lie in groups of 64:
 * one word for each bit of the fingerprint, so that a lookup reads plan.width pairs of neighbouring
 * words. Zeros are the empty filter.
 *
 * Dillinger, Walzer: Ribbon Filter: Practically Smaller Than Bloom and Xor, 2021.
 * Dillinger, Huebschle-Schneider, Sanders, Walzer: Fast Succinct Retrieval and Approximate
 * Membership Using Ribbon, 2022. */
#include "fuse/ribbon.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"

/* ---- Sizing ------------------------------------------------------------ */

enum { MOST_SLOTS = 1 << 30 };

static level last_level(const tamis_plan *p)
{
    level l = first_level(p);

    while (!l.is_last)
        l = next_level(&l, p->width);
    return l;
}

static uint64_t part_bytes(const tamis_plan *p)
{
    return round_up(last_level(p).end, 64);
}

static uint64_t bytes(const tamis_plan *p)
{
    uint64_t size;
    bool ok = p->slots <= MOST_SLOTS && p->width >= 1 && p->width <= MOST_WIDTH;

    if (!ok || p->hashes != last_level(p).number + 1)
        return 0;
    return mul_overflows(part_bytes(p), UINT64_C(1) << part_bits(p->capacity), &size) ? 0 : size;
}

static void set_room(tamis_plan *p, uint64_t keys)
{
    p->slots = keys;
    p->hashes = last_level(p).number + 1;
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    p->width = 1;
    while (ldexp(1, -(int)p->width) > spec->fpr)
        p->width++;
    if (p->width > MOST_WIDTH)
        return TAMIS_RANGE;
    set_room(p, part_room(spec->keys));
    return TAMIS_OK;
}

/* A part without keys has no false positives. */
static double rate(const tamis_plan *p, double n)
{
    double parts = ldexp(1, (int)part_bits(p->capacity));
    double empty = parts > 1 ? exp(n * log1p(-1 / parts)) : n == 0;

    return ldexp(1 - empty, -(int)p->width);
}

/* ---- Lookup ------------------------------------------------------------ */

/* The slots from `start` on in one column, of which neighbours are `stride` words apart. */
static inline uint64_t window(const uint8_t *column, uint64_t start, uint64_t stride)
{
    const uint8_t *word = column + start / 64 * stride * 8;
    unsigned by = start % 64;

    return by ? le64(word) >> by | le64(word + stride * 8) << (64 - by) : le64(word);
}

static inline bool holds(const uint8_t *slots, const equation *e, unsigned width)
{
    for (unsigned j = 0; j < width; j++)
        if (parity(window(slots + 8 * j, e->start, width) & e->row) != (e->fingerprint >> j & 1))
            return false;
    return true;
}

#include "fuse/ribbon_many.h"

/* ---- Order of keys ----------------------------------------------------- */

/* The keys of a bucket in the three classes that its cuts make, those that start last first. */
enum { CLASSES = 3 };

/* Slots whose keys are put in order in the cache: sixty-four buckets. */
enum { CHUNK_BITS = 13, CHUNK_CLASSES = (1 << CHUNK_BITS) / BUCKET * CLASSES };

typedef struct {
    uint64_t *keys, *spare; /* two arrays for all keys: from one to the other and back */
    uint32_t *bins;         /* ends of chunks */
    uint32_t *ends;         /* of classes, three for each bucket */
    uint64_t *rows;         /* by the slot of their first one, which is bit 0; 0: none */
    uint32_t *sums;         /* what the slots of a row add up to */
    uint8_t *part;
    size_t kept;
    unsigned part_bits, width, running;
} workspace;

static inline uint64_t start_in(const workspace *w, const level *l, uint64_t key)
{
    return start_of(l, draw(key, l->number), w->part_bits);
}

static inline size_t class_of(uint64_t start)
{
    uint64_t in_bucket = start % BUCKET;

    return start / BUCKET * CLASSES + (in_bucket < CUT[BUMP_MANY]) + (in_bucket < CUT[BUMP_FEW]);
}

static void swap_keys(workspace *w)
{
    uint64_t *keys = w->keys;

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
    uint64_t slot, row;
    uint32_t sum;
} walker;

/* Each step of a walker waits for the one before it. In a large level, four ranges of buckets take
 * turns; so that they do not meet, the last bucket of each but the last is left to what comes over
 * from the one before it, and bumps all its keys. Rows of a bucket take at most one slot each of
 * those that they reach. */
enum { STREAMS = 4, REACH = BUCKET + WINDOW - 1 };

typedef struct {
    uint64_t bucket, end;
    size_t class_at, at, class_end;
    uint64_t *bumped;
    size_t n_bumped, n_taken;
    unsigned class_number, threshold;
    bool is_final;
    uint32_t taken[REACH];
} stream;

static bool is_among(const uint64_t *keys, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        if (keys[i] == key)
            return true;
    return false;
}

static void clear_rows(workspace *w, uint64_t from, uint64_t n)
{
    memset(w->rows + from, 0, n * sizeof *w->rows);
    memset(w->sums + from, 0, n * sizeof *w->sums);
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
    if (is_among(w->keys + s->class_at, s->at - 1 - s->class_at, w->keys[s->at - 1]))
        return;
    for (; s->n_taken > 0; s->n_taken--) {
        w->rows[s->taken[s->n_taken - 1]] = 0;
        w->sums[s->taken[s->n_taken - 1]] = 0;
    }
    s->threshold = s->class_number;
    bump_from(w, s, s->class_at);
}

/* Behind the last slot lies a row that a walker adds to itself for ever, without moving. */
static const walker IDLE = { 0, 1, 0 };

static inline walker next_walker(workspace *w, const level *l, stream *s)
{
    walker x = IDLE;

    if (__builtin_expect(s->at == s->class_end, 0) && !next_class(w, l, s)) {
        w->running--;
        x.slot = l->slots;
        return x;
    }
    uint64_t y = draw(w->keys[s->at++], l->number);
    x.slot = start_of(l, y, w->part_bits);
    x.row = row_of(y);
    x.sum = fingerprint_of(y, w->width);
    return x;
}

/* The row that is there takes away the first one; the walker goes on to the next. A slot without
 * one is where it stays. */
static inline walker step(workspace *w, const level *l, stream *s, walker x)
{
    uint64_t there = w->rows[x.slot];

    if (there == 0) {
        w->rows[x.slot] = x.row;
        w->sums[x.slot] = x.sum;
        s->taken[s->n_taken++] = (uint32_t)x.slot;
        return next_walker(w, l, s);
    }
    x.row ^= there;
    x.sum ^= w->sums[x.slot];
    if (__builtin_expect(x.row == 0, 0)) {
        reject(w, s);
        return next_walker(w, l, s);
    }
    int zeros = __builtin_ctzll(x.row);
    x.row >>= zeros;
    x.slot += (uint64_t)zeros;
    return x;
}

static void walk_one(workspace *w, const level *l, stream *s)
{
    w->running = 1;
    for (walker a = next_walker(w, l, s); w->running;)
        a = step(w, l, s, a);
}

static void walk_four(workspace *w, const level *l, stream *s)
{
    w->running = STREAMS;
    walker a = next_walker(w, l, &s[0]), b = next_walker(w, l, &s[1]);
    walker c = next_walker(w, l, &s[2]), d = next_walker(w, l, &s[3]);
    while (w->running) {
        a = step(w, l, &s[0], a);
        b = step(w, l, &s[1], b);
        c = step(w, l, &s[2], c);
        d = step(w, l, &s[3], d);
    }
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

    w->rows[l->slots] = 2;
    w->sums[l->slots] = 0;
    for (unsigned i = 0; i < n; i++)
        open_stream(w, &streams[i], l->slots / BUCKET * i / n, l->slots / BUCKET * (i + 1) / n,
                    i + 1 == n);
    (n == 1 ? walk_one : walk_four)(w, l, streams);
    swap_keys(w);
    for (unsigned i = 0; i < n; i++) {
        memmove(w->keys + left, streams[i].bumped, streams[i].n_bumped * sizeof *w->keys);
        left += streams[i].n_bumped;
    }
    return left;
}

/* ---- Back substitution ------------------------------------------------- */

/* From the last slot to the first; column j of the 64 slots from here on is in columns[j]. */
static void step_back(uint64_t *columns, uint64_t row, uint32_t sum, unsigned width)
{
    for (unsigned j = 0; j < width; j++) {
        uint64_t bit = parity(columns[j] << 1 & row) ^ (sum >> j & 1);
        columns[j] = columns[j] << 1 | bit;
    }
}

static void put_groups(const workspace *w, const level *l)
{
    uint8_t *slots = w->part + l->slots_at;
    uint64_t columns[MOST_WIDTH] = { 0 };

    for (uint64_t i = l->slots; i-- > 0;) {
        step_back(columns, w->rows[i], w->sums[i], w->width);
        if (i % 64 == 0)
            for (unsigned j = 0; j < w->width; j++)
                put_le64(slots + (i / 64 * w->width + j) * 8, columns[j]);
    }
}

static void put_columns(const workspace *w, const level *l)
{
    uint64_t columns[MOST_WIDTH] = { 0 };

    for (uint64_t i = l->slots; i-- > 0;) {
        step_back(columns, w->rows[i], w->sums[i], w->width);
        if (i % 8 == 0)
            for (unsigned j = 0; j < w->width; j++)
                w->part[l->slots_at + (j * l->slots + i) / 8] = (uint8_t)columns[j];
    }
}

/* ---- The last level ---------------------------------------------------- */

/* Whether the row was independent of those that are there; then it has found its slot. */
static bool insert(workspace *w, const equation *e)
{
    uint64_t slot = e->start, row = e->row;
    uint32_t sum = e->fingerprint;

    for (; row && w->rows[slot]; slot += (uint64_t)__builtin_ctzll(row), row >>= __builtin_ctzll(row)) {
        row ^= w->rows[slot];
        sum ^= w->sums[slot];
        if (row == 0)
            return false;
    }
    w->rows[slot] = row;
    w->sums[slot] = sum;
    return true;
}

/* Whether all keys find a slot; twins, once found, are dropped for good. */
static bool try_seed(workspace *w, const level *l, size_t *n, unsigned seed)
{
    clear_rows(w, 0, l->slots);
    for (size_t i = 0; i < *n;) {
        uint64_t y = draw(w->keys[i], l->number + seed - 1);
        equation e = equation_of(l, y, w->part_bits, w->width);
        if (insert(w, &e))
            i++;
        else if (is_among(w->keys, i, w->keys[i]))
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

/* Room for the rows of any level and one more. */
static size_t most_rows(const tamis_plan *p)
{
    return (size_t)(p->slots > LAST_KEYS ? p->slots : 2 * LAST_KEYS) + 1;
}

static size_t most_chunks(const tamis_plan *p)
{
    return (size_t)(p->slots >> CHUNK_BITS) + 1;
}

static size_t scratch(const tamis_plan *p, size_t n)
{
    return (n + most_rows(p)) * sizeof(uint64_t) +
           (most_rows(p) + most_chunks(p) * (1 + CHUNK_CLASSES)) * sizeof(uint32_t);
}

static tamis_status solve(const tamis_plan *p, void *part, uint64_t *hashes, size_t *n, void *room)
{
    workspace w = { .keys = hashes, .spare = room, .part = part, .width = p->width };
    level l = first_level(p);
    size_t left = *n;

    /* A part of zeros says no to all; one that is solved, at the planned rate. */
    if (*n == 0)
        return TAMIS_OK;
    w.part_bits = part_bits(p->capacity);
    w.rows = w.spare + *n;
    w.sums = (uint32_t *)(w.rows + most_rows(p));
    w.bins = w.sums + most_rows(p);
    w.ends = w.bins + most_chunks(p);
    for (; !l.is_last; l = next_level(&l, p->width)) {
        sort_keys(&w, &l, left);
        left = eliminate(&w, &l);
        put_groups(&w, &l);
    }
    tamis_status status = solve_last(&w, &l, left);
    *n = w.kept;
    return status;
}

static void enlarge(tamis_plan *p)
{
    set_room(p, p->slots + p->slots / 16 + 8);
    p->bytes = bytes(p);
}

static const tamis_solver SOLVER = { scratch, solve, enlarge };

/* ---- The whole filter -------------------------------------------------- */

static const char *verify(const tamis *f)
{
    unsigned bits = part_bits(f->plan.capacity);
    uint64_t size = f->plan.bytes >> bits, used = last_level(&f->plan).end - LAST_STATE + 1;

    for (uint64_t i = 0; i < UINT64_C(1) << bits; i++) {
        const uint8_t *part = (const uint8_t *)f->payload + i * size;
        for (uint64_t j = used; j < size; j++)
            if (part[j])
                return "bytes after the last level are set";
    }
    return NULL;
}

static const tamis_batch *batch(unsigned cpu)
{
    static const tamis_batch PORTABLE = { has, has_many, NULL };

#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        return &tamis__ribbon_avx2;
#endif
    (void)cpu;
    return &PORTABLE;
}

const tamis_ops tamis__ribbon = {
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .verify = verify,
    .solver = &SOLVER,
    .batch = batch,
};
