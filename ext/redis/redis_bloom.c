/* redis_bloom.c - Bloom filters with the bits of RedisBloom. */
#include "redis_bloom.h"

#include <math.h>
#include <string.h>

#include "block.h"
#include "murmur.h"

/* ---- Positions --------------------------------------------------------- */

/* The high half of a product: by one instruction, or from four products of halves. */
static inline uint64_t redis_bloom_high(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;

    return (uint64_t)((wide)a * b >> 64);
#else
    uint64_t middle = (a >> 32) * (uint32_t)b + ((uint64_t)(uint32_t)a * (uint32_t)b >> 32);
    uint64_t other = (uint32_t)a * (b >> 32) + (uint32_t)middle;

    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
#endif
}

/* Bit i of an item: (first + i * step mod 2^64) mod the bits in use. A product with the reciprocal
 * is the quotient, or one less; a division would take most of the time. */
static inline uint64_t redis_bloom_at(const redis_bloom_link *l, redis_bloom_hash h, uint32_t i)
{
    uint64_t x = h.first + i * h.step;
    uint64_t rest = x - redis_bloom_high(x, l->reciprocal) * l->used;

    return rest - (l->used & (0 - (uint64_t)(rest >= l->used)));
}

static inline unsigned redis_bloom_bit(const redis_bloom_link *l, uint64_t at)
{
    return l->array[at >> 3] >> (at & 7) & 1;
}

/* Bits that are read without branches: half of them are set, and no processor guesses which. */
enum { FIRST_BITS = 4 };

static inline bool redis_bloom_link_has(const redis_bloom_link *l, redis_bloom_hash h)
{
    uint32_t first = l->hashes < FIRST_BITS ? l->hashes : FIRST_BITS;
    unsigned all = 1;

    for (uint32_t i = 0; i < first; i++)
        all &= redis_bloom_bit(l, redis_bloom_at(l, h, i));
    for (uint32_t i = first; all && i < l->hashes; i++)
        all = redis_bloom_bit(l, redis_bloom_at(l, h, i));
    return all;
}

/* False if all of its bits were set before. */
static bool redis_bloom_link_add(redis_bloom_link *l, redis_bloom_hash h)
{
    unsigned missing = 0;

    for (uint32_t i = 0; i < l->hashes; i++) {
        uint64_t at = redis_bloom_at(l, h, i);
        unsigned char *byte = &l->array[at >> 3];
        unsigned bit = 1u << (at & 7);

        missing |= ~*byte & bit;
        *byte = (unsigned char)(*byte | bit);
    }
    return missing;
}

/* ---- Sizes ------------------------------------------------------------- */

/* ln 2 and its square, with the digits that RedisBloom has. */
static const double LN2 = 0.693147180559945, LN2_SQUARED = 0.480453013918201;

/* Of 2^45 bytes there is no machine; and sums and products of such numbers do not overflow. */
#define BYTES_MAX (UINT64_C(1) << 45)

/* More would be of a rate that is no number; and no lookup takes long. */
enum { HASHES_MAX = REDIS_BLOOM_LINKS_MAX };

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

void redis_bloom_begin(redis_bloom *b, tamis_allocator memory, uint32_t options, uint32_t growth)
{
    *b = (redis_bloom){ .memory = memory, .options = options, .growth = growth };
}

tamis_status redis_bloom_append(redis_bloom *b, const redis_bloom_link *like)
{
    redis_bloom_link l = *like;
    redis_bloom_link *links;

    if (!redis_bloom_link_is_valid(like) || b->n == REDIS_BLOOM_LINKS_MAX)
        return TAMIS_CORRUPT;
    links = block_make_room(b->memory, b->links, b->n, &b->room, sizeof *links);
    if (!links)
        return TAMIS_NOMEM;
    b->links = links;
    l.array = l.bytes <= PTRDIFF_MAX ? b->memory.alloc(b->memory.ctx, (size_t)l.bytes) : NULL;
    if (!l.array)
        return TAMIS_NOMEM;
    zero_block(l.array, (size_t)l.bytes);
    l.used = l.power ? UINT64_C(1) << l.power : l.bits;
    l.reciprocal = UINT64_MAX / l.used;
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
            memcpy(b->links[i].array, from->links[i].array, (size_t)from->links[i].bytes);
    }
    b->size = from->size;
    if (status)
        redis_bloom_clear(b);
    return status;
}

