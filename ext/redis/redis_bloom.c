/* redis_bloom.c - Bloom filters with the bits of RedisBloom. */
#include "redis_bloom.h"

#include <math.h>
#include <string.h>

#include "murmur.h"

/* ---- Positions --------------------------------------------------------- */

/* Position i of an item is (first + i * step mod 2^64) mod the number of bits. A division for each
 * would take most of the time: instead both are reduced once, and summed. Where the sum of 64 bits
 * overflows, the position is less by 2^64 modulo the number of bits. */
typedef struct redis_bloom_walk {
    uint64_t at, by, sum, step;
} redis_bloom_walk;

static inline redis_bloom_walk redis_bloom_start(const redis_bloom_link *l, redis_bloom_hash h)
{
    return (redis_bloom_walk){ h.first % l->used, h.step % l->used, h.first, h.step };
}

static inline void redis_bloom_next(const redis_bloom_link *l, redis_bloom_walk *w)
{
    uint64_t sum = w->sum + w->step;
    uint64_t overflow = sum < w->sum ? l->overflow : 0;

    w->sum = sum;
    w->at += w->by;
    w->at -= w->at >= l->used ? l->used : 0;
    w->at += overflow;
    w->at -= w->at >= l->used ? l->used : 0;
}

static bool redis_bloom_link_has(const redis_bloom_link *l, redis_bloom_hash h)
{
    redis_bloom_walk w = redis_bloom_start(l, h);

    for (uint32_t i = 0; i < l->hashes; i++) {
        if (!(l->array[w.at >> 3] >> (w.at & 7) & 1))
            return false;
        redis_bloom_next(l, &w);
    }
    return true;
}

/* False if all of its bits were set before. */
static bool redis_bloom_link_add(redis_bloom_link *l, redis_bloom_hash h)
{
    redis_bloom_walk w = redis_bloom_start(l, h);
    unsigned missing = 0;

    for (uint32_t i = 0; i < l->hashes; i++) {
        unsigned char *byte = &l->array[w.at >> 3];
        unsigned bit = 1u << (w.at & 7);

        missing |= ~*byte & bit;
        *byte = (unsigned char)(*byte | bit);
        redis_bloom_next(l, &w);
    }
    return missing;
}

/* ---- Sizes ------------------------------------------------------------- */

/* ln 2 and its square, with the digits that RedisBloom has. */
static const double LN2 = 0.693147180559945, LN2_SQUARED = 0.480453013918201;

/* Of 2^45 bytes there is no machine; and sums and products of such numbers do not overflow. */
#define BYTES_MAX (UINT64_C(1) << 45)

/* The smallest double halved from 1 on is 2^-1074: a link of a lower rate cannot be, and neither
 * can more links than that, or more hashes. */
enum { LINKS_MAX = 1080, HASHES_MAX = 1080 };

/* Filters that do not grow all have the same number there: dumps of equal filters are equal. */
enum { GROWTH_UNUSED = 2 };

static uint32_t redis_bloom_hashes(double bits_per_item)
{
    double k = ceil(LN2 * bits_per_item);

    return k >= 1 && k <= HASHES_MAX ? (uint32_t)k : 0;
}

/* A link of so many items at this rate, yet without bits. False if there is none. */
static bool redis_bloom_plan(redis_bloom_link *l, uint64_t capacity, double error)
{
    double bits;

    if (capacity == 0 || !(error > 0 && error < 1))
        return false;
    *l = (redis_bloom_link){ .capacity = capacity, .error = error };
    l->bits_per_item = -log(error) / LN2_SQUARED;
    bits = (double)capacity * l->bits_per_item;
    if (!(bits < 8.0 * BYTES_MAX))
        return false;
    l->bits = ((uint64_t)fmax(bits, 1) + 63) / 64 * 64;
    l->bytes = l->bits / 8;
    l->hashes = redis_bloom_hashes(l->bits_per_item);
    return true;
}

uint64_t redis_bloom_capacity(const redis_bloom *b)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < b->n; i++)
        if (__builtin_add_overflow(sum, b->links[i].capacity, &sum))
            return UINT64_MAX;
    return sum;
}

