#include "redis_topk.h"

#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "murmur.h"

enum { TOPK_MARK_SEED = 1919 }; /* of fingerprints; rows have their number */

/* An item of no bytes has some too, so that none is NULL. */
static size_t topk_room(size_t size)
{
    return size ? size : 1;
}

/* ---- Making ------------------------------------------------------------ */

static size_t topk_cells_bytes(const redis_topk *t)
{
    return (size_t)t->width * t->depth * sizeof *t->cells;
}

static size_t topk_items_bytes(const redis_topk *t)
{
    return t->k * sizeof *t->items;
}

bool redis_topk_has_size(uint64_t k, uint64_t width, uint64_t depth, double decay)
{
    return k && width && depth && k <= UINT32_MAX / sizeof(redis_topk_item) &&
           width <= UINT32_MAX && depth <= UINT32_MAX &&
           width * depth <= PTRDIFF_MAX / sizeof(redis_topk_cell) && decay > 0 && decay <= 1;
}

tamis_status redis_topk_init(redis_topk *t, tamis_allocator allocator, uint32_t k, uint32_t width,
                             uint32_t depth, double decay)
{
    *t = (redis_topk){
        .allocator = allocator, .k = k, .width = width, .depth = depth, .decay = decay
    };
    t->cells = allocator.alloc(allocator.ctx, topk_cells_bytes(t));
    t->items = t->cells ? allocator.alloc(allocator.ctx, topk_items_bytes(t)) : NULL;
    if (t->items) {
        zero_block(t->cells, topk_cells_bytes(t));
        return TAMIS_OK;
    }
    if (t->cells)
        allocator.free(allocator.ctx, t->cells, topk_cells_bytes(t));
    return TAMIS_NOMEM;
}

void redis_topk_free_item(redis_topk *t, redis_topk_item *item)
{
    if (item->bytes)
        t->allocator.free(t->allocator.ctx, item->bytes, topk_room(item->size));
    item->bytes = NULL;
}

void redis_topk_clear(redis_topk *t)
{
    while (t->n > 0)
        redis_topk_free_item(t, &t->items[--t->n]);
    t->allocator.free(t->allocator.ctx, t->items, topk_items_bytes(t));
    t->allocator.free(t->allocator.ctx, t->cells, topk_cells_bytes(t));
}

static tamis_status topk_make_item(redis_topk *t, redis_topk_item *item, const char *bytes,
                                   size_t size)
{
    *item =
        (redis_topk_item){ .size = (uint32_t)size, .mark = murmur32(bytes, size, TOPK_MARK_SEED) };
    if (size > UINT32_MAX)
        return TAMIS_NOMEM;
    item->bytes = t->allocator.alloc(t->allocator.ctx, topk_room(size));
    if (!item->bytes)
        return TAMIS_NOMEM;
    memcpy(item->bytes, bytes, size);
    return TAMIS_OK;
}

/* ---- Chances ----------------------------------------------------------- */

/* splitmix64 */
static uint64_t topk_draw(redis_topk *t)
{
    uint64_t z = t->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* decay^count by products alone: each is rounded in the same way everywhere, as pow() is not. */
static double topk_chance(double decay, uint32_t count)
{
    double chance = 1;

    for (; count; count >>= 1, decay *= decay)
        if (count & 1)
            chance *= decay;
    return chance;
}

/* Wears the cell of another down with n hits. Returns those that are left when it is free. */
static uint64_t topk_wear(redis_topk *t, redis_topk_cell *cell, uint64_t n)
{
    double chance = topk_chance(t->decay, cell->count);

    /* Below that, none of 2^64 hits would do it. */
    for (; n > 0 && cell->count > 0 && chance > 0x1p-64; n--) {
        if ((double)(topk_draw(t) >> 11) * 0x1p-53 >= chance)
            continue;
        cell->count--;
        chance = topk_chance(t->decay, cell->count);
    }
    return cell->count ? 0 : n + 1; /* the hit that freed it counts */
}

static uint32_t topk_sum(uint64_t count, uint64_t n)
{
    return n > UINT32_MAX - count ? UINT32_MAX : (uint32_t)(count + n);
}

/* Its count in one row after n hits; 0: another has the cell. */
static uint32_t topk_hit(redis_topk *t, redis_topk_cell *cell, uint32_t mark, uint64_t n)
{
    if (cell->count > 0 && cell->mark != mark) {
        n = topk_wear(t, cell, n);
        if (n == 0)
            return 0;
    }
    cell->mark = mark;
    cell->count = topk_sum(cell->count, n);
    return cell->count;
}

static redis_topk_cell *topk_cell(const redis_topk *t, const char *bytes, size_t size, uint32_t row)
{
    return &t->cells[(size_t)row * t->width + murmur32(bytes, size, row) % t->width];
}

/* ---- The list ---------------------------------------------------------- */

static bool topk_is(const redis_topk_item *item, uint32_t mark, const char *bytes, size_t size)
{
    return item->mark == mark && item->size == size && memcmp(item->bytes, bytes, size) == 0;
}

const redis_topk_item *redis_topk_find(const redis_topk *t, const char *bytes, size_t size)
{
    uint32_t mark = murmur32(bytes, size, TOPK_MARK_SEED);

    for (uint32_t i = 0; i < t->n; i++)
        if (topk_is(&t->items[i], mark, bytes, size))
            return &t->items[i];
    return NULL;
}

static void topk_swap(redis_topk_item *a, redis_topk_item *b)
{
    redis_topk_item kept = *a;

    *a = *b;
    *b = kept;
}

static void topk_sink(redis_topk *t, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < t->n; at = child) {
        if (child + 1 < t->n && t->items[child + 1].count < t->items[child].count)
            child++;
        if (t->items[at].count <= t->items[child].count)
            return;
        topk_swap(&t->items[at], &t->items[child]);
    }
}

