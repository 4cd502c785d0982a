/* line_hashes.c - sets of lines by their hashes.
 *
 * What does not fit in memory goes to a file, sorted, one run after the other: 24 bytes for each
 * element. Each time that one goes through them, the runs are merged. */
#include <stdlib.h>
#include <unistd.h>

#include "files/scratch.h"
#include "line_hashes.h"
#include "term/array.h"
#include "term/buffer.h"

/* Elements read from a run at a time, and at least kept in memory. */
enum { PIECE = 2048, LEAST = 4096, TICK_EVERY = 1 << 16 };

typedef struct run {
    uint64_t at, end; /* elements that were not read yet, in the file */
    size_t next, n;   /* of those that were */
    element pieces[PIECE];
} run;

struct elements {
    buffer here; /* elements in memory: all, or those of the run to come */
    size_t most; /* bytes of them */
    buffer runs; /* uint64_t: where each ends in the file */
    int file;    /* -1: all are in memory */
    uint64_t n;
    uint64_t next; /* how many were given since the first */
    run *all_runs; /* as many as ends */
    run **heap;    /* those that have more, the one with the least element first */
    size_t in_heap;
    element given; /* the last one */
    void (*tick)(void *ctx);
    void *ctx;
};

elements *elements_new(uint64_t memory, void (*tick)(void *ctx), void *ctx)
{
    elements *all = array_new(1, sizeof *all, "set");
    uint64_t most = memory / sizeof(element) * sizeof(element);

    if (most < LEAST * sizeof(element))
        most = LEAST * sizeof(element);
    all->most = most < SIZE_MAX ? (size_t)most : SIZE_MAX;
    all->file = -1;
    all->tick = tick;
    all->ctx = ctx;
    return all;
}

/* ---- Order ------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const element *x = a, *y = b;

    if (x->hash != y->hash)
        return (x->hash > y->hash) - (x->hash < y->hash);
    if (x->rest != y->rest)
        return (x->rest > y->rest) - (x->rest < y->rest);
    return (x->line > y->line) - (x->line < y->line);
}

static bool is_same(const element *x, const element *y)
{
    return x->hash == y->hash && x->rest == y->rest;
}

static bool is_in_order(const element *e, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (compare(e + i - 1, e + i) >= 0)
            return false;
    return true;
}

/* Sorts what is in memory, each once. */
static void sort_here(elements *all)
{
    element *e = (void *)all->here.bytes;
    size_t n = all->here.size / sizeof *e, kept = 0;

    if (!is_in_order(e, n))
        qsort(e, n, sizeof *e, compare);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !is_same(e + kept - 1, e + i))
            e[kept++] = e[i];
    all->here.size = kept * sizeof *e;
}

/* ---- Runs -------------------------------------------------------------- */

/* Where a run ends in the file, from 1 on. */
static uint64_t end_of_run(const elements *all, size_t i)
{
    return i ? ((const uint64_t *)(const void *)all->runs.bytes)[i - 1] : 0;
}

static size_t count_runs(const elements *all)
{
    return all->runs.size / sizeof(uint64_t);
}

static void write_run(elements *all)
{
    uint64_t start = end_of_run(all, count_runs(all));

    sort_here(all);
    if (all->file < 0)
        all->file = scratch_open();
    scratch_write(all->file, all->here.bytes, all->here.size, start * sizeof(element));
    start += all->here.size / sizeof(element);
    buffer_append(&all->runs, &start, sizeof start);
    all->here.size = 0;
    all->tick(all->ctx);
}

void elements_add(elements *all, const element *e)
{
    if (all->here.size >= all->most)
        write_run(all);
    buffer_append(&all->here, e, sizeof *e);
}

/* NULL: the run is at its end. */
static const element *run_peek(run *r, int file)
{
    if (r->next == r->n) {
        uint64_t left = r->end - r->at;

        r->n = left < PIECE ? (size_t)left : PIECE;
        r->next = 0;
        scratch_read(file, r->pieces, r->n * sizeof(element), r->at * sizeof(element));
        r->at += r->n;
    }
    return r->n ? r->pieces + r->next : NULL;
}

/* ---- Merging ----------------------------------------------------------- */

static bool is_before(const elements *all, size_t i, size_t j)
{
    return compare(run_peek(all->heap[i], all->file), run_peek(all->heap[j], all->file)) < 0;
}

static void sink(elements *all, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < all->in_heap; i = child) {
        if (child + 1 < all->in_heap && is_before(all, child + 1, child))
            child++;
        if (!is_before(all, child, i))
            return;
        run *moved = all->heap[i];
        all->heap[i] = all->heap[child];
        all->heap[child] = moved;
    }
}

static void drop_least(elements *all)
{
    all->heap[0]->next++;
    if (!run_peek(all->heap[0], all->file))
        all->heap[0] = all->heap[--all->in_heap];
    sink(all, 0);
}

void elements_sort(elements *all)
{
    if (all->file < 0) {
        sort_here(all);
        all->n = all->here.size / sizeof(element);
        return;
    }
    write_run(all);
    buffer_free(&all->here);
    all->all_runs = array_new(count_runs(all), sizeof *all->all_runs, "runs");
    all->heap = array_new(count_runs(all), sizeof *all->heap, "runs");
    elements_rewind(all);
    while (elements_next(all))
        if (++all->n % TICK_EVERY == 0)
            all->tick(all->ctx);
    elements_rewind(all);
}

/* ---- Going through ----------------------------------------------------- */

uint64_t elements_count(const elements *all)
{
    return all->n;
}

void elements_rewind(elements *all)
{
    all->next = 0;
    all->in_heap = all->heap ? count_runs(all) : 0;
    for (size_t i = all->in_heap; i-- > 0;) {
        all->heap[i] = &all->all_runs[i];
        all->heap[i]->at = end_of_run(all, i);
        all->heap[i]->end = end_of_run(all, i + 1);
        all->heap[i]->next = all->heap[i]->n = 0;
        sink(all, i);
    }
}

const element *elements_next(elements *all)
{
    if (!all->heap)
        return all->next < all->n ? (const element *)(void *)all->here.bytes + all->next++ : NULL;
    for (bool is_new = false; !is_new;) {
        if (all->in_heap == 0)
            return NULL;
        const element *least = run_peek(all->heap[0], all->file);
        is_new = all->next == 0 || !is_same(&all->given, least);
        all->given = *least;
        drop_least(all);
    }
    all->next++;
    return &all->given;
}

void elements_free(elements *all)
{
    if (all->file >= 0)
        close(all->file); /* all of it was read again, or nobody wants it */
    buffer_free(&all->here);
    buffer_free(&all->runs);
    free(all->all_runs);
    free(all->heap);
    free(all);
}
