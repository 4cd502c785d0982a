/* file.c - save, load, map: everything that touches the operating system.
 *
 * A save is written beside its target, synced, then renamed over it, and the directory is synced:
 * after a crash the name stands for the old file or for the new one, whole. An fsync that failed is
 * never tried again, because the kernel may have dropped the pages that it could not write.
 *
 * A writable map changes the file itself, which is safe for payloads whose bits are only ever set:
 * whatever part of the changes reaches the disk, no key of the last sync is lost. The header says
 * "dirty" from before the first change until after the last. */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
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

static bool file_read_source(const image_source *s, uint64_t offset, void *buf, size_t size)
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
    *s = (image_source){ .read = file_read_source, .fd = fd, .size = (uint64_t)st.st_size };
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

/* Writers of maps hold the lock as long as they live. */
static bool file_is_being_written(int fd)
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
        (void)file_read_source(s, 0, stamp, IMAGE_HEADER);
}

/* ---- Load -------------------------------------------------------------- */

/* Whether a refusal may be due to a writer that came or went while the file was read. */
static tamis_status file_load_once(tamis **out, const image_source *s, const tamis_allocator *a,
                                   bool *disturbed)
{
    uint8_t before[IMAGE_HEADER], after[IMAGE_HEADER];

    file_read_stamp(before, s);
    tamis_status status = tamis__image_decode(out, s, a);
    if (status == TAMIS_DIRTY && file_is_being_written(s->fd))
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

/* ---- Save -------------------------------------------------------------- */

static bool file_is_keyed_filter(const char *path)
{
    image_source s;
    image_header h;

    if (tamis__file_open(&s, path, O_RDONLY))
        return false;
    bool keyed = tamis__header_read(&h, &s) == TAMIS_OK && h.plan.hasher.hash == TAMIS_KEYED;
    tamis__file_close(s.fd);
    return keyed;
}

static bool file_find_target(file_save *p, const char *path)
{
    struct stat st;

    if (!realpath(path, p->target)) {
        /* A link to nothing is not followed, and not replaced either. */
        if (errno != ENOENT || (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)))
            return false;
        if (strlen(path) >= sizeof p->target) {
            errno = ENAMETOOLONG;
            return false;
        }
        strcpy(p->target, path);
    }
    const char *slash = strrchr(p->target, '/');
    p->dir = slash ? (size_t)(slash - p->target) + 1 : 0;
    p->replaces = stat(p->target, &st) == 0;
    /* A device or a FIFO is not a file to be replaced by one. */
    if (p->replaces && !S_ISREG(st.st_mode)) {
        errno = EINVAL;
        return false;
    }
    if (p->replaces) {
        p->mode = st.st_mode & 07777;
        p->owner = st.st_uid;
        p->group = st.st_gid;
    }
    return true;
}

/* ".name.tmp.", then random letters so that two savers never meet. Of a name as long as names can
 * be, a part has to do. */