static void topk_rise(redis_topk *t, size_t at)
{
    for (; at > 0 && t->items[at].count < t->items[(at - 1) / 2].count; at = (at - 1) / 2)
        topk_swap(&t->items[at], &t->items[(at - 1) / 2]);
}

/* Takes the place of the smallest, or one that is free. */
static void topk_enter(redis_topk *t, redis_topk_item item, redis_topk_item *expelled)
{
    if (t->n < t->k) {
        t->items[t->n++] = item;
        topk_rise(t, t->n - 1);
        return;
    }
    *expelled = t->items[0];
    t->items[0] = item;
    topk_sink(t, 0);
}

/* ---- Items ------------------------------------------------------------- */

static uint64_t topk_hit_rows(redis_topk *t, uint32_t mark, const char *bytes, size_t size,
                              uint64_t n)
{
    uint64_t most = 0;

    for (uint32_t row = 0; row < t->depth; row++) {
        uint32_t count = topk_hit(t, topk_cell(t, bytes, size, row), mark, n);

        most = count > most ? count : most;
    }
    return most;
}

tamis_status redis_topk_add(redis_topk *t, const char *bytes, size_t size, uint64_t n,
                            redis_topk_item *expelled)
{
    redis_topk_item *listed = (redis_topk_item *)redis_topk_find(t, bytes, size), item;
    uint64_t count;

    expelled->bytes = NULL;
    if (!listed && topk_make_item(t, &item, bytes, size))
        return TAMIS_NOMEM;
    if (listed)
        item = *listed;
    count = n ? topk_hit_rows(t, item.mark, bytes, size, n) : 0;
    if (listed) {
        listed->count = count > listed->count ? count : listed->count;
        topk_sink(t, (size_t)(listed - t->items));
        return TAMIS_OK;
    }
    item.count = count;
    if (count && (t->n < t->k || count >= t->items[0].count))
        topk_enter(t, item, expelled);
    else
        redis_topk_free_item(t, &item);
    return TAMIS_OK;
}

uint64_t redis_topk_count(const redis_topk *t, const char *bytes, size_t size)
{
    const redis_topk_item *listed = redis_topk_find(t, bytes, size);
    uint32_t mark = murmur32(bytes, size, TOPK_MARK_SEED);
    uint64_t most = listed ? listed->count : 0;

    for (uint32_t row = 0; row < t->depth; row++) {
        const redis_topk_cell *cell = topk_cell(t, bytes, size, row);

        if (cell->count > most && cell->mark == mark)
            most = cell->count;
    }
    return most;
}

/* Items of one count stand by their bytes, so that every server lists them alike. */
static int topk_compare(const void *left, const void *right)
{
    const redis_topk_item *a = *(redis_topk_item *const *)left,
                          *b = *(redis_topk_item *const *)right;
    int order;

    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    order = memcmp(a->bytes, b->bytes, a->size < b->size ? a->size : b->size);
    return order ? order : (a->size > b->size) - (a->size < b->size);
}

static void topk_sort(const redis_topk *t, const redis_topk_item **sorted,
                      int (*compare)(const void *, const void *))
{
    for (uint32_t i = 0; i < t->n; i++)
        sorted[i] = &t->items[i];
    qsort(sorted, t->n, sizeof *sorted, compare);
}

void redis_topk_sort(const redis_topk *t, const redis_topk_item **sorted)
{
    topk_sort(t, sorted, topk_compare);
}

/* ---- Loading ----------------------------------------------------------- */

tamis_status redis_topk_append(redis_topk *t, const char *bytes, size_t size, uint64_t count)
{
    redis_topk_item *item = &t->items[t->n];
    tamis_status status = t->n < t->k ? topk_make_item(t, item, bytes, size) : TAMIS_CORRUPT;

    if (status)
        return status;
    item->count = count;
    t->n++;
    return TAMIS_OK;
}

/* By their marks, so that repeats stand together. */
static int topk_compare_bytes(const void *left, const void *right)
{
    const redis_topk_item *a = *(redis_topk_item *const *)left,
                          *b = *(redis_topk_item *const *)right;

    if (a->mark != b->mark)
        return a->mark < b->mark ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return memcmp(a->bytes, b->bytes, a->size);
}

/* No memory to find out: as if it had. */
static bool topk_has_repeats(const redis_topk *t)
{
    const size_t size = t->n * sizeof(redis_topk_item *) + 1;
    const redis_topk_item **sorted = t->allocator.alloc(t->allocator.ctx, size);
    bool repeats = false;

    if (!sorted)
        return true;
    topk_sort(t, sorted, topk_compare_bytes);
    for (uint32_t i = 1; i < t->n && !repeats; i++)
        repeats = topk_compare_bytes(&sorted[i - 1], &sorted[i]) == 0;
    t->allocator.free(t->allocator.ctx, sorted, size);
    return repeats;
}

bool redis_topk_is_whole(const redis_topk *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].count == 0 || t->items[i].count > UINT32_MAX ||
            t->items[i].count < t->items[i ? (i - 1) / 2 : 0].count)
            return false;
    return !topk_has_repeats(t);
}
