/* pairs.c - all pairs of rows of bits.
 *
 * Rows go through in tiles that stay in a core's own cache, each row of one tile against all rows
 * of another. Rows are in order of their ones: if the smallest of a tile is too large for the
 * largest of the other, none of the pairs can reach the value wanted, and so for all later tiles.
 * That drops no pair that would be found: the bound is of the estimate itself.
 *
 * Each thread keeps its own best pairs. Pairs are told apart by value and then by document, so that
 * the outcome does not depend on which thread met which. */
#include "pairs.h"

#include <stdlib.h>
#include <string.h>

#include "files/thread_pool.h"
#include "term/message.h"
#include "term/progress.h"

/* Of a tile; two of them are in use. */
enum { TILE_BYTES = 1 << 17, TILE_ROWS_MAX = 256 };

typedef struct search {
    const bit_rows *rows;
    const pairs_wish *wish;
    overlap_kernel *overlap;
    size_t tile; /* rows */
    size_t next; /* tile to be taken */
    uint64_t done, total;
    pthread_t caller; /* who shows the progress */
    pthread_mutex_t lock;
    pairs_found found; /* guarded by the lock */
    size_t room;
} search;

/* ---- Best pairs -------------------------------------------------------- */

/* A heap of at most `most` pairs, with the worst in front; or a list without a limit. */
typedef struct best {
    pair *all;
    size_t n, room;
    uint64_t most; /* 0: no limit */
    double least;  /* value that a pair must have to be taken */
} best;

/* Whether x comes after y. */
static bool is_worse(const pair *x, const pair *y)
{
    if (x->value != y->value)
        return x->value < y->value;
    return x->a != y->a ? x->a > y->a : x->b > y->b;
}

static void sift_down(best *b, pair p)
{
    size_t i = 0;

    for (size_t child; (child = 2 * i + 1) < b->n; i = child) {
        if (child + 1 < b->n && is_worse(&b->all[child + 1], &b->all[child]))
            child++;
        if (!is_worse(&b->all[child], &p))
            break;
        b->all[i] = b->all[child];
    }
    b->all[i] = p;
}

static void sift_up(best *b, size_t i)
{
    pair p = b->all[i];

    for (; i > 0 && is_worse(&p, &b->all[(i - 1) / 2]); i = (i - 1) / 2)
        b->all[i] = b->all[(i - 1) / 2];
    b->all[i] = p;
}

static pair *grown(pair *all, size_t *room)
{
    *room = *room ? 2 * *room : 64;
    all = reallocarray(all, *room, sizeof *all);
    if (!all)
        die(CODE_MEMORY, "out of memory for pairs; give a higher --above, or --top");
    return all;
}

static void refuse_more(size_t n)
{
    if (n > PAIRS_MAX)
        die(CODE_LIMIT, "similar: more than %" PRIu64 " pairs; give a higher --above, or --top",
            PAIRS_MAX);
}

static void best_take(best *b, pair p)
{
    if (b->most > 0 && b->n == b->most) {
        if (is_worse(&b->all[0], &p))
            sift_down(b, p);
        b->least = b->all[0].value;
        return;
    }
    refuse_more(b->n + 1);
    if (b->n == b->room)
        b->all = grown(b->all, &b->room);
    b->all[b->n++] = p;
    if (b->most > 0)
        sift_up(b, b->n - 1);
}

/* Moves all of them to what was found. */
static void hand_over(search *s, best *b)
{
    pthread_mutex_lock(&s->lock);
    refuse_more(s->found.n + b->n);
    while (s->found.n + b->n > s->room)
        s->found.all = grown(s->found.all, &s->room);
    if (b->n > 0)
        memcpy(s->found.all + s->found.n, b->all, b->n * sizeof *b->all);
    s->found.n += b->n;
    pthread_mutex_unlock(&s->lock);
    b->n = 0;
}

/* ---- Tiles ------------------------------------------------------------- */

static void take_pair(const search *s, best *b, size_t i, size_t j, uint32_t both)
{
    const bit_rows *r = s->rows;
    similar_sizes sizes = similar_sizes_of(&r->occupancy, r->ones[i], r->ones[j], both);
    double value = similar_value(s->wish->by, &sizes);

    if (value >= b->least)
        best_take(b, (pair){ value, r->ids[i], r->ids[j], r->ones[i], r->ones[j], both });
}

