/* ribbon_order_template.h - TEMPLATE, compiled once for each CPU, for keys and for keys with
 * values: the first step of solving a level (ribbon_solve_template.h), which puts keys in order.
 *
 * A level is cut into segments, a segment into buckets of 128 slots. Of a bucket, keys are in three
 * classes, by where they start; these are the cuts of ribbon.h. Classes are tried from 0 to 2, and
 * the first that does not fit is bumped, with all those after it:
 *
 *   bucket     | 0 ... 15 | 16 ..... 43 | 44 ................ 127 |
 *   class           2           1                  0 */
#ifndef TAMIS_FUSE_RIBBON_ORDER_TEMPLATE_H
#define TAMIS_FUSE_RIBBON_ORDER_TEMPLATE_H

#include "fuse/ribbon.h"

/* A row that has found its slot, where its first one is, which is bit 0; and what its slots add up
 * to. Of a slot that is free, both are zero. */
typedef struct ribbon_pivot {
    uint64_t row, sum;
} ribbon_pivot;

/* Classes of a bucket; keys that are tried at once; slots that rows of a bucket reach, of which
 * they take at most one each; segments that are solved side by side. */
enum {
    RIBBON_CLASSES = 3,
    RIBBON_TRIED = 96,
    RIBBON_REACH = RIBBON_BUCKET + RIBBON_WINDOW - 1,
    RIBBON_SIDE_BY_SIDE = 4
};

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
    ribbon_moving collided[RIBBON_TRIED + 1];
    uint32_t index[RIBBON_TRIED + 1]; /* of their keys */
    ribbon_pivot *filled[RIBBON_REACH + 1];
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
    uint64_t start = scale64(y << f.skip, f.starts), in_bucket = start % RIBBON_BUCKET;

    return start / RIBBON_BUCKET * RIBBON_CLASSES + (in_bucket < RIBBON_CUT[RIBBON_BUMP_MANY]) +
           (in_bucket < RIBBON_CUT[RIBBON_BUMP_FEW]);
}

/* Keys of a segment by bucket and class; the order within a class does not matter. */
static void ribbon_sort_classes(const ribbon_solver *w, const ribbon_level *l,
                                const ribbon_entry *keys, size_t n, ribbon_entry *to,
                                uint32_t *ends)
{
    const size_t classes = (size_t)(l->segment / RIBBON_BUCKET) * RIBBON_CLASSES;
    const ribbon_finder f = ribbon_finder_of(w, l);

    memset(ends, 0, classes * sizeof *ends);
    for (size_t i = 0; i < n; i++)
        ends[ribbon_class_of(f, keys[i])]++;
    ribbon_add_up(ends, classes);
    for (size_t i = 0; i < n; i++)
        to[ends[ribbon_class_of(f, keys[i])]++] = keys[i];
}

#endif
