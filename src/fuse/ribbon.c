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
static uint64_t window(const uint8_t *column, uint64_t start, uint64_t stride)
{
    const uint8_t *word = column + start / 64 * stride * 8;
    unsigned by = start % 64;

    return by ? le64(word) >> by | le64(word + stride * 8) << (64 - by) : le64(word);
}

static bool holds(const uint8_t *slots, const equation *e, unsigned width)
{
    for (unsigned j = 0; j < width; j++)
        if (parity(window(slots + 8 * j, e->start, width) & e->row) != (e->fingerprint >> j & 1))
            return false;
    return true;
}

/* Columns of the last level have any number of bytes, one after the other. */
static uint64_t last_window(const uint8_t *column, uint64_t start)
{
    const uint8_t *word = column + start / 8;
    unsigned by = start % 8;

    return by ? le64(word) >> by | (uint64_t)word[8] << (64 - by) : le64(word);
}

static bool last_holds(const uint8_t *part, const level *l, uint64_t h, const tamis_plan *p)
{
    unsigned seed = part[l->end - LAST_STATE];

    if (seed == 0)
        return false;
    equation e = equation_of(l, draw(h, l->number + seed - 1), part_bits(p->capacity), p->width);
    for (unsigned j = 0; j < p->width; j++) {
        const uint8_t *column = part + l->slots_at + j * l->slots / 8;
        if (parity(last_window(column, e.start) & e.row) != (e.fingerprint >> j & 1))
            return false;
    }
    return true;
}

static bool part_has(const uint8_t *part, uint64_t h, const tamis_plan *p)
{
    level l = first_level(p);

    for (; !l.is_last; l = next_level(&l, p->width)) {
        equation e = equation_of(&l, draw(h, l.number), part_bits(p->capacity), p->width);
        if (!is_bumped(part + l.at, e.start))
            return holds(part + l.slots_at, &e, p->width);
    }
    return last_holds(part, &l, h, p);
}

static bool has(const tamis *f, uint64_t key)
{
    uint64_t h = place(key, f->salt);
    unsigned bits = part_bits(f->plan.capacity);
    const uint8_t *parts = f->payload;

    return part_has(parts + part_of(h, bits) * (f->plan.bytes >> bits), h, &f->plan);
}

/* ---- Order of keys ----------------------------------------------------- */

/* The keys of a bucket in the three classes that its cuts make, those that are never bumped alone
 * first. */
enum { CLASSES = 3 };

typedef struct {
    uint64_t *sorted; /* keys by bucket and class */
    uint32_t *ends;   /* of classes in `sorted` */
    uint64_t *rows;   /* by the slot of their first one, which is bit 0; 0: none */
    uint32_t *sums;   /* what the slots of a row add up to */
    uint64_t *bumped;
    size_t n_bumped, kept;
    unsigned part_bits, width;
} workspace;

static size_t class_of(uint64_t start)
{
    uint64_t in_bucket = start % BUCKET;

    return start / BUCKET * CLASSES + (in_bucket < CUT[BUMP_MANY]) + (in_bucket < CUT[BUMP_FEW]);
}

static void sort_keys(workspace *w, const level *l, const uint64_t *keys, size_t n)
{
    size_t classes = l->slots / BUCKET * CLASSES;

    memset(w->ends, 0, (classes + 1) * sizeof *w->ends);
    for (size_t i = 0; i < n; i++)
        w->ends[class_of(start_of(l, draw(keys[i], l->number), w->part_bits)) + 1]++;
    for (size_t i = 1; i <= classes; i++)
        w->ends[i] += w->ends[i - 1];
    for (size_t i = 0; i < n; i++)
        w->sorted[w->ends[class_of(start_of(l, draw(keys[i], l->number), w->part_bits))]++] =
            keys[i];
}

/* ---- Elimination ------------------------------------------------------- */

/* Whether the row was independent of those that are there; then it has found its slot. */
static bool insert(workspace *w, equation e, uint64_t *slot)
{
    for (uint64_t i = e.start;;) {
        if (w->rows[i] == 0) {
            w->rows[i] = e.row;
            w->sums[i] = e.fingerprint;
            *slot = i;
            return true;
        }
        e.row ^= w->rows[i];
        e.fingerprint ^= w->sums[i];
        if (e.row == 0)
            return false;
        int zeros = __builtin_ctzll(e.row);
        e.row >>= zeros;
        i += (uint64_t)zeros;
    }
}

static bool is_among(const uint64_t *keys, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        if (keys[i] == key)
            return true;
    return false;
}

/* Rows of one bucket: at most one for each slot that they reach. */
enum { REACH = BUCKET + WINDOW - 1 };

/* All keys of one class, or none of them. */
static bool insert_class(workspace *w, const level *l, size_t from, size_t to)
{
    uint64_t taken[REACH];
    size_t n = 0;

    for (size_t i = from; i < to; i++) {
        uint64_t key = w->sorted[i];
        equation e = equation_of(l, draw(key, l->number), w->part_bits, w->width);
        if (insert(w, e, &taken[n])) {
            n++;
            continue;
        }
        if (is_among(w->sorted + from, i - from, key))
            continue;
        while (n > 0)
            w->rows[taken[--n]] = 0;
        return false;
    }
    w->kept += n;
    return true;
}

static void put_threshold(uint8_t *thresholds, uint64_t bucket, unsigned threshold)
{
    thresholds[bucket / 4] |= (uint8_t)(threshold << bucket % 4 * 2);
}