uint64_t redis_bloom_bytes(const redis_bloom *b)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < b->n; i++)
        sum += b->links[i].bytes;
    return sum;
}

/* ---- Links ------------------------------------------------------------- */

/* Can these numbers be those of a link? Every number that another machine sent passes here: the
 * bits in use are within the array, and no lookup takes long. */
static bool redis_bloom_link_is_valid(const redis_bloom_link *l)
{
    if (!(l->error > 0 && l->error < 1 && l->bits_per_item > 0))
        return false;
    if (l->bytes == 0 || l->bytes > BYTES_MAX || l->bits != l->bytes * 8)
        return false;
    if (l->power > 63 || (l->power && l->bits >> l->power == 0))
        return false;
    return l->hashes > 0 && l->hashes == redis_bloom_hashes(l->bits_per_item);
}

static tamis_status redis_bloom_make_room(redis_bloom *b)
{
    uint32_t room = b->room ? 2 * b->room : 1;
    redis_bloom_link *links;

    if (b->n < b->room)
        return TAMIS_OK;
    links = b->memory.alloc(b->memory.ctx, room * sizeof *links);
    if (!links)
        return TAMIS_NOMEM;
    if (b->room) {
        memcpy(links, b->links, b->n * sizeof *links);
        b->memory.free(b->memory.ctx, b->links, b->room * sizeof *links);
    }
    b->links = links;
    b->room = room;
    return TAMIS_OK;
}

void redis_bloom_begin(redis_bloom *b, tamis_allocator memory, uint32_t options, uint32_t growth)
{
    *b = (redis_bloom){ .memory = memory, .options = options, .growth = growth };
}

tamis_status redis_bloom_append(redis_bloom *b, const redis_bloom_link *like)
{
    redis_bloom_link l = *like;
    tamis_status status;

    if (!redis_bloom_link_is_valid(like) || b->n == LINKS_MAX)
        return TAMIS_CORRUPT;
    status = redis_bloom_make_room(b);
    if (status)
        return status;
    l.array = b->memory.alloc(b->memory.ctx, l.bytes);
    if (!l.array)
        return TAMIS_NOMEM;
    memset(l.array, 0, l.bytes);
    l.used = l.power ? UINT64_C(1) << l.power : l.bits;
    l.overflow = (l.used - (0 - l.used) % l.used) % l.used;
    b->links[b->n++] = l;
    return TAMIS_OK;
}

bool redis_bloom_is_whole(redis_bloom *b, uint64_t size)
{
    const uint32_t known = REDIS_BLOOM_EXACT_SIZE | REDIS_BLOOM_HASH64 | REDIS_BLOOM_FIXED;
    uint64_t sum = 0;

    if (b->n == 0 || b->options & ~known || (b->growth == 0 && !(b->options & REDIS_BLOOM_FIXED)))
        return false;
    for (uint32_t i = 0; i < b->n; i++)
        if (__builtin_add_overflow(sum, b->links[i].size, &sum))
            return false;
    b->size = size;
    return sum == size;
}

tamis_status redis_bloom_init(redis_bloom *b, tamis_allocator memory, double error,
                              uint64_t capacity, uint32_t growth, bool fixed)
{
    redis_bloom_link first;
    uint32_t options = REDIS_BLOOM_EXACT_SIZE | REDIS_BLOOM_HASH64;
    tamis_status status;

    fixed |= growth == 0;
    error = fmin(error, REDIS_BLOOM_ERROR_MAX);
    if (!redis_bloom_plan(&first, capacity, fixed ? error : error / 2))
        return TAMIS_RANGE;
    if (fixed)
        redis_bloom_begin(b, memory, options | REDIS_BLOOM_FIXED, GROWTH_UNUSED);
    else
        redis_bloom_begin(b, memory, options, growth);
    status = redis_bloom_append(b, &first);
    if (status)
        redis_bloom_clear(b);
    return status;
}

