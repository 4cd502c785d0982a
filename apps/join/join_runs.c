/* join_runs.c - rows that go out, put in order.
 *
 * All runs are in one file. Up to WAYS of them are merged by a heap of their next rows. If there
 * are more, each WAYS neighbours become one run of another file first: a run stays where it was
 * among the others, and so does the order of rows with the same place. */
#include <string.h>

#include "join_runs.h"
#include "term/progress.h"

enum { WAYS = 64 };

typedef struct run_row {
    uint64_t place, size; /* of the text that follows */
} run_row;

/* ---- Writing ----------------------------------------------------------- */

void runs_open(runs *r, size_t piece)
{
    *r = (runs){ .spool.fd = -1, .piece = piece, .is_new = true };
}

void runs_begin(runs *r)
{
    r->is_new = true;
}

void runs_put(runs *r, uint64_t place, span text)
{
    run_row row = { place, text.size };
    uint64_t start = r->spool.on_disk + r->spool.held.size;

    if (r->is_new)
        buffer_append(&r->starts, &start, sizeof start);
    r->is_new = false;
    buffer_append(&r->spool.held, &row, sizeof row);
    buffer_append(&r->spool.held, text.at, text.size);
    if (r->spool.held.size >= r->piece)
        spool_flush(&r->spool);
}

static void close_runs(runs *r)
{
    spool_close(&r->spool);
    buffer_free(&r->starts);
}

/* ---- Reading ----------------------------------------------------------- */

typedef struct way {
    spool_reader reader;
    run_row row; /* the next one */
    span text;
    size_t number;
} way;

static size_t count_runs(const runs *r)
{
    return r->starts.size / sizeof(uint64_t);
}

static uint64_t start_of(const runs *r, size_t i)
{
    uint64_t start = r->spool.on_disk;

    if (i < count_runs(r))
        memcpy(&start, r->starts.bytes + i * sizeof start, sizeof start);
    return start;
}

static bool next_row(way *w)
{
    const char *at = spool_peek(&w->reader, sizeof w->row);

    if (!at)
        return false;
    memcpy(&w->row, at, sizeof w->row);
    w->reader.used += sizeof w->row;
    w->text = (span){ spool_peek(&w->reader, (size_t)w->row.size), (size_t)w->row.size };
    w->reader.used += w->text.size;
    return true;
}

/* ---- Merging ----------------------------------------------------------- */

typedef struct heap {
    size_t n;
    way *ways[WAYS];
} heap;

static bool is_before(const way *a, const way *b)
{
    return a->row.place != b->row.place ? a->row.place < b->row.place : a->number < b->number;
}

static void sink(heap *h, size_t i)
{
    way *w = h->ways[i];

    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && is_before(h->ways[child + 1], h->ways[child]))
            child++;
        if (!is_before(h->ways[child], w))
            break;
        h->ways[i] = h->ways[child];
    }
    h->ways[i] = w;
}

static void fill_heap(heap *h, const runs *r, way *ways, size_t first, size_t n)
{
    h->n = 0;
    for (size_t i = 0; i < n; i++) {
        ways[i] = (way){ .reader = { .fd = r->spool.fd,
                                     .at = start_of(r, first + i),
                                     .end = start_of(r, first + i + 1),
                                     .piece = r->piece },
                         .number = i };
        if (next_row(&ways[i]))
            h->ways[h->n++] = &ways[i];
    }
    for (size_t i = h->n / 2; i-- > 0;)
        sink(h, i);
}

typedef void take_row(void *ctx, uint64_t place, span text);

/* Runs first .. first + n - 1, n up to WAYS. */
static void merge_some(const runs *r, size_t first, size_t n, take_row *take, void *ctx)
{
    way ways[WAYS];
    heap h;

    fill_heap(&h, r, ways, first, n);
    while (h.n > 0) {
        way *w = h.ways[0];

        take(ctx, w->row.place, w->text);
        if (!next_row(w))
            h.ways[0] = h.ways[--h.n];
        if (h.n > 0)
            sink(&h, 0);
    }
    for (size_t i = 0; i < n; i++)
        buffer_free(&ways[i].reader.window);
}

static void put_again(void *ctx, uint64_t place, span text)
{
    runs_put(ctx, place, text);
}

/* Returns how many bytes went to the disk for it. */
static uint64_t merge_neighbours(runs *r)
{
    runs fewer;
    uint64_t written;

    runs_open(&fewer, r->piece);
    for (size_t i = 0, n = count_runs(r); i < n; i += WAYS) {
        runs_begin(&fewer);
        merge_some(r, i, n - i < WAYS ? n - i : WAYS, put_again, &fewer);
        progress_show(i, n, "runs");
    }
    spool_flush(&fewer.spool);
    written = fewer.spool.on_disk;
    close_runs(r);
    *r = fewer;
    return written;
}

typedef struct taker {
    void (*take)(void *ctx, span text);
    void *ctx;
} taker;

static void take_text(void *ctx, uint64_t place, span text)
{
    const taker *t = ctx;

    (void)place;
    t->take(t->ctx, text);
}

uint64_t runs_merge(runs *r, void (*take)(void *ctx, span text), void *ctx)
{
    taker t = { take, ctx };
    uint64_t written;

    spool_flush(&r->spool);
    written = r->spool.on_disk;
    while (count_runs(r) > WAYS)
        written += merge_neighbours(r);
    merge_some(r, 0, count_runs(r), take_text, &t);
    close_runs(r);
    return written;
}
