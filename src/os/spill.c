/* spill.c - items on their way to a filter: in memory as long as they fit, then in a file.
 *
 * The file is a row of chunks, each of items that go to the same bucket. It is written from start
 * to end, a chunk at a time; a table in memory, of four bytes per chunk, links those of a bucket:
 *
 *   file     | 3 | 0 | 3 | 1 | ...      next[0] = 2
 *   buffers  | 0 | 1 | 2 | 3 |          what does not make a chunk yet
 *
 * It has no name, so that nothing is left of it whatever ends the program. */
#include "os/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parts.h"
#include "base/sort.h"
#include "core/memory.h"
#include "os/file.h"
#include "os/pages.h"

/* Bytes: long enough for a disk that must seek and, times SPILL_BUCKETS, short enough for little
 * memory. */
enum { CHUNK_MIN = 4 << 10, CHUNK_MAX = 256 << 10 };

/* Items that there is room for at first. */
enum { ROOM_MIN = 64 << 10 };

/* ---- Life -------------------------------------------------------------- */

static size_t spill_item_size(const spill *s)
{
    return s->words * sizeof(uint64_t);
}

static unsigned spill_bits(const spill *s)
{
    return s->keeps_order ? 0 : SPILL_BUCKET_BITS;
}

static size_t spill_chunk_size(uint64_t memory)
{
    uint64_t share = memory / 8 / SPILL_BUCKETS / CHUNK_MIN * CHUNK_MIN;

    if (memory == 0 || share > CHUNK_MAX)
        return CHUNK_MAX;
    return share < CHUNK_MIN ? CHUNK_MIN : (size_t)share;
}

void tamis__spill_open(spill *s, const tamis *memory_of, uint64_t memory, const char *dir,
                       unsigned words, bool keeps_order)
{
    *s = (spill){ .words = words,
                  .keeps_order = keeps_order,
                  .memory = memory,
                  .dir = dir,
                  .memory_of = memory_of,
                  .fd = -1 };
    s->chunk = spill_chunk_size(memory) / spill_item_size(s);
}

static size_t spill_buffers_size(const spill *s)
{
    return s->chunk * spill_item_size(s) << spill_bits(s);
}

/* Of the buckets and their buffers. */
static size_t spill_buckets_size(const spill *s)
{
    return spill_buffers_size(s) + (sizeof *s->buckets << spill_bits(s));
}

static uint64_t *spill_buffer(const spill *s, size_t bucket)
{
    uint64_t *buffers = (uint64_t *)(s->buckets + ((size_t)1 << spill_bits(s)));

    return buffers + bucket * s->chunk * s->words;
}

static void spill_free(const spill *s, void *block, uint64_t size)
{
    if (block)
        tamis__scratch_free(s->memory_of, block, size);
}

static void spill_free_items(spill *s)
{
    spill_free(s, s->items, s->room * spill_item_size(s));
    s->items = NULL;
    s->room = 0;
}

static void spill_close_file(spill *s)
{
    int error = errno;

    if (s->fd >= 0)
        close(s->fd); /* its items were read again, or nobody wants them */
    spill_free(s, s->buckets, spill_buckets_size(s));
    spill_free(s, s->next, (uint64_t)s->next_room * sizeof *s->next);
    s->buckets = NULL;
    s->next = NULL;
    s->chunks = s->next_room = 0;
    s->fd = -1;
    errno = error;
}

void tamis__spill_close(spill *s)
{
    spill_close_file(s);
    spill_free_items(s);
}

/* A larger block with the same first bytes; large ones of the default allocator are not copied. */
static void *spill_grow(const spill *s, void *block, uint64_t old_size, uint64_t size)
{
    bool is_default = s->memory_of->alloc.alloc == tamis__default_allocator.alloc;

    if (is_default && old_size >= TAMIS_ZEROED_SIZE)
        return size <= PTRDIFF_MAX ? tamis__pages_grow(block, (size_t)old_size, (size_t)size)
                                   : NULL;
    void *grown = tamis__scratch_new(s->memory_of, size);
    if (grown && block) {
        memcpy(grown, block, (size_t)old_size);
        spill_free(s, block, old_size);
    }
    return grown;
}

/* ---- The file ---------------------------------------------------------- */

/* Where a file without a name cannot be made, one loses its name at once. The default is not that
 * of small files, which is often kept in memory. */
static int spill_make_file(const spill *s)
{
    const char *given = s->dir ? s->dir : secure_getenv("TMPDIR");
    const char *dir = given && *given ? given : "/var/tmp", name[] = "/tamis-XXXXXX";
    size_t length = strlen(dir);
    int fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    char *path = tamis__scratch_new(s->memory_of, length + sizeof name);
    if (!path)
        return -1;
    memcpy(path, dir, length);
    memcpy(path + length, name, sizeof name);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    spill_free(s, path, length + sizeof name);
    return fd;
}

static tamis_status spill_open_file(spill *s)
{
    s->buckets = tamis__scratch_new(s->memory_of, spill_buckets_size(s));
    if (!s->buckets)
        return TAMIS_NOMEM;
    memset(s->buckets, 0, sizeof *s->buckets << spill_bits(s));
    s->fd = spill_make_file(s);
    return s->fd < 0 ? TAMIS_IO : TAMIS_OK;
}

static uint64_t spill_offset(const spill *s, uint32_t chunk)
{
    return (uint64_t)chunk * s->chunk * spill_item_size(s);
}