void redis_bloom_clear(redis_bloom *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        b->memory.free(b->memory.ctx, b->links[i].array, (size_t)b->links[i].bytes);
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
enum { AHEAD_BYTES = 128 << 10 };

/* Bits of an item that are asked for ahead. Of the last link all, up to the usual number: half of
 * the items are in it. Items that are not in a link differ from it in one of the first bits. */
enum { AHEAD_LAST = 8, AHEAD_OTHERS = 3 };

/* So many items before it is looked at. More would push out what was asked for first. */
enum { AHEAD_ITEMS = 8 };

static uint32_t redis_bloom_ahead(const redis_bloom *b, const redis_bloom_link *l)
{
    uint32_t bits = l == &b->links[b->n - 1] ? AHEAD_LAST : AHEAD_OTHERS;

    if (l->bytes < AHEAD_BYTES)
        return 0;
    return bits < l->hashes ? bits : l->hashes;
}

static inline void redis_bloom_prefetch(const redis_bloom_link *l, redis_bloom_hash h,
                                        uint32_t bits)
{
    for (uint32_t i = 0; i < bits; i++)
        __builtin_prefetch(&l->array[redis_bloom_at(l, h, i) >> 3]);
}

/* Marks the items that are in this link. */
static void redis_bloom_link_find(const redis_bloom_link *l, uint32_t ahead, bool *found,
                                  const redis_bloom_hash *hashes, size_t n)
{
    for (size_t i = 0; i < n + AHEAD_ITEMS; i++) {
        size_t now = i - AHEAD_ITEMS;

        if (i < n && !found[i])
            redis_bloom_prefetch(l, hashes[i], ahead);
        if (i >= AHEAD_ITEMS && !found[now])
            found[now] = redis_bloom_link_has(l, hashes[now]);
    }
}

/* Which items are in one of the first `links` links, the newest of them first. */
static void redis_bloom_find(const redis_bloom *b, uint32_t links, bool *found,
                             const redis_bloom_hash *hashes, size_t n)
{
    memset(found, false, n * sizeof *found);
    for (uint32_t at = links; at-- > 0;)
        redis_bloom_link_find(&b->links[at], redis_bloom_ahead(b, &b->links[at]), found, hashes, n);
}

void redis_bloom_has_many(const redis_bloom *b, bool *found, const redis_bloom_hash *hashes,
                          size_t n)
{
    redis_bloom_find(b, b->n, found, hashes, n);
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

/* Which of them are in older links is asked at once. What is in the last one is found out when its
 * bits are set there; after another link was appended, every link is asked again. */
tamis_status redis_bloom_add_many(redis_bloom *b, bool *added, size_t *done,
                                  const redis_bloom_hash *hashes, size_t n)
{
    bool found[REDIS_BLOOM_BATCH];
    uint32_t links = b->n, ahead = redis_bloom_ahead(b, &b->links[links - 1]);
    tamis_status status = TAMIS_OK;

    redis_bloom_find(b, links - 1, found, hashes, n);
    *done = 0;
    for (size_t i = 0; i < n + AHEAD_ITEMS && !status; i++) {
        if (i < n && !found[i])
            redis_bloom_prefetch(&b->links[links - 1], hashes[i], ahead);
        if (i < AHEAD_ITEMS)
            continue;
        added[*done] = false;
        if (!found[*done] && (b->n == links || !redis_bloom_has(b, hashes[*done])))
            status = redis_bloom_add_new(b, hashes[*done], &added[*done]);
        *done += !status;
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
            *size = (size_t)(l->bytes - offset);
            return l->array + offset;
        }
        offset -= l->bytes;
    }
    return NULL;
}
