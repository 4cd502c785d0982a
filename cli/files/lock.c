/* lock.c - one writer at a time.
 *
 * Writers replace the file by a new one of the same name. So when the lock is got at last, its file
 * may have lost the name. Then the new file is locked, and so on. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lock.h"
#include "term/message.h"

/* Does not wait for the other side of a FIFO. On network file systems, an exclusive lock needs a
 * file that is open for writing. A read-only file is opened for reading: its folder decides whether
 * it can be replaced. */
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

int lock_filter(const char *path)
{
    for (;;) {
        int fd = open_file(path);
        struct stat s;

        if (fd < 0)
            die_errno("open", path);
        if (fstat(fd, &s))
            die_errno("read", path);
        if (!S_ISREG(s.st_mode))
            die_status("read", path, TAMIS_FOREIGN);
        lock_file(fd, path);
        if (is_named(fd, path))
            return fd;
        close(fd); /* only locked */
    }
}

int lock_output(const char *path)
{
    return access(path, F_OK) == 0 ? lock_filter(path) : -1;
}

void lock_release(int lock)
{
    if (lock >= 0)
        close(lock); /* only locked */
}
