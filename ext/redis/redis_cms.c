#include "redis_cms.h"

#include <math.h>
#include <string.h>

#include "block.h"
#include "murmur.h"

/* Cells are saved and dumped as they are in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the module is for little-endian machines");

/* ---- Sizes ------------------------------------------------------------- */

bool redis_cms_has_size(uint64_t width, uint64_t depth)
{
    uint64_t bytes;

    return width && depth && !__builtin_mul_overflow(width, depth, &bytes) &&
           bytes <= PTRDIFF_MAX / sizeof(uint32_t);
}

/* In single precision, as RedisBloom: the same words make the same size. */
void redis_cms_plan(double error, double probability, uint64_t *width, uint64_t *depth)
{
    double rows = ceilf(log10f((float)probability) / log10f(0.5f));
    double cells = ceil(2 / error);

    *width = cells < 0x1p63 ? (uint64_t)cells : UINT64_MAX;
    *depth = rows >= 1 ? (uint64_t)rows : 1;
}

size_t redis_cms_bytes(const redis_cms *s)
{
    return (size_t)(s->width * s->depth) * sizeof *s->cells;
}

tamis_status redis_cms_init(redis_cms *s, tamis_allocator allocator, uint64_t width, uint64_t depth)
{
    *s = (redis_cms){ .allocator = allocator, .width = width, .depth = depth };
    s->cells = allocator.alloc(allocator.ctx, redis_cms_bytes(s));
    if (!s->cells)
        return TAMIS_NOMEM;
    zero_block(s->cells, redis_cms_bytes(s));
    return TAMIS_OK;
}

void redis_cms_clear(redis_cms *s)
{
    s->allocator.free(s->allocator.ctx, s->cells, redis_cms_bytes(s));
    s->cells = NULL;
}

/* ---- Items ------------------------------------------------------------- */

static uint32_t *cms_cell(const redis_cms *s, const redis_cms_item *item, uint64_t row)
{
    return &s->cells[row * s->width + murmur32(item->bytes, item->size, (uint32_t)row) % s->width];
}

static uint32_t cms_sum(uint32_t cell, uint64_t n)
{
    return n > UINT32_MAX - cell ? UINT32_MAX : cell + (uint32_t)n;
}

/* A row after the other: while the cells of one are fetched, all of it are found. */
static void cms_find(const redis_cms *s, const redis_cms_item *items, size_t n, uint64_t row,
                     uint32_t *cells[REDIS_CMS_BATCH])
{
    for (size_t i = 0; i < n; i++) {
        cells[i] = cms_cell(s, &items[i], row);
        __builtin_prefetch(cells[i], 1);
    }
}

void redis_cms_add(redis_cms *s, const redis_cms_item *items, size_t n, uint32_t *estimates)
{
    uint32_t *cells[REDIS_CMS_BATCH];

    memset(estimates, 0xff, n * sizeof *estimates);
    for (uint64_t row = 0; row < s->depth; row++) {
        cms_find(s, items, n, row, cells);
        for (size_t i = 0; i < n; i++) {
            *cells[i] = cms_sum(*cells[i], items[i].n);
            estimates[i] = *cells[i] < estimates[i] ? *cells[i] : estimates[i];
        }
    }
    for (size_t i = 0; i < n; i++)
        s->count = items[i].n > INT64_MAX - s->count ? INT64_MAX : s->count + items[i].n;
}

void redis_cms_ask(const redis_cms *s, const redis_cms_item *items, size_t n, uint32_t *estimates)
{
    uint32_t *cells[REDIS_CMS_BATCH];

    memset(estimates, 0xff, n * sizeof *estimates);
    for (uint64_t row = 0; row < s->depth; row++) {
        cms_find(s, items, n, row, cells);
        for (size_t i = 0; i < n; i++)
            estimates[i] = *cells[i] < estimates[i] ? *cells[i] : estimates[i];
    }
}

/* ---- Merging ----------------------------------------------------------- */

/* low + 2^64 * high: 2^31 products of a cell and a weight fit in it. Not every machine has a type
 * of 128 bits. */
typedef struct cms_total {
    uint64_t low;
    int64_t high;
} cms_total;

static inline void cms_total_add(cms_total *t, uint64_t low, int64_t high)
{
    high += __builtin_add_overflow(t->low, low, &t->low);
    t->high += high;
}

/* The products with both halves of the weight, the higher of which has its sign. */
static inline void cms_total_add_product(cms_total *t, uint32_t x, long long weight)
{
    int64_t upper = (int64_t)x * (weight >> 32);

    cms_total_add(t, (uint64_t)x * (uint32_t)weight, 0);
    cms_total_add(t, (uint64_t)upper << 32, upper >> 32);
}

static inline bool cms_total_fits(const cms_total *t, uint64_t most)
{
    return t->high == 0 && t->low <= most;
}

static inline cms_total cms_merged(const redis_cms *const *from, const long long *weights, size_t n,
                                   size_t cell)
{
    cms_total sum = { 0 };

    for (size_t i = 0; i < n; i++)
        cms_total_add_product(&sum, from[i]->cells[cell], weights[i]);
    return sum;
}

/* A count has two halves as well: their products are summed up apart. */
static bool cms_merged_count(const redis_cms *const *from, const long long *weights, size_t n,
                             uint64_t *count)
{
    cms_total sum = { 0 }, upper = { 0 };

    for (size_t i = 0; i < n; i++) {
        cms_total_add_product(&sum, (uint32_t)from[i]->count, weights[i]);
        cms_total_add_product(&upper, (uint32_t)(from[i]->count >> 32), weights[i]);
    }
    cms_total_add(&sum, upper.low << 32, (int64_t)(upper.low >> 32));
    *count = sum.low;
    return !__builtin_mul_overflow(upper.high, INT64_C(1) << 32, &upper.high) &&
           !__builtin_add_overflow(sum.high, upper.high, &sum.high) &&
           cms_total_fits(&sum, INT64_MAX);
}

bool redis_cms_merge(redis_cms *to, const redis_cms *const *from, const long long *weights,
                     size_t n)
{
    const size_t cells = (size_t)(to->width * to->depth);
    uint64_t count;

    if (!cms_merged_count(from, weights, n, &count))
        return false;
    for (size_t i = 0; i < cells; i++) {
        cms_total sum = cms_merged(from, weights, n, i);
        if (!cms_total_fits(&sum, UINT32_MAX))
            return false;
    }
    for (size_t i = 0; i < cells; i++)
        to->cells[i] = (uint32_t)cms_merged(from, weights, n, i).low;
    to->count = count;
    return true;
}
