#include "redis_cms.h"

#include <math.h>
#include <string.h>

#include "murmur.h"
#include "zero.h"

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
    return s->width * s->depth * sizeof *s->cells;
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

__extension__ typedef __int128 cms_wide; /* 2^31 products of a cell and a weight fit in it */

static cms_wide cms_merged(const redis_cms *const *from, const long long *weights, size_t n,
                           size_t cell)
{
    cms_wide sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (cms_wide)from[i]->cells[cell] * weights[i];
    return sum;
}

static bool cms_fits(cms_wide sum, cms_wide most)
{
    return sum >= 0 && sum <= most;
}

static bool cms_merged_count(const redis_cms *const *from, const long long *weights, size_t n,
                             uint64_t *count)
{
    cms_wide sum = 0;

    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(sum, (cms_wide)from[i]->count * weights[i], &sum))
            return false;
    *count = (uint64_t)sum;
    return cms_fits(sum, INT64_MAX);
}

bool redis_cms_merge(redis_cms *to, const redis_cms *const *from, const long long *weights,
                     size_t n)
{
    const size_t cells = to->width * to->depth;
    uint64_t count;

    if (!cms_merged_count(from, weights, n, &count))
        return false;
    for (size_t i = 0; i < cells; i++)
        if (!cms_fits(cms_merged(from, weights, n, i), UINT32_MAX))
            return false;
    for (size_t i = 0; i < cells; i++)
        to->cells[i] = (uint32_t)cms_merged(from, weights, n, i);
    to->count = count;
    return true;
}