tamis_status redis_bloom_copy(redis_bloom *b, tamis_allocator memory, const redis_bloom *from)
{
    tamis_status status = TAMIS_OK;

    redis_bloom_begin(b, memory, from->options, from->growth);
    for (uint32_t i = 0; i < from->n && !status; i++) {
        status = redis_bloom_append(b, &from->links[i]);
        if (!status)
            memcpy(b->links[i].array, from->links[i].array, from->links[i].bytes);
    }
    b->size = from->size;
    if (status)
        redis_bloom_clear(b);
    return status;
}

void redis_bloom_clear(redis_bloom *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        b->memory.free(b->memory.ctx, b->links[i].array, b->links[i].bytes);
    if (b->room)
        b->memory.free(b->memory.ctx, b->links, b->room * sizeof *b->links);
    b->n = b->room = 0;
}

/* ---- Items ------------------------------------------------------------- */

redis_bloom_hash redis_bloom_hash_of(const redis_bloom *b, const void *item, size_t size)
{
    redis_bloom_hash h;

    if (b->options & REDIS_BLOOM_HASH64) {
        h.first = murmur64(item, size, UINT64_C(0xc6a4a7935bd1e995));
        h.step = murmur64(item, size, h.first);
    } else {
        h.first = murmur32(item, size, 0x9747b28c);
        h.step = murmur32(item, size, (uint32_t)h.first);
    }
    return h;
}

/* What is smaller is in the cache. */
enum { PREFETCHED_BYTES = 128 << 10 };

/* Bits of each item that are asked for ahead. Of the last link all, up to the usual number: half of
 * the items are in it. Items that are not in a link differ from it in one of the first bits. */
enum { PREFETCHED_LAST = 8, PREFETCHED_OTHERS = 3 };

static void redis_bloom_prefetch(const redis_bloom *b, const redis_bloom_link *l,
                                 const redis_bloom_hash *hashes, const bool *found, size_t n)
{
    uint32_t most = l == &b->links[b->n - 1] ? PREFETCHED_LAST : PREFETCHED_OTHERS;
    uint32_t bits = l->hashes < most ? l->hashes : most;

    if (l->bytes < PREFETCHED_BYTES)
        return;
    for (size_t i = 0; i < n; i++) {
        redis_bloom_walk w = redis_bloom_start(l, hashes[i]);

        for (uint32_t j = 0; j < bits && !found[i]; j++) {
            __builtin_prefetch(&l->array[w.at >> 3]);
            redis_bloom_next(l, &w);
        }
    }
}

void redis_bloom_has_many(const redis_bloom *b, bool *found, const redis_bloom_hash *hashes,
                          size_t n)
{
    memset(found, false, n * sizeof *found);
    for (uint32_t at = b->n; at-- > 0;) {
        const redis_bloom_link *l = &b->links[at];

        redis_bloom_prefetch(b, l, hashes, found, n);
        for (size_t i = 0; i < n; i++)
            found[i] = found[i] || redis_bloom_link_has(l, hashes[i]);
    }
}

static bool redis_bloom_has(const redis_bloom *b, redis_bloom_hash h)
{
    for (uint32_t at = b->n; at-- > 0;)
        if (redis_bloom_link_has(&b->links[at], h))
            return true;
    return false;
}

static tamis_status redis_bloom_grow(redis_bloom *b)
{
    const redis_bloom_link *last = &b->links[b->n - 1];
    redis_bloom_link next;
    uint64_t capacity;

    if (b->options & REDIS_BLOOM_FIXED)
        return TAMIS_FULL;
    if (__builtin_mul_overflow(last->capacity, b->growth, &capacity) ||
        !redis_bloom_plan(&next, capacity, last->error / 2))
        return TAMIS_RANGE;
    return redis_bloom_append(b, &next);
}

/* An item that is in no link but perhaps the last. */
static tamis_status redis_bloom_add_new(redis_bloom *b, redis_bloom_hash h, bool *added)
{
    redis_bloom_link *last = &b->links[b->n - 1];
    tamis_status status = TAMIS_OK;

    *added = false;
    if (last->size >= last->capacity) {
        if (redis_bloom_link_has(last, h))
            return TAMIS_OK;
        status = redis_bloom_grow(b);
        last = &b->links[b->n - 1];
    }
    if (status || !redis_bloom_link_add(last, h))
        return status;
    *added = true;
    last->size++;
    b->size++;
    return TAMIS_OK;
}

