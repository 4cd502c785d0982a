/* line_hashes.c - sets of lines by their hashes.
 *
 * What does not fit in memory goes to a file, sorted, one run after the other. At the end the runs
 * are merged into a second file: 24 bytes for each element, twice while they are merged. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/scratch.h"
#include "line_hashes.h"
#include "term/buffer.h"
#include "term/message.h"

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
    size_t next;  /* to be given, of those in memory */
    run *reading; /* of the sorted file */
    void (*tick)(void *ctx);
    void *ctx;
};

elements *elements_new(uint64_t memory, void (*tick)(void *ctx), void *ctx)
{
    elements *all = calloc(1, sizeof *all);
    uint64_t most = memory / sizeof(element) * sizeof(element);

    if (!all)
        die(CODE_MEMORY, "out of memory for a set");
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

static uint64_t end_of_runs(const elements *all)
{
    const uint64_t *ends = (const void *)all->runs.bytes;
    size_t n = all->runs.size / sizeof *ends;

    return n ? ends[n - 1] : 0;
}

static void write_run(elements *all)
{
    uint64_t start = end_of_runs(all);

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

/* A heap of runs, the one with the least element first. */
typedef struct heap {
    run **runs;
    size_t n;
    int file;
} heap;

static bool is_before(const heap *h, size_t i, size_t j)
{
    return compare(run_peek(h->runs[i], h->file), run_peek(h->runs[j], h->file)) < 0;
}

static void sink(heap *h, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && is_before(h, child + 1, child))
            child++;
        if (!is_before(h, child, i))
            return;
        run *moved = h->runs[i];
        h->runs[i] = h->runs[child];
        h->runs[child] = moved;
    }
}

static heap open_runs(const elements *all)
{
    const uint64_t *ends = (const void *)all->runs.bytes;
    heap h = { .n = all->runs.size / sizeof *ends, .file = all->file };

    if (!(h.runs = calloc(h.n, sizeof *h.runs)))
        die(CODE_MEMORY, "out of memory for %zu runs; give more with --memory", h.n);
    for (size_t i = 0; i < h.n; i++) {
        if (!(h.runs[i] = calloc(1, sizeof **h.runs)))
            die(CODE_MEMORY, "out of memory for %zu runs; give more with --memory", h.n);
        h.runs[i]->at = i ? ends[i - 1] : 0;
        h.runs[i]->end = ends[i];
    }
    for (size_t i = h.n; i-- > 0;)
        sink(&h, i);
    return h;
}

static void drop_least(heap *h)
{
    h->runs[0]->next++;
    if (!run_peek(h->runs[0], h->file)) {
        free(h->runs[0]);
        h->runs[0] = h->runs[--h->n];
    }
    sink(h, 0);
}

typedef struct merged {
    int file;
    uint64_t n; /* written, without those here */
    element last;
    buffer out;
} merged;

static void flush_merged(merged *m)
{
    scratch_write(m->file, m->out.bytes, m->out.size, m->n * sizeof(element));
    m->n += m->out.size / sizeof(element);
    m->out.size = 0;
}

static void merge_runs(elements *all)
{
    heap h = open_runs(all);
    merged m = { .file = scratch_open() };

    for (uint64_t i = 0; h.n > 0; i++) {
        const element *least = run_peek(h.runs[0], h.file);

        if (i == 0 || !is_same(&m.last, least))
            buffer_append(&m.out, least, sizeof *least);
        m.last = *least;
        if (m.out.size == PIECE * sizeof(element))
            flush_merged(&m);
        if (i % TICK_EVERY == 0)
            all->tick(all->ctx);
        drop_least(&h);
    }
    flush_merged(&m);
    close(all->file); /* all of it was read again */
    all->file = m.file;
    all->n = m.n;
    free(h.runs);
    buffer_free(&m.out);
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
    merge_runs(all);
    if (!(all->reading = calloc(1, sizeof *all->reading)))
        die(CODE_MEMORY, "out of memory for a set");
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
    if (all->reading) {
        all->reading->at = all->reading->next = all->reading->n = 0;
        all->reading->end = all->n;
    }
}

const element *elements_next(elements *all)
{
    const element *e;

    if (!all->reading)
        return all->next < all->n ? (const element *)(void *)all->here.bytes + all->next++ : NULL;
    if ((e = run_peek(all->reading, all->file)))
        all->reading->next++;
    return e;
}

void elements_free(elements *all)
{
    if (all->file >= 0)
        close(all->file); /* all of it was read again, or nobody wants it */
    buffer_free(&all->here);
    buffer_free(&all->runs);
    free(all->reading);
    free(all);
}
