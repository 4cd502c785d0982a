/* redis_cuckoo.c - cuckoo filters with the slots of RedisBloom. */
#include "redis_cuckoo.h"

#include <string.h>

#include "block.h"
#include "murmur.h"

/* No machine has more slots, and sums of two such numbers do not overflow. */
#define SLOTS_MAX (UINT64_C(1) << 45)

/* ---- Places ------------------------------------------------------------ */

static uint64_t redis_cuckoo_round_up(uint64_t x)
{
    uint64_t power = 1;

    while (power < x)
        power *= 2;
    return power;
}

/* Buckets of a table. redis_cuckoo_append() has checked that there are no more than fit. */
static uint64_t redis_cuckoo_buckets(const redis_cuckoo *c, uint32_t table)
{
    uint64_t buckets = c->buckets;

    if (c->expansion > 1)
        buckets <<= (unsigned)__builtin_ctz(c->expansion) * table;
    return buckets;
}

static uint64_t redis_cuckoo_table_size(const redis_cuckoo *c, uint32_t table)
{
    return redis_cuckoo_buckets(c, table) * c->bucket_size;
}

/* The other of the two buckets of a fingerprint, from either. */
static uint64_t redis_cuckoo_other(uint64_t at, unsigned char fingerprint)
{
    return at ^ fingerprint * UINT64_C(0x5bd1e995);
}

redis_cuckoo_hash redis_cuckoo_hash_of(const void *item, size_t size)
{
    uint64_t h = murmur64(item, size, 0);
    unsigned char fingerprint = (unsigned char)(h % 255 + 1);

    return (redis_cuckoo_hash){ h, redis_cuckoo_other(h, fingerprint), fingerprint };
}

static unsigned char *redis_cuckoo_bucket(const redis_cuckoo *c, uint32_t table, uint64_t at)
{
    return c->tables[table] + (at & (redis_cuckoo_buckets(c, table) - 1)) * c->bucket_size;
}

/* A slot of a bucket that holds this; 0 is an empty one. NULL if there is none. */
static unsigned char *redis_cuckoo_find(const redis_cuckoo *c, uint32_t table, uint64_t at,
                                        unsigned char what)
{
    return memchr(redis_cuckoo_bucket(c, table, at), what, c->bucket_size);
}

static unsigned char *redis_cuckoo_find_either(const redis_cuckoo *c, uint32_t table, uint64_t at,
                                               uint64_t other, unsigned char what)
{
    unsigned char *slot = redis_cuckoo_find(c, table, at, what);

    return slot ? slot : redis_cuckoo_find(c, table, other, what);
}

/* ---- Tables ------------------------------------------------------------ */

uint64_t redis_cuckoo_slots(const redis_cuckoo *c)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < c->n; i++)
        sum += redis_cuckoo_table_size(c, i);
    return sum;
}

/* Would so many tables be too many slots for any machine? */
static bool redis_cuckoo_fits(const redis_cuckoo *c, uint64_t tables)
{
    unsigned shift = c->expansion > 1 ? (unsigned)__builtin_ctz(c->expansion) : 0;

    if (c->buckets > SLOTS_MAX / c->bucket_size)
        return false;
    if (shift == 0)
        return tables <= SLOTS_MAX / (c->buckets * c->bucket_size);
    return shift * (tables - 1) < 45 &&
           c->buckets * c->bucket_size <= SLOTS_MAX >> shift * (tables - 1);
}

static tamis_status redis_cuckoo_append(redis_cuckoo *c)
{
    unsigned char *table, **tables;
    uint64_t size;

    if (c->n == REDIS_CUCKOO_TABLES_MAX || !redis_cuckoo_fits(c, (uint64_t)c->n + 1))
        return TAMIS_RANGE;
    tables = block_make_room(c->memory, c->tables, c->n, &c->room, sizeof *tables);
    if (!tables)
        return TAMIS_NOMEM;
    c->tables = tables;
    size = redis_cuckoo_table_size(c, c->n);
    table = size <= PTRDIFF_MAX ? c->memory.alloc(c->memory.ctx, (size_t)size) : NULL;
    if (!table)
        return TAMIS_NOMEM;
    zero_block(table, (size_t)size);
    c->tables[c->n++] = table;
    return TAMIS_OK;
}