/* Which of them are in the filter is asked at once. An item that came twice is found out when its
 * bits are set in the last link; after another link was appended, every one is asked again. */
tamis_status redis_bloom_add_many(redis_bloom *b, bool *added, size_t *done,
                                  const redis_bloom_hash *hashes, size_t n)
{
    bool found[REDIS_BLOOM_BATCH];
    uint32_t links = b->n;
    tamis_status status = TAMIS_OK;

    redis_bloom_has_many(b, found, hashes, n);
    for (*done = 0; *done < n; ++*done) {
        size_t i = *done;

        added[i] = false;
        if (found[i] || (b->n > links && redis_bloom_has(b, hashes[i])))
            continue;
        status = redis_bloom_add_new(b, hashes[i], &added[i]);
        if (status)
            break;
    }
    return status;
}

/* ---- Dumps ------------------------------------------------------------- */

enum { HEADER_SIZE = 20, HEADER_LINK_SIZE = 53 };

size_t redis_bloom_header_size(const redis_bloom *b)
{
    return HEADER_SIZE + (size_t)b->n * HEADER_LINK_SIZE;
}

static void redis_bloom_write_link(const redis_bloom_link *l, unsigned char *p)
{
    bytes_put(p, l->bytes, 8);
    bytes_put(p + 8, l->bits, 8);
    bytes_put(p + 16, l->size, 8);
    bytes_put_double(p + 24, l->error);
    bytes_put_double(p + 32, l->bits_per_item);
    bytes_put(p + 40, l->hashes, 4);
    bytes_put(p + 44, l->capacity, 8);
    p[52] = l->power;
}

static redis_bloom_link redis_bloom_read_link(const unsigned char *p)
{
    return (redis_bloom_link){ .bytes = bytes_get64(p),
                               .bits = bytes_get64(p + 8),
                               .size = bytes_get64(p + 16),
                               .error = bytes_get_double(p + 24),
                               .bits_per_item = bytes_get_double(p + 32),
                               .hashes = bytes_get32(p + 40),
                               .capacity = bytes_get64(p + 44),
                               .power = p[52] };
}

void redis_bloom_write_header(const redis_bloom *b, unsigned char *header)
{
    bytes_put(header, b->size, 8);
    bytes_put(header + 8, b->n, 4);
    bytes_put(header + 12, b->options, 4);
    bytes_put(header + 16, b->growth, 4);
    for (uint32_t i = 0; i < b->n; i++)
        redis_bloom_write_link(&b->links[i], header + HEADER_SIZE + (size_t)i * HEADER_LINK_SIZE);
}

tamis_status redis_bloom_read_header(redis_bloom *b, tamis_allocator memory,
                                     const unsigned char *header, size_t size)
{
    tamis_status status = TAMIS_OK;
    uint32_t n;

    if (size < HEADER_SIZE || (size - HEADER_SIZE) % HEADER_LINK_SIZE != 0)
        return TAMIS_CORRUPT;
    n = bytes_get32(header + 8);
    if (n != (size - HEADER_SIZE) / HEADER_LINK_SIZE)
        return TAMIS_CORRUPT;
    redis_bloom_begin(b, memory, bytes_get32(header + 12), bytes_get32(header + 16));
    for (uint32_t i = 0; i < n && !status; i++) {
        redis_bloom_link l =
            redis_bloom_read_link(header + HEADER_SIZE + (size_t)i * HEADER_LINK_SIZE);

        status = redis_bloom_append(b, &l);
    }
    if (!status && !redis_bloom_is_whole(b, bytes_get64(header)))
        status = TAMIS_CORRUPT;
    if (status)
        redis_bloom_clear(b);
    return status;
}

unsigned char *redis_bloom_array(const redis_bloom *b, uint64_t offset, size_t *size)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const redis_bloom_link *l = &b->links[i];

        if (offset < l->bytes) {
            *size = l->bytes - offset;
            return l->array + offset;
        }
        offset -= l->bytes;
    }
    return NULL;
}