static bool file_name_temp(file_save *p)
{
    uint64_t random;

    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return false;
    int n = snprintf(p->temp, sizeof p->temp, "%.*s.%.200s.tmp.%016llx", (int)p->dir, p->target,
                     p->target + p->dir, (unsigned long long)random);
    if (n < 0 || (size_t)n >= sizeof p->temp) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

/* By which name a descriptor can be given another. */
static void file_name_of_fd(char *name, size_t size, int fd)
{
    snprintf(name, size, "/proc/self/fd/%d", fd);
}

/* A file that is gone with the program, whatever ends it; or -1 where the file system or the
 * machine has no such thing. The name is cut to its folder meanwhile: a second one would take too
 * much of the stack. */
static int file_open_unnamed(file_save *p, mode_t mode)
{
    char name[32], cut = p->temp[p->dir];

    p->temp[p->dir] = '\0';
    int fd = open(p->dir ? p->temp : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    p->temp[p->dir] = cut;
    if (fd < 0)
        return -1;
    file_name_of_fd(name, sizeof name, fd);
    if (access(name, F_OK) == 0)
        return fd;
    close(fd); /* nothing was written */
    return -1;
}

static bool file_link(const file_save *p, const char *path)
{
    char name[32];

    file_name_of_fd(name, sizeof name, p->fd);
    return linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* Where there is nothing to replace, the target's name at once: a program that is killed leaves
 * nothing. Else a name to be renamed, which it leaves if it is killed before that. */
static bool file_give_name(file_save *p)
{
    if ((p->replaces && !p->must_be_new) || !file_link(p, p->target))
        return file_link(p, p->temp);
    strcpy(p->temp, p->target);
    return true;
}

static void file_unlink_quietly(const char *path)
{
    int saved = errno;

    unlink(path);
    errno = saved;
}

static bool file_rename(const file_save *p)
{
    if (!p->must_be_new || strcmp(p->temp, p->target) == 0)
        return rename(p->temp, p->target) == 0;
    if (renameat2(AT_FDCWD, p->temp, AT_FDCWD, p->target, RENAME_NOREPLACE) == 0)
        return true;
    /* A file system that does not know this way knows the other. */
    if (errno != EINVAL || link(p->temp, p->target) != 0)
        return false;
    file_unlink_quietly(p->temp);
    return true;
}

/* Only root may give a file away; others own what they replace or cannot keep its owner. Its group
 * can be kept by its members alone. Where it is lost, the mode is for another group: that one may
 * do no more than all others may. */
static mode_t file_keep_owner(const file_save *p, int fd, mode_t mode)
{
    if (fchown(fd, p->owner, p->group) == 0 || fchown(fd, (uid_t)-1, p->group) == 0)
        return mode;
    return mode & (~(mode_t)070 | (mode & 07) << 3);
}

/* The mode of what is replaced; else the usual one. But a secret is for its owner alone, unless it
 * replaces one that was shown to others on purpose. */
static int file_create_temp(file_save *p, bool is_secret)
{
    mode_t others = is_secret && !file_is_keyed_filter(p->target) ? 077 : 0;
    mode_t mode = is_secret || p->replaces ? 0600 : 0666;
    int fd = file_open_unnamed(p, mode);

    p->unnamed = fd >= 0;
    if (fd < 0)
        fd = open(p->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 || !p->replaces)
        return fd;
    if (fchmod(fd, file_keep_owner(p, fd, p->mode & ~others)) != 0) {
        tamis__file_close(fd);
        return -1;
    }
    return fd;
}

static bool file_sync_dir(file_save *p)
{
    if (p->dir == 0)
        strcpy(p->temp, ".");
    else
        p->temp[p->dir] = '\0';
    int fd = open(p->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    /* Some file systems cannot sync a directory, and need not. */
    bool synced = fsync(fd) == 0 || errno == EINVAL;
    tamis__file_close(fd);
    return synced;
}

tamis_status tamis__save_begin(file_save *p, const char *path, bool is_secret)
{
    p->must_be_new = false;
    if (!file_find_target(p, path) || !file_name_temp(p))
        return TAMIS_IO;
    p->fd = file_create_temp(p, is_secret);
    if (p->fd >= 0)
        return TAMIS_OK;
    if (!p->unnamed && p->replaces && errno != EEXIST)
        file_unlink_quietly(p->temp);
    return TAMIS_IO;
}

/* Writes all but the payload of an image of f, the header last. The payload is there: `written`, or
 * in a map that was synced, and then the header waits until the rest is on disk. */
static tamis_status file_seal(int fd, const tamis *f, const image_source *written)
{
    image_frame r;
    tamis_status status = tamis__frame_new(&r, f, written);

    if (status)
        return status;
    bool ok = tamis__file_write(fd, r.tail_at, r.tail, r.tail_size) &&
              (written || fsync(fd) == 0) && tamis__file_write(fd, 0, r.head, IMAGE_HEADER);
    tamis__frame_free(&r);
    return ok ? TAMIS_OK : TAMIS_IO;
}

tamis_status tamis__save_seal(const file_save *p, const tamis *f)
{
    const image_source written = { .read = file_read_source, .fd = p->fd };

    return file_seal(p->fd, f, &written);
}

/* Synced before it has any name. */
static bool file_finish(file_save *p)
{
    if (fsync(p->fd) == 0 && (!p->unnamed || file_give_name(p))) {
        p->unnamed = false;
        return close(p->fd) == 0;
    }
    tamis__file_close(p->fd);
    return false;
}

tamis_status tamis__save_end(file_save *p, tamis_status status)
{
    if (status)
        tamis__file_close(p->fd);
    else if (!file_finish(p) || !file_rename(p))
        status = p->must_be_new && errno == EEXIST ? TAMIS_BUSY : TAMIS_IO;
    if (status) {
        if (!p->unnamed)
            file_unlink_quietly(p->temp);
        return status;
    }
    return file_sync_dir(p) ? TAMIS_OK : TAMIS_UNSYNCED;
}

/* A file that is written from its first byte to its last. */
typedef struct file_stream {
    int fd;
    uint64_t at;
} file_stream;

static bool file_write_piece(void *ctx, const void *piece, size_t size)
{
    file_stream *s = ctx;
    uint64_t at = s->at;

    s->at += size;
    return tamis__file_write(s->fd, at, piece, size);
}

static tamis_status file_write_to(const file_save *p, const tamis *f)
{
    file_stream stream = { .fd = p->fd };

    /* Later adds would go to the file that lost its name. */
    if (f->fd >= 0 && tamis__file_is_named(f->fd, p->target) == TAMIS_OK) {
        errno = EBUSY;
        return TAMIS_IO;
    }
    return tamis_image_send(f, file_write_piece, &stream);
}

tamis_status tamis_save(const tamis *f, const char *path)
{
    file_save p;
    tamis_status status = tamis__save_begin(&p, path, f->plan.hasher.hash == TAMIS_KEYED);

    return status ? status : tamis__save_end(&p, file_write_to(&p, f));
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

/* ---- Map --------------------------------------------------------------- */

static void file_drop_map(tamis *f)
{
    /* A sync that fails shows in the file itself, which stays marked as dirty. */
    (void)!tamis_sync(f);
    munmap(f->block, f->block_size);
    if (f->fd >= 0)
        tamis__file_close(f->fd);
}

static tamis_status file_lock(const image_source *s)
{
    if (flock(s->fd, LOCK_EX | LOCK_NB) == 0)
        return TAMIS_OK;
    return errno == EWOULDBLOCK ? TAMIS_BUSY : TAMIS_IO;
}

tamis_status tamis__open_locked(image_source *s, const char *path)
{
    for (;;) {
        tamis_status status = tamis__file_open(s, path, O_RDWR);
        if (status)
            return status;
        status = file_lock(s);
        /* A save may have put another file under the name before this one was locked. */
        tamis_status named = status ? status : tamis__file_is_named(s->fd, path);
        if (!named)
            return TAMIS_OK;
        tamis__file_close(s->fd);
        if (status || named != TAMIS_BUSY)
            return named;
    }
}

/* Whether this header may be mapped that way. */
static tamis_status file_admit_map(const image_header *h, const image_source *s, unsigned flags)
{
    if (flags & TAMIS_MAP_WRITE) {
        if (!(tamis_kind_can(h->plan.kind) & TAMIS_CAN_READ_WHILE_ADD))
            return TAMIS_CANNOT;
        if (!tamis__header_is_ours(h))
            return TAMIS_NEWER;
        if (h->dirty && !(flags & TAMIS_MAP_RECOVER))
            return TAMIS_DIRTY;
        return tamis__file_reserve(s->fd, s->size) ? TAMIS_OK : TAMIS_IO;
    }
    return h->dirty && !file_is_being_written(s->fd) ? TAMIS_DIRTY : TAMIS_OK;
}

static tamis_status file_map_pages(tamis **out, const image_header *h, image_source s,
                                   unsigned flags, const tamis_allocator *a)
{
    int protection = flags & TAMIS_MAP_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
    void *block = mmap(NULL, (size_t)s.size, protection, MAP_SHARED, s.fd, 0);
    tamis *f;

    if (block == MAP_FAILED)
        return errno == ENOMEM ? TAMIS_NOMEM : TAMIS_IO;
    s.memory = block;
    tamis_status status = tamis__image_borrow(&f, h, &s, a);
    if (status) {
        munmap(block, (size_t)s.size);
        return status;
    }
    f->block = block;
    f->block_size = (size_t)s.size;
    f->drop = file_drop_map;
    *out = f;
    return TAMIS_OK;
}

/* The payload after a crash holds every synced key; what was counted since is estimated. */
static tamis_status file_recover_map(tamis *f)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    double estimate = rint(info.cardinality);
    /* Exact kinds do not estimate. */
    if (estimate > (double)f->count || !f->ops.rate)
        f->count = (uint64_t)estimate;
    if (f->ops.verify && f->ops.verify(f))
        return TAMIS_CORRUPT;
    return tamis_sync(f);
}

/* Whatever part of a header a failed write has left in the file: it is a whole one that says
 * "dirty" then, and can be recovered. Through the map, which needs no call that may fail. */
static void file_give_up(tamis *f)
{
    uint8_t header[IMAGE_HEADER];

    tamis__image_dirty_header(header, f);
    memcpy(f->block, header, sizeof header);
    __atomic_store_n(&f->lost, errno ? errno : EIO, __ATOMIC_RELEASE);
}

/* As at the time when it happened. */
static tamis_status file_is_lost(const tamis *f)
{
    int error = __atomic_load_n(&f->lost, __ATOMIC_ACQUIRE);

    if (!error)
        return TAMIS_OK;
    errno = error;
    return TAMIS_IO;
}

/* Marks the file as dirty, on disk, before its first change. Several threads may come here at once:
 * all write the same bytes, and none goes on before they are on disk. */
static tamis_status file_unseal_map(tamis *f)
{
    uint8_t header[IMAGE_HEADER];

    if (file_is_lost(f))
        return TAMIS_IO;
    if (!__atomic_load_n(&f->sealed, __ATOMIC_ACQUIRE))
        return TAMIS_OK;
    tamis__image_dirty_header(header, f);
    if (!tamis__file_write(f->fd, 0, header, sizeof header) || fsync(f->fd) != 0) {
        file_give_up(f);
        return TAMIS_IO;
    }
    __atomic_store_n(&f->sealed, false, __ATOMIC_RELEASE);
    return TAMIS_OK;
}

/* Syncing computes every checksum anew: damage that is there already must not get one. */
static tamis_status file_make_writable(tamis *f, const image_source *s, bool dirty)
{
    tamis_status status = dirty ? TAMIS_OK : tamis_verify(f, NULL, NULL);

    if (status)
        return status;
    f->readonly = false;
    f->sealed = !dirty;
    f->fd = s->fd;
    f->unseal = file_unseal_map;
    return dirty ? file_recover_map(f) : TAMIS_OK;
}

/* The descriptor stays open in *out if that is writable. */
tamis_status tamis__map_source(tamis **out, const image_source *s, unsigned flags,
                               const tamis_allocator *a)
{
    image_header h;
    tamis *f;
    tamis_status status = tamis__header_read(&h, s);

    if (!status)
        status = file_admit_map(&h, s, flags);
    /* The writer may have gone, and left a whole file, since the header was read. */
    if (status == TAMIS_DIRTY && !tamis__header_read(&h, s) && !h.dirty)
        status = file_admit_map(&h, s, flags);
    if (!status)
        status = file_map_pages(&f, &h, *s, flags, a);
    if (!status && flags & TAMIS_MAP_WRITE) {
        status = file_make_writable(f, s, h.dirty);
        if (status) {
            f->fd = -1;
            tamis_free(f);
        }
    }
    if (!status)
        *out = f;
    return status;
}

tamis_status tamis_map(tamis **out, const char *path, unsigned flags, const tamis_allocator *a)
{
    image_source s;

    if (flags & ~(unsigned)(TAMIS_MAP_WRITE | TAMIS_MAP_RECOVER))
        return TAMIS_RANGE;
    if (flags & TAMIS_MAP_RECOVER)
        flags |= TAMIS_MAP_WRITE;
    tamis_status status = flags & TAMIS_MAP_WRITE ? tamis__open_locked(&s, path)
                                                  : tamis__file_open(&s, path, O_RDONLY);
    if (status)
        return status;
    status = tamis__map_source(out, &s, flags, a);
    if (status || !(flags & TAMIS_MAP_WRITE))
        tamis__file_close(s.fd);
    return status;
}

tamis_status tamis_sync(tamis *f)
{
    if (f->fd < 0)
        return TAMIS_OK;
    if (file_is_lost(f))
        return TAMIS_IO;
    if (f->sealed)
        return TAMIS_OK;
    /* The payload reaches the disk before the header that vouches for it. Once a sync has failed,
     * pages may be lost that a second one would find clean: the file stays, or is made, dirty. */
    tamis_status status =
        msync(f->block, f->block_size, MS_SYNC) == 0 ? file_seal(f->fd, f, NULL) : TAMIS_IO;
    if (!status && fsync(f->fd) != 0)
        status = TAMIS_IO;
    if (status == TAMIS_IO)
        file_give_up(f);
    f->sealed = !status;
    return status;
}
