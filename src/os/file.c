/* file.c - files as the library reads and writes them, and filters that are loaded or get a note.
 */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/note.h"

/* Linux moves at most 2 GiB in one call; pieces also keep a signal from costing much. */
static const size_t FILE_PIECE = (size_t)1 << 30;

/* ---- Files as sources and sinks ---------------------------------------- */

/* Moves all of a buffer by calls that may move less. */
static bool file_move(int fd, uint64_t offset, uint8_t *buf, size_t size, bool is_write)
{
    while (size > 0) {
        size_t piece = size < FILE_PIECE ? size : FILE_PIECE;
        ssize_t moved =
            is_write ? pwrite(fd, buf, piece, (off_t)offset) : pread(fd, buf, piece, (off_t)offset);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0) {
            /* The file was shortened since its size was asked for. */
            if (moved == 0)
                errno = EIO;
            return false;
        }
        buf += moved;
        offset += (uint64_t)moved;
        size -= (size_t)moved;
    }
    return true;
}

bool tamis__file_read(int fd, uint64_t offset, void *buf, size_t size)
{
    return file_move(fd, offset, buf, size, false);
}

bool tamis__file_write(int fd, uint64_t offset, const void *buf, size_t size)
{
    return file_move(fd, offset, (uint8_t *)(uintptr_t)buf, size, true);
}

bool tamis__file_read_source(const image_source *s, uint64_t offset, void *buf, size_t size)
{
    return tamis__file_read(s->fd, offset, buf, size);
}

/* Every byte is written as it is. */
static bool file_fill_holes(int fd, uint64_t size)
{
    uint8_t piece[4096];

    for (uint64_t at = 0, n; at < size; at += n) {
        n = size - at < sizeof piece ? size - at : sizeof piece;
        if (!tamis__file_read(fd, at, piece, (size_t)n) ||
            !tamis__file_write(fd, at, piece, (size_t)n))
            return false;
    }
    return true;
}

bool tamis__file_reserve(int fd, uint64_t size)
{
    int error;

    do
        error = posix_fallocate(fd, 0, (off_t)size);
    while (error == EINTR);
    /* A file system that knows no such call; some C libraries then do the same. */
    if (error == EINVAL || error == EOPNOTSUPP)
        return file_fill_holes(fd, size);
    if (error)
        errno = error;
    return !error;
}

void tamis__file_close(int fd)
{
    int saved = errno;

    /* What is to stay was synced before; the rest is dropped. */
    close(fd);
    errno = saved;
}

/* Only regular files can be filters. */
tamis_status tamis__file_source(image_source *s, int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return TAMIS_IO;
    if (!S_ISREG(st.st_mode))
        return TAMIS_FOREIGN;
    if ((uint64_t)st.st_size > SIZE_MAX / 2)
        return TAMIS_RANGE;
    *s = (image_source){ .read = tamis__file_read_source, .fd = fd, .size = (uint64_t)st.st_size };
    return TAMIS_OK;
}

/* O_NONBLOCK keeps a FIFO from hanging us before we know what it is. */
tamis_status tamis__file_open(image_source *s, const char *path, int mode)
{
    int fd = open(path, mode | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return errno == EISDIR ? TAMIS_FOREIGN : TAMIS_IO;
    tamis_status status = tamis__file_source(s, fd);
    if (status)
        tamis__file_close(fd);
    return status;
}

tamis_status tamis__file_is_named(int fd, const char *path)
{
    struct stat open, named;

    if (fstat(fd, &open) != 0)
        return TAMIS_IO;
    if (stat(path, &named) != 0)
        return errno == ENOENT ? TAMIS_BUSY : TAMIS_IO;
    return open.st_dev == named.st_dev && open.st_ino == named.st_ino ? TAMIS_OK : TAMIS_BUSY;
}

bool tamis__file_is_being_written(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return false;
}

/* The bytes that a writer changes before all others, and after. */
static void file_read_stamp(uint8_t stamp[IMAGE_HEADER], const image_source *s)
{
    memset(stamp, 0, IMAGE_HEADER);
    if (s->size >= IMAGE_HEADER)
        (void)tamis__file_read_source(s, 0, stamp, IMAGE_HEADER);
}

/* ---- Load -------------------------------------------------------------- */

/* Whether a refusal may be due to a writer that came or went while the file was read. */
static tamis_status file_load_once(tamis **out, const image_source *s, const tamis_allocator *a,
                                   bool *disturbed)
{
    uint8_t before[IMAGE_HEADER], after[IMAGE_HEADER];

    file_read_stamp(before, s);
    tamis_status status = tamis__image_decode(out, s, a);
    if (status == TAMIS_DIRTY && tamis__file_is_being_written(s->fd))
        status = TAMIS_BUSY;
    file_read_stamp(after, s);
    *disturbed = (status == TAMIS_CORRUPT || status == TAMIS_DIRTY) &&
                 memcmp(before, after, sizeof before) != 0;
    return *disturbed ? TAMIS_BUSY : status;
}

tamis_status tamis_load(tamis **out, const char *path, const tamis_allocator *a)
{
    image_source s;
    bool disturbed = true;
    tamis_status status = tamis__file_open(&s, path, O_RDONLY);

    if (status)
        return status;
    for (int tries = 0; tries < 3 && disturbed; tries++)
        status = file_load_once(out, &s, a, &disturbed);
    tamis__file_close(s.fd);
    return status;
}

/* ---- Parts ------------------------------------------------------------- */

tamis_status tamis_image_part(const tamis *f, uint64_t *sums, void *buf, size_t size,
                              uint64_t offset)
{
    return tamis__image_part(f, sums, buf, size, offset);
}

/* ---- Notes ------------------------------------------------------------- */

tamis_status tamis_set_note(tamis *f, const char *text, uint64_t time)
{
    size_t size = strlen(text);

    if (f->image)
        return TAMIS_READONLY;
    if (size > 0 && !tamis__note_is_text(text, size))
        return TAMIS_RANGE;
    f->note = (tamis_note){ .time = size > 0 ? time : 0 };
    memcpy(f->note.text, text, size);
    return TAMIS_OK;
}
