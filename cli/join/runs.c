/* runs.c - rows that go out, put in order.
 *
 * All runs are in one file. Up to WAYS of them are merged by a heap of their next rows. If there
 * are more, each WAYS neighbours become one run of another file first: a run stays where it was
 * among the others, and so does the order of rows with the same place. */
#include <string.h>
#include <unistd.h>

#include "../progress.h"
#include "../scratch.h"
#include "runs.h"

enum { WAYS = 64 };

typedef struct run_row {
    uint64_t place, size; /* of the text that follows */
} run_row;

/* ---- Writing ----------------------------------------------------------- */

void runs_open(runs *r, size_t piece)
{
    *r = (runs){ .fd = -1, .piece = piece, .is_new = true };
}

void runs_begin(runs *r)
{
    r->is_new = true;
}

static void flush(runs *r)
{
    if (r->fd < 0)
        r->fd = scratch_open();
    scratch_write(r->fd, r->pending.bytes, r->pending.size, r->end);
    r->end += r->pending.size;
    r->pending.size = 0;
}

void runs_put(runs *r, uint64_t place, span text)
{
    run_row row = { place, text.size };
    uint64_t start = r->end + r->pending.size;

    if (r->is_new)
        buffer_append(&r->starts, &start, sizeof start);
    r->is_new = false;
    buffer_append(&r->pending, &row, sizeof row);
    buffer_append(&r->pending, text.at, text.size);
    if (r->pending.size >= r->piece)
        flush(r);
}

static void close_runs(runs *r)
{
    if (r->fd >= 0)
        close(r->fd);
    buffer_free(&r->pending);
    buffer_free(&r->starts);
}

/* ---- Reading ----------------------------------------------------------- */

typedef struct way {
    uint64_t at, end; /* on disk */
    buffer window;
    size_t used; /* of the window, before the row at hand */
    run_row row;
    size_t number;
} way;

static size_t count_runs(const runs *r)
{
    return r->starts.size / sizeof(uint64_t);
}

static uint64_t start_of(const runs *r, size_t i)
{
    uint64_t start = r->end;

    if (i < count_runs(r))
        memcpy(&start, r->starts.bytes + i * sizeof start, sizeof start);
    return start;
}

/* Makes `size` bytes of the window unused; false at the end of the run. */
static bool refill(const runs *r, way *w, size_t size)
{
    size_t left = w->window.size - w->used;
    uint64_t more = w->end - w->at;

    if (left >= size)
        return true;
    if (left + more < size)
        return false;
    if (left > 0)
        memmove(w->window.bytes, w->window.bytes + w->used, left);
    w->window.size = left;
    w->used = 0;
    if (more > r->piece && more > size - left)
        more = r->piece > size - left ? r->piece : size - left;
    buffer_reserve(&w->window, (size_t)more);
    scratch_read(r->fd, w->window.bytes + left, (size_t)more, w->at);
    w->window.size += (size_t)more;
    w->at += more;
    return true;
}

static bool next_row(const runs *r, way *w)
{
    if (!refill(r, w, sizeof w->row))
        return false;
    memcpy(&w->row, w->window.bytes + w->used, sizeof w->row);
    w->used += sizeof w->row;
    return refill(r, w, (size_t)w->row.size);
}

static span row_text(const way *w)
{
    return (span){ w->window.bytes + w->used, (size_t)w->row.size };
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
        ways[i] =
            (way){ .at = start_of(r, first + i), .end = start_of(r, first + i + 1), .number = i };
        if (next_row(r, &ways[i]))
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

        take(ctx, w->row.place, row_text(w));
        w->used += (size_t)w->row.size;
        if (!next_row(r, w))
            h.ways[0] = h.ways[--h.n];
        if (h.n > 0)
            sink(&h, 0);
    }
    for (size_t i = 0; i < n; i++)
        buffer_free(&ways[i].window);
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
    if (fewer.pending.size > 0)
        flush(&fewer);
    written = fewer.end;
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

    if (r->pending.size > 0)
        flush(r);
    written = r->end;
    while (count_runs(r) > WAYS)
        written += merge_neighbours(r);
    merge_some(r, 0, count_runs(r), take_text, &t);
    close_runs(r);
    return written;
}
