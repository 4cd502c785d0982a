/* lock.c - one writer at a time.
 *
 * Writers replace the file by a new one under the same name. So a lock that was waited for may be
 * on a file that has lost its name meanwhile: then the new one is locked, and so on. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lock.h"
#include "message.h"

/* Without waiting for the other side of a FIFO. Where locks travel over a network, an exclusive
 * one needs a file open for writing; where the file is read-only, its folder decides. */
static int open_file(const char *path)
{
    int flags = O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    int fd = open(path, O_RDWR | flags);

    return fd < 0 ? open(path, O_RDONLY | flags) : fd;
}

static void lock_file(int fd, const char *path)
{
    while (flock(fd, LOCK_EX))
        if (errno != EINTR)
            die_errno("lock", path);
}

static bool is_named(int fd, const char *path)
{
    struct stat locked, named;

    return fstat(fd, &locked) == 0 && stat(path, &named) == 0 && locked.st_dev == named.st_dev &&
           locked.st_ino == named.st_ino;
}

void lock_filter(const char *path)
{
    for (;;) {
        int fd = open_file(path);
        struct stat s;

        if (fd < 0)
            die_errno("open", path);
        if (fstat(fd, &s) == 0 && !S_ISREG(s.st_mode))
            die_status("read", path, TAMIS_FOREIGN);
        lock_file(fd, path);
        if (is_named(fd, path))
            return;
        close(fd);
    }
}

void lock_output(const char *path)
{
    if (access(path, F_OK) == 0)
        lock_filter(path);
}