static void redis_cuckoo_drop_last(redis_cuckoo *c)
{
    c->n--;
    c->memory.free(c->memory.ctx, c->tables[c->n], (size_t)redis_cuckoo_table_size(c, c->n));
}

void redis_cuckoo_clear(redis_cuckoo *c)
{
    while (c->n > 0)
        redis_cuckoo_drop_last(c);
    if (c->room)
        c->memory.free(c->memory.ctx, c->tables, c->room * sizeof *c->tables);
    c->room = 0;
}

/* Can these numbers be those of a filter? Every number that another machine sent passes here. */
static bool redis_cuckoo_is_valid(const redis_cuckoo_header *h)
{
    if (h->bucket_size < 1 || h->bucket_size > 255)
        return false;
    if (h->max_iterations < 1 || h->max_iterations > 65535)
        return false;
    if (h->expansion > 32768 || (h->expansion & (h->expansion - 1)))
        return false;
    if (h->buckets == 0 || (h->buckets & (h->buckets - 1)))
        return false;
    return h->tables >= 1 && h->tables <= (h->expansion ? REDIS_CUCKOO_TABLES_MAX : 1);
}

tamis_status redis_cuckoo_make(redis_cuckoo *c, tamis_allocator memory,
                               const redis_cuckoo_header *h)
{
    tamis_status status = TAMIS_OK;

    if (!redis_cuckoo_is_valid(h))
        return TAMIS_CORRUPT;
    *c = (redis_cuckoo){ .memory = memory,
                         .buckets = h->buckets,
                         .items = h->items,
                         .deletes = h->deletes,
                         .bucket_size = (uint16_t)h->bucket_size,
                         .max_iterations = (uint16_t)h->max_iterations,
                         .expansion = (uint16_t)h->expansion };
    if (!redis_cuckoo_fits(c, h->tables))
        return TAMIS_CORRUPT;
    for (uint64_t i = 0; i < h->tables && !status; i++)
        status = redis_cuckoo_append(c);
    if (!status && h->items > redis_cuckoo_slots(c))
        status = TAMIS_CORRUPT;
    if (status)
        redis_cuckoo_clear(c);
    return status;
}

tamis_status redis_cuckoo_init(redis_cuckoo *c, tamis_allocator memory, uint64_t capacity,
                               uint16_t bucket_size, uint16_t max_iterations, uint16_t expansion)
{
    redis_cuckoo_header h = { .tables = 1,
                              .bucket_size = bucket_size,
                              .max_iterations = max_iterations };

    if (capacity > SLOTS_MAX)
        return TAMIS_RANGE;
    h.buckets = redis_cuckoo_round_up(capacity / bucket_size);
    h.expansion = expansion ? redis_cuckoo_round_up(expansion) : 0;
    return redis_cuckoo_make(c, memory, &h);
}

tamis_status redis_cuckoo_copy(redis_cuckoo *c, tamis_allocator memory, const redis_cuckoo *from)
{
    redis_cuckoo_header h = redis_cuckoo_header_of(from);
    tamis_status status = redis_cuckoo_make(c, memory, &h);

    for (uint32_t i = 0; i < from->n && !status; i++)
        memcpy(c->tables[i], from->tables[i], (size_t)redis_cuckoo_table_size(from, i));
    return status;
}

/* ---- Items ------------------------------------------------------------- */

/* The newest tables hold most; asking for more would push them out again. */
enum { PREFETCHED_TABLES = 2 };

void redis_cuckoo_prefetch(const redis_cuckoo *c, const redis_cuckoo_hash *hashes, size_t n)
{
    uint32_t tables = c->n < PREFETCHED_TABLES ? c->n : PREFETCHED_TABLES;

    for (size_t i = 0; i < n; i++)
        for (uint32_t t = c->n - tables; t < c->n; t++) {
            __builtin_prefetch(redis_cuckoo_bucket(c, t, hashes[i].first));
            __builtin_prefetch(redis_cuckoo_bucket(c, t, hashes[i].second));
        }
}

