/* ribbon_solve_template.h - TEMPLATE, compiled once for each CPU, for keys and for keys with
 * values: from hashes to a part. The includer defines RIBBON_VALUES if a key comes as a
 * tamis_entry, and not as its hash; and RIBBON_AVX2 for a CPU with it.
 *
 * A level is solved in three steps: keys are put in order (ribbon_order_template.h), eliminated
 * (ribbon_eliminate_template.h), and solved back.
 *
 * Back substitution. From the last slot to the first, the pivot of a slot tells its bits, since all
 * slots behind it are known. */
#ifndef TAMIS_FUSE_RIBBON_SOLVE_TEMPLATE_H
#define TAMIS_FUSE_RIBBON_SOLVE_TEMPLATE_H

#include "fuse/ribbon_eliminate_template.h"

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
        uint64_t columns[RIBBON_MOST_COLUMNS] = { 0 };
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
 * number is a multiple of RIBBON_SIDE_BY_SIDE, so that no two runs share a byte of thresholds. */
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
    return slots * sizeof(ribbon_pivot) + RIBBON_SIDE_BY_SIDE * sizeof(ribbon_segment) +
           round_up(slots / RIBBON_BUCKET * RIBBON_CLASSES * sizeof(uint32_t), 64);
}

static ribbon_bench ribbon_bench_of(const ribbon_sharing *s, unsigned worker)
{
    ribbon_bench b;

    b.pivots = (ribbon_pivot *)(s->benches + worker * ribbon_bench_size(s->bench_slots));
    b.segments = (ribbon_segment *)(b.pivots + s->bench_slots);
    b.ends = (uint32_t *)(b.segments + RIBBON_SIDE_BY_SIDE);
    return b;
}

static size_t ribbon_solve_segments(ribbon_solver *w, const ribbon_level *l, const ribbon_run *r)
{
    size_t left = r->from, froms[RIBBON_SIDE_BY_SIDE + 1] = { r->from };

    for (uint64_t i = r->first; i < r->end; i += RIBBON_SIDE_BY_SIDE) {
        const unsigned at_once =
            r->end - i < RIBBON_SIDE_BY_SIDE ? (unsigned)(r->end - i) : RIBBON_SIDE_BY_SIDE;
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
    const uint64_t groups = (segments + RIBBON_SIDE_BY_SIDE - 1) / RIBBON_SIDE_BY_SIDE;
    size_t most = ribbon_most_runs(workers), runs = groups < most ? (size_t)groups : most;
    size_t from = 0;

    for (size_t i = 0; i < runs; i++) {
        uint64_t first = groups * i / runs * RIBBON_SIDE_BY_SIDE;
        uint64_t end = groups * (i + 1) / runs * RIBBON_SIDE_BY_SIDE;
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
    uint64_t columns[RIBBON_MOST_COLUMNS] = { 0 };
    unsigned seed = 1;

    while (!ribbon_try_seed(w, l, &n, seed))
        if (++seed > UINT8_MAX)
            return TAMIS_FULL;
    for (uint64_t i = l->slots; i-- > 0;) {
        ribbon_step_back(columns, &w->bench.pivots[i], width);
        for (unsigned j = 0; j < width && i % 8 == 0; j++)
            w->part[l->slots_at + (j * l->slots + i) / 8] = (uint8_t)columns[j];
    }
    w->part[l->end - RIBBON_LAST_STATE] = (uint8_t)seed;
    w->distinct += n;
    return TAMIS_OK;
}

/* ---- Building ---------------------------------------------------------- */

/* Slots that are solved at a time, in any level. */
static uint64_t ribbon_most_slots(const ribbon_level *first)
{
    if (first->segment_bits)
        return (uint64_t)RIBBON_MOST_SEGMENT * (first->segment_bits == 1 ? 2 : RIBBON_SIDE_BY_SIDE);
    return first->is_last ? first->slots : RIBBON_MOST_LAST + first->slots;
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
