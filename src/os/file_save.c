/* file_save.c - files that take the place of others. Prefix: file_.
 *
 * A save is written beside its target, synced, then renamed over it, and the directory is synced:
 * after a crash the name stands for the old file or for the new one, whole. An fsync that failed is
 * never tried again, because the kernel may have dropped the pages that it could not write. */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* All of an image goes by, of which the header is kept, and what follows the payload is written. */
typedef struct file_sealing {
    int fd;
    uint64_t at, payload_end;
    uint8_t header[IMAGE_HEADER];
} file_sealing;

static bool file_seal_piece(void *ctx, const void *piece, size_t size)
{
    file_sealing *s = ctx;
    uint64_t at = s->at;

    s->at += size;
    if (at == 0)
        memcpy(s->header, piece, sizeof s->header);
    return at < s->payload_end || tamis__file_write(s->fd, at, piece, size);
}

tamis_status tamis__file_seal(int fd, const tamis *f, const image_source *written)
{
    const tamis_plan *p = &f->plan;
    file_sealing s = { .fd = fd, .payload_end = tamis__image_offset(p) + p->bytes };
    uint64_t size = tamis__image_sums_count(p) * sizeof(uint64_t);
    uint64_t *sums = tamis__scratch_new(f, size);

    if (!sums)
        return TAMIS_NOMEM;
    bool ok = tamis__image_sums(sums, f, written) &&
              tamis__image_send(f, sums, file_seal_piece, &s) == TAMIS_OK &&
              (written || fsync(fd) == 0) && tamis__file_write(fd, 0, s.header, sizeof s.header);
    tamis__scratch_free(f, sums, size);
    return ok ? TAMIS_OK : TAMIS_IO;
}

tamis_status tamis__save_seal(const file_save *p, const tamis *f)
{
    const image_source written = { .read = tamis__file_read_source, .fd = p->fd };

    return tamis__file_seal(p->fd, f, &written);
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
