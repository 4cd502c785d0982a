/* spill.c - items on their way to a filter: in memory as long as they fit, then in a file.
 *
 * The file is a row of chunks, each of items that go to the same bucket. It is written from start
 * to end, a chunk at a time; a table in memory, of four bytes per chunk, links those of a bucket:
 *
 *   file     | 3 | 0 | 3 | 1 | ...      next[0] = 2
 *   buffers  | 0 | 1 | 2 | 3 |          what does not make a chunk yet
 *
 * It has no name, so that nothing is left of it whatever ends the program. */
#include "core/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pages.h"
#include "base/parts.h"
#include "base/sort.h"

/* Long enough for a disk that must seek, and, times BUCKETS, short enough for little memory. */
enum { CHUNK_MIN = 4 << 10, CHUNK_MAX = 256 << 10 };

/* What is taken first, of memory. */
enum { ROOM_MIN = 64 << 10 };

static size_t buckets_of(const spill *s)
{
    return s->ordered ? 1 : BUCKETS;
}

/* ---- Life -------------------------------------------------------------- */

/* Not the default of small files: that one is often kept in memory. */
static const char *default_dir(void)
{
    const char *dir = secure_getenv("TMPDIR");

    return dir && *dir ? dir : "/var/tmp";
}

static size_t item_size(const spill *s)
{
    return s->stride * sizeof(uint64_t);
}

static size_t chunk_size(const spill *s)
{
    uint64_t share = s->memory / 8 / BUCKETS / CHUNK_MIN * CHUNK_MIN;

    if (s->memory == 0 || share > CHUNK_MAX)
        return CHUNK_MAX;
    return share < CHUNK_MIN ? CHUNK_MIN : (size_t)share;
}

tamis_status tamis__spill_open(spill *s, uint64_t memory, const char *dir, unsigned stride,
                               bool ordered)
{
    *s = (spill){ .stride = stride, .ordered = ordered, .memory = memory, .fd = -1 };
    s->chunk = chunk_size(s) / item_size(s);
    s->dir = strdup(dir ? dir : default_dir());
    s->words = tamis__pages_new(ROOM_MIN * item_size(s));
    s->room = ROOM_MIN;
    if (s->dir && s->words)
        return TAMIS_OK;
    tamis__spill_close(s);
    return TAMIS_NOMEM;
}

static void free_words(spill *s)
{
    if (s->words)
        tamis__pages_free(s->words, s->room * item_size(s));
    s->words = NULL;
}

static size_t buffers_size(const spill *s)
{
    return buckets_of(s) * s->chunk * item_size(s);
}

static void close_file(spill *s)
{
    int saved = errno;

    if (s->fd >= 0)
        close(s->fd);
    if (s->buffers)
        tamis__pages_free(s->buffers, buffers_size(s));
    free(s->buckets);
    free(s->next);
    s->buffers = NULL;
    s->buckets = NULL;
    s->next = NULL;
    s->fd = -1;
    errno = saved;
}

void tamis__spill_close(spill *s)
{
    close_file(s);
    free_words(s);
    free(s->dir);
    s->dir = NULL;
}

/* ---- The file ---------------------------------------------------------- */