/* Both directions where they differ, else the first document first. */
static void take_both(const search *s, best *b, size_t i, size_t j, uint32_t both)
{
    bool is_swapped = s->rows->ids[j] < s->rows->ids[i];

    if (s->wish->each || pairs_are_ordered(s->wish->by) || !is_swapped)
        take_pair(s, b, i, j, both);
    if (!s->wish->each && (pairs_are_ordered(s->wish->by) || is_swapped))
        take_pair(s, b, j, i, both);
}

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* No pair of these two tiles can be as good as wanted. */
static bool is_hopeless(const search *s, const best *b, size_t tile, size_t other)
{
    const bit_rows *r = s->rows;
    size_t low = smaller_of(tile, other), high = tile + other - low;

    return low != high && similar_most(s->wish->by, &r->occupancy,
                                       r->ones[smaller_of((low + 1) * s->tile, r->n) - 1],
                                       r->ones[high * s->tile]) < b->least;
}

/* All pairs of a row with the rows from `first` up to `end`. */
static void take_row(const search *s, best *b, size_t i, size_t first, size_t end)
{
    uint32_t both[TILE_ROWS_MAX];

    s->overlap(both, bit_row(s->rows, i), bit_row(s->rows, first), end - first, s->rows->words);
    for (size_t j = first; j < end; j++)
        if (i != j)
            take_both(s, b, i, j, both[j - first]);
}

static void take_tiles(const search *s, best *b, size_t tile, size_t other)
{
    size_t end = smaller_of((tile + 1) * s->tile, s->rows->n);
    size_t other_end = smaller_of((other + 1) * s->tile, s->rows->n);

    for (size_t i = tile * s->tile; i < end; i++)
        take_row(s, b, i, tile == other ? i + 1 : other * s->tile, other_end);
}

static void count_done(search *s, uint64_t pairs)
{
    uint64_t done = __atomic_add_fetch(&s->done, pairs, __ATOMIC_RELAXED);

    if (pthread_equal(pthread_self(), s->caller))
        progress_show(done / 1000000, s->total / 1000000, "million pairs");
}

static void take_later_tiles(search *s, best *b, size_t tile)
{
    size_t tiles = (s->rows->n + s->tile - 1) / s->tile;

    for (size_t other = tile; other < tiles && !is_hopeless(s, b, tile, other); other++)
        take_tiles(s, b, tile, other);
}

/* Each row of the tile with all others, because each document has its own best. */
static void take_all_tiles(search *s, best *own, size_t tile)
{
    size_t begin = tile * s->tile, end = smaller_of(begin + s->tile, s->rows->n);

    for (size_t first = 0; first < s->rows->n; first += s->tile)
        for (size_t i = begin; i < end; i++)
            take_row(s, &own[i - begin], i, first, smaller_of(first + s->tile, s->rows->n));
    for (size_t i = begin; i < end; i++) {
        hand_over(s, &own[i - begin]);
        own[i - begin].least = s->wish->above;
    }
}

static void work(void *ctx)
{
    search *s = ctx;
    const pairs_wish *w = s->wish;
    best own[TILE_ROWS_MAX];
    size_t tile;

    for (size_t i = 0; i < TILE_ROWS_MAX; i++)
        own[i] = (best){ .most = w->each ? w->each : w->top, .least = w->above };
    while ((tile = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED)) * s->tile < s->rows->n) {
        if (w->each)
            take_all_tiles(s, own, tile);
        else
            take_later_tiles(s, &own[0], tile);
        count_done(s, (s->rows->n - tile * s->tile) * s->tile);
    }
    hand_over(s, &own[0]);
    for (size_t i = 0; i < TILE_ROWS_MAX; i++)
        free(own[i].all);
}

/* ---- Order ------------------------------------------------------------- */

static int compare_pairs(const void *x, const void *y)
{
    return is_worse(x, y) - is_worse(y, x);
}

static int compare_by_document(const void *x, const void *y)
{
    uint32_t a = ((const pair *)x)->a, b = ((const pair *)y)->a;

    return a != b ? (a > b) - (a < b) : compare_pairs(x, y);
}

pairs_found pairs_find(const bit_rows *rows, const pairs_wish *wish)
{
    size_t size = rows->words * sizeof *rows->bits;
    search s = { .rows = rows,
                 .wish = wish,
                 .overlap = overlap_choose(),
                 .tile = size > TILE_BYTES / 8 ? 8 : smaller_of(TILE_BYTES / size, TILE_ROWS_MAX),
                 .total = (uint64_t)rows->n * rows->n / 2,
                 .caller = pthread_self(),
                 .lock = PTHREAD_MUTEX_INITIALIZER };

    thread_pool_run(wish->threads, work, &s);
    progress_erase();
    if (s.found.n > 0)
        qsort(s.found.all, s.found.n, sizeof *s.found.all,
              wish->each ? compare_by_document : compare_pairs);
    if (wish->top > 0 && s.found.n > wish->top)
        s.found.n = (size_t)wish->top;
    return s.found;
}
