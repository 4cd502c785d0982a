/* join_runs.c - rows that go out, put in order.
 *
 * All runs are in one file. Up to WAYS of them are merged by a heap of their next rows. If there
 * are more, each WAYS neighbours become one run of another file first: a run stays where it was
 * among the others, and so does the order of rows with the same place. */
#include "join_runs.h"
#include "term/progress.h"

enum { WAYS = 64 };

/* ---- Writing ----------------------------------------------------------- */

void runs_open(runs *r, size_t piece)
{
    *r = (runs){ .is_new = true };
    tape_open(&r->rows, piece);
}

void runs_begin(runs *r)
{
    r->is_new = true;
}

void runs_put(runs *r, uint64_t place, span text)
{
    uint64_t start = tape_bytes(&r->rows);

    if (r->is_new)
        buffer_append(&r->starts, &start, sizeof start);
    r->is_new = false;
    tape_append(&r->rows, &(record){ .place = place }, (span){ 0 }, text);
}

static uint64_t close_runs(runs *r)
{
    buffer_free(&r->starts);
    return tape_close(&r->rows);
}

/* ---- Reading ----------------------------------------------------------- */

typedef struct way {
    tape_reader reader;
    const record *row; /* the next one */
    size_t number;
} way;

static size_t count_runs(const runs *r)
{
    return r->starts.size / sizeof(uint64_t);
}

static way open_way(const runs *r, size_t first, size_t number)
{
    const uint64_t *starts = (const void *)r->starts.bytes;
    size_t i = first + number;
    way w = { .number = number };

    tape_read(&w.reader, &r->rows, r->rows.room);
    w.reader.at = starts[i];
    w.reader.end = i + 1 < count_runs(r) ? starts[i + 1] : r->rows.on_disk;
    return w;
}

/* ---- Merging ----------------------------------------------------------- */

typedef struct heap {
    size_t n;
    way *ways[WAYS];
} heap;

static bool is_before(const way *a, const way *b)
{
    return a->row->place != b->row->place ? a->row->place < b->row->place : a->number < b->number;
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

typedef void take_row(void *ctx, const record *row);

/* Runs first .. first + n - 1, n up to WAYS. */
static void merge_some(const runs *r, size_t first, size_t n, take_row *take, void *ctx)
{
    way ways[WAYS];
    heap h = { .n = n };

    for (size_t i = n; i-- > 0;) {
        ways[i] = open_way(r, first, i);
        ways[i].row = tape_next(&ways[i].reader);
        h.ways[i] = &ways[i];
    }
    for (size_t i = n / 2; i-- > 0;)
        sink(&h, i);
    while (h.n > 0) {
        way *w = h.ways[0];

        take(ctx, w->row);
        if (!(w->row = tape_next(&w->reader)))
            h.ways[0] = h.ways[--h.n];
        if (h.n > 0)
            sink(&h, 0);
    }
    for (size_t i = 0; i < n; i++)
        tape_read_end(&ways[i].reader);
}

static void put_again(void *ctx, const record *row)
{
    runs_put(ctx, row->place, record_text(row));
}

/* Returns how many bytes went to the disk before. */
static uint64_t merge_neighbours(runs *r)
{
    size_t piece = r->rows.room;
    uint64_t written;
    runs fewer;

    runs_open(&fewer, piece);
    for (size_t i = 0, n = count_runs(r); i < n; i += WAYS) {
        runs_begin(&fewer);
        merge_some(r, i, n - i < WAYS ? n - i : WAYS, put_again, &fewer);
        progress_show(i, n, "runs");
    }
    tape_spill(&fewer.rows, piece);
    written = close_runs(r);
    *r = fewer;
    return written;
}

uint64_t runs_merge(runs *r, take_row *take, void *ctx)
{
    uint64_t written = 0;

    tape_spill(&r->rows, r->rows.room);
    while (count_runs(r) > WAYS)
        written += merge_neighbours(r);
    merge_some(r, 0, count_runs(r), take, ctx);
    return written + close_runs(r);
}