/* One more entry in the table. */
static bool spill_link_chunk(spill *s, spill_bucket *b)
{
    if (s->chunks == UINT32_MAX / 2)
        return false;
    if (s->chunks == s->next_room) {
        uint32_t room = 2 * s->next_room + 1024;
        uint32_t *next = spill_grow(s, s->next, (uint64_t)s->next_room * sizeof *next,
                                    (uint64_t)room * sizeof *next);
        if (!next)
            return false;
        s->next = next;
        s->next_room = room;
    }
    if (b->n > s->chunk)
        s->next[b->last] = s->chunks;
    else
        b->first = s->chunks;
    b->last = s->chunks++;
    return true;
}

/* A buffer that is full becomes a chunk. */
static tamis_status spill_put(spill *s, size_t bucket, const uint64_t *item)
{
    spill_bucket *b = &s->buckets[bucket];
    uint64_t *buffer = spill_buffer(s, bucket), *at = buffer + b->n++ % s->chunk * s->words;

    at[0] = item[0];
    if (s->words > 1)
        at[1] = item[1];
    if (b->n % s->chunk)
        return TAMIS_OK;
    if (!tamis__file_write(s->fd, spill_offset(s, s->chunks), buffer,
                           s->chunk * spill_item_size(s)))
        return TAMIS_IO;
    return spill_link_chunk(s, b) ? TAMIS_OK : TAMIS_NOMEM;
}

static tamis_status spill_add_to_file(spill *s, const uint64_t *items, size_t n)
{
    const uint64_t *end = items + n * s->words;
    const unsigned bits = spill_bits(s);
    tamis_status status = TAMIS_OK;

    for (; items < end && !status; items += s->words)
        status = spill_put(s, (size_t)part_of(*items, bits), items);
    return status;
}

tamis_status tamis__spill_to_file(spill *s)
{
    tamis_status status = spill_open_file(s);

    if (!status)
        status = spill_add_to_file(s, s->items, (size_t)s->n);
    if (status)
        spill_close_file(s);
    else
        spill_free_items(s);
    return status;
}

/* ---- Adding ------------------------------------------------------------ */

/* Half of the memory is for items: the buffers of the file, or whatever comes after, need some. Of
 * what the machine can address, a quarter at most. */
static size_t spill_most(const spill *s)
{
    uint64_t most = s->memory ? s->memory / 2 / spill_item_size(s) : UINT64_MAX;

    return most < SIZE_MAX / 64 ? (size_t)most : SIZE_MAX / 64;
}

static tamis_status spill_make_room(spill *s, size_t n)
{
    size_t size = spill_item_size(s), most = spill_most(s);
    size_t room = s->room ? s->room : ROOM_MIN;

    while (room < s->n + n)
        room *= 2;
    room = room < most ? room : most;
    if (room <= s->room)
        return TAMIS_OK;
    uint64_t *items = spill_grow(s, s->items, s->room * size, room * size);
    if (!items)
        return TAMIS_NOMEM;
    s->items = items;
    s->room = room;
    return TAMIS_OK;
}

tamis_status tamis__spill_add(spill *s, const uint64_t *items, size_t n)
{
    tamis_status status = TAMIS_OK;

    if (s->fd < 0)
        status = n > spill_most(s) - s->n ? tamis__spill_to_file(s) : spill_make_room(s, n);
    if (!status && s->fd >= 0)
        status = spill_add_to_file(s, items, n);
    else if (!status)
        memcpy(s->items + s->n * s->words, items, n * spill_item_size(s));
    if (!status)
        s->n += n;
    return status;
}

/* ---- Reading ----------------------------------------------------------- */

uint64_t tamis__spill_held(const spill *s)
{
    if (s->fd < 0)
        return s->n * spill_item_size(s);
    return spill_buffers_size(s) + (uint64_t)s->chunks * sizeof *s->next;
}

static const uint64_t *spill_read(const make_list *l, make_cursor *c, uint64_t *buffer, size_t *n)
{
    const spill *s = l->ctx;
    size_t bucket = c->next - 1;
    const spill_bucket *b = &s->buckets[bucket];

    *n = c->left < s->chunk ? (size_t)c->left : s->chunk;
    if (*n < s->chunk)
        return spill_buffer(s, bucket);
    uint32_t chunk = c->left == b->n ? b->first : s->next[c->chunk];
    c->chunk = chunk;
    bool is_read =
        tamis__file_read(s->fd, spill_offset(s, chunk), buffer, s->chunk * spill_item_size(s));
    return is_read ? buffer : NULL;
}

make_list tamis__spill_list(spill *s)
{
    make_list l = { .words = s->words, .bits = spill_bits(s), .n = s->n, .starts = s->starts };
    size_t buckets = (size_t)1 << l.bits, starts[SPILL_BUCKETS] = { 0 };

    if (s->fd < 0)
        tamis__sort_group(s->items, (size_t)s->n, s->words, 0, l.bits, starts);
    s->starts[0] = 0;
    for (size_t i = 0; i < buckets; i++)
        s->starts[i + 1] = s->fd >= 0        ? s->starts[i] + s->buckets[i].n
                           : i + 1 < buckets ? starts[i + 1]
                                             : s->n;
    l.items = s->fd < 0 ? s->items : NULL;
    l.read = s->fd < 0 ? NULL : spill_read;
    l.chunk = s->fd < 0 ? 0 : s->chunk;
    l.ctx = s;
    return l;
}
