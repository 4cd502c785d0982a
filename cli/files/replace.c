/* replace.c - a file that takes the place of another when it is whole.
 *
 * Until then it has no name, where the file system can do that. Where it cannot, its name starts
 * with a dot, and is gone when the program ends in any way but by a kill. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replace.h"
#include "term/array.h"
#include "term/buffer.h"
#include "term/message.h"
#include "term/output.h"

enum { WRITE_AT = 1 << 18 };

struct replacement {
    char path[PATH_MAX], folder[PATH_MAX], beside[2 * PATH_MAX];
    int fd; /* -1: standard output */
    bool is_named;
    buffer waiting;
};

/* ---- Names that must not stay ------------------------------------------ */

static const char *named; /* there is one at a time */

static void unlink_named(void)
{
    if (named)
        unlink(named);
}

static void remember_name(const char *path)
{
    static bool is_registered;

    if (!is_registered)
        atexit(unlink_named);
    is_registered = true;
    named = path;
}

/* ---- Files ------------------------------------------------------------- */

/* What a link names is replaced, not the link. */
static void find_target(replacement *r, const char *path)
{
    char *real = realpath(path, NULL);
    int size = snprintf(r->path, sizeof r->path, "%s", real ? real : path);

    free(real);
    if (size < 0 || size >= (int)sizeof r->path - 16) {
        errno = ENAMETOOLONG;
        die_errno("write", path);
    }
    const char *slash = strrchr(r->path, '/');
    int folder = slash ? (int)(slash - r->path) + 1 : 0;
    snprintf(r->folder, sizeof r->folder, "%.*s", folder ? folder : 1, folder ? r->path : ".");
    snprintf(r->beside, sizeof r->beside, "%.*s.%s.XXXXXX", folder, r->path, r->path + folder);
}

static int open_beside(replacement *r)
{
    int fd = open(r->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);

    if (fd >= 0)
        return fd;
    fd = mkostemp(r->beside, O_CLOEXEC);
    r->is_named = fd >= 0;
    if (r->is_named)
        remember_name(r->beside);
    return fd;
}

static mode_t usual_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* Only root may give a file away, and only members of a group may keep it. Where it is lost, the
 * mode is for another group: that one may do no more than all others may. */
static mode_t keep_owner(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & 07777;

    if (fchown(fd, old->st_uid, old->st_gid) == 0 || fchown(fd, (uid_t)-1, old->st_gid) == 0)
        return mode;
    return mode & (~(mode_t)070 | (mode & 07) << 3);
}

static void keep_mode(const replacement *r)
{
    struct stat old;
    bool replaces = stat(r->path, &old) == 0;

    if (replaces && !S_ISREG(old.st_mode))
        die(CODE_IO, "%s is not a regular file; name one to write to", r->path);
    if (fchmod(r->fd, replaces ? keep_owner(r->fd, &old) : usual_mode()))
        die_errno("write", r->path);
}

replacement *replace_begin(const char *path)
{
    replacement *r = array_new(1, sizeof *r, path);

    r->fd = -1;
    if (strcmp(path, "-") == 0)
        return r;
    find_target(r, path);
    r->fd = open_beside(r);
    if (r->fd < 0)
        die_errno("write", path);
    keep_mode(r);
    return r;
}

static void write_waiting(replacement *r)
{
    if (r->fd < 0)
        output_write(r->waiting.bytes, r->waiting.size);
    else if (!write_all(r->fd, r->waiting.bytes, r->waiting.size))
        die_errno("write", r->path);
    r->waiting.size = 0;
}

bool replace_write(void *ctx, const void *bytes, size_t size)
{
    replacement *r = ctx;

    buffer_append(&r->waiting, bytes, size);
    if (r->waiting.size >= WRITE_AT)
        write_waiting(r);
    return true;
}

int replace_fd(replacement *r)
{
    write_waiting(r);
    return r->fd;
}

/* A file without a name cannot take that of another: it gets one beside it first, which an empty
 * file has found. */
static bool give_name(replacement *r)
{
    char open_file[64];

    if (r->is_named)
        return true;
    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", r->fd);
    int fd = mkostemp(r->beside, O_CLOEXEC);
    if (fd < 0)
        return false;
    remember_name(r->beside);
    r->is_named = true;
    close(fd); /* nothing was written to it */
    return unlink(r->beside) == 0 &&
           linkat(AT_FDCWD, open_file, AT_FDCWD, r->beside, AT_SYMLINK_FOLLOW) == 0;
}

static void sync_folder(const replacement *r)
{
    int fd = open(r->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    /* Some file systems cannot sync a folder, and need not. */
    if (fd < 0 || (fsync(fd) && errno != EINVAL))
        die_errno("write", r->path);
    close(fd); /* a folder, which was synced */
}

static void drop(replacement *r)
{
    buffer_free(&r->waiting);
    free(r);
}

/* Some file systems report a failed write only when the file is closed: then the old one stays. */
static void take_place(replacement *r)
{
    if (!give_name(r) || close(r->fd) || rename(r->beside, r->path))
        die_errno("write", r->path);
    named = NULL;
}

void replace_end(replacement *r)
{
    write_waiting(r);
    if (r->fd >= 0) {
        if (fsync(r->fd))
            die_errno("write", r->path);
        take_place(r);
        sync_folder(r);
    }
    drop(r);
}

void replace_end_soon(replacement *r)
{
    write_waiting(r);
    if (r->fd >= 0)
        take_place(r);
    drop(r);
}

void replace_forget(replacement *r)
{
    unlink_named();
    named = NULL;
    if (r->fd >= 0)
        close(r->fd); /* a file that is to be gone */
    drop(r);
}