/* Where a file without a name cannot be made, one loses its name at once. */
static int unnamed_file(const char *dir)
{
    char *path;
    int fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    if (asprintf(&path, "%s/tamis-XXXXXX", dir) < 0)
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

static tamis_status open_file(spill *s)
{
    size_t n = buckets_of(s);

    s->buckets = calloc(n, sizeof *s->buckets);
    s->buffers = tamis__pages_new(buffers_size(s));
    s->chunks = 0;
    if (!s->buckets || !s->buffers)
        return TAMIS_NOMEM;
    for (size_t i = 0; i < n; i++)
        s->buckets[i].buffer = s->buffers + i * s->chunk * s->stride;
    s->fd = unnamed_file(s->dir);
    return s->fd < 0 ? TAMIS_IO : TAMIS_OK;
}

static off_t offset_of(const spill *s, uint32_t chunk)
{
    return (off_t)((uint64_t)chunk * s->chunk * item_size(s));
}

static bool write_all(const spill *s, const uint64_t *words)
{
    const uint8_t *at = (const uint8_t *)words, *end = at + s->chunk * item_size(s);
    off_t offset = offset_of(s, s->chunks);

    while (at < end) {
        ssize_t put = pwrite(s->fd, at, (size_t)(end - at), offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            errno = put < 0 ? errno : EIO;
            return false;
        }
        at += put;
        offset += put;
    }
    return true;
}

static bool read_all(const spill *s, uint32_t chunk, uint64_t *words, size_t n)
{
    uint8_t *at = (uint8_t *)words, *end = at + n * item_size(s);
    off_t offset = offset_of(s, chunk);

    while (at < end) {
        ssize_t got = pread(s->fd, at, (size_t)(end - at), offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got < 0 ? errno : EIO;
            return false;
        }
        at += got;
        offset += got;
    }
    return true;
}

/* One more entry in the table, which doubles at powers of two. */
static bool link_chunk(spill *s, spill_bucket *b)
{
    uint32_t chunk = s->chunks;

    if (chunk == UINT32_MAX)
        return false;
    if ((chunk & (chunk - 1)) == 0) {
        uint32_t *next = realloc(s->next, ((size_t)chunk * 2 + 1) * sizeof *next);
        if (!next)
            return false;
        s->next = next;
    }
    if (b->n > s->chunk)
        s->next[b->last] = chunk;
    else
        b->first = chunk;
    b->last = chunk;
    s->chunks++;
    return true;
}

/* The buffer is full: it becomes a chunk. */
static tamis_status write_chunk(spill *s, spill_bucket *b)
{
    if (!write_all(s, b->buffer))
        return TAMIS_IO;
    return link_chunk(s, b) ? TAMIS_OK : TAMIS_NOMEM;
}

static tamis_status put(spill *s, spill_bucket *b, const uint64_t *item)
{
    uint64_t *at = b->buffer + b->n++ % s->chunk * s->stride;

    at[0] = item[0];
    if (s->stride > 1)
        at[1] = item[1];
    return b->n % s->chunk ? TAMIS_OK : write_chunk(s, b);
}

static tamis_status add_to_file(spill *s, const uint64_t *words, size_t n)
{
    unsigned bits = s->ordered ? 0 : BUCKET_BITS;
    tamis_status status = TAMIS_OK;

    for (const uint64_t *end = words + n * s->stride; words < end && !status; words += s->stride)
        status = put(s, &s->buckets[part_of(*words, bits)], words);
    return status;
}

tamis_status tamis__spill_to_file(spill *s)
{
    tamis_status status = open_file(s);

    if (!status)
        status = add_to_file(s, s->words, (size_t)s->n);
    if (status)
        close_file(s);
    else
        free_words(s);
    return status;
}

/* ---- Adding ------------------------------------------------------------ */

/* Half of the memory: the buffers of the file, or whatever comes after, need some too. */
static bool fits(const spill *s, size_t n)
{
    return s->memory == 0 || s->n + n <= s->memory / 2 / item_size(s);
}

static bool make_room(spill *s, size_t n)
{
    size_t room = s->room;

    if (n > SIZE_MAX / 64 - s->n)
        return false;
    while (room < s->n + n)
        room *= 2;
    if (room == s->room)
        return true;
    uint64_t *words = tamis__pages_grow(s->words, s->room * item_size(s), room * item_size(s));
    if (!words)
        return false;
    s->words = words;
    s->room = room;
    return true;
}

tamis_status tamis__spill_add(spill *s, const uint64_t *words, size_t n)
{
    tamis_status status = TAMIS_OK;

    if (s->words && !fits(s, n))
        status = tamis__spill_to_file(s);
    else if (s->words && !make_room(s, n))
        status = TAMIS_NOMEM;
    if (status)
        return status;
    if (s->words)
        memcpy(s->words + s->n * s->stride, words, n * item_size(s));
    else
        status = add_to_file(s, words, n);
    if (!status)
        s->n += n;
    return status;
}

/* ---- Reading ----------------------------------------------------------- */

uint64_t tamis__spill_held(const spill *s)
{
    if (s->words)
        return s->n * item_size(s);
    return buffers_size(s) + s->chunks * sizeof *s->next;
}

void tamis__spill_group(spill *s)
{
    if (!s->words)
        return;
    if (s->stride > 1)
        tamis__sort_group_pairs(s->words, (size_t)s->n, 0, BUCKET_BITS, s->starts);
    else
        tamis__sort_group(s->words, (size_t)s->n, 0, BUCKET_BITS, s->starts);
}

uint64_t tamis__spill_count(const spill *s, size_t bucket)
{
    return s->words ? s->starts[bucket + 1] - s->starts[bucket] : s->buckets[bucket].n;
}

static size_t piece_of(const spill *s, uint64_t left)
{
    return left < s->chunk ? (size_t)left : s->chunk;
}

spill_cursor tamis__spill_start(const spill *s, size_t bucket)
{
    uint64_t left = s->ordered ? s->n : tamis__spill_count(s, bucket);

    return (spill_cursor){ .left = left,
                           .bucket = bucket,
                           .end = (size_t)(s->ordered ? s->n : s->starts[bucket + 1]),
                           .chunk = s->words ? 0 : s->buckets[bucket].first,
                           .piece = piece_of(s, left) };
}

bool tamis__spill_read(const spill *s, spill_cursor *c, uint64_t *to)
{
    if (s->words)
        memcpy(to, s->words + (c->end - c->left) * s->stride, c->piece * item_size(s));
    else if (c->piece < s->chunk)
        memcpy(to, s->buckets[c->bucket].buffer, c->piece * item_size(s));
    else if (!read_all(s, c->chunk, to, c->piece))
        return false;
    /* The last chunk has no next one. */
    if (!s->words && c->chunk != s->buckets[c->bucket].last)
        c->chunk = s->next[c->chunk];
    c->left -= c->piece;
    c->piece = piece_of(s, c->left);
    return true;
}
