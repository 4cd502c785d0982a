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

#include "files/thread_pool.h"
#include "term/array.h"
#include "term/message.h"
#include "term/progress.h"

/* Of a tile; two of them are in use. */
enum { TILE_BYTES = 1 << 17, TILE_ROWS_MAX = 256 };

typedef struct search {
    const bit_rows *rows;
    const pairs_wish *wish;
    overlap_kernel *overlap;
    size_t tile; /* rows */
    work_list tiles;
    uint64_t done, total;
    pthread_mutex_t lock;
    pairs_found found; /* guarded by the lock */
} search;

/* ---- Best pairs -------------------------------------------------------- */

/* A list of pairs. With a limit, the best of them are found, and the others dropped, whenever it
 * has twice as many. */
typedef struct best {
    pair *all;
    size_t n;
    uint64_t most; /* 0: no limit */
    pair last;     /* the worst that was not dropped */
    double least;  /* value that a pair must have to be taken */
} best;

/* Whether x comes after y. */
static bool is_worse(const pair *x, const pair *y)
{
    if (x->value != y->value)
        return x->value < y->value;
    return x->a != y->a ? x->a > y->a : x->b > y->b;
}

static int compare_pairs(const void *x, const void *y)
{
    return is_worse(x, y) - is_worse(y, x);
}

static void add_pair(pair **all, size_t *n, const pair *p)
{
    *all = array_grown(*all, *n, sizeof **all, "pairs; give a higher --above, or --top");
    (*all)[(*n)++] = *p;
}

static void refuse_more(size_t n)
{
    if (n > PAIRS_MAX)
        die(CODE_LIMIT, "similar: more than %" PRIu64 " pairs; give a higher --above, or --top",
            PAIRS_MAX);
}

static void drop_worst(best *b)
{
    if (b->most == 0 || b->n < b->most)
        return;
    qsort(b->all, b->n, sizeof *b->all, compare_pairs);
    b->n = (size_t)b->most;
    b->last = b->all[b->n - 1];
    b->least = b->last.value;
}

static void best_take(best *b, pair p)
{
    /* Written so that NaN is not taken. */
    if (!(p.value >= b->least) || (p.value == b->last.value && is_worse(&p, &b->last)))
        return;
    add_pair(&b->all, &b->n, &p);
    if (b->n == 2 * b->most)
        drop_worst(b);
    if (b->most == 0)
        refuse_more(b->n);
}

/* Moves the best to what was found, and begins again. */
static void hand_over(search *s, best *b)
{
    drop_worst(b);
    pthread_mutex_lock(&s->lock);
    refuse_more(s->found.n + b->n);
    for (size_t i = 0; i < b->n; i++)
        add_pair(&s->found.all, &s->found.n, &b->all[i]);
    pthread_mutex_unlock(&s->lock);
    b->n = 0;
    b->least = s->wish->above;
    b->last.value = -1;
}

/* ---- Tiles ------------------------------------------------------------- */

static void take_pair(const search *s, best *b, size_t i, size_t j, uint32_t both)
{
    const bit_rows *r = s->rows;
    similar_sizes sizes = similar_sizes_of(&r->occupancy, r->ones[i], r->ones[j], both);
    double value = similar_value(s->wish->by, &sizes);

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

    if (pthread_equal(pthread_self(), s->tiles.caller))
        progress_show(done / 1000000, s->total / 1000000, "million pairs");
}

static void take_later_tiles(search *s, best *b, size_t tile)
{
    for (size_t other = tile; other < s->tiles.n && !is_hopeless(s, b, tile, other); other++)
        take_tiles(s, b, tile, other);
}

/* Each row of the tile with all others, because each document has its own best. */
static void take_all_tiles(search *s, best *own, size_t tile)
{
    size_t begin = tile * s->tile, end = smaller_of(begin + s->tile, s->rows->n);

    for (size_t first = 0; first < s->rows->n; first += s->tile)
        for (size_t i = begin; i < end; i++)
            take_row(s, &own[i - begin], i, first, smaller_of(first + s->tile, s->rows->n));
    for (size_t i = begin; i < end; i++)
        hand_over(s, &own[i - begin]);
}

static void work(void *ctx)
{
    search *s = ctx;
    const pairs_wish *w = s->wish;
    best own[TILE_ROWS_MAX];

    for (size_t i = 0; i < TILE_ROWS_MAX; i++)
        own[i] = (best){ .most = w->each ? w->each : w->top, .last.value = -1, .least = w->above };
    for (size_t tile; work_list_next(&s->tiles, &tile);) {
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
                 .lock = PTHREAD_MUTEX_INITIALIZER };

    s.tiles = work_list_of((rows->n + s.tile - 1) / s.tile, NULL);
    thread_pool_run(wish->threads, work, &s);
    progress_erase();
    if (s.found.n > 0)
        qsort(s.found.all, s.found.n, sizeof *s.found.all,
              wish->each ? compare_by_document : compare_pairs);
    if (wish->top > 0 && s.found.n > wish->top)
        s.found.n = (size_t)wish->top;
    return s.found;
}