/* From the first class that does not fit on, all are bumped. */
static unsigned insert_bucket(workspace *w, const level *l, uint64_t bucket)
{
    const uint32_t *ends = w->ends + bucket * CLASSES;
    size_t at = bucket ? ends[-1] : 0;

    for (unsigned i = 0; i < CLASSES; at = ends[i++]) {
        if (insert_class(w, l, at, ends[i]))
            continue;
        size_t n = ends[CLASSES - 1] - at;
        memcpy(w->bumped + w->n_bumped, w->sorted + at, n * sizeof *w->sorted);
        w->n_bumped += n;
        return i;
    }
    return BUMP_NONE;
}

/* ---- Back substitution ------------------------------------------------- */

/* From the last slot to the first; column j of the 64 slots from here on is in columns[j]. */
static void step_back(uint64_t *columns, uint64_t row, uint32_t sum, unsigned width)
{
    for (unsigned j = 0; j < width; j++) {
        uint64_t bit = row ? parity(columns[j] << 1 & row) ^ (sum >> j & 1) : 0;
        columns[j] = columns[j] << 1 | bit;
    }
}

static void put_groups(const workspace *w, const level *l, uint8_t *slots)
{
    uint64_t columns[MOST_WIDTH] = { 0 };

    for (uint64_t i = l->slots; i-- > 0;) {
        step_back(columns, w->rows[i], w->sums[i], w->width);
        if (i % 64 == 0)
            for (unsigned j = 0; j < w->width; j++)
                put_le64(slots + (i / 64 * w->width + j) * 8, columns[j]);
    }
}

/* ---- Levels ------------------------------------------------------------ */

static void clear_rows(workspace *w, const level *l)
{
    memset(w->rows, 0, (l->slots + WINDOW) * sizeof *w->rows);
    memset(w->sums, 0, (l->slots + WINDOW) * sizeof *w->sums);
}

/* Leaves the keys that are bumped in `keys` and returns their number. */
static size_t solve_level(workspace *w, const level *l, uint8_t *part, uint64_t *keys, size_t n)
{
    sort_keys(w, l, keys, n);
    clear_rows(w, l);
    w->bumped = keys;
    w->n_bumped = 0;
    for (uint64_t b = 0; b < l->slots / BUCKET; b++)
        put_threshold(part + l->at, b, insert_bucket(w, l, b));
    put_groups(w, l, part + l->slots_at);
    return w->n_bumped;
}

static void put_columns(const workspace *w, const level *l, uint8_t *part)
{
    uint64_t columns[MOST_WIDTH] = { 0 };

    for (uint64_t i = l->slots; i-- > 0;) {
        step_back(columns, w->rows[i], w->sums[i], w->width);
        if (i % 8 == 0)
            for (unsigned j = 0; j < w->width; j++)
                part[l->slots_at + (j * l->slots + i) / 8] = (uint8_t)columns[j];
    }
}

/* Whether all keys find a slot; twins, once found, are dropped for good. */
static bool try_seed(workspace *w, const level *l, uint64_t *keys, size_t *n, unsigned seed)
{
    clear_rows(w, l);
    for (size_t i = 0; i < *n;) {
        uint64_t slot, y = draw(keys[i], l->number + seed - 1);
        if (insert(w, equation_of(l, y, w->part_bits, w->width), &slot))
            i++;
        else if (is_among(keys, i, keys[i]))
            keys[i] = keys[--*n];
        else
            return false;
    }
    return true;
}

static tamis_status solve_last(workspace *w, const level *l, uint8_t *part, uint64_t *keys,
                               size_t n)
{
    for (unsigned seed = 1; seed <= UINT8_MAX; seed++)
        if (try_seed(w, l, keys, &n, seed)) {
            put_columns(w, l, part);
            part[l->end - LAST_STATE] = (uint8_t)seed;
            w->kept += n;
            return TAMIS_OK;
        }
    return TAMIS_FULL;
}

/* ---- Building ---------------------------------------------------------- */

static uint64_t rows_of(const tamis_plan *p)
{
    level l = first_level(p);

    return (l.slots > LAST_KEYS * 2 ? l.slots : LAST_KEYS * 2) + WINDOW;
}

static uint64_t classes_of(const tamis_plan *p)
{
    return p->slots / BUCKET * CLASSES + 2;
}

static size_t scratch(const tamis_plan *p, size_t n)
{
    return n * sizeof(uint64_t) + (size_t)rows_of(p) * (sizeof(uint64_t) + sizeof(uint32_t)) +
           (size_t)classes_of(p) * sizeof(uint32_t);
}

static tamis_status solve(const tamis_plan *p, void *part, uint64_t *hashes, size_t *n, void *room)
{
    workspace w = { .part_bits = part_bits(p->capacity), .width = p->width };
    level l = first_level(p);
    size_t left = *n;

    /* A part of zeros says no to all; one that is solved, at the planned rate. */
    if (*n == 0)
        return TAMIS_OK;
    w.sorted = room;
    w.rows = w.sorted + *n;
    w.sums = (uint32_t *)(w.rows + rows_of(p));
    w.ends = w.sums + rows_of(p);
    for (; !l.is_last; l = next_level(&l, p->width))
        left = solve_level(&w, &l, part, hashes, left);
    tamis_status status = solve_last(&w, &l, part, hashes, left);
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

static void touch(const tamis *f, uint64_t key)
{
    uint64_t h = place(key, f->salt);
    unsigned bits = part_bits(f->plan.capacity);
    level l = first_level(&f->plan);
    const uint8_t *part = (const uint8_t *)f->payload + part_of(h, bits) * (f->plan.bytes >> bits);
    const uint8_t *group = part + l.slots_at + start_of(&l, h, bits) / 64 * 8 * f->plan.width;

    if (l.is_last)
        return;
    for (unsigned i = 0; i < 16 * f->plan.width; i += 64)
        __builtin_prefetch(group + i, 0, 3);
}

const tamis_ops tamis__ribbon = {
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .verify = verify,
    .solver = &SOLVER,
    .touch = touch,
};