bool redis_cuckoo_has(const redis_cuckoo *c, redis_cuckoo_hash h)
{
    for (uint32_t t = c->n; t-- > 0;)
        if (redis_cuckoo_find_either(c, t, h.first, h.second, h.fingerprint))
            return true;
    return false;
}

static uint64_t redis_cuckoo_count_in(const unsigned char *bucket, uint16_t size,
                                      unsigned char fingerprint)
{
    uint64_t n = 0;

    for (uint16_t i = 0; i < size; i++)
        n += bucket[i] == fingerprint;
    return n;
}

/* In small tables, both buckets of an item may be one. */
uint64_t redis_cuckoo_count(const redis_cuckoo *c, redis_cuckoo_hash h)
{
    uint64_t n = 0;

    for (uint32_t t = 0; t < c->n; t++) {
        const unsigned char *first = redis_cuckoo_bucket(c, t, h.first);
        const unsigned char *second = redis_cuckoo_bucket(c, t, h.second);

        n += redis_cuckoo_count_in(first, c->bucket_size, h.fingerprint);
        if (second != first)
            n += redis_cuckoo_count_in(second, c->bucket_size, h.fingerprint);
    }
    return n;
}

/* Takes a fingerprint into the slot of another, which goes to its other bucket, and so on. Which
 * slot is taken goes round, from the first one on. */
typedef struct redis_cuckoo_chain {
    uint64_t at;
    uint16_t slot;
    unsigned char fingerprint; /* the one without a place */
} redis_cuckoo_chain;

static void redis_cuckoo_swap(const redis_cuckoo *c, redis_cuckoo_chain *chain)
{
    unsigned char *slot = redis_cuckoo_bucket(c, c->n - 1, chain->at) + chain->slot;
    unsigned char there = *slot;

    *slot = chain->fingerprint;
    chain->fingerprint = there;
}

static void redis_cuckoo_undo(const redis_cuckoo *c, redis_cuckoo_chain *chain, uint32_t swaps)
{
    for (; swaps > 0; swaps--) {
        chain->slot = (uint16_t)((chain->slot + c->bucket_size - 1u) % c->bucket_size);
        chain->at = redis_cuckoo_other(chain->at, chain->fingerprint);
        redis_cuckoo_swap(c, chain);
    }
}

static bool redis_cuckoo_evict(const redis_cuckoo *c, redis_cuckoo_hash h)
{
    redis_cuckoo_chain chain = { h.first, 0, h.fingerprint };
    unsigned char *empty;

    for (uint32_t swaps = 0; swaps < c->max_iterations; swaps++) {
        redis_cuckoo_swap(c, &chain);
        chain.at = redis_cuckoo_other(chain.at, chain.fingerprint);
        chain.slot = (uint16_t)((chain.slot + 1u) % c->bucket_size);
        empty = redis_cuckoo_find(c, c->n - 1, chain.at, 0);
        if (empty) {
            *empty = chain.fingerprint;
            return true;
        }
    }
    redis_cuckoo_undo(c, &chain, c->max_iterations);
    return false;
}

static bool redis_cuckoo_put(const redis_cuckoo *c, redis_cuckoo_hash h)
{
    for (uint32_t t = c->n; t-- > 0;) {
        unsigned char *empty = redis_cuckoo_find_either(c, t, h.first, h.second, 0);

        if (empty) {
            *empty = h.fingerprint;
            return true;
        }
    }
    return redis_cuckoo_evict(c, h);
}

tamis_status redis_cuckoo_add(redis_cuckoo *c, redis_cuckoo_hash h, uint32_t max_tables)
{
    tamis_status status = TAMIS_OK;

    if (!redis_cuckoo_put(c, h)) {
        if (c->expansion == 0)
            return TAMIS_FULL;
        status = c->n < max_tables ? redis_cuckoo_append(c) : TAMIS_RANGE;
        if (!status)
            redis_cuckoo_bucket(c, c->n - 1, h.first)[0] = h.fingerprint;
    }
    c->items += !status;
    return status;
}

/* ---- Removing ---------------------------------------------------------- */

/* Tables a fingerprint may move to: as many as filters have by default. There can be 65,536, and a
 * compaction that tried them all would take minutes. */
enum { COMPACTED_TABLES = 32 };

/* Moves one fingerprint to the oldest table that has a place for it. */
static bool redis_cuckoo_move_down(const redis_cuckoo *c, uint32_t table, uint64_t at,
                                   unsigned char *slot)
{
    uint64_t other = redis_cuckoo_other(at, *slot);

    for (uint32_t t = 0; t < table && t < COMPACTED_TABLES; t++) {
        unsigned char *empty = redis_cuckoo_find_either(c, t, at, other, 0);

        if (empty) {
            *empty = *slot;
            *slot = 0;
            return true;
        }
    }
    return false;
}

/* True if nothing is left in the table. */
static bool redis_cuckoo_empty_table(const redis_cuckoo *c, uint32_t table)
{
    uint64_t buckets = redis_cuckoo_buckets(c, table);
    bool is_empty = true;

    for (uint64_t at = 0; at < buckets; at++) {
        unsigned char *bucket = redis_cuckoo_bucket(c, table, at);

        for (uint16_t i = 0; i < c->bucket_size; i++)
            if (bucket[i] && !redis_cuckoo_move_down(c, table, at, &bucket[i]))
                is_empty = false;
    }
    return is_empty;
}

void redis_cuckoo_compact(redis_cuckoo *c)
{
    for (uint32_t t = c->n; t-- > 1;)
        if (redis_cuckoo_empty_table(c, t) && t == c->n - 1)
            redis_cuckoo_drop_last(c);
    c->deletes = 0;
}

bool redis_cuckoo_remove(redis_cuckoo *c, redis_cuckoo_hash h)
{
    unsigned char *slot = NULL;

    for (uint32_t t = c->n; t-- > 0 && !slot;)
        slot = redis_cuckoo_find_either(c, t, h.first, h.second, h.fingerprint);
    if (!slot)
        return false;
    *slot = 0;
    c->items -= c->items > 0;
    c->deletes++;
    if (c->n > 1 && c->deletes > c->items / 10)
        redis_cuckoo_compact(c);
    return true;
}

/* ---- Dumps ------------------------------------------------------------- */

redis_cuckoo_header redis_cuckoo_header_of(const redis_cuckoo *c)
{
    return (redis_cuckoo_header){ .items = c->items,
                                  .buckets = c->buckets,
                                  .deletes = c->deletes,
                                  .tables = c->n,
                                  .bucket_size = c->bucket_size,
                                  .max_iterations = c->max_iterations,
                                  .expansion = c->expansion };
}

void redis_cuckoo_write_header(const redis_cuckoo *c, unsigned char *bytes)
{
    bytes_put(bytes, c->items, 8);
    bytes_put(bytes + 8, c->buckets, 8);
    bytes_put(bytes + 16, c->deletes, 8);
    bytes_put(bytes + 24, c->n, 8);
    bytes_put(bytes + 32, c->bucket_size, 2);
    bytes_put(bytes + 34, c->max_iterations, 2);
    bytes_put(bytes + 36, c->expansion, 2);
}

redis_cuckoo_header redis_cuckoo_read_header(const unsigned char *bytes)
{
    return (redis_cuckoo_header){ .items = bytes_get(bytes, 8),
                                  .buckets = bytes_get(bytes + 8, 8),
                                  .deletes = bytes_get(bytes + 16, 8),
                                  .tables = bytes_get(bytes + 24, 8),
                                  .bucket_size = bytes_get(bytes + 32, 2),
                                  .max_iterations = bytes_get(bytes + 34, 2),
                                  .expansion = bytes_get(bytes + 36, 2) };
}

/* Tables of one size may be many thousands, and are not counted through; larger and larger ones are
 * a few dozen at most. */
unsigned char *redis_cuckoo_array(const redis_cuckoo *c, uint64_t offset, size_t *size)
{
    uint64_t bytes = redis_cuckoo_table_size(c, 0);
    uint64_t t = c->expansion <= 1 ? offset / bytes : 0;

    offset -= t * bytes;
    for (; t < c->n; t++) {
        bytes = redis_cuckoo_table_size(c, (uint32_t)t);
        if (offset < bytes) {
            *size = (size_t)(bytes - offset);
            return c->tables[t] + offset;
        }
        offset -= bytes;
    }
    return NULL;
}
